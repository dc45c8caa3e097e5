//! One controller: its registers, queues and commands in progress.
//!
//! ```text
//!             write_register, ring                            fetched, transferred, media_done, …
//!                     │                                                     │
//!   registers ─► queues ─► arbiter ─► Fetch      slots ◄────────────────────┘
//!                  ▲                               │  pointers: PRP lists, SGLs
//!                  └──── Complete, Interrupt ◄─────┘  io, admin: what commands do
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`registers`], [`stage`] | properties, enabling, shutdown, reset |
//! | [`queues`] | positions in queues |
//! | [`arbiter`] | arbitration between queues |
//! | [`slots`] | commands in progress |
//! | [`fetch`], [`fetches`] | fetching submission queue entries, or taking commands that a front submitted |
//! | [`connected`] | queues that a front creates, commands that it submits, properties of a fabric |
//! | [`complete`] | ending commands: entries, interrupts, completions held back |
//! | [`pointers`] | location of the data |
//! | [`io`] | I/O commands, and the transfer of data part by part |
//! | [`admin`] | admin commands |
//! | [`manage`] | creation and deletion of queues, Abort, Format, Sanitize |
//! | [`identify`], [`logs`], [`error_log`], [`telemetry`] | identify structures and logs |
//! | [`features`], [`settings`] | features |
//! | [`events`], [`interrupts`], [`shadow`] | asynchronous events, interrupts, shadow doorbells |

mod admin;
mod arbiter;
mod complete;
mod connected;
mod error_log;
mod events;
mod features;
mod fetch;
mod fetches;
mod identify;
mod interrupts;
mod io;
mod logs;
mod manage;
mod pointers;
mod queues;
mod registers;
mod settings;
mod shadow;
mod slots;
mod stage;
mod telemetry;

use super::config::ControllerConfig;
use super::effect::{Effect, HostEffect, Kind, MediaRequest, Resumed, Ticket, Token};
use super::health::Health;
use super::nvm::Notice;
use super::nvm::Nvm;
use super::telemetry::HostInitiated;
use super::telemetry::Telemetry;
use crate::spec::ana::{ANA_CHANGED, ANA_LOG};
use crate::spec::log::{EventType, LogPage};
use crate::spec::registers::{AdminQueueAttributes, Capabilities, Configuration, ControllerStatus};
use crate::spec::{ControllerId, Nsid, Status};
use arbiter::Arbiter;
use error_log::ErrorLog;
use events::Events;
use fetches::Fetches;
use interrupts::Interrupts;
use lanetwin_units::Instant;
use queues::{CompletionQueue, DoorbellBuffers, QueueState, SubmissionQueue};
use settings::Features;
use slots::Slots;
use stage::Stage;

/// Context of a call to a controller: time, shared state, and effects.
pub(in crate::logic) struct Cx<'a> {
    pub now: Instant,
    pub nvm: &'a mut Nvm,
    pub effects: &'a mut Vec<Effect>,
}

impl Cx<'_> {
    /// Adds an effect for the front.
    #[inline]
    pub fn host(&mut self, effect: HostEffect) {
        self.effects.push(Effect::Host(effect));
    }
}

/// A controller.
#[derive(Clone, Debug)]
pub(in crate::logic) struct Controller {
    /// Index among the controllers of the subsystem.
    index: u8,
    /// Port of its host.
    port: u16,
    config: ControllerConfig,
    capabilities: Capabilities,
    configuration: Configuration,
    status: ControllerStatus,
    attributes: AdminQueueAttributes,
    admin_sq_address: u64,
    admin_cq_address: u64,
    interrupt_mask: u32,
    stage: Stage,
    /// Number of resets, modulo [`Ticket::EPOCHS`].
    epoch: u16,
    /// Number of outstanding effects, of all epochs.
    under_way: u32,
    /// Number of outstanding media effects of this epoch.
    media_under_way: u32,
    /// Log2 of the memory page size in bytes.
    page_log2: u8,
    submission_queues: Vec<SubmissionQueue>,
    completion_queues: Vec<CompletionQueue>,
    arbiter: Arbiter,
    fetches: Fetches,
    slots: Slots,
    /// Media effects that wait for those of a controller that has been reset.
    parked: Vec<(Token, MediaRequest)>,
    interrupts: Interrupts,
    features: Features,
    events: Events,
    errors: ErrorLog,
    /// Host-initiated telemetry; persists across resets.
    telemetry: HostInitiated,
    doorbell_buffers: Option<DoorbellBuffers>,
    /// Namespaces that have changed since the host last read the list.
    changed: Vec<Nsid>,
    /// The pending wake that was requested last.
    wake_asked: Instant,
}

