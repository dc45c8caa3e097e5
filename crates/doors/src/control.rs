//! Control of a served drive from outside: a line of JSON, answered by a line of JSON.

use crate::engine::Engine;
use crate::faults::{Fault, When};
use crate::problem::Problem;
use lanetwin_nvme::spec::Nsid;
use lanetwin_nvme::spec::ana::AnaState;
use lanetwin_units::{Instant, Span};
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

/// The longest line \[B\].
pub const MOST_LINE: usize = 4096;

/// Path of the control socket of a door: beside a Unix socket or a folder; for a TCP socket, in a folder that only
/// its owner can open.
///
/// # Errors
/// Such a folder cannot be made.
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

/// A control request.
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
        /// It comes after so long \[ms\].
        #[serde(default)]
        after_ms: u64,
        /// Then again each time that so long has passed \[ms\]; 0 for once.
        #[serde(default)]
        every_ms: u64,
        /// Apply to one request of this many, at random; 0 for at a time.
        #[serde(default)]
        one_in: u64,
    },
    ForgetLateness,
    Access {
        state: State,
        /// By this port, from 1; by all if none.
        port: Option<u16>,
        /// Namespace; all if `None`.
        namespace: Option<u16>,
    },
    PortDown {
        port: u16,
    },
    PortUp {
        port: u16,
    },
    Refer {
        /// Other discovery services by NVMe/TCP, in the place of those named before.
        to: Vec<SocketAddr>,
    },
}

/// ANA state of a namespace behind a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Optimized,
    NonOptimized,
    Inaccessible,
    PersistentLoss,
    Change,
}

impl State {
    const fn word(self) -> AnaState {
        match self {
            Self::Optimized => AnaState::OPTIMIZED,
            Self::NonOptimized => AnaState::NON_OPTIMIZED,
            Self::Inaccessible => AnaState::INACCESSIBLE,
            Self::PersistentLoss => AnaState::PERSISTENT_LOSS,
            Self::Change => AnaState::CHANGE,
        }
    }
}

const fn first() -> u16 {
    1
}

/// Effect of a control request on the clients of a door.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Upheaval {
    /// Surprise removal of the drive: it has no power, and no client can connect.
    Removed,
    /// It is there again.
    Inserted,
    /// It is reset.
    Reset,
    /// The server ends.
    Ended,
    /// A port, from 0, fails: its connections are lost, and no client can connect to it.
    PortDown(usize),
    /// It is there again.
    PortUp(usize),
    /// A namespace, or all, are reached in another way by a port, from 0, or by all.
    Access(AnaState, Option<u16>, Option<Nsid>),
    /// Hosts are referred to other discovery services, and notified.
    Refer(Vec<SocketAddr>),
}

/// Carries out a line at a door with `ports` ports of NVMe/TCP. Returns the answer, a line of JSON without line feed,
/// and the effect on clients.
pub fn carry_out(
    engine: &mut Engine,
    now: Instant,
    (line, ports): (&[u8], usize),
) -> (String, Option<Upheaval>) {
    let control = match serde_json::from_slice(line) {
        Ok(control) => control,
        Err(error) => {
            return (json!({ "error": format!("this is no control: {error}") }).to_string(), None);
        }
    };
    let namespaces = engine.drive().all_facts().len();
    if let Some(error) = refusal(&control, ports, namespaces) {
        return (json!({ "error": error }).to_string(), None);
    }
    let upheaval = upheaval(&control);
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
        Control::Fault { what, namespace, after_ms, every_ms, one_in } => {
            let [after, every] = [after_ms, every_ms].map(|ms| Span::from_us(ms.saturating_mul(1000)));
            let when = When { after, every, one_in };
            let unit = namespace.checked_sub(1).filter(|unit| engine.fault_later(now, *unit, (when, &what)));
            unit.map_or_else(
                || json!({ "error": format!("there is no namespace {namespace}") }),
                |_| json!({}),
            )
        }
        Control::Reset
        | Control::End
        | Control::PortDown { .. }
        | Control::PortUp { .. }
        | Control::Refer { .. }
        | Control::Access { .. } => json!({}),
        Control::ForgetLateness => {
            engine.forget_lateness();
            json!({})
        }
    };
    (done.to_string(), upheaval)
}

/// The effect of a control request on clients.
fn upheaval(control: &Control) -> Option<Upheaval> {
    match control {
        Control::Refer { to } => Some(Upheaval::Refer(to.clone())),
        Control::PortDown { port } => Some(Upheaval::PortDown(usize::from(*port) - 1)),
        Control::PortUp { port } => Some(Upheaval::PortUp(usize::from(*port) - 1)),
        Control::Access { state, port, namespace } => {
            let (port, nsid) = (port.map(|port| port - 1), namespace.map(|number| Nsid(number.into())));
            Some(Upheaval::Access(state.word(), port, nsid))
        }
        Control::Remove => Some(Upheaval::Removed),
        Control::Insert => Some(Upheaval::Inserted),
        Control::Reset => Some(Upheaval::Reset),
        Control::End => Some(Upheaval::Ended),
        _ => None,
    }
}

/// Why a request for a port or a namespace is refused: there is none of this number.
fn refusal(control: &Control, ports: usize, namespaces: usize) -> Option<String> {
    let is_none = |number: u16, of: usize| number == 0 || usize::from(number) > of;
    let (port, namespace) = match *control {
        Control::Access { port, namespace, .. } => (port.or(Some(1)), namespace),
        Control::PortDown { port } | Control::PortUp { port } => (Some(port), None),
        Control::Refer { .. } => (Some(1), None),
        _ => (None, None),
    };
    let no_port = port.filter(|port| is_none(*port, ports));
    let no_namespace = namespace.filter(|namespace| is_none(*namespace, namespaces));
    let why = match ports {
        0 => "the drive is not served by NVMe/TCP".to_owned(),
        1 => "NVMe/TCP has one port here".to_owned(),
        several => format!("NVMe/TCP has {several} ports here"),
    };
    let by_port = no_port.map(|port| format!("there is no port {port}: {why}"));
    by_port.or_else(|| no_namespace.map(|namespace| format!("there is no namespace {namespace}")))
}
