//! A subsystem: controllers that share namespaces.
//!
//! Each event of a controller is a call with the controller and the time. The effects that the controller requests are
//! appended to the caller's list of [`Effect`]s, which is not cleared. Calls with an unknown controller or an invalid
//! token have no effect.
//!
//! When a controller is reset, or lost with its port, its commands end without a completion, and their requests to the
//! medium may or may not be executed. The media effects of other controllers are held back until those requests have
//! ended. So a command that a host repeats through another controller is always executed after the original.

use super::config::{ConfigFault, SubsystemConfig};
use super::connection::{Capsule, ConnectFault, Connection, ControllerChoice, PropertySize, Refused};
use super::controller::{Controller, Cx};
use super::effect::{Effect, Kind, Resumed, Segment, Ticket, Token};
use super::health::Health;
use super::nvm::{Notice, Nvm, namespace_changed, sanitize_done};
use super::telemetry::Telemetry;
use crate::spec::ana::AnaState;
use crate::spec::log::{EventType, LogPage, NoticeEvent, SmartEvent};
use crate::spec::{Cid, ControllerId, Doorbell, Nsid, SqId, Status};
use lanetwin_units::Instant;

/// The command that a token belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandInfo {
    /// The controller.
    pub controller: ControllerId,
    /// The submission queue.
    pub sqid: SqId,
    /// The command identifier.
    pub cid: Cid,
    /// The opcode.
    pub opcode: u8,
}

/// A subsystem: controllers and namespaces.
#[derive(Clone, Debug)]
pub struct Subsystem {
    nvm: Nvm,
    controllers: Vec<Controller>,
}

impl Subsystem {
    /// A subsystem after power on: no controller is enabled.
    ///
    /// # Errors
    /// The first field that is out of its range.
    pub fn new(config: &SubsystemConfig) -> Result<Self, ConfigFault> {
        config.check()?;
        let controllers = config
            .controllers
            .iter()
            .enumerate()
            .map(|(index, of)| Controller::new(index as u8, of))
            .collect();
        Ok(Self { nvm: Nvm::new(config), controllers })
    }

