//! A driver of our own: it finds the function, starts the controller and waits for its interrupts, in user space.

use super::wire::{
    Access, Code, HEADER_BYTES, Header, Irq, MAJOR, MINOR, MOST_MESSAGE, MapBody, MapFlags, Region,
    SetIrqFlags, SetIrqs, VersionBody,
};
use lanetwin_nvme::logic::host::{
    Action, Answer, Bringup, BringupConfig, BringupFault, Completed, IoQueue, QueuePair, QueuePairConfig,
    RingPolicy, point_prp,
};
use lanetwin_nvme::spec::admin::QueuePriority;
use lanetwin_nvme::spec::registers::doorbell_offset;
use lanetwin_nvme::spec::{Command, CompletionEntry, CqId, Doorbell, SqId, Status};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::fs::File;
use std::io::{self, IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Whoever does not answer within this time does not.
const PATIENCE: Duration = Duration::from_secs(10);
/// A page of memory \[B\].
const PAGE: u64 = 4096;
/// Size of the driver's memory; the data of a command are in its second half.
const MEMORY: u64 = 2 << 20;
const DATA: u64 = MEMORY / 2;
/// Entries of every queue.
const ENTRIES: u32 = 64;
/// One page each: queues, Identify data, a PRP list.
const ADMIN_SQ: u64 = 0;
const ADMIN_CQ: u64 = PAGE;
const IDENTITY: u64 = 2 * PAGE;
const IO_SQ: u64 = 3 * PAGE;
const IO_CQ: u64 = 4 * PAGE;
const LIST: u64 = 5 * PAGE;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// Error of the operating system.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The peer violates the protocol.
    #[error("what answers does not keep to vfio-user")]
    Protocol,
    /// A request was refused.
    #[error("a request was refused: {0}")]
    Refused(Errno),
    /// The controller does not start.
    #[error("{0}")]
    NoStart(#[from] BringupFault),
    /// No interrupt came.
    #[error("no interrupt came within {} s", PATIENCE.as_secs())]
    Silent,
}

impl From<Errno> for Trouble {
    fn from(error: Errno) -> Self {
        Self::System(error.into())
    }
}

/// A client of the protocol with one request at a time.
pub struct Client {
    socket: UnixStream,
    id: u16,
}

impl Client {
    /// Exchanges versions.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn connect(socket: UnixStream) -> Result<Self, Trouble> {
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let mut client = Self { socket, id: 0 };
        let mut version = VersionBody::ZERO;
        version.set_major(MAJOR);
        version.set_minor(MINOR);
        let mut body = version.as_bytes().to_vec();
        body.extend(b"{\"capabilities\":{\"max_msg_fds\":1}}\0");
        client.ask(Code::VERSION, &body, &[])?;
        Ok(client)
    }
    /// Asks, and waits for the body of the reply.
    ///
    /// # Errors
    /// It is refused, or none comes.
    pub fn ask(&mut self, code: Code, body: &[u8], files: &[BorrowedFd<'_>]) -> Result<Vec<u8>, Trouble> {
        self.id = self.id.wrapping_add(1);
        let mut header = Header::ZERO;
        header.set_id(self.id);
        header.set_code(code);
        header.set_size((HEADER_BYTES + body.len()) as u32);
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut beside = SendAncillaryBuffer::new(&mut room);
        if !files.is_empty() {
            beside.push(SendAncillaryMessage::ScmRights(files));
        }
        let whole = [header.as_bytes(), body].concat();
        let sent = sendmsg(&self.socket, &[IoSlice::new(&whole)], &mut beside, SendFlags::NOSIGNAL)?;
        if sent != whole.len() {
            return Err(Trouble::Protocol);
        }
        let mut head = [0; HEADER_BYTES];
        self.socket.read_exact(&mut head)?;
        let reply = Header::from_bytes(head);
        if reply.id() != self.id || !(HEADER_BYTES as u32..=MOST_MESSAGE).contains(&reply.size()) {
            return Err(Trouble::Protocol);
        }
        let mut body = vec![0; reply.size() as usize - HEADER_BYTES];
        self.socket.read_exact(&mut body)?;
        if reply.flags().error() {
            return Err(Trouble::Refused(Errno::from_raw_os_error(reply.error() as i32)));
        }
        Ok(body)
    }
    /// Reads a region.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn read(&mut self, region: Region, offset: u64, count: u32) -> Result<Vec<u8>, Trouble> {
        let body = access(region, offset, count);
        let mut reply = self.ask(Code::REGION_READ, body.as_bytes(), &[])?;
        if reply.len() != body.as_bytes().len() + count as usize {
            return Err(Trouble::Protocol);
        }
        Ok(reply.split_off(body.as_bytes().len()))
    }
    /// Writes a region.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn write(&mut self, region: Region, offset: u64, data: &[u8]) -> Result<(), Trouble> {
        let head = access(region, offset, data.len() as u32);
        self.ask(Code::REGION_WRITE, &[head.as_bytes(), data].concat(), &[])?;
        Ok(())
    }
    /// Maps memory, from this address on.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn map(&mut self, (address, size): (u64, u64), file: BorrowedFd<'_>) -> Result<(), Trouble> {
        let mut body = MapBody::ZERO;
        body.set_argsz(body.as_bytes().len() as u32);
        body.set_flags(MapFlags::from_raw(0b11));
        body.set_address(address);
        body.set_size(size);
        self.ask(Code::DMA_MAP, body.as_bytes(), &[file])?;
        Ok(())
    }
    /// Sets the eventfds of the first MSI-X vectors.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn set_irqs(&mut self, files: &[BorrowedFd<'_>]) -> Result<(), Trouble> {
        let mut body = SetIrqs::ZERO;
        body.set_argsz(body.as_bytes().len() as u32);
        body.set_flags(
            SetIrqFlags::ZERO.with_eventfd(true).and_then(|flags| flags.with_trigger(true)).expect("bits"),
        );
        body.set_index(Irq::MSIX);
        body.set_count(files.len() as u32);
        self.ask(Code::DEVICE_SET_IRQS, body.as_bytes(), files)?;
        Ok(())
    }
}

