//! The in-process door: a thread that owns the drive and keeps the time.
//!
//! ```text
//!  caller ── ask, wait, control ──► jobs ──► the thread: Engine, clock ──► mailbox ──► caller (take)
//! ```
//!
//! In real time the thread sleeps until shortly before an event is due, and then watches the clock, since a sleeping
//! thread is woken too late for a drive. In virtual time it has no clock, and time passes when a caller waits.

use crate::awake::Awake;
use crate::bytes::CutOutcome;
use crate::command::Command;
use crate::drive::{Drive, Facts};
use crate::engine::{Engine, Reply};
use crate::faults::Fault;
use crate::lateness::Told;
use crate::problem::Problem;
use lanetwin_ssd::ByteStore;
use lanetwin_units::{Instant, Span};
use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time before an event from which on the thread does not sleep. `assumed`: the time of a wake in a virtual machine
/// with idle cores, 30 to 50 µs, plus a margin.
const WATCH: Span = Span::from_us(60);
/// So often the thread looks whether cores may sleep.
const REST: Duration = Duration::from_millis(50);
/// A world recurses no deeper than a plan; the drive of one needs little more than a usual stack.
const STACK_BYTES: usize = 16 << 20;

/// How time passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pacing {
    /// As on a clock.
    Real,
    /// When a caller waits.
    Virtual,
}

/// A request to the thread.
enum Job {
    Ask(u64, Instant, Command),
    Echo(u64),
    Wait(Sender<Option<(Instant, Vec<Reply>)>>),
    Fault(Fault),
    PowerCut(Sender<CutOutcome>),
    PowerOn,
    Lead(Span),
    Tell(Sender<Told>),
    ForgetLateness,
    Close(Sender<bool>),
}

/// Replies that have not been taken.
#[derive(Default)]
struct Mailbox {
    replies: Mutex<(VecDeque<(Instant, Reply)>, bool)>,
    changed: Condvar,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, (VecDeque<(Instant, Reply)>, bool)> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn put(&self, at: Instant, replies: Vec<Reply>) {
        if !replies.is_empty() {
            self.lock().0.extend(replies.into_iter().map(|reply| (at, reply)));
            self.changed.notify_all();
        }
    }
}

/// Says, when the thread ends in whatever way, that nothing more will come.
struct Closing(Arc<Mailbox>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.lock().1 = true;
        self.0.changed.notify_all();
    }
}

/// The thread has ended: a bug of ours, or it was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gone;

/// A drive in this process.
pub struct Local {
    jobs: Sender<Job>,
    mailbox: Arc<Mailbox>,
    thread: Mutex<Option<JoinHandle<()>>>,
    tickets: AtomicU64,
    began: std::time::Instant,
    facts: Facts,
}

impl Local {
    /// Opens a drive with these bytes. In real time cores are kept awake, or not, while it is used.
    ///
    /// # Errors
    /// If there is no thread to be had.
    pub fn open(
        drive: Drive,
        store: Box<dyn ByteStore + Send>,
        (pacing, awake): (Pacing, Awake),
    ) -> std::io::Result<Self> {
        let (jobs, inbox) = channel();
        let mailbox = Arc::new(Mailbox::default());
        let theirs = Arc::clone(&mailbox);
        let facts = drive.facts;
        let (ready, is_ready) = channel();
        let thread = std::thread::Builder::new().name("lanetwin-drive".into()).stack_size(STACK_BYTES);
        let thread = thread.spawn(move || {
            let closing = Closing(theirs);
            let engine = Engine::new(&drive, store);
            let engine = if pacing == Pacing::Real { engine.started() } else { engine };
            let began = std::time::Instant::now();
            let _ = ready.send(began);
            let mut attendant = Attendant { engine, inbox, mailbox: &closing.0, began, awake };
            match pacing {
                Pacing::Real => attendant.keep_time(),
                Pacing::Virtual => attendant.keep_virtual_time(),
            }
        })?;
        let began = is_ready.recv().unwrap_or_else(|_| std::time::Instant::now());
        let (thread, tickets) = (Mutex::new(Some(thread)), AtomicU64::new(0));
        Ok(Self { jobs, mailbox, thread, tickets, began, facts })
    }
    /// Properties of the drive.
    #[must_use]
    pub const fn facts(&self) -> Facts {
        self.facts
    }
    fn send(&self, job: Job) -> Result<(), Gone> {
        self.jobs.send(job).map_err(|_| Gone)
    }
    fn question<R>(&self, job: impl FnOnce(Sender<R>) -> Job) -> Result<R, Gone> {
        let (answer, answered) = channel();
        self.send(job(answer))?;
        answered.recv().map_err(|_| Gone)
    }