impl Controller {
    /// A controller after power on.
    pub fn new(index: u8, config: &ControllerConfig) -> Self {
        let features = Features::default();
        let queues = usize::from(config.io_queues) + 1;
        Self {
            index,
            port: 0,
            config: config.clone(),
            capabilities: config.capabilities(),
            configuration: Configuration::ZERO,
            status: ControllerStatus::ZERO,
            attributes: AdminQueueAttributes::ZERO,
            admin_sq_address: 0,
            admin_cq_address: 0,
            interrupt_mask: 0,
            stage: Stage::Disabled,
            epoch: 0,
            under_way: 0,
            media_under_way: 0,
            page_log2: 12,
            submission_queues: vec![SubmissionQueue::ABSENT; queues],
            completion_queues: vec![CompletionQueue::ABSENT; queues],
            arbiter: Arbiter::new(queues, features.arbitration),
            fetches: Fetches::new(config.fetches),
            slots: Slots::new(config.commands_in_progress),
            parked: Vec::new(),
            interrupts: Interrupts::new(config.vectors),
            features,
            events: Events::new(config.event_requests),
            errors: ErrorLog::new(config.error_entries),
            telemetry: HostInitiated::default(),
            doorbell_buffers: None,
            changed: Vec::new(),
            wake_asked: Instant::NEVER,
        }
    }
    /// Identifier of the controller.
    pub fn id(&self) -> ControllerId {
        self.config.id
    }