fn access(region: Region, offset: u64, count: u32) -> Access {
    let mut body = Access::ZERO;
    body.set_offset(offset);
    body.set_region(region);
    body.set_count(count);
    body
}

/// A driver with a controller that it has started, one command at a time.
pub struct Driver {
    client: Client,
    memory: File,
    /// Eventfds of the admin queue and of the I/O queue.
    interrupts: [OwnedFd; 2],
    admin: QueuePair,
    io: QueuePair,
}

impl Driver {
    /// Starts the controller behind a socket.
    ///
    /// # Errors
    /// Why it does not start.
    pub fn attach(socket: UnixStream) -> Result<Self, Trouble> {
        let mut client = Client::connect(socket)?;
        let memory = memfd_create("lanetwin-driver", MemfdFlags::CLOEXEC)?;
        ftruncate(&memory, MEMORY)?;
        client.map((0, MEMORY), memory.as_fd())?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let interrupts = [eventfd(0, flags)?, eventfd(0, flags)?];
        client.set_irqs(&[interrupts[0].as_fd(), interrupts[1].as_fd()])?;
        let (admin, io) = (pair(0, ADMIN_SQ, ADMIN_CQ), pair(1, IO_SQ, IO_CQ));
        let mut driver = Self { client, memory: memory.into(), interrupts, admin, io };
        driver.start()?;
        Ok(driver)
    }
    /// The client that it is.
    pub const fn client(&mut self) -> &mut Client {
        &mut self.client
    }
    /// Starts the controller anew, as after a reset.
    ///
    /// # Errors
    /// Why it does not start.
    pub fn start(&mut self) -> Result<(), Trouble> {
        (self.admin, self.io) = (pair(0, ADMIN_SQ, ADMIN_CQ), pair(1, IO_SQ, IO_CQ));
        // the phase of entries from before would be that of new ones
        self.memory.write_all_at(&[0; 6 * PAGE as usize], 0)?;
        let priority = QueuePriority::MEDIUM;
        let queue =
            IoQueue { entries: ENTRIES, sq_address: IO_SQ, cq_address: IO_CQ, vector: Some(1), priority };
        let mut bringup = Bringup::new(BringupConfig {
            admin_entries: ENTRIES,
            admin_sq_address: ADMIN_SQ,
            admin_cq_address: ADMIN_CQ,
            buffer: IDENTITY,
            page_log2: 12,
            queues: vec![queue],
            weighted: None,
            coalescing: None,
            doorbell_buffers: None,
        });
        let mut action = bringup.next(Answer::Start)?;
        let mut page = [0; PAGE as usize];
        loop {
            action = match action {
                Action::Read { offset } => {
                    let read = self.client.read(Region::BAR0, offset.into(), 4)?;
                    let value = u32::from_le_bytes(read.try_into().map_err(|_| Trouble::Protocol)?);
                    bringup.next(Answer::Register(value))?
                }
                Action::Write { offset, value } => {
                    self.client.write(Region::BAR0, offset.into(), &value.to_le_bytes())?;
                    bringup.next(Answer::Done)?
                }
                Action::Submit { command } => {
                    let Completed { status, dw0, .. } = self.run(SqId::ADMIN, command)?;
                    self.memory.read_exact_at(&mut page, IDENTITY)?;
                    bringup.next(Answer::Completed { status, dw0, buffer: &page })?
                }
                Action::Ready => return Ok(()),
            };
        }
    }
    /// Runs a command with data in either direction.
    ///
    /// # Errors
    /// Why there is no completion.
    ///
    /// # Panics
    /// If the data exceed the driver's buffer of 1 MiB.
    pub fn one(&mut self, mut command: Command, data: &mut [u8]) -> Result<Status, Trouble> {
        assert!(data.len() as u64 <= MEMORY - DATA, "the driver has room for 1 MiB");
        if !data.is_empty() {
            self.memory.write_all_at(data, DATA)?;
            if let Some(list) = point_prp(&mut command, DATA, data.len() as u32, PAGE as u32, LIST) {
                let entries: Vec<u8> = list.entries().flat_map(u64::to_le_bytes).collect();
                self.memory.write_all_at(&entries, LIST)?;
            }
        }
        let ended = self.run(SqId(1), command)?;
        if !data.is_empty() {
            self.memory.read_exact_at(data, DATA)?;
        }
        Ok(ended.status)
    }
    /// Rings for a command, and waits for its interrupt and its completion.
    fn run(&mut self, queue: SqId, command: Command) -> Result<Completed, Trouble> {
        let is_admin = queue == SqId::ADMIN;
        let pair = if is_admin { &mut self.admin } else { &mut self.io };
        let submitted = pair.submit(command, 0).map_err(|_| Trouble::Protocol)?;
        self.memory.write_all_at(submitted.entry.as_bytes(), submitted.address)?;
        let at = pair.next_completion();
        if let Some((doorbell, value)) = submitted.ring {
            self.ring(doorbell, value)?;
        }
        loop {
            self.wait(usize::from(!is_admin))?;
            let mut entry = [0; 16];
            self.memory.read_exact_at(&mut entry, at)?;
            let pair = if is_admin { &mut self.admin } else { &mut self.io };
            let Some(completed) = pair.consume(CompletionEntry::from_bytes(entry)) else { continue };
            if let Some((doorbell, value)) = completed.ring {
                self.ring(doorbell, value)?;
            }
            return Ok(completed);
        }
    }
    fn ring(&mut self, doorbell: Doorbell, value: u16) -> Result<(), Trouble> {
        let offset = doorbell_offset(doorbell, 0);
        self.client.write(Region::BAR0, offset.into(), &u32::from(value).to_le_bytes())
    }
    fn wait(&self, vector: usize) -> Result<(), Trouble> {
        let interrupt = &self.interrupts[vector];
        let mut fds = [PollFd::from_borrowed_fd(interrupt.as_fd(), PollFlags::IN)];
        let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
        if poll(&mut fds, Some(&patience))? == 0 {
            return Err(Trouble::Silent);
        }
        rustix::io::read(interrupt, &mut [0; 8])?;
        Ok(())
    }
}

fn pair(number: u16, sq_address: u64, cq_address: u64) -> QueuePair {
    QueuePair::new(QueuePairConfig {
        sqid: SqId(number),
        cqid: CqId(number),
        sq_entries: ENTRIES,
        cq_entries: ENTRIES,
        sq_address,
        cq_address,
        ring_tail: RingPolicy::Each,
        ring_head: RingPolicy::Each,
    })
}
