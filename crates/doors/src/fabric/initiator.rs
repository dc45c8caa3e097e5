//! A host of our own: it connects to a subsystem by NVMe/TCP, in user space, and waits for answers.

use crate::keys::random;
use lanetwin_nvme::spec::{Command, SqId};
use lanetwin_nvmeof::logic::authentication::Keys;
use lanetwin_nvmeof::logic::host::discovery::{LogReader, Next};
use lanetwin_nvmeof::logic::host::{
    Controller, ControllerConfig, ControllerEffect, Ending, Failure, HostName, HostTransport, Io, Queue,
    QueueEffect, TcpHost, Transfer,
};
use lanetwin_nvmeof::logic::tcp::Stream;
use lanetwin_nvmeof::spec::authentication::Explanation;
use lanetwin_nvmeof::spec::discovery::{DISCOVERY_NQN, DiscoveryEntry};
use lanetwin_nvmeof::spec::tcp::DigestTypes;
use lanetwin_units::Instant;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

/// A target that does not take a connection, or bytes, within this time is none.
const PATIENCE: Duration = Duration::from_secs(10);

/// Default NQN of the host.
pub const HOST_NQN: &str = "nqn.2026-01.org.lanetwin:host";

/// Parameters of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Address of the target.
    pub address: SocketAddr,
    /// The NQN of the subsystem.
    pub subsystem: String,
    /// Number of I/O queues; 0 for a discovery controller.
    pub io_queues: u16,
    /// The entries of each.
    pub entries: u32,
    /// Whether header and data digests are requested.
    pub digests: bool,
    /// Keep Alive Timeout \[ms\]; 0 for none.
    pub keep_alive_ms: u32,
    /// NQN of the host.
    pub host: String,
    /// Keys for authentication, if it is required.
    pub keys: Option<Keys>,
}