    /// Creates a token for an effect that begins now.
    #[inline]
    fn token(&mut self, kind: Kind, number: u32, part: u16) -> Token {
        self.under_way += 1;
        Ticket { controller: self.index, kind, epoch: self.epoch, number, part }.token()
    }
    /// Counts an effect as resumed. Returns false if it began before a reset and must be ignored.
    #[inline]
    pub fn returned(&mut self, ticket: Ticket, cx: &mut Cx<'_>) -> bool {
        self.under_way = self.under_way.saturating_sub(1);
        let known = ticket.epoch == self.epoch;
        let media = matches!(ticket.kind, Kind::Media | Kind::Shutdown);
        if known {
            self.media_under_way -= u32::from(media && self.media_under_way > 0);
        } else {
            if media {
                cx.nvm.fence = cx.nvm.fence.saturating_sub(1);
            }
            self.effect_after_reset(cx);
        }
        known
    }
    /// A fetch has ended.
    #[inline]
    pub fn fetched(&mut self, ticket: Ticket, resumed: Resumed<'_>, cx: &mut Cx<'_>) {
        if !self.is_enabled() {
            return;
        }
        match ticket.kind {
            Kind::Commands => self.commands_arrived(ticket.number, resumed, cx),
            Kind::Pointers => self.pointers_arrived(ticket.number, resumed, cx),
            Kind::Content => self.content_arrived(ticket.number, resumed, cx),
            Kind::Shadow => self.shadow_arrived(ticket.number, resumed, cx),
            _ => {}
        }
        self.pump(cx);
    }
    /// A transfer has ended.
    #[inline]
    pub fn moved(&mut self, ticket: Ticket, moved: bool, cx: &mut Cx<'_>) {
        if self.is_enabled() && ticket.kind == Kind::Data {
            self.data_done(ticket.number, ticket.part, moved, cx);
            self.pump(cx);
        }
    }
    /// The medium has answered.
    #[inline]
    pub fn answered(&mut self, ticket: Ticket, status: Status, cx: &mut Cx<'_>) {
        if ticket.kind == Kind::Shutdown {
            self.shutdown_done();
        } else if self.is_enabled() && ticket.kind == Kind::Media {
            self.capture_if_faulty(ticket.number, status, cx);
            self.media_done(ticket.number, ticket.part, status, cx);
            self.pump(cx);
        }
    }
    /// Takes the owner's counters; `None` if they are not available.
    pub fn examined(&mut self, ticket: Ticket, health: Option<&Health>, cx: &mut Cx<'_>) {
        if self.is_enabled() && ticket.kind == Kind::Health {
            self.health_arrived(ticket.number, health, cx);
            self.pump(cx);
        }
    }
    /// Takes the owner's state; `None` if it is not available.
    pub fn captured(&mut self, ticket: Ticket, state: Option<&Telemetry>, cx: &mut Cx<'_>) {
        if self.is_enabled() && ticket.kind == Kind::Telemetry {
            self.telemetry_arrived(ticket.number, state, cx);
            self.pump(cx);
        }
    }
    /// Takes an event that all controllers report to their hosts.
    pub fn notice(&mut self, notice: Notice, cx: &mut Cx<'_>) {
        if !self.is_enabled() || notice.but == Some(self.index) {
            return;
        }
        if let Some(nsid) = notice.changed {
            if !self.changed.contains(&nsid) {
                self.changed.push(nsid);
                self.changed.sort_unstable();
            }
            if !self.features.events.namespace_attributes() {
                return;
            }
        }
        if notice.kind == EventType::SMART
            && self.features.events.critical_warnings() & notice_warning(notice.information) == 0
        {
            return;
        }
        if notice.log == LogPage::TELEMETRY_CONTROLLER && !self.features.events.telemetry() {
            return;
        }
        self.events.raise(notice.kind, notice.information, notice.log);
        self.tell_events(cx);
        self.pump(cx);
    }
    /// An ANA state has changed at this port: reports it to hosts that enabled the event.
    pub fn access_changed(&mut self, port: u16, cx: &mut Cx<'_>) {
        if self.is_enabled() && self.port == port && self.features.events.asymmetric_access() {
            self.events.raise(EventType::NOTICE, ANA_CHANGED, ANA_LOG);
            self.tell_events(cx);
            self.pump(cx);
        }
    }
    /// The pieces of host memory of an outstanding effect.
    pub fn segments(&self, ticket: Ticket) -> slots::Range<'_> {
        static NOWHERE: slots::Pieces = slots::Pieces::NONE;
        match self.slots.get(ticket.number) {
            Some(slot) if ticket.kind == Kind::Data && ticket.epoch == self.epoch => {
                let (offset, bytes) = slot.part(ticket.part);
                slot.pieces.range(offset, bytes)
            }
            _ => NOWHERE.range(0, 0),
        }
    }
    /// Data of the controller for an outstanding effect.
    pub fn content(&self, ticket: Ticket) -> &[u8] {
        match self.slots.get(ticket.number) {
            Some(slot) if ticket.kind == Kind::Data && ticket.epoch == self.epoch => &slot.content,
            _ => &[],
        }
    }
    /// Queue, identifier and opcode of the command of an effect.
    pub fn command(&self, ticket: Ticket) -> Option<(u16, u16, u8)> {
        let of_command =
            matches!(ticket.kind, Kind::Pointers | Kind::Content | Kind::Data | Kind::Media | Kind::Health)
                || ticket.kind == Kind::Telemetry;
        let slot = self.slots.get(ticket.number).filter(|_| of_command && ticket.epoch == self.epoch)?;
        Some((slot.sqid, slot.cid, slot.command.dword0().opcode()))
    }
    /// Requests a wake, unless an earlier one is pending.
    fn wake_at(&mut self, at: Instant, cx: &mut Cx<'_>) {
        if at < self.wake_asked {
            self.wake_asked = at;
            cx.effects.push(Effect::WakeAt { at });
        }
    }
    /// Does the work that is due at the present time.
    pub fn wake(&mut self, cx: &mut Cx<'_>) {
        if self.wake_asked > cx.now {
            return;
        }
        self.wake_asked = Instant::NEVER;
        self.starting(cx);
        self.keep_alive(cx);
        while let Some(vector) = self.interrupts.due(cx.now) {
            cx.host(HostEffect::Interrupt { controller: self.config.id, vector });
        }
        let next = self.interrupts.next_deadline().min(self.features.keep_alive_deadline);
        let next = match self.stage {
            // a controller that is late waits for outstanding effects, not for a time
            Stage::Starting(at) if at > cx.now => next.min(at),
            _ => next,
        };
        self.wake_at(next, cx);
    }
}

/// The critical warnings that correspond to a SMART event (Base 2.0 §5.2.1).
const fn notice_warning(information: u8) -> u8 {
    match information {
        0 => 0b01_1100, // reliability: degraded, read only, backup failed
        1 => 0b00_0010,
        _ => 0b00_0001,
    }
}
