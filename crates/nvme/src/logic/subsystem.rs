//! A subsystem: controllers that share namespaces, behind one door.
//!
//! Whatever happens to a controller is a call that says who, and when; what the controller wants is appended to the caller's list of
//! [`Effect`]s, which is not cleared.

use super::config::{ConfigFault, SubsystemConfig};
use super::effect::{Doorbell, Effect, Segment, Token};
use super::health::Health;
use crate::spec::{Cid, ControllerId, Nsid, SqId, Status};
use lanetwin_units::Instant;

/// The command that a token belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandInfo {
    /// Whose it is.
    pub controller: ControllerId,
    /// From which queue.
    pub sqid: SqId,
    /// Which one.
    pub cid: Cid,
    /// What.
    pub opcode: u8,
}

/// Controllers and namespaces.
#[derive(Debug)]
pub struct Subsystem {}

impl Subsystem {
    /// A subsystem after power on: no controller is enabled.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn new(config: &SubsystemConfig) -> Result<Self, ConfigFault> {
        let _ = config;
        Ok(Self {})
    }

    /// A dword of a controller's registers; 0 where there is none.
    #[must_use]
    pub fn read_register(&self, controller: ControllerId, offset: u32) -> u32 {
        let _ = (controller, offset);
        0
    }
    /// The host writes a dword of a controller's registers, doorbells included. A register of 64 bits is two dwords.
    pub fn write_register(
        &mut self,
        now: Instant,
        controller: ControllerId,
        offset: u32,
        value: u32,
        effects: &mut Vec<Effect>,
    ) {
        let _ = (now, controller, offset, value, effects);
    }
    /// The host rings a doorbell.
    pub fn ring(
        &mut self,
        now: Instant,
        controller: ControllerId,
        doorbell: Doorbell,
        value: u32,
        effects: &mut Vec<Effect>,
    ) {
        let _ = (now, controller, doorbell, value, effects);
    }

    /// The bytes of a [`Effect::Fetch`] have come. Fewer than were asked for are a failure.
    pub fn fetched(&mut self, now: Instant, token: Token, bytes: &[u8], effects: &mut Vec<Effect>) {
        let _ = (now, token, bytes, effects);
    }
    /// A PRP list has come whose content nobody keeps: its pages follow the one before, each after each. For a simulation whose
    /// buffers are contiguous.
    pub fn fetched_contiguous(&mut self, now: Instant, token: Token, effects: &mut Vec<Effect>) {
        let _ = (now, token, effects);
    }
    /// A [`Effect::Transfer`] is done.
    pub fn transferred(&mut self, now: Instant, token: Token, effects: &mut Vec<Effect>) {
        let _ = (now, token, effects);
    }
    /// A [`Effect::Media`] has ended so.
    pub fn media_done(&mut self, now: Instant, token: Token, status: Status, effects: &mut Vec<Effect>) {
        let _ = (now, token, status, effects);
    }
    /// A [`Effect::Store`] is done.
    pub fn stored(&mut self, now: Instant, token: Token, effects: &mut Vec<Effect>) {
        let _ = (now, token, effects);
    }
    /// The owner's counters, for a [`Effect::Health`].
    pub fn health(&mut self, now: Instant, token: Token, health: &Health, effects: &mut Vec<Effect>) {
        let _ = (now, token, health, effects);
    }
    /// An effect could not be carried out: host memory did not answer, the link is down.
    pub fn failed(&mut self, now: Instant, token: Token, effects: &mut Vec<Effect>) {
        let _ = (now, token, effects);
    }
    /// The time of a [`Effect::WakeAt`] has come. To be woken for nothing does no harm.
    pub fn wake(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        let _ = (now, effects);
    }

    /// The pieces of host memory of a [`Effect::Transfer`] or [`Effect::Store`] that is not yet resumed, in order.
    pub fn segments(&self, token: Token) -> impl Iterator<Item = Segment> + '_ {
        let _ = token;
        core::iter::empty()
    }
    /// The bytes of a [`Effect::Store`] that is not yet resumed.
    #[must_use]
    pub fn content(&self, token: Token) -> &[u8] {
        let _ = token;
        &[]
    }
    /// The command that a token belongs to; none for the fetch of entries or of a shadow doorbell, and for a token of before a reset.
    #[must_use]
    pub fn command(&self, token: Token) -> Option<CommandInfo> {
        let _ = token;
        None
    }

    /// A reset of the controller from outside: PCIe conventional or function level reset. Its registers are as after power on.
    pub fn reset(&mut self, now: Instant, controller: ControllerId, effects: &mut Vec<Effect>) {
        let _ = (now, controller, effects);
    }
    /// Attaches a namespace to a controller, or detaches it; the host is told by an event.
    pub fn attach(
        &mut self,
        now: Instant,
        nsid: Nsid,
        controller: ControllerId,
        attached: bool,
        effects: &mut Vec<Effect>,
    ) {
        let _ = (now, nsid, controller, attached, effects);
    }
    /// Makes a namespace fail, or work again: a failed one answers Namespace Not Ready.
    pub fn set_failed(&mut self, nsid: Nsid, failed: bool) {
        let _ = (nsid, failed);
    }
    /// How far a sanitize is \[1/65536\].
    pub fn sanitize_progress(&mut self, progress: u16) {
        let _ = progress;
    }
}