    /// Asks; the reply has the ticket that this returns.
    ///
    /// # Errors
    /// What is wrong with the request.
    pub fn ask(&self, command: Command) -> Result<Result<u64, Gone>, Problem> {
        self.facts.allow(command.request)?;
        let now = since(self.began);
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        Ok(self.send(Job::Ask(ticket, now, command)).map(|()| ticket))
    }
    /// Requests an immediate reply without a drive, which measures the door itself.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn echo(&self) -> Result<u64, Gone> {
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        self.send(Job::Echo(ticket)).map(|()| ticket)
    }
    /// Real time: waits for replies, so long at most.
    ///
    /// # Errors
    /// Nothing more will come.
    pub fn take(&self, timeout: Duration) -> Result<Vec<(Instant, Reply)>, Gone> {
        let waits = |(replies, is_closed): &mut (VecDeque<_>, bool)| replies.is_empty() && !*is_closed;
        let held = self.mailbox.changed.wait_timeout_while(self.mailbox.lock(), timeout, waits);
        let (mut held, _) = held.unwrap_or_else(PoisonError::into_inner);
        if held.0.is_empty() && held.1 { Err(Gone) } else { Ok(held.0.drain(..).collect()) }
    }
    /// In virtual time: advances to the next reply. Returns the replies of that instant, and the time; `None` if
    /// nothing is in progress.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn wait(&self) -> Result<Option<(Instant, Vec<Reply>)>, Gone> {
        self.question(Job::Wait)
    }
    /// A fault, from now on.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn fault(&self, fault: Fault) -> Result<(), Gone> {
        self.send(Job::Fault(fault))
    }
    /// The power fails.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn power_cut(&self) -> Result<CutOutcome, Gone> {
        self.question(Job::PowerCut)
    }
    /// The power is back.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn power_on(&self) -> Result<(), Gone> {
        self.send(Job::PowerOn)
    }
    /// Sets the time by which replies are sent earlier: that of the door itself.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn set_lead(&self, lead: Span) -> Result<(), Gone> {
        self.send(Job::Lead(lead))
    }
    /// Lateness of replies.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn lateness(&self) -> Result<Told, Gone> {
        self.question(Job::Tell)
    }
    /// Forgets how late replies were.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn forget_lateness(&self) -> Result<(), Gone> {
        self.send(Job::ForgetLateness)
    }
    /// Ends the thread after writing all acknowledged data. Returns whether all could be written.
    pub fn close(&self) -> bool {
        let is_written = self.question(Job::Close).unwrap_or(false);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        thread.is_none_or(|thread| thread.join().is_ok()) && is_written
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.close();
    }
}

/// The time of a clock that began then.
fn since(began: std::time::Instant) -> Instant {
    let ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Instant::from_ps(ns.saturating_mul(1000))
}

/// State of the thread.
struct Attendant<'a> {
    engine: Engine,
    inbox: Receiver<Job>,
    mailbox: &'a Mailbox,
    began: std::time::Instant,
    awake: Awake,
}

impl Attendant<'_> {
    fn keep_time(&mut self) {
        // else the system wakes a thread up to 50 µs late on purpose; that it will not is no reason to stop
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        loop {
            if let Some(job) = match self.next_job() {
                Ok(job) => job,
                Err(Gone) => return,
            } {
                let now = since(self.began);
                if !self.carry_out(job, now) {
                    return;
                }
            }
            let now = since(self.began);
            let replies = self.engine.poll(now);
            self.mailbox.put(now, replies);
        }
    }
    /// A job, if one comes before something is due.
    fn next_job(&mut self) -> Result<Option<Job>, Gone> {
        let due = self.engine.next_due();
        let left = due.since(since(self.began));
        let received = if due == Instant::NEVER && !self.awake.is_held() {
            return self.inbox.recv().map(Some).map_err(|_| Gone);
        } else if due == Instant::NEVER {
            let job = self.inbox.recv_timeout(REST);
            self.awake.rest(since(self.began));
            job.map_err(|error| error == RecvTimeoutError::Disconnected)
        } else if left > WATCH {
            let sleep = Duration::from_nanos((left.as_ps() - WATCH.as_ps()) / 1000);
            self.inbox.recv_timeout(sleep).map_err(|error| error == RecvTimeoutError::Disconnected)
        } else {
            std::hint::spin_loop();
            self.inbox.try_recv().map_err(|error| error == TryRecvError::Disconnected)
        };
        match received {
            Ok(job) => Ok(Some(job)),
            Err(true) => Err(Gone),
            Err(false) => Ok(None),
        }
    }
    fn keep_virtual_time(&mut self) {
        let mut now = Instant::ZERO;
        while let Ok(job) = self.inbox.recv() {
            if let Job::Wait(answer) = job {
                let replies = self.engine.next_replies(now);
                if let Some((at, _)) = &replies {
                    now = now.max(*at);
                }
                let _ = answer.send(replies);
            } else if !self.carry_out(job, now) {
                return;
            }
        }
    }
    /// Carries out a request. Returns whether to continue.
    fn carry_out(&mut self, job: Job, now: Instant) -> bool {
        // the caller may have gone away, which is not an error
        match job {
            Job::Ask(ticket, at, command) => {
                self.awake.use_now(now);
                self.engine.ask(at.min(now), ticket, command);
            }
            Job::Echo(ticket) => self.engine.echo(ticket),
            Job::Wait(answer) => _ = answer.send(None),
            Job::Fault(fault) => {
                self.engine.fault(now, 0, &fault);
            }
            Job::PowerCut(answer) => _ = answer.send(self.engine.power_cut()),
            Job::PowerOn => self.engine.power_on(),
            Job::Lead(lead) => self.engine.set_lead(now, lead),
            Job::Tell(answer) => _ = answer.send(self.engine.lateness()),
            Job::ForgetLateness => self.engine.forget_lateness(),
            Job::Close(answer) => {
                let _ = answer.send(self.engine.close().is_ok());
                return false;
            }
        }
        true
    }
}
