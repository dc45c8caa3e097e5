//! Modular powers for authentication: computed one at a time on a separate thread. A client that requests many, or
//! knows only a host's name, delays only others that authenticate.

use lanetwin_nvmeof::logic::authentication::Power;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

/// Powers that are wanted, by connection: of each at most one.
#[derive(Debug)]
pub struct Powers {
    /// Those that are not begun.
    waiting: VecDeque<(u32, Power)>,
    /// Whose is computed.
    computing: Option<u32>,
    to: Sender<Power>,
    from: Receiver<Option<Vec<u8>>>,
    bell: Arc<OwnedFd>,
}

impl Powers {
    /// No powers requested; they will be computed by this function.
    ///
    /// # Errors
    /// No thread or no event can be created.
    pub fn new(compute: impl Fn(&Power) -> Option<Vec<u8>> + Send + 'static) -> io::Result<Self> {
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let ((to, wanted), (done, from), ours) = (channel::<Power>(), channel(), bell.clone());
        // ends when there are no more requesters
        Builder::new().name("lanetwin-powers".into()).spawn(move || {
            for power in wanted {
                if done.send(compute(&power)).is_err() {
                    return;
                }
                // it cannot fail but when it has rung 2^64 times unheard
                let _ = rustix::io::write(&*ours, &1_u64.to_ne_bytes());
            }
        })?;
        Ok(Self { waiting: VecDeque::new(), computing: None, to, from, bell })
    }
    /// A connection wants one.
    pub fn ask(&mut self, connection: u32, power: Power) {
        self.waiting.push_back((connection, power));
        self.begin();
    }
    /// Cancels requests of a closed connection that have not begun.
    pub fn forget(&mut self, connection: u32) {
        self.waiting.retain(|(of, _)| *of != connection);
    }
    fn begin(&mut self) {
        if self.computing.is_some() {
            return;
        }
        if let Some((connection, power)) = self.waiting.pop_front()
            && self.to.send(power).is_ok()
        {
            self.computing = Some(connection);
        }
    }
    /// Takes a computed power, if there is one, with its connection; begins the next.
    pub fn take(&mut self) -> Option<(u32, Option<Vec<u8>>)> {
        let _ = rustix::io::read(&*self.bell, &mut [0; 8]);
        let value = self.from.try_recv().ok()?;
        let connection = self.computing.take()?;
        self.begin();
        Some((connection, value))
    }
    /// Readable when one is computed.
    #[must_use]
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
