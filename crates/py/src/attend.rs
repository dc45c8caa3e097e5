//! Waits for the engine: the interpreter lock is released, progress is passed on, and Ctrl-C is noticed.
//!
//! ```text
//!  Python's thread            engine's thread
//!  ───────────────            ───────────────
//!  attend(work, progress) ──► work(&monitor)
//!   ▲ callback(line) ◄─────── monitor.report(line)
//!   │ Ctrl-C ── cancel ─────► monitor.is_cancelled()
//!   └───────────────────────── Answer
//! ```
//!
//! The engine has a thread of its own, since only Python's main thread can check for signals; it has to be free to do
//! so, however long the engine takes between two reports.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::core_api::{Answer, Failure, Monitor};

/// Time between two checks for signals; users hardly notice such a delay.
const LOOK_FOR_SIGNALS_EVERY: Duration = Duration::from_millis(100);

/// Stack for the most deeply nested scenario document: its reader recurses once for each level.
const STACK_BYTES: usize = 16 << 20;

/// Runs `work` with the interpreter lock released, and calls `progress` with its reports.
///
/// The first Ctrl-C requests the work to stop and return what it has. A second one raises `KeyboardInterrupt` at
/// once, without waiting for the work. An exception in `progress` stops the work, and is raised after its end.
pub fn attend<W>(py: Python<'_>, progress: Option<&Py<PyAny>>, work: W) -> PyResult<Answer>
where
    W: FnOnce(&Monitor) -> Answer + Send + 'static,
{
    let (sender, lines) = channel();
    let monitor = Arc::new(Monitor::new(Some(sender)));
    let theirs = Arc::clone(&monitor);
    let (done, finished) = channel::<()>();
    let finished = Mutex::new(finished); // only to cross `detach`, which takes nothing tied to one thread
    let worker = thread::Builder::new().name("lanetwin-engine".to_owned()).stack_size(STACK_BYTES).spawn(
        move || {
            let answer = work(&theirs);
            drop(done);
            answer
        },
    )?;

    let mut interrupted = false;
    let mut trouble: Option<PyErr> = None;
    loop {
        let over = py.detach(|| is_over(&finished));
        let told = tell(py, progress.filter(|_| trouble.is_none()), &lines);
        for error in [told, py.check_signals()].into_iter().filter_map(Result::err) {
            monitor.cancel();
            if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                trouble = Some(error);
            } else if interrupted {
                return Err(error);
            } else {
                interrupted = true;
            }
        }
        if over {
            break;
        }
    }
    let answer = py.detach(|| worker.join()).unwrap_or_else(|payload| Err(Failure::from_panic(&*payload)));
    trouble.map_or(Ok(answer), Err)
}

/// Sleeps until the work is over or it is time to check for signals. Returns whether the work is over.
fn is_over(finished: &Mutex<Receiver<()>>) -> bool {
    let finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
    matches!(finished.recv_timeout(LOOK_FOR_SIGNALS_EVERY), Err(RecvTimeoutError::Disconnected))
}

/// Calls `progress` with each report that has arrived.
fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, lines: &Receiver<String>) -> PyResult<()> {
    for line in lines.try_iter() {
        if let Some(callback) = progress {
            callback.call1(py, (line,))?;
        }
    }
    Ok(())
}
