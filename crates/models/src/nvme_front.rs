//! The front of NVMe controllers on PCIe: reads and writes of host memory, interrupts, and completions of reads. The
//! controllers may have a medium or a network behind them.

pub(crate) mod buffer;
pub(crate) mod known;
mod posting;

use crate::requests::Requests;
use crate::slab::Slab;
use buffer::Buffer;
use known::{ANSWER, Command, FETCH, Known};
use lanetwin_kernel::{Metric, Port, Report, Trail};
use lanetwin_nvme::logic::{Direction, HostEffect, Place, Purpose, Segment, Token};
use lanetwin_nvme::spec::registers::DOORBELLS;
use lanetwin_nvme::spec::{ControllerId, SqId};
use lanetwin_ports::{Attributes, Context, SharedMemory, Site, Tlps, device_of};
use lanetwin_ssd::Controllers;
use lanetwin_units::{Better, Bytes, Span};
use posting::{Posted, Posting};

const RUNG: Metric = Metric::new("doorbells", "/command", Better::Lower);
const SHADOW_READS: Metric =
    Metric::new("shadow doorbells read", "/command", Better::Lower).if_any("shadow doorbells");
const INTERRUPTS: Metric = Metric::new("interrupts", "/command", Better::Lower);

/// The size of the write that signals an MSI-X vector \[B\].
const MSI_BYTES: u32 = 4;
/// Address of MSI-X writes: that of a local interrupt controller.
const MSI_ADDRESS: u64 = 0xfee0_0000;
/// The size of a doorbell and of a submission queue entry \[B\].
const DOORBELL_BYTES: u32 = 4;
const COMMAND_BYTES: u32 = 64;
/// Why data and completions are nowhere else.
const NO_OTHER_PLACE: &str =
    "queues of a drive on PCIe are in host memory, and so are their data and completions";

/// Counters of signals between host and controllers, over all ports.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Signals {
    /// Doorbells that were rung.
    pub doorbells: u64,
    /// Shadow doorbells that the controller has read.
    pub shadow_reads: u64,
    /// Completion queue entries.
    pub completions: u64,
    /// MSI-X vectors that were signalled.
    pub interrupts: u64,
}

impl Signals {
    /// Tells them, for each command.
    pub(crate) fn report(&self, report: &mut Report) {
        report.ratio(RUNG, [self.doorbells, self.completions], 1.0);
        report.ratio(SHADOW_READS, [self.shadow_reads, self.completions], 1.0);
        report.ratio(INTERRUPTS, [self.interrupts, self.completions], 1.0);
    }
}

/// The ports of controllers, and their traffic.
pub(crate) struct Front {
    /// By port; none where the drive is not plugged in: there it does nothing.
    requests: Vec<Option<Requests>>,
    /// The writes to host memory, by port.
    posting: [Posting; 2],
    /// The bytes of the host's memory, by port: the hosts of a dual-port drive can be two.
    memories: [Option<SharedMemory>; 2],
    /// Reads of host memory in progress, by their handles on the link.
    reads: Slab<Reading>,
    pub(crate) known: Known,
    /// The memory that others reach, by port; none where there is none.
    pub(crate) buffers: Vec<Option<Buffer>>,
    pub(crate) signals: Signals,
    pub(crate) unexpected: u64,
}

/// A read of host memory in progress.
struct Reading {
    token: Token,
    /// Bytes still to arrive \[B\].
    left: u32,
    what: What,
}

/// Purpose of a read.
#[derive(Clone, Copy)]
enum What {
    /// Bytes that mean something: entries of this queue, lists.
    Bytes { address: u64, bytes: u32, commands: Option<SqId> },
    /// User data.
    Data,
}

/// Handle of the TLPs of a command on the link, unique among commands in progress. No drive has so many queues that
/// the controller's number would not fit as well.
pub(crate) const fn command_name(controller: ControllerId, queue: u16, command: u16) -> u32 {
    (controller.0 as u32) << 31 | (queue as u32) << 16 | command as u32
}

/// Handle of the TLPs of a command on the link.
pub(crate) fn name<C: Controllers>(ssd: &C, token: Token) -> u32 {
    let command = ssd.command(token);
    command.map_or(u32::MAX, |command| command_name(command.controller, command.sqid.0, command.cid.0))
}