impl Wanted {
    /// One I/O queue of 128 entries, no digests, 5 s of Keep Alive: the defaults of Linux except for the number of
    /// queues.
    #[must_use]
    pub fn new(address: SocketAddr, subsystem: &str) -> Self {
        Self {
            address,
            subsystem: subsystem.into(),
            io_queues: 1,
            entries: 128,
            digests: false,
            keep_alive_ms: 5000,
            host: HOST_NQN.into(),
            keys: None,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// Error of the operating system.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The association failed.
    #[error("{}", in_words(*.0))]
    Failed(Failure),
    /// Nothing came for so long.
    #[error("nothing was answered within {} s", .0.as_secs())]
    Silent(Duration),
    /// A queue takes no more commands.
    #[error("the queue is full")]
    Full,
    /// The discovery log is none.
    #[error("the discovery log is not one")]
    BadLog,
}

fn in_words(failure: Failure) -> String {
    match failure {
        Failure::Refused(status, dw0) => {
            format!("the target has refused it with status {:#05x} (dword 0: {dw0:#x})", status.0)
        }
        Failure::AuthenticationRequired => {
            "the target wants a proof of who this host is: give its secret with --keys".into()
        }
        Failure::NotAuthenticated(Explanation::FAILED) => {
            "host or target has not proved who it is: they do not have the same secrets".into()
        }
        Failure::NotAuthenticated(why) => {
            format!("authentication has failed, reason code explanation {:#04x}", why.0)
        }
        Failure::Rejected(_) => "the connection was rejected".into(),
        Failure::Protocol(_) => "what answers does not keep to NVMe/TCP".into(),
        Failure::Terminated(status) => {
            format!("the target has ended the connection, fatal error status {:#x}", status.0)
        }
        Failure::Lost => "the connection is lost".into(),
        Failure::LostUnproved => "the connection is lost before host and target have proved who they are: perhaps they do not have \
                                  the same secrets"
            .into(),
    }
}

/// A command that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The name that it was submitted with.
    pub name: u64,
    /// Status.
    pub ending: Ending,
    /// Data returned.
    pub data: Vec<u8>,
}

/// A host with an association.
pub struct Initiator {
    controller: Controller,
    address: SocketAddr,
    sockets: BTreeMap<SqId, TcpStream>,
    began: std::time::Instant,
    data: BTreeMap<u64, Vec<u8>>,
    ended: Vec<Ended>,
    io_queues: Option<u16>,
    over: Option<Failure>,
    buffer: Vec<u8>,
}

impl Initiator {
    /// Connects: returns when every queue is.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn connect(wanted: &Wanted) -> Result<Self, Trouble> {
        let digests = DigestTypes::from_raw(if wanted.digests { 3 } else { 0 });
        let transport = HostTransport::Tcp(TcpHost { digests, ..TcpHost::default() });
        let mut id = *b"lanetwin\0\0\0\0\0\0\0\0";
        id[8..12].copy_from_slice(&std::process::id().to_le_bytes());
        let host = HostName { nqn: wanted.host.clone(), id };
        let mut config = ControllerConfig::new(host, &wanted.subsystem, transport);
        config.keys.clone_from(&wanted.keys);
        (config.io_queues, config.io_entries) = (wanted.io_queues, wanted.entries);
        (config.keep_alive_ms, config.controller_loss) =
            (wanted.keep_alive_ms, Some(lanetwin_units::Span::ZERO));
        let mut initiator = Self {
            controller: Controller::new(config),
            address: wanted.address,
            sockets: BTreeMap::new(),
            began: std::time::Instant::now(),
            data: BTreeMap::new(),
            ended: Vec::new(),
            io_queues: None,
            over: None,
            buffer: vec![0; 256 << 10],
        };
        initiator.with(|controller, _, out| controller.connect(out))?;
        let began = std::time::Instant::now();
        while initiator.io_queues.is_none() {
            initiator.turn(PATIENCE)?;
            if began.elapsed() > PATIENCE {
                return Err(Trouble::Silent(PATIENCE));
            }
        }
        Ok(initiator)
    }
    /// The subsystems that a target exports, and their addresses.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub fn discover(address: SocketAddr) -> Result<Vec<DiscoveryEntry>, Trouble> {
        let wanted = Wanted { io_queues: 0, keep_alive_ms: 0, ..Wanted::new(address, DISCOVERY_NQN) };
        let mut initiator = Self::connect(&wanted)?;
        let (mut reader, mut next) = LogReader::start();
        loop {
            next = match next {
                Next::Ask(command, bytes) => {
                    let (_, log) = initiator.one(SqId::ADMIN, command, Transfer::FromController(bytes))?;
                    reader.take(&log)
                }
                Next::Read(entries) => return Ok(entries),
                Next::Bad => return Err(Trouble::BadLog),
            };
        }
    }
    /// The number of the controller (CNTLID).
    #[must_use]
    pub const fn controller_id(&self) -> u16 {
        self.controller.id().0
    }
    /// Data of Identify Controller, 4096 B.
    #[must_use]
    pub fn identity(&self) -> &[u8] {
        self.controller.identity()
    }
    /// Whether this host has authenticated.
    #[must_use]
    pub fn has_proved(&self) -> bool {
        self.controller.queue(SqId::ADMIN).is_some_and(Queue::has_proved)
    }
    /// Number of I/O queues.
    #[must_use]
    pub fn io_queues(&self) -> u16 {
        self.io_queues.unwrap_or(0)
    }
    fn now(&self) -> Instant {
        let ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Instant::from_ps(ns.saturating_mul(1000))
    }

    /// Sends a command. Its name is below 2^63, and no other command in progress has it.
    ///
    /// # Errors
    /// The queue is full, or the connection is lost.
    pub fn submit(
        &mut self,
        queue: SqId,
        name: u64,
        command: Command,
        transfer: Transfer,
    ) -> Result<(), Trouble> {
        let io = Io { command, name, transfer, address: 0 };
        self.with(|controller, _, out| controller.submit(queue, io, out))?.map_err(|_| Trouble::Full)?;
        Ok(())
    }
    /// Waits until commands have ended: which.
    ///
    /// # Errors
    /// The association is over, or nothing ends within the timeout.
    pub fn wait(&mut self, timeout: Duration) -> Result<Vec<Ended>, Trouble> {
        let began = std::time::Instant::now();
        while self.ended.is_empty() {
            let left = timeout.checked_sub(began.elapsed()).ok_or(Trouble::Silent(timeout))?;
            self.turn(left)?;
        }
        Ok(std::mem::take(&mut self.ended))
    }
    /// Sends a command and waits for its end; nothing else may be in progress.
    ///
    /// # Errors
    /// As [`Initiator::submit`] and [`Initiator::wait`].
    pub fn one(
        &mut self,
        queue: SqId,
        command: Command,
        transfer: Transfer,
    ) -> Result<(Ending, Vec<u8>), Trouble> {
        self.submit(queue, 0, command, transfer)?;
        let ended = self.wait(PATIENCE)?.pop().ok_or(Trouble::Silent(PATIENCE))?;
        Ok((ended.ending, ended.data))
    }

    /// Waits for sockets or the timeout, and handles what has arrived.
    fn turn(&mut self, timeout: Duration) -> Result<(), Trouble> {
        let wake = self.controller.next_wake().since(self.now());
        let wake = Duration::from_nanos(wake.as_ps() / 1000);
        let sleep = timeout.min(wake).min(PATIENCE);
        let timeout = Timespec { tv_sec: sleep.as_secs() as i64, tv_nsec: sleep.subsec_nanos().into() };
        let mut fds: Vec<_> = self
            .sockets
            .values()
            .map(|socket| PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN))
            .collect();
        poll(&mut fds, Some(&timeout)).map_err(io::Error::from)?;
        let ready = fds.iter().zip(self.sockets.keys()).filter(|(fd, _)| !fd.revents().is_empty());
        let ready: Vec<SqId> = ready.map(|(_, queue)| *queue).collect();
        for queue in ready {
            self.receive(queue)?;
        }
        if self.controller.next_wake() <= self.now() {
            self.with(|controller, now, out| controller.wake(now, out))?;
        }
        Ok(())
    }
    fn receive(&mut self, queue: SqId) -> Result<(), Trouble> {
        let Some(socket) = self.sockets.get_mut(&queue) else { return Ok(()) };
        match socket.read(&mut self.buffer) {
            Ok(0) => self.with(|controller, now, out| controller.lost(now, queue, out)),
            Ok(count) => {
                let stream = Stream::from(self.buffer[..count].to_vec());
                self.with(|controller, now, out| controller.receive(now, queue, stream, out))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(_) => self.with(|controller, now, out| controller.lost(now, queue, out)),
        }
    }
    /// Calls the controller, and carries out its effects until there are none left.
    fn with<R>(
        &mut self,
        act: impl FnOnce(&mut Controller, Instant, &mut Vec<ControllerEffect>) -> R,
    ) -> Result<R, Trouble> {
        let (now, mut effects) = (self.now(), Vec::new());
        let result = act(&mut self.controller, now, &mut effects);
        let mut next = 0;
        while let Some(effect) = effects.get(next).cloned() {
            next += 1;
            self.carry_out(effect, &mut effects)?;
        }
        self.over.map_or(Ok(result), |why| Err(Trouble::Failed(why)))
    }
    fn carry_out(
        &mut self,
        effect: ControllerEffect,
        more: &mut Vec<ControllerEffect>,
    ) -> Result<(), Trouble> {
        match effect {
            ControllerEffect::Open { queue } => {
                let socket = TcpStream::connect_timeout(&self.address, PATIENCE)?;
                socket.set_nodelay(true)?;
                socket.set_write_timeout(Some(PATIENCE))?;
                self.sockets.insert(queue, socket);
                self.controller.opened(self.now(), queue, more);
            }
            ControllerEffect::Abandon { queue } => {
                self.sockets.remove(&queue);
            }
            ControllerEffect::Live { io_queues } => self.io_queues = Some(io_queues),
            ControllerEffect::Lost { why } | ControllerEffect::Removed { why } => {
                self.over.get_or_insert(why);
            }
            ControllerEffect::Queue { queue, effect } => self.carry_out_queue(queue, effect)?,
        }
        Ok(())
    }
    fn carry_out_queue(&mut self, queue: SqId, effect: QueueEffect) -> Result<(), Trouble> {
        match effect {
            QueueEffect::Send { stream } => {
                if let (Some(socket), Some(bytes)) = (self.sockets.get_mut(&queue), stream.to_bytes()) {
                    socket.write_all(&bytes)?;
                }
            }
            QueueEffect::Deliver { name, offset, data } => {
                let all = self.data.entry(name).or_default();
                let bytes = data.bytes().unwrap_or_default();
                let end = offset as usize + bytes.len();
                all.resize(all.len().max(end), 0);
                all[offset as usize..end].copy_from_slice(bytes);
            }
            QueueEffect::Completed { name, ending } => {
                let data = self.data.remove(&name).unwrap_or_default();
                self.ended.push(Ended { name, ending, data });
            }
            QueueEffect::Draw => {
                let random = random().map_err(io::Error::other)?;
                self.with(|controller, now, out| controller.drawn(now, queue, &random, out))?;
            }
            // the end of the association is reported separately
            QueueEffect::Close | QueueEffect::Unanswered { .. } => {}
            // of RDMA, and those of which the controller makes its own
            QueueEffect::Request { .. }
            | QueueEffect::Register { .. }
            | QueueEffect::SendCapsule { .. }
            | QueueEffect::Invalidate { .. }
            | QueueEffect::Connected { .. }
            | QueueEffect::Failed { .. } => {}
        }
        Ok(())
    }
}
