//! What can be done to a served drive from outside: a line of JSON, answered by a line of JSON.

use crate::engine::Engine;
use crate::faults::Fault;
use lanetwin_units::Instant;
use serde::Deserialize;
use serde_json::{Value, json};

/// The longest line \[B\].
pub const MOST_LINE: usize = 4096;

/// What is asked for.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", tag = "control", deny_unknown_fields)]
enum Control {
    Status,
    PowerCut,
    PowerOn,
    Fault { what: Fault },
    ForgetLateness,
}

/// Carries out a line; the answer, a line of JSON without its end.
pub fn carry_out(engine: &mut Engine, now: Instant, line: &[u8]) -> String {
    let control = match serde_json::from_slice(line) {
        Ok(control) => control,
        Err(error) => return json!({ "error": format!("this is no control: {error}") }).to_string(),
    };
    let done: Value = match control {
        Control::Status => json!({
            "lateness": engine.lateness(), "in_progress": engine.in_progress(), "has_power": engine.has_power(),
        }),
        Control::PowerCut => {
            let outcome = engine.power_cut();
            json!({ "kept": outcome.kept, "lost": outcome.lost })
        }
        Control::PowerOn => {
            engine.power_on();
            json!({})
        }
        Control::Fault { what } => {
            engine.fault(now, &what);
            json!({})
        }
        Control::ForgetLateness => {
            engine.forget_lateness();
            json!({})
        }
    };
    done.to_string()
}