impl Front {
    /// The front of controllers at the first `ports` ports of a site. It offers everything `issue` after it could, and
    /// at most `most_ahead` bytes of posted writes that the link has not sent; `buffers` are the memories that others
    /// reach, by port.
    pub(crate) fn new(
        site: &Site,
        ports: u16,
        (issue, most_ahead): (Span, Bytes),
        buffers: Vec<Option<Buffer>>,
    ) -> Self {
        let sites = site.pcie.iter().take(ports.into()).enumerate();
        let requests =
            sites.map(|(i, port)| port.map(|port| Requests::new(Port(i as u16), port, port.root, issue)));
        let mut memories = [site.memory.clone(), site.memory.clone()];
        for (port, memory) in &site.behind {
            if let Some(own) = memories.get_mut(*port) {
                *own = Some(memory.clone());
            }
        }
        Self {
            requests: requests.collect(),
            posting: [most_ahead, most_ahead].map(Posting::new),
            memories,
            reads: Slab::new(),
            known: Known::default(),
            buffers,
            signals: Signals::default(),
            unexpected: 0,
        }
    }
    /// Notes a doorbell. The next fetch of its queue starts from the first one since the last fetch.
    pub(crate) fn rung(&mut self, controller: ControllerId, offset: u32, cx: &Context<'_>) {
        self.signals.doorbells += 1;
        let number = (offset - DOORBELLS) / DOORBELL_BYTES;
        if number.is_multiple_of(2) {
            let known = self.known.doorbell(command_name(controller, (number / 2) as u16, 0));
            if *known == Trail::NONE {
                *known = cx.trail();
            }
        }
    }
    /// Handles entries of a queue that have come from `address`: each command continues its host's trail.
    fn entries(
        &mut self,
        (controller, queue): (ControllerId, SqId),
        (address, bytes): (u64, u32),
        cx: &mut Context<'_>,
    ) {
        let Some(memory) = self.memories.get(usize::from(controller.0)).and_then(Option::as_ref) else {
            return;
        };
        let (memory, fetch) = (memory.reader(), cx.trail());
        for entry in (address..address + u64::from(bytes)).step_by(COMMAND_BYTES as usize) {
            let Some(&[low, high]) = memory.read(entry + 2, 2) else { return };
            cx.resume(fetch);
            cx.join(memory.trail(entry), FETCH);
            let name = command_name(controller, queue.0, u16::from_le_bytes([low, high]));
            *self.known.command(name) = Command { arrived: cx.trail(), done: Trail::NONE };
        }
    }

    /// Carries out an effect of a controller at its host.
    #[inline]
    pub(crate) fn carry_out<C: Controllers>(
        &mut self,
        effect: HostEffect,
        ssd: &mut C,
        cx: &mut Context<'_>,
    ) {
        let now = cx.now();
        match effect {
            HostEffect::Fetch { token, at, bytes, purpose } => {
                let Place::Memory { address } = at else { unreachable!("{NO_OTHER_PLACE}") };
                self.signals.shadow_reads += u64::from(matches!(purpose, Purpose::ShadowDoorbell(_)));
                let commands = if let Purpose::Commands(queue) = purpose { Some(queue) } else { None };
                let controller = ControllerId(token.controller() as u16);
                cx.resume(match commands {
                    Some(queue) => std::mem::take(self.known.doorbell(command_name(controller, queue.0, 0))),
                    None => self.arrived(ssd, token),
                });
                cx.mark(FETCH);
                let what = What::Bytes { address, bytes, commands };
                self.read(Reading { token, left: bytes, what }, address, bytes, cx);
            }
            HostEffect::Transfer { token, at, .. } if self.has_data(ssd, token, at) => {
                ssd.transferred(now, token);
            }
            HostEffect::Transfer { token, direction, bytes, at } => {
                self.transfer((token, at, bytes), direction, ssd, cx);
            }
            HostEffect::Store { token, bytes, at } => self.store((token, at, bytes), ssd, cx),
            HostEffect::Complete { controller, address, entry, .. } => {
                let handle = command_name(controller, entry.sq_number(), entry.cid_number());
                let command = *self.known.command(handle);
                cx.resume(if command.done == Trail::NONE { command.arrived } else { command.done });
                cx.mark(ANSWER);
                self.signals.completions += 1;
                self.write_small((controller, handle), address, &entry.to_bytes(), cx);
            }
            HostEffect::EventIndex { controller, address, value, .. } => {
                cx.resume(Trail::NONE);
                self.write_ahead(controller, address, &value.to_le_bytes(), cx);
            }
            HostEffect::Interrupt { controller, vector } => {
                self.signals.interrupts += 1;
                cx.resume(Trail::NONE);
                let (handle, address, bytes) = (vector.into(), MSI_ADDRESS, MSI_BYTES);
                let attributes = Attributes::SIGNAL;
                self.write(controller, Posted { handle, address, bytes, attributes }, cx);
            }
            // a host on PCIe finds it in CSTS
            HostEffect::KeepAliveExpired { .. } => {}
            HostEffect::Respond { .. } => unreachable!("{NO_OTHER_PLACE}"),
        }
    }

