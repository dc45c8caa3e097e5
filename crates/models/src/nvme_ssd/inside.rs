//! The controller and the medium behind it.

use super::{Counters, Endurance, MEDIUM, medium, params};
use lanetwin_media::Drive;
use lanetwin_nvme::logic::{Health, MediaOperation, MediaRequest, Subsystem};
use lanetwin_nvme::spec::Nsid;
use lanetwin_ports::{Context, Params};
use lanetwin_units::Instant;
use std::cell::{RefCell, RefMut};

/// The controller and the medium.
pub(super) struct Inside {
    pub(super) subsystem: Subsystem,
    /// In a cell, because being asked what it has done lets it make up for the time since it was looked at last.
    pub(super) drive: RefCell<Drive>,
    pub(super) namespaces: u64,
    pub(super) namespace_bytes: u64,
    pub(super) block_bytes: u64,
    pub(super) idle_watts: f64,
    pub(super) endurance: Endurance,
    /// When the medium has been promised to be looked at; [`Instant::NEVER`] if not.
    pub(super) look: Instant,
}

impl Inside {
    pub(super) fn new(params: &Params, seed: u64) -> Option<Self> {
        let subsystem = params::subsystem(params);
        let block_bytes = subsystem.namespaces.first()?.formats.first()?.bytes();
        Some(Self {
            subsystem: Subsystem::new(&subsystem).ok()?,
            drive: RefCell::new(medium(params, seed)?),
            namespaces: params.count("namespaces"),
            namespace_bytes: medium::namespace_bytes(params),
            block_bytes,
            idle_watts: params.count("energy.idle-mw") as f64 / 1e3,
            endurance: Endurance::new(params),
            look: Instant::NEVER,
        })
    }

    /// Sees to it that the medium is looked at at `at`, if that is not before the present.
    #[inline]
    pub(super) fn look_at(&mut self, at: Instant, cx: &mut Context<'_>) {
        let at = at.max(cx.now());
        if at < self.look {
            self.look = at;
            cx.wake_at(at, MEDIUM);
        }
    }

    /// Sees to it that the medium is looked at when it says; if that is now, whoever looks at it goes on.
    #[inline]
    pub(super) fn look_on(&mut self, cx: &mut Context<'_>) {
        match self.drive.get_mut().next_event() {
            Some(next) if next > cx.now() => self.look_at(next, cx),
            Some(next) => self.look = next,
            None => {}
        }
    }

    /// The medium, with everything done up to `now`, the present.
    pub(super) fn up_to(&self, now: Instant) -> RefMut<'_, Drive> {
        let mut drive = self.drive.borrow_mut();
        drive.catch_up(now);
        drive
    }

    /// Where on the medium blocks of a namespace are, and whose they are.
    pub(super) fn place(&self, request: &MediaRequest) -> (u64, u64, u16) {
        let of_all = request.nsid == Nsid::ALL;
        let namespace = if of_all { 0 } else { u64::from(request.nsid.0).saturating_sub(1) };
        let bytes = match request.operation {
            MediaOperation::Format { .. } => self.namespace_bytes,
            MediaOperation::Sanitize { .. } => self.namespace_bytes * self.namespaces,
            _ => u64::from(request.blocks) * self.block_bytes,
        };
        (namespace * self.namespace_bytes + request.slba * self.block_bytes, bytes, namespace as u16)
    }
}

/// What the SMART / Health Information log says that the controller does not count itself. The drive is powered when the run begins and stays so; its medium loses nothing, so that
/// there are no media errors. It has no temperature.
pub(super) fn health(counters: &Counters, busy_ps: u128, now: Instant) -> Health {
    const PS_PER_MINUTE: u128 = 60_000_000_000_000;
    const PS_PER_HOUR: u128 = 60 * PS_PER_MINUTE;
    Health {
        percentage_used: (counters.life_used * 100.0).min(255.0) as u8,
        power_cycles: 0,
        power_on_hours: u128::from(now.as_ps()) / PS_PER_HOUR,
        busy_minutes: busy_ps / PS_PER_MINUTE,
        ..Health::default()
    }
}
