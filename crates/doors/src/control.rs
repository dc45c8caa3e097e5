//! What can be done to a served drive from outside: a line of JSON, answered by a line of JSON.

use crate::engine::Engine;
use crate::faults::Fault;
use crate::problem::Problem;
use lanetwin_units::Instant;
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

/// The longest line \[B\].
pub const MOST_LINE: usize = 4096;

/// Where the control socket of a door is: beside a Unix socket or a folder; for the address of a TCP socket in a folder
/// that nobody but its owner can open.
///
/// # Errors
/// There can be no such folder.
pub fn path_of(place: &str) -> Result<PathBuf, Problem> {
    let Ok(address) = place.parse::<SocketAddr>() else {
        return Ok(PathBuf::from(format!("{}.control", place.trim_end_matches('/'))));
    };
    let user = rustix::process::getuid().as_raw();
    let base = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = base.join(format!("lanetwin-{user}"));
    // one that is there already is looked at like a new one
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&folder);
    let own = |meta: std::fs::Metadata| meta.is_dir() && meta.uid() == user && meta.mode() & 0o077 == 0;
    if folder.symlink_metadata().is_ok_and(own) {
        return Ok(folder.join(format!("{address}.control")));
    }
    let what = "is no folder that you alone can open".into();
    Err(Problem::SocketTaken { path: folder.display().to_string(), what })
}

/// What is asked for.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", tag = "control", deny_unknown_fields)]
enum Control {
    Status,
    PowerCut,
    PowerOn,
    Remove,
    Insert,
    Reset,
    End,
    Fault {
        what: Fault,
        /// The namespace that has it, where several drives are served.
        #[serde(default = "first")]
        namespace: u16,
    },
    ForgetLateness,
}

const fn first() -> u16 {
    1
}

/// What happens to all clients of a door at once: their connections end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Upheaval {
    /// The drive is pulled out while it is used: its power is gone, nobody can connect.
    Removed,
    /// It is there again.
    Inserted,
    /// It is reset.
    Reset,
    /// Nobody serves it any more.
    Ended,
}

/// Carries out a line; the answer, a line of JSON without its end, and what all clients see of it.
pub fn carry_out(engine: &mut Engine, now: Instant, line: &[u8]) -> (String, Option<Upheaval>) {
    let control = match serde_json::from_slice(line) {
        Ok(control) => control,
        Err(error) => {
            return (json!({ "error": format!("this is no control: {error}") }).to_string(), None);
        }
    };
    let upheaval = match control {
        Control::Remove => Some(Upheaval::Removed),
        Control::Insert => Some(Upheaval::Inserted),
        Control::Reset => Some(Upheaval::Reset),
        Control::End => Some(Upheaval::Ended),
        _ => None,
    };
    let done: Value = match control {
        Control::Status => json!({
            "lateness": engine.lateness(), "in_progress": engine.in_progress(), "has_power": engine.has_power(),
        }),
        Control::PowerCut | Control::Remove => {
            let outcome = engine.power_cut();
            json!({ "kept": outcome.kept, "lost": outcome.lost })
        }
        Control::PowerOn | Control::Insert => {
            engine.power_on();
            json!({})
        }
        Control::Fault { what, namespace } => {
            let unit = namespace.checked_sub(1).filter(|unit| engine.fault(now, *unit, &what));
            unit.map_or_else(
                || json!({ "error": format!("there is no namespace {namespace}") }),
                |_| json!({}),
            )
        }
        Control::Reset | Control::End => json!({}),
        Control::ForgetLateness => {
            engine.forget_lateness();
            json!({})
        }
    };
    (done.to_string(), upheaval)
}