    /// Reads or writes user data.
    #[inline]
    fn transfer<C: Controllers>(
        &mut self,
        what: (Token, Place, u32),
        direction: Direction,
        ssd: &mut C,
        cx: &mut Context<'_>,
    ) {
        let (token, _, bytes) = what;
        match direction {
            Direction::FromHost => {
                cx.resume(self.arrived(ssd, token));
                let handle = self.reads.put(Reading { token, left: bytes, what: What::Data });
                self.each_segment(ssd, what, cx, |requests, _, segment, cx| {
                    requests.read(handle, segment.address, segment.bytes, cx);
                });
            }
            Direction::ToHost => {
                let handle = name(ssd, token);
                cx.resume(Trail::NONE);
                self.each_segment(ssd, what, cx, |requests, posting, Segment { address, bytes }, cx| {
                    posting.write(
                        requests,
                        Posted { handle, address, bytes, attributes: Attributes::NONE },
                        cx,
                    );
                });
                ssd.transferred(cx.now(), token);
            }
        }
    }

    /// Writes data that the controller has made (a command's result, a log or a structure) to host memory.
    fn store<C: Controllers>(&mut self, what: (Token, Place, u32), ssd: &mut C, cx: &mut Context<'_>) {
        let (token, ..) = what;
        let (memory, mut from) = (self.memories.get(token.controller()).cloned().flatten(), 0);
        let (handle, content) = (name(ssd, token), ssd.content(token));
        cx.resume(Trail::NONE);
        self.each_segment(ssd, what, cx, |requests, posting, segment, cx| {
            let part = content.get(from..).unwrap_or_default();
            let part = &part[..part.len().min(segment.bytes as usize)];
            memory.iter().for_each(|memory| memory.change().post(segment.address, part));
            from += segment.bytes as usize;
            let (Segment { address, bytes }, attributes) = (segment, Attributes::NONE);
            posting.write(requests, Posted { handle, address, bytes, attributes }, cx);
        });
        ssd.stored(cx.now(), token);
    }

    /// Handles completions: a read that is complete is reported to the drive.
    pub(crate) fn completions<C: Controllers>(
        &mut self,
        port: usize,
        tlps: &Tlps,
        ssd: &mut C,
        cx: &mut Context<'_>,
    ) {
        if let Some(requests) = self.requests.get_mut(port).and_then(Option::as_mut) {
            requests.completed(tlps, cx);
        }
        let Some(reading) = self.reads.get(tlps.handle) else {
            self.unexpected += u64::from(tlps.count);
            return;
        };
        reading.left = reading.left.saturating_sub(u32::from(tlps.count) * u32::from(tlps.bytes));
        if reading.left > 0 {
            return;
        }
        let Some(Reading { token, what, .. }) = self.reads.take(tlps.handle) else { return };
        let now = cx.now();
        match what {
            What::Data => {
                self.has_arrived(ssd, token, cx);
                ssd.transferred(now, token);
            }
            What::Bytes { address, bytes, commands } => {
                match commands {
                    Some(queue) => {
                        let controller = ControllerId(token.controller() as u16);
                        self.entries((controller, queue), (address, bytes), cx);
                    }
                    None => self.has_arrived(ssd, token, cx),
                }
                let memory = self.memories.get(token.controller()).and_then(Option::as_ref);
                let memory = memory.map(SharedMemory::reader);
                match memory.as_ref().and_then(|memory| memory.read(address, bytes as usize)) {
                    Some(bytes) => ssd.fetched(now, token, bytes),
                    None => ssd.failed(now, token),
                }
            }
        }
    }

    /// The trail of a command of which all requested data have arrived.
    pub(crate) fn arrived<C: Controllers>(&mut self, ssd: &C, token: Token) -> Trail {
        ssd.command(token).map_or(Trail::NONE, |_| self.known.command(name(ssd, token)).arrived)
    }
    /// Something that a command needs has arrived just now.
    pub(crate) fn has_arrived<C: Controllers>(&mut self, ssd: &C, token: Token, cx: &Context<'_>) {
        if ssd.command(token).is_some() {
            self.known.command(name(ssd, token)).arrived = cx.trail();
        }
    }
    /// Marks a command that has just been completed behind the controllers.
    pub(crate) fn is_done<C: Controllers>(&mut self, ssd: &C, token: Token, cx: &Context<'_>) {
        if ssd.command(token).is_some() {
            self.known.command(name(ssd, token)).done = cx.trail();
        }
    }
    /// Reads host memory; the read is reported to the drive when it is complete.
    fn read(&mut self, reading: Reading, address: u64, bytes: u32, cx: &mut Context<'_>) {
        let port = reading.token.controller();
        let handle = self.reads.put(reading);
        if let Some(requests) = self.requests.get_mut(port).and_then(Option::as_mut) {
            requests.read(handle, address, bytes, cx);
        }
    }