    /// Calls one controller, and handles the consequences for the others.
    #[inline]
    fn act(
        &mut self,
        now: Instant,
        index: usize,
        effects: &mut Vec<Effect>,
        action: impl FnOnce(&mut Controller, &mut Cx<'_>),
    ) {
        let Some(controller) = self.controllers.get_mut(index) else { return };
        let fenced = self.nvm.fence > 0;
        action(controller, &mut Cx { now, nvm: &mut self.nvm, effects });
        if fenced || !self.nvm.notices.is_empty() || self.nvm.reset_asked {
            self.follow(now, fenced, effects);
        }
    }
    #[cold]
    fn follow(&mut self, now: Instant, fenced: bool, effects: &mut Vec<Effect>) {
        if core::mem::take(&mut self.nvm.reset_asked) {
            for controller in &mut self.controllers {
                controller.reset(&mut Cx { now, nvm: &mut self.nvm, effects });
                controller.mark_subsystem_reset();
            }
        }
        for notice in core::mem::take(&mut self.nvm.notices) {
            for controller in &mut self.controllers {
                controller.notice(notice, &mut Cx { now, nvm: &mut self.nvm, effects });
            }
        }
        if fenced && self.nvm.fence == 0 {
            for controller in &mut self.controllers {
                controller.unpark(&mut Cx { now, nvm: &mut self.nvm, effects });
            }
        }
    }
    #[inline]
    fn index(&self, controller: ControllerId) -> usize {
        self.controllers.iter().position(|known| known.id() == controller).unwrap_or(usize::MAX)
    }
    /// Resumes an effect.
    #[inline]
    fn resume(
        &mut self,
        now: Instant,
        token: Token,
        effects: &mut Vec<Effect>,
        action: impl FnOnce(&mut Controller, Ticket, &mut Cx<'_>),
    ) {
        let of_none = |ticket: &Ticket| matches!(ticket.kind, Kind::Sanitize | Kind::Capture);
        let Some(ticket) = Ticket::of(token).filter(|ticket| !of_none(ticket)) else { return };
        self.act(now, ticket.controller.into(), effects, |controller, cx| {
            if controller.returned(ticket, cx) {
                action(controller, ticket, cx);
            }
        });
    }

    /// Reads a dword of a controller's registers; 0 if there is none.
    #[must_use]
    pub fn read_register(&self, controller: ControllerId, offset: u32) -> u32 {
        self.controllers.get(self.index(controller)).map_or(0, |controller| controller.read_register(offset))
    }
    /// Writes a dword of a controller's registers, including doorbells. A register of 64 bits is two dwords.
    pub fn write_register(
        &mut self,
        now: Instant,
        controller: ControllerId,
        offset: u32,
        value: u32,
        effects: &mut Vec<Effect>,
    ) {
        let index = self.index(controller);
        self.act(now, index, effects, |controller, cx| controller.write_register(offset, value, cx));
    }
    /// Rings a doorbell.
    #[inline]
    pub fn ring(
        &mut self,
        now: Instant,
        controller: ControllerId,
        doorbell: Doorbell,
        value: u32,
        effects: &mut Vec<Effect>,
    ) {
        let index = self.index(controller);
        self.act(now, index, effects, |controller, cx| controller.ring(doorbell, value, cx));
    }

    /// Reads a property of a controller for a fabric (Property Get, NVMe-oF 1.1 §3.5).
    ///
    /// # Errors
    /// [`Status::INVALID_FIELD`] for a property that fabrics do not have, or a wrong size.
    pub fn property(&self, controller: ControllerId, offset: u32, size: PropertySize) -> Result<u64, Status> {
        let known = self.controllers.get(self.index(controller));
        known.ok_or(Status::INVALID_FIELD)?.property(offset, size)
    }
    /// Writes a property of a controller for a fabric (Property Set, NVMe-oF 1.1 §3.6).
    ///
    /// # Errors
    /// [`Status::INVALID_FIELD`] for a property that fabrics cannot write, or a value that does not fit.
    pub fn set_property(
        &mut self,
        now: Instant,
        controller: ControllerId,
        (offset, value): (u32, u64),
        effects: &mut Vec<Effect>,
    ) -> Result<(), Status> {
        let (index, mut set) = (self.index(controller), Err(Status::INVALID_FIELD));
        self.act(now, index, effects, |controller, cx| set = controller.set_property(offset, value, cx));
        set
    }
    /// Creates a queue pair whose commands a front submits, and returns its controller. An admin queue takes an unused
    /// controller.
    ///
    /// # Errors
    /// The reason why the connection is refused.
    pub fn connect(
        &mut self,
        choice: ControllerChoice,
        connection: &Connection,
    ) -> Result<ControllerId, ConnectFault> {
        let index = match choice {
            ControllerChoice::One(id) => self.index(id),
            ControllerChoice::Any => {
                let unused = self.controllers.iter().position(Controller::is_unused);
                unused.ok_or(ConnectFault::Busy)?
            }
        };
        let controller = self.controllers.get_mut(index).ok_or(ConnectFault::UnknownController)?;
        controller.connect(connection)?;
        Ok(controller.id())
    }
    /// Disconnects a queue whose connection is lost or has ended: its commands end without a completion.
    ///
    /// Their requests to the medium may still be executed, also after commands that the host sends through another
    /// queue. The end of the admin queue ends the association: the controller is [reset](Self::reset), so that no
    /// request is executed later than commands through another controller.
    pub fn disconnect(
        &mut self,
        now: Instant,
        controller: ControllerId,
        queue: SqId,
        effects: &mut Vec<Effect>,
    ) {
        if queue == SqId::ADMIN {
            return self.reset(now, controller, effects);
        }
        let index = self.index(controller);
        self.act(now, index, effects, |controller, cx| controller.disconnect(queue, cx));
    }
    /// Submits a command to a queue that was created with [`connect`](Self::connect).
    ///
    /// # Errors
    /// The reason why the command is refused.
    #[inline]
    pub fn submit(
        &mut self,
        now: Instant,
        controller: ControllerId,
        (queue, capsule): (SqId, Capsule),
        effects: &mut Vec<Effect>,
    ) -> Result<(), Refused> {
        let (index, mut taken) = (self.index(controller), Err(Refused::NoQueue));
        self.act(now, index, effects, |controller, cx| taken = controller.submit(queue, capsule, cx));
        taken
    }
    /// Sets the Keep Alive Timer of a controller \[ms\], as Connect does; 0 disables it.
    pub fn set_keep_alive(
        &mut self,
        now: Instant,
        controller: ControllerId,
        ms: u32,
        effects: &mut Vec<Effect>,
    ) {
        let index = self.index(controller);
        self.act(now, index, effects, |controller, cx| controller.set_keep_alive(ms, cx));
    }

    /// Resumes a [`Fetch`](super::HostEffect::Fetch) with its bytes. Fewer bytes than requested are a failure.
    #[inline]
    pub fn fetched(&mut self, now: Instant, token: Token, bytes: &[u8], effects: &mut Vec<Effect>) {
        self.resume(now, token, effects, |controller, ticket, cx| {
            controller.fetched(ticket, Resumed::Bytes(bytes), cx);
        });
    }
    /// Resumes the fetch of a PRP list whose content is not stored: its pages follow the previous page consecutively.
    /// For simulations with contiguous buffers. Any other fetch fails.
    pub fn fetched_contiguous(&mut self, now: Instant, token: Token, effects: &mut Vec<Effect>) {
        self.resume(now, token, effects, |controller, ticket, cx| {
            controller.fetched(ticket, Resumed::Contiguous, cx);
        });
    }
    /// Resumes a [`Transfer`](super::HostEffect::Transfer) that is done.
    #[inline]
    pub fn transferred(&mut self, now: Instant, token: Token, effects: &mut Vec<Effect>) {
        self.resume(now, token, effects, |controller, ticket, cx| controller.moved(ticket, true, cx));
    }
    /// Resumes an [`Effect::Media`] with its status.
    #[inline]
    pub fn media_done(&mut self, now: Instant, token: Token, status: Status, effects: &mut Vec<Effect>) {
        if Ticket::of(token).is_some_and(|ticket| ticket.kind == Kind::Sanitize) {
            sanitize_done(&mut self.nvm, status);
            return self.follow(now, false, effects);
        }
        self.resume(now, token, effects, |controller, ticket, cx| controller.answered(ticket, status, cx));
    }
    /// Resumes a [`Store`](super::HostEffect::Store) that is done.
    pub fn stored(&mut self, now: Instant, token: Token, effects: &mut Vec<Effect>) {
        self.transferred(now, token, effects);
    }
    /// Resumes an [`Effect::Health`] with the owner's counters.
    pub fn health(&mut self, now: Instant, token: Token, health: &Health, effects: &mut Vec<Effect>) {
        self.resume(now, token, effects, |controller, ticket, cx| {
            controller.examined(ticket, Some(health), cx)
        });
    }
    /// Resumes an [`Effect::Telemetry`] with the owner's state.
    pub fn telemetry(&mut self, now: Instant, token: Token, state: &Telemetry, effects: &mut Vec<Effect>) {
        if Ticket::of(token).is_some_and(|ticket| ticket.kind == Kind::Capture) {
            if self.nvm.telemetry.save(state) {
                let (kind, log) = (EventType::NOTICE, LogPage::TELEMETRY_CONTROLLER);
                let information = NoticeEvent::TELEMETRY_CHANGED.0;
                self.nvm.notices.push(Notice { kind, information, log, changed: None, but: None });
            }
            return self.follow(now, false, effects);
        }
        self.resume(now, token, effects, |controller, ticket, cx| {
            controller.captured(ticket, Some(state), cx);
        });
    }
    /// Resumes an effect that could not be carried out: host memory did not answer, or the link is down.
    pub fn failed(&mut self, now: Instant, token: Token, effects: &mut Vec<Effect>) {
        match Ticket::of(token).map(|ticket| ticket.kind) {
            Some(Kind::Media | Kind::Shutdown | Kind::Sanitize) => {
                self.media_done(now, token, Status::INTERNAL_ERROR, effects);
            }
            Some(Kind::Data) => self.resume(now, token, effects, |controller, ticket, cx| {
                controller.moved(ticket, false, cx);
            }),
            Some(Kind::Capture) => self.nvm.telemetry.give_up(),
            Some(Kind::Telemetry) => self.resume(now, token, effects, |controller, ticket, cx| {
                controller.captured(ticket, None, cx);
            }),
            Some(Kind::Health) => self.resume(now, token, effects, |controller, ticket, cx| {
                controller.examined(ticket, None, cx);
            }),
            _ => self.resume(now, token, effects, |controller, ticket, cx| {
                controller.fetched(ticket, Resumed::Failed, cx);
            }),
        }
    }
    /// Wakes the controllers at the time of an [`Effect::WakeAt`]. Unnecessary wakes are harmless.
    pub fn wake(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        for index in 0..self.controllers.len() {
            self.act(now, index, effects, Controller::wake);
        }
    }

    /// The pieces of host memory of a [`Transfer`](super::HostEffect::Transfer) or [`Store`](super::HostEffect::Store)
    /// that is not yet resumed, in order.
    pub fn segments(&self, token: Token) -> impl Iterator<Item = Segment> + '_ {
        let found = Ticket::of(token)
            .and_then(|ticket| Some((self.controllers.get(ticket.controller as usize)?, ticket)));
        found.into_iter().flat_map(|(controller, ticket)| controller.segments(ticket))
    }
    /// The bytes of a [`Store`](super::HostEffect::Store) that is not yet resumed.
    #[must_use]
    pub fn content(&self, token: Token) -> &[u8] {
        let Some(ticket) = Ticket::of(token) else { return &[] };
        self.controllers.get(ticket.controller as usize).map_or(&[], |controller| controller.content(ticket))
    }
    /// Number of commands in progress in all controllers, including those being fetched, and whether one of the
    /// controllers has no room for commands waiting in its queues (`commands_in_progress`).
    #[must_use]
    #[inline]
    pub fn in_progress(&self) -> (u32, bool) {
        if let [only] = &self.controllers[..] {
            return only.in_progress();
        }
        let each = self.controllers.iter().map(Controller::in_progress);
        each.fold((0, false), |(sum, short), (number, waits)| (sum + number, short || waits))
    }
    /// The command that a token belongs to; `None` for the fetch of entries or of a shadow doorbell, and for a token
    /// from before a reset.
    #[must_use]
    pub fn command(&self, token: Token) -> Option<CommandInfo> {
        let ticket = Ticket::of(token)?;
        let controller = self.controllers.get(ticket.controller as usize)?;
        let (sqid, cid, opcode) = controller.command(ticket)?;
        Some(CommandInfo { controller: controller.id(), sqid: SqId(sqid), cid: Cid(cid), opcode })
    }

    /// Resets a controller from outside, or after its loss: PCIe conventional or function level reset, or a port that
    /// went down. Its registers are as after power on. Its outstanding effects must still be resumed, as failed or
    /// done.
    pub fn reset(&mut self, now: Instant, controller: ControllerId, effects: &mut Vec<Effect>) {
        let index = self.index(controller);
        self.act(now, index, effects, Controller::reset);
        if self.nvm.fence == 0 {
            self.follow(now, true, effects);
        }
    }
    /// Attaches a namespace to a controller, or detaches it; the host is notified with an event.
    pub fn attach(
        &mut self,
        now: Instant,
        nsid: Nsid,
        controller: ControllerId,
        attached: bool,
        effects: &mut Vec<Effect>,
    ) {
        let index = self.index(controller);
        let Some(place) = self.nvm.place(nsid).filter(|_| index < self.controllers.len()) else { return };
        let before = self.nvm.namespaces[place].attached;
        let after = before & !(1 << index) | u64::from(attached) << index;
        self.nvm.namespaces[place].attached = after;
        if before != after {
            let notice = namespace_changed(Some(nsid), None);
            self.act(now, index, effects, |controller, cx| controller.notice(notice, cx));
        }
    }
    /// Sets the ANA state of a namespace at a port (Asymmetric Namespace Access); hosts of this port that enabled the
    /// event are notified. Returns false if there is no such port or namespace.
    pub fn set_access(
        &mut self,
        now: Instant,
        (port, nsid): (u16, Nsid),
        state: AnaState,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let place = self.nvm.place(nsid);
        let Some(changed) = place.and_then(|place| self.nvm.access.set(port, place, state)) else {
            return false;
        };
        if changed {
            for index in 0..self.controllers.len() {
                self.act(now, index, effects, |controller, cx| controller.access_changed(port, cx));
            }
        }
        true
    }
    /// Sets whether a namespace has failed; commands for a failed one end with Namespace Not Ready.
    pub fn set_failed(&mut self, nsid: Nsid, failed: bool) {
        if let Some(place) = self.nvm.place(nsid) {
            self.nvm.namespaces[place].failed = failed;
        }
    }
    /// Notifies hosts that enabled the event that the owner's counters have crossed a threshold.
    pub fn warn(&mut self, now: Instant, event: SmartEvent, effects: &mut Vec<Effect>) {
        let (kind, log) = (EventType::SMART, LogPage::SMART);
        self.nvm.notices.push(Notice { kind, information: event.0, log, changed: None, but: None });
        self.follow(now, false, effects);
    }
    /// Sets the progress of the sanitize operation \[1/65536\].
    pub fn sanitize_progress(&mut self, progress: u16) {
        self.nvm.sanitize.progress = progress;
    }
    /// Sets the remaining part of the format of a namespace \[%\].
    pub fn format_remaining(&mut self, nsid: Nsid, percent: u8) {
        if let Some(place) = self.nvm.place(nsid).filter(|&place| self.nvm.namespaces[place].formatting) {
            self.nvm.namespaces[place].format_remaining = percent;
        }
    }
    /// Block size of a namespace in its current format \[B\]; `None` if there is no such namespace.
    #[must_use]
    pub fn block_bytes(&self, nsid: Nsid) -> Option<u64> {
        Some(1 << self.nvm.namespaces[self.nvm.place(nsid)?].block_log2)
    }
}
