//! The front of a drive on PCIe: reads and writes of host memory over its ports, interrupts, and what completions
//! bring.

use super::buffer::Buffer;
use super::known::{ANSWER, Command, ENGINE, ENGINE_QUEUE, FETCH, FIRMWARE, Known, MEDIUM};
use super::params;
use super::totals::Signals;
use crate::requests::Requests;
use crate::slab::Slab;
use lanetwin_kernel::{Port, Trail};
use lanetwin_nvme::logic::{Direction, HostEffect, Place, Purpose, Segment, Token};
use lanetwin_nvme::spec::registers::DOORBELLS;
use lanetwin_nvme::spec::{ControllerId, SqId};
use lanetwin_ports::{Attributes, Context, Params, SharedMemory, Site, Tlps, device_of};
use lanetwin_ssd::{MediumTimes, Output, Ssd, Stage};

/// The size of the write that signals an MSI-X vector \[B\].
const MSI_BYTES: u32 = 4;
/// Where MSI-X writes go: the address of a local interrupt controller.
const MSI_ADDRESS: u64 = 0xfee0_0000;
/// The size of a doorbell and of a submission queue entry \[B\].
const DOORBELL_BYTES: u32 = 4;
const COMMAND_BYTES: u32 = 64;
/// Why data and completions are nowhere else.
const NO_OTHER_PLACE: &str =
    "queues of a drive on PCIe are in host memory, and so are their data and completions";

/// The ports of a drive, and what crosses them.
pub(super) struct Front {
    /// By port; none where the drive is not plugged in: there it does nothing.
    requests: Vec<Option<Requests>>,
    /// The bytes of the host's memory, by port: the hosts of a dual-port drive can be two.
    memories: [Option<SharedMemory>; 2],
    /// Reads of host memory that are under way, by their handles on the link.
    reads: Slab<Reading>,
    known: Known,
    /// The memory that others reach, by port; none where there is none.
    pub(super) buffers: Vec<Option<Buffer>>,
    pub(super) signals: Signals,
    pub(super) unexpected: u64,
}

/// A read of host memory that is under way.
struct Reading {
    token: Token,
    /// What has not arrived yet \[B\].
    left: u32,
    what: What,
}

/// What is read.
#[derive(Clone, Copy)]
enum What {
    /// Bytes that mean something: entries of this queue, lists.
    Bytes { address: u64, bytes: u32, commands: Option<SqId> },
    /// User data.
    Data,
}

/// What the TLPs of a command are called on the link: no two commands in progress share it. No drive has so many
/// queues that a controller would not fit beside them.
pub(super) const fn command_name(controller: ControllerId, queue: u16, command: u16) -> u32 {
    (controller.0 as u32) << 31 | (queue as u32) << 16 | command as u32
}

/// What the TLPs of a command are called on the link.
fn name(ssd: &Ssd, token: Token) -> u32 {
    let command = ssd.command(token);
    command.map_or(u32::MAX, |command| command_name(command.controller, command.sqid.0, command.cid.0))
}

