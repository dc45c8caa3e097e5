//! A drive that is served by a thread, and what is said to its control socket.

use crate::machine::{machine, plan};
use lanetwin_doors::awake::{Awake, LIMIT};
use lanetwin_doors::cores::Cores;
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::engine::Engine;
use lanetwin_doors::lateness::Told;
use lanetwin_doors::server::{Server, Sockets};
use lanetwin_nvmeof::logic::authentication::Ring;
use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

thread_local! {
    /// The core that doors opened by this thread have for themselves.
    pub static OWN_CORE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// A server in a thread, which ends with this.
pub struct Serving {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<(Told, bool)>>,
}

impl Serving {
    /// Serves a drive of this medium at sockets that are made when it is there.
    pub fn new(set: &str, sockets: impl FnOnce() -> Sockets + Send + 'static) -> Self {
        Self::of(machine(set, "depth: 1"), Choice::default(), sockets)
    }
    /// Serves drives of a scenario.
    pub fn of(scenario: String, choice: Choice, sockets: impl FnOnce() -> Sockets + Send + 'static) -> Self {
        Self::admitting(scenario, choice, None, sockets)
    }
    /// Serves drives of a scenario to hosts that have to prove who they are.
    pub fn admitting(
        scenario: String,
        choice: Choice,
        ring: Option<Ring>,
        sockets: impl FnOnce() -> Sockets + Send + 'static,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (theirs, cores) = (stop.clone(), cores(OWN_CORE.get()));
        let thread = std::thread::spawn(move || {
            let drive = Drive::choose(&plan(&scenario), &choice).expect("a drive");
            let engine = Engine::of(&drive, Vec::new()).started();
            let mut server = Server::new(engine, sockets(), cores).expect("sockets");
            ring.into_iter().for_each(|ring| server.admit(ring).expect("a thread"));
            server.serve(&|| theirs.load(Ordering::Relaxed));
            (server.lateness(), server.close())
        });
        Self { stop, thread: Some(thread) }
    }
    /// Ends it: how late answers were, and whether all bytes are safe.
    pub fn end(&mut self) -> (Told, bool) {
        self.stop.store(true, Ordering::Relaxed);
        self.ended()
    }
    /// The same of one that ends by itself.
    pub fn ended(&mut self) -> (Told, bool) {
        self.thread.take().expect("it ends once").join().expect("no panic")
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if self.thread.is_some() && !std::thread::panicking() {
            self.end();
        }
    }
}

/// The cores of a door that has this one for itself, if there is another; the calling thread leaves it. Only there are
/// cores kept awake: other tests want none for themselves.
fn cores(own: Option<usize>) -> Cores {
    let awake = || own.map_or_else(Awake::not_wanted, |_| Awake::by(Path::new(LIMIT)));
    let cores = Cores::new(awake(), own).or_else(|_| Cores::new(awake(), None)).expect("any");
    cores.leave_own();
    cores
}

/// What the control socket answers to a line.
pub fn told(control: &Path, line: &str) -> String {
    let mut socket = UnixStream::connect(control).expect("it listens");
    socket.write_all(format!("{line}\n").as_bytes()).expect("a line");
    let mut answer = String::new();
    BufReader::new(socket).read_line(&mut answer).expect("an answer");
    answer
}
