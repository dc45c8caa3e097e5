//! What the controller wants done outside: reads and writes of host memory over its port, interrupts, and everything else that an effect asks for.

use super::inside::{Inside, health};
use super::{CONTROLLER_WAKE, MSI_ADDRESS, MSI_BYTES, NvmeSsd, Reading, What, command_name};
use crate::requests::Requests;
use lanetwin_nvme::logic::{Direction, Effect, HostEffect, Place, Purpose, Segment, Token};
use lanetwin_nvme::spec::ControllerId;
use lanetwin_ports::{Attributes, Context};
use std::cmp::Reverse;

/// Why data are nowhere else.
const NO_OTHER_PLACE: &str = "what a queue in host memory has is in host memory";

impl NvmeSsd {
    pub(super) fn carry_out(&mut self, effect: Effect, effects: &mut Vec<Effect>, cx: &mut Context<'_>) {
        let Some(inside) = &mut self.inside else { return };
        let now = cx.now();
        match effect {
            Effect::Host(effect) => self.carry_out_for_host(effect, effects, cx),
            Effect::Media { token, request } => self.ask(token, request, cx),
            Effect::Health { token } => {
                let busy_ps = self.busy.map_or(0, |busy| busy.integral_ps(now));
                let health = health(&inside.up_to(now).counters(), busy_ps, now);
                inside.subsystem.health(now, token, &health, effects);
            }
            Effect::WakeAt { at } => {
                let at = at.max(now);
                if self.wakes.peek().is_none_or(|Reverse(first)| at < *first) {
                    cx.wake_at(at, CONTROLLER_WAKE);
                }
                self.wakes.push(Reverse(at));
            }
        }
    }

    fn carry_out_for_host(&mut self, effect: HostEffect, effects: &mut Vec<Effect>, cx: &mut Context<'_>) {
        let now = cx.now();
        match effect {
            HostEffect::Fetch { token, at, bytes, purpose } => {
                let Place::Memory { address } = at else { unreachable!("{NO_OTHER_PLACE}") };
                self.signals.shadow_reads += u64::from(matches!(purpose, Purpose::ShadowDoorbell(_)));
                let what = What::Bytes { address, bytes, commands: matches!(purpose, Purpose::Commands(_)) };
                self.read(Reading { token, left: bytes, what, asked: now }, address, bytes, cx);
            }
            HostEffect::Transfer { token, direction: Direction::FromHost, bytes, at } => {
                self.note(token, |recorder, name| recorder.begin(name, now));
                let handle = self.reads.put(Reading { token, left: bytes, what: What::Data, asked: now });
                self.each_segment(token, at, bytes, cx, |requests, segment, cx| {
                    requests.read(handle, segment.address, segment.bytes, cx, &mut |_| {});
                });
            }
            HostEffect::Transfer { token, direction: Direction::ToHost, bytes, at } => {
                let handle = self.name(token);
                self.each_segment(token, at, bytes, cx, |requests, segment, cx| {
                    requests.write(handle, segment.address, segment.bytes, Attributes::NONE, cx);
                });
                self.inside_mut().subsystem.transferred(now, token, effects);
            }
            HostEffect::Store { token, bytes, at } => {
                let content = self.inside_mut().subsystem.content(token).to_vec();
                let (memory, mut from) = (self.memories.get(token.controller()).cloned().flatten(), 0);
                let handle = self.name(token);
                self.each_segment(token, at, bytes, cx, |requests, segment, cx| {
                    let part = content.get(from..).unwrap_or_default();
                    let part = &part[..part.len().min(segment.bytes as usize)];
                    memory.iter().for_each(|memory| memory.change().post(segment.address, part));
                    from += segment.bytes as usize;
                    requests.write(handle, segment.address, segment.bytes, Attributes::NONE, cx);
                });
                self.inside_mut().subsystem.stored(now, token, effects);
            }
            HostEffect::Complete { controller, address, entry, .. } => {
                let handle = command_name(controller, entry.sq_number(), entry.cid_number());
                self.recorder.iter_mut().for_each(|recorder| recorder.end(handle, now));
                self.signals.completions += 1;
                self.write_small((controller, handle), address, &entry.to_bytes(), cx);
            }
            HostEffect::EventIndex { controller, address, value, .. } => {
                self.write_small((controller, 0), address, &value.to_le_bytes(), cx);
            }
            HostEffect::Interrupt { controller, vector } => {
                self.signals.interrupts += 1;
                if let Some(requests) = self.port(controller) {
                    requests.write(vector.into(), MSI_ADDRESS, MSI_BYTES, Attributes::SIGNAL, cx);
                }
            }
            // a host on PCIe finds it in CSTS
            HostEffect::KeepAliveExpired { .. } => {}
            HostEffect::Respond { .. } => unreachable!("{NO_OTHER_PLACE}"),
        }
    }

    pub(super) fn inside_mut(&mut self) -> &mut Inside {
        self.inside.as_mut().expect("effects come from a controller")
    }

    /// What the TLPs of a command are called on the link.
    pub(super) fn name(&self, token: Token) -> u32 {
        let command = self.inside.as_ref().and_then(|inside| inside.subsystem.command(token));
        command.map_or(u32::MAX, |command| command_name(command.controller, command.sqid.0, command.cid.0))
    }

    /// Reads host memory; the controller goes on when all of it has come.
    fn read(&mut self, reading: Reading, address: u64, bytes: u32, cx: &mut Context<'_>) {
        let port = reading.token.controller();
        let handle = self.reads.put(reading);
        if let Some(requests) = self.requests.get_mut(port).and_then(Option::as_mut) {
            requests.read(handle, address, bytes, cx, &mut |_| {});
        }
    }

    /// The port of a controller.
    pub(super) fn port(&self, controller: ControllerId) -> Option<&Requests> {
        self.requests.get(usize::from(controller.0))?.as_ref()
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
        token: Token,
        at: Place,
        bytes: u32,
        cx: &mut Context<'_>,
        mut act: impl FnMut(&mut Requests, Segment, &mut Context<'_>),
    ) {
        let requests = self.requests.get_mut(token.controller()).and_then(Option::as_mut);
        let (Some(requests), Some(inside)) = (requests, &self.inside) else { return };
        if let Place::Memory { address } = at {
            act(requests, Segment { address, bytes }, cx);
            return;
        }
        // neighbours are one transfer: a data pointer has pages, the link has not
        let mut whole: Option<Segment> = None;
        for segment in inside.subsystem.segments(token) {
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