impl Front {
    pub(super) fn new(params: &Params, site: &Site) -> Self {
        let issue = params.time("issue");
        let sites = site.pcie.iter().take(params::ports(params).into()).enumerate();
        let requests =
            sites.map(|(i, port)| port.map(|port| Requests::new(Port(i as u16), port, port.root, issue)));
        let buffers = site.pcie.iter().enumerate();
        let buffers = buffers.map(|(i, port)| Buffer::new(params, Port(i as u16), (*port)?)).collect();
        let mut memories = [site.memory.clone(), site.memory.clone()];
        for (port, memory) in &site.behind {
            if let Some(own) = memories.get_mut(*port) {
                *own = Some(memory.clone());
            }
        }
        Self {
            requests: requests.collect(),
            memories,
            reads: Slab::new(),
            known: Known::default(),
            buffers,
            signals: Signals::default(),
            unexpected: 0,
        }
    }
    /// Does what the drive wants, or notes what it tells.
    #[inline]
    pub(super) fn take(&mut self, output: Output, ssd: &mut Ssd, cx: &mut Context<'_>) {
        match output {
            Output::Host(effect) => self.carry_out(effect, ssd, cx),
            Output::Stage { command: Some(command), stage: Stage::Done(times) } => {
                let name = command_name(command.controller, command.sqid.0, command.cid.0);
                self.medium_done(name, times, cx);
            }
            Output::Stage { .. } => {}
        }
    }
    /// The medium is done with a command, or with a part of it.
    fn medium_done(&mut self, name: u32, times: MediumTimes, cx: &mut Context<'_>) {
        let MediumTimes { begun, worked, submitted } = times;
        let command = self.known.command(name);
        cx.resume(command.arrived);
        cx.mark_until(begun, ENGINE_QUEUE);
        cx.mark_until(worked, ENGINE);
        cx.mark_until(submitted, FIRMWARE);
        cx.mark(MEDIUM);
        command.done = cx.trail();
    }
    /// A doorbell has come. The first since the last fetch of its queue is what that waits for.
    pub(super) fn rung(&mut self, controller: ControllerId, offset: u32, cx: &Context<'_>) {
        self.signals.doorbells += 1;
        let number = (offset - DOORBELLS) / DOORBELL_BYTES;
        if number.is_multiple_of(2) {
            let known = self.known.doorbell(command_name(controller, (number / 2) as u16, 0));
            if *known == Trail::NONE {
                *known = cx.trail();
            }
        }
    }
    /// Entries of a queue have come from `address`: each command goes on from where its host has left it.
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