    /// Whether the data of a command are in the drive's own memory (CMB) and cross no link.
    #[inline]
    fn has_data<C: Controllers>(&self, ssd: &C, token: Token, at: Place) -> bool {
        if !self.buffers.get(token.controller()).is_some_and(Option::is_some) {
            return false;
        }
        let first = match at {
            Place::Memory { address } => Some(address),
            _ => ssd.segments(token).next().map(|segment| segment.address),
        };
        first.is_some_and(|address| device_of(address).is_some())
    }
    /// Writes to the memory of a controller's host.
    fn write(&mut self, controller: ControllerId, posted: Posted, cx: &mut Context<'_>) {
        let port = usize::from(controller.0);
        if let Some(requests) = self.requests.get(port).and_then(Option::as_ref) {
            self.posting[port].write(requests, posted, cx);
        }
    }
    /// The link of a port has sent what it was to report.
    pub(crate) fn departed(&mut self, port: usize, cx: &mut Context<'_>) {
        if let Some(requests) = self.requests.get(port).and_then(Option::as_ref) {
            self.posting[port].departed(requests, cx);
        }
    }

    /// Bytes that peers have read from and written to the drive's memory so far \[B\].
    pub(crate) fn moved_by_peers(&self) -> (u64, u64) {
        let all = self.buffers.iter().flatten().map(|buffer| buffer.traffic);
        all.fold((0, 0), |sum, own| (sum.0 + own.completion_bytes, sum.1 + own.write_bytes))
    }

    /// The ports that are plugged in, each with the suffix of its names: empty for the first.
    pub(crate) fn plugged(&self) -> impl Iterator<Item = (&'static str, &Requests)> {
        ["", " of the second port"]
            .into_iter()
            .zip(&self.requests)
            .filter_map(|(name, port)| Some((name, port.as_ref()?)))
    }

    /// Writes a few bytes that mean something to the memory of a controller's host, under this handle.
    fn write_small(
        &mut self,
        (from, handle): (ControllerId, u32),
        address: u64,
        bytes: &[u8],
        cx: &mut Context<'_>,
    ) {
        if let Some(memory) = self.memories.get(usize::from(from.0)).and_then(Option::as_ref) {
            memory.change().post(address, bytes);
        }
        let (bytes, attributes) = (bytes.len() as u32, Attributes::NONE);
        self.write(from, Posted { handle, address, bytes, attributes }, cx);
    }

    /// Writes a few bytes to the memory of a controller's host before everything that has not been handed to the link:
    /// reads that the controller requests from now on arrive behind them.
    fn write_ahead(&self, controller: ControllerId, address: u64, bytes: &[u8], cx: &mut Context<'_>) {
        let port = usize::from(controller.0);
        if let Some(memory) = self.memories.get(port).and_then(Option::as_ref) {
            memory.change().post(address, bytes);
        }
        if let Some(requests) = self.requests.get(port).and_then(Option::as_ref) {
            requests.write(0, address, bytes.len() as u32, Attributes::NONE, cx);
        }
    }

    /// Does something with each piece of host memory that an effect is about.
    fn each_segment<C: Controllers>(
        &mut self,
        ssd: &C,
        (token, at, bytes): (Token, Place, u32),
        cx: &mut Context<'_>,
        mut act: impl FnMut(&mut Requests, &mut Posting, Segment, &mut Context<'_>),
    ) {
        let port = token.controller();
        let Some(requests) = self.requests.get_mut(port).and_then(Option::as_mut) else { return };
        let posting = &mut self.posting[port];
        if let Place::Memory { address } = at {
            act(requests, posting, Segment { address, bytes }, cx);
            return;
        }
        // neighbours are one transfer: a data pointer has pages, the link has not
        let mut whole: Option<Segment> = None;
        for segment in ssd.segments(token) {
            whole = match whole {
                Some(before) if before.address + u64::from(before.bytes) == segment.address => {
                    Some(Segment { bytes: before.bytes + segment.bytes, ..before })
                }
                Some(before) => {
                    act(requests, posting, before, cx);
                    Some(segment)
                }
                None => Some(segment),
            };
        }
        whole.into_iter().for_each(|segment| act(requests, posting, segment, cx));
    }
}
