//! The one door between the binding and the engine: JSON text in, JSON text out, no Python in sight.
//!
//! Every function here is called with the interpreter lock released. A long one is given a [`Monitor`]: it
//! reports progress to it and asks it, now and then, whether the user wants it to stop.
//!
//! Not here: what any of the documents mean (`lanetwin-scenario`, `lanetwin-validation`), and anything of
//! Python (the crate root).

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// Why the engine refused.
#[derive(Debug)]
pub enum Failure {
    /// The author of a document erred: a JSON array of diagnostics, all of them at once.
    #[expect(dead_code, reason = "made by the engine's documents, once they are linked")]
    Diagnostics(String),
    /// Anything else that is not a bug: one sentence that says what was attempted and the likely remedy.
    Message(String),
    /// The engine itself is wrong: what the panic said.
    Bug(String),
}

impl Failure {
    /// A panic of the engine, as far as it can be read.
    pub fn from_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self::Bug(text.unwrap_or_else(|| "a panic without a message".to_owned()))
    }
}

/// What a function of the engine gives back: a JSON document, or why not.
pub type Answer = Result<String, Failure>;

/// The line between a running computation and the person who waits for it. Any thread may hold it.
#[derive(Debug)]
pub struct Monitor {
    lines: Option<Sender<String>>,
    cancelled: AtomicBool,
}

impl Monitor {
    /// A monitor whose reports go down `lines`, or nowhere.
    pub const fn new(lines: Option<Sender<String>>) -> Self {
        Self { lines, cancelled: AtomicBool::new(false) }
    }

    /// Reports progress: one JSON object. Never blocks; a reader that has gone away is no error.
    #[expect(dead_code, reason = "called by the engine, once it is linked")]
    pub fn report(&self, line: String) {
        if let Some(lines) = &self.lines {
            // The receiver only goes away when nobody waits any more; then there is nobody to tell.
            let _ = lines.send(line);
        }
    }

    /// Asks the computation to stop at the next safe point and give back what it has.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the computation was asked to stop.
    #[expect(dead_code, reason = "called by the engine, once it is linked")]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

fn not_linked_yet() -> Answer {
    Err(Failure::Message("the engine is not linked yet".to_owned()))
}

/// Checks a scenario without running it: `{"diagnostics": […], "plan": … | null}`.
pub fn check(_path: &str, _sets: &[String]) -> Answer {
    not_linked_yet()
}

/// Simulates every variant and workload of a scenario: a results document.
///
/// `options`: `{"sets": […], "seed": n | null, "granularity": "train" | "tlp", "threads": n | null}`.
pub fn run(_path: &str, _options: &str, _monitor: &Monitor) -> Answer {
    not_linked_yet()
}

/// Compares two results documents: a results document whose variants are the two.
pub fn compare(_a: &str, _b: &str, _options: &str) -> Answer {
    not_linked_yet()
}

/// Sets predictions against published numbers, for the claims named or for all of them.
pub fn validate(_claims: &[String], _monitor: &Monitor) -> Answer {
    not_linked_yet()
}

/// The catalogue of parts.
pub fn parts_list() -> Answer {
    not_linked_yet()
}

/// One part, with every number's source.
pub fn parts_show(_name: &str) -> Answer {
    not_linked_yet()
}

/// The closed forms and their parameters.
pub fn calc_list() -> Answer {
    not_linked_yet()
}

/// Evaluates one closed form.
pub fn calc(_name: &str, _arguments: &str) -> Answer {
    not_linked_yet()
}

/// The page of one diagnostic code, as Markdown.
pub fn explain(_code: &str) -> Answer {
    not_linked_yet()
}

/// Every diagnostic code with its title.
pub fn explain_list() -> Answer {
    not_linked_yet()
}

/// The templates a scenario can be started from.
pub fn templates() -> Answer {
    not_linked_yet()
}

/// The text of one template.
pub fn template(_name: &str) -> Answer {
    not_linked_yet()
}

/// The JSON Schema of scenarios.
pub fn schema() -> Answer {
    not_linked_yet()
}

/// Replays the capsule of a run that stopped on a bug, up to one event before it.
pub fn replay(_capsule: &str) -> Answer {
    not_linked_yet()
}