    fn carry_out(&mut self, effect: HostEffect, ssd: &mut Ssd, cx: &mut Context<'_>) {
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
            HostEffect::Transfer { token, direction: Direction::FromHost, bytes, at } => {
                cx.resume(self.arrived(ssd, token));
                let handle = self.reads.put(Reading { token, left: bytes, what: What::Data });
                self.each_segment(ssd, (token, at, bytes), cx, |requests, segment, cx| {
                    requests.read(handle, segment.address, segment.bytes, cx);
                });
            }
            HostEffect::Transfer { token, direction: Direction::ToHost, bytes, at } => {
                let handle = name(ssd, token);
                cx.resume(Trail::NONE);
                self.each_segment(ssd, (token, at, bytes), cx, |requests, segment, cx| {
                    requests.write(handle, segment.address, segment.bytes, Attributes::NONE, cx);
                });
                ssd.transferred(now, token);
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
                self.write_small((controller, 0), address, &value.to_le_bytes(), cx);
            }
            HostEffect::Interrupt { controller, vector } => {
                self.signals.interrupts += 1;
                cx.resume(Trail::NONE);
                if let Some(requests) = self.port(controller) {
                    requests.write(vector.into(), MSI_ADDRESS, MSI_BYTES, Attributes::SIGNAL, cx);
                }
            }
            // a host on PCIe finds it in CSTS
            HostEffect::KeepAliveExpired { .. } => {}
            HostEffect::Respond { .. } => unreachable!("{NO_OTHER_PLACE}"),
        }
    }

    /// Writes what the controller has made of a command, a log or a structure, to the host's memory.
    fn store(&mut self, what: (Token, Place, u32), ssd: &mut Ssd, cx: &mut Context<'_>) {
        let (token, ..) = what;
        let (memory, mut from) = (self.memories.get(token.controller()).cloned().flatten(), 0);
        let (handle, content) = (name(ssd, token), ssd.content(token));
        cx.resume(Trail::NONE);
        self.each_segment(ssd, what, cx, |requests, segment, cx| {
            let part = content.get(from..).unwrap_or_default();
            let part = &part[..part.len().min(segment.bytes as usize)];
            memory.iter().for_each(|memory| memory.change().post(segment.address, part));
            from += segment.bytes as usize;
            requests.write(handle, segment.address, segment.bytes, Attributes::NONE, cx);
        });
        ssd.stored(cx.now(), token);
    }

    /// Completions have arrived: what has been read completely lets the drive go on.
    pub(super) fn completions(&mut self, port: usize, tlps: &Tlps, ssd: &mut Ssd, cx: &mut Context<'_>) {
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

    /// How far a command has come of which everything that was asked for has arrived.
    fn arrived(&mut self, ssd: &Ssd, token: Token) -> Trail {
        ssd.command(token).map_or(Trail::NONE, |_| self.known.command(name(ssd, token)).arrived)
    }
    /// Something that a command needs has arrived just now.
    fn has_arrived(&mut self, ssd: &Ssd, token: Token, cx: &Context<'_>) {
        if ssd.command(token).is_some() {
            self.known.command(name(ssd, token)).arrived = cx.trail();
        }
    }
    /// Reads host memory; the drive goes on when all of it has come.
    fn read(&mut self, reading: Reading, address: u64, bytes: u32, cx: &mut Context<'_>) {
        let port = reading.token.controller();
        let handle = self.reads.put(reading);
        if let Some(requests) = self.requests.get_mut(port).and_then(Option::as_mut) {
            requests.read(handle, address, bytes, cx);
        }
    }

    /// Whether the data of a command lie in the memory of the drive itself (CMB): they then cross no link.
    #[inline]
    fn has_data(&self, ssd: &Ssd, token: Token, at: Place) -> bool {
        if !self.buffers.get(token.controller()).is_some_and(Option::is_some) {
            return false;
        }
        let first = match at {
            Place::Memory { address } => Some(address),
            _ => ssd.segments(token).next().map(|segment| segment.address),
        };
        first.is_some_and(|address| device_of(address).is_some())
    }
    /// The port of a controller.
    fn port(&self, controller: ControllerId) -> Option<&Requests> {
        self.requests.get(usize::from(controller.0))?.as_ref()
    }

    /// What peers have read from the drive's memory and written to it so far \[B\].
    pub(super) fn moved_by_peers(&self) -> (u64, u64) {
        let all = self.buffers.iter().flatten().map(|buffer| buffer.traffic);
        all.fold((0, 0), |sum, own| (sum.0 + own.completion_bytes, sum.1 + own.write_bytes))
    }

    /// The ports that are plugged in, each with what is behind the names of what it has: nothing for the first.
    pub(super) fn plugged(&self) -> impl Iterator<Item = (&'static str, &Requests)> {
        ["", " of the second port"]
            .into_iter()
            .zip(&self.requests)
            .filter_map(|(name, port)| Some((name, port.as_ref()?)))
    }

    /// Writes a few bytes that mean something to the memory of a controller's host, under this handle.
    fn write_small(
        &self,
        (from, handle): (ControllerId, u32),
        address: u64,
        bytes: &[u8],
        cx: &mut Context<'_>,
    ) {
        if let Some(memory) = self.memories.get(usize::from(from.0)).and_then(Option::as_ref) {
            memory.change().post(address, bytes);
        }
        if let Some(requests) = self.port(from) {
            requests.write(handle, address, bytes.len() as u32, Attributes::NONE, cx);
        }
    }

    /// Does something with each piece of host memory that an effect is about.
    fn each_segment(
        &mut self,
        ssd: &Ssd,
        (token, at, bytes): (Token, Place, u32),
        cx: &mut Context<'_>,
        mut act: impl FnMut(&mut Requests, Segment, &mut Context<'_>),
    ) {
        let Some(requests) = self.requests.get_mut(token.controller()).and_then(Option::as_mut) else {
            return;
        };
        if let Place::Memory { address } = at {
            act(requests, Segment { address, bytes }, cx);
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
                    act(requests, before, cx);
                    Some(segment)
                }
                None => Some(segment),
            };
        }
        whole.into_iter().for_each(|segment| act(requests, segment, cx));
    }
}
