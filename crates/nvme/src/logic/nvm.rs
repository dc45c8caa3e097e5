//! State shared by the controllers of a subsystem: identity, namespaces, the sanitize operation, counters.

use super::access::Access;
use super::config::{LbaFormat, SubsystemConfig};
use super::telemetry::ControllerInitiated;
use crate::spec::admin::SanitizeDword10;
use crate::spec::feature::WriteProtectionState;
use crate::spec::log::{EventType, IoEvent, LogPage, NoticeEvent, SanitizeState};
use crate::spec::{Nsid, Status};

/// A namespace.
#[derive(Clone, Debug)]
pub(super) struct Namespace {
    pub nsid: Nsid,
    pub bytes: u64,
    pub formats: Vec<LbaFormat>,
    pub format: u8,
    /// Log2 of the block size in bytes, in the current format.
    pub block_log2: u8,
    /// Number of blocks in that format.
    pub blocks: u64,
    /// Bit *n* is set if the namespace is attached to the controller with index *n*.
    pub attached: u64,
    pub protection: WriteProtectionState,
    pub failed: bool,
    pub formatting: bool,
    /// Remaining part of a format operation \[%\], as reported by the owner.
    pub format_remaining: u8,
    pub zero_after_deallocate: bool,
}

impl Namespace {
    /// Sets the format with this number; an unknown number changes nothing.
    pub fn set_format(&mut self, format: u8) {
        if let Some(chosen) = self.formats.get(usize::from(format)) {
            self.format = format;
            self.block_log2 = chosen.data_size_log2;
            self.blocks = self.bytes >> chosen.data_size_log2;
        }
    }
    /// Checks whether a command can access these blocks.
    #[inline]
    pub fn check(&self, slba: u64, blocks: u32, writes: bool) -> Result<(), Status> {
        if self.formatting {
            return Err(Status::FORMAT_IN_PROGRESS);
        }
        if self.failed {
            return Err(Status::NAMESPACE_NOT_READY);
        }
        if slba.checked_add(blocks.into()).is_none_or(|end| end > self.blocks) {
            return Err(Status::LBA_OUT_OF_RANGE);
        }
        if writes && self.is_protected() { Err(Status::NAMESPACE_WRITE_PROTECTED) } else { Ok(()) }
    }
    /// Whether writes are refused.
    pub fn is_protected(&self) -> bool {
        self.protection != WriteProtectionState::NONE
    }
}

/// An event that all controllers report to their hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Notice {
    pub kind: EventType,
    pub information: u8,
    pub log: LogPage,
    /// The namespace that has changed, for the Changed Namespace List.
    pub changed: Option<Nsid>,
    /// Index of the controller that caused the event and does not report it.
    pub but: Option<u8>,
}

/// The sanitize operation (Base 2.0 §8.21).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sanitize {
    pub state: SanitizeState,
    /// Dword 10 of the last command.
    pub dword10: SanitizeDword10,
    /// Progress \[1/65536\].
    pub progress: u16,
    /// Whether nothing has been written since the last sanitize operation.
    pub erased: bool,
}

/// Counters of all controllers for the SMART log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counters {
    pub reads: u64,
    pub writes: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
}

/// State shared by the controllers.
#[derive(Clone, Debug)]
pub(super) struct Nvm {
    pub config: SubsystemConfig,
    /// Namespaces, ordered by number.
    pub namespaces: Vec<Namespace>,
    /// ANA state of the namespaces at each port.
    pub access: Access,
    pub sanitize: Sanitize,
    pub counters: Counters,
    /// Controller-initiated telemetry.
    pub telemetry: ControllerInitiated,
    /// Number of pending media effects of controllers that have been reset; no other media effect starts until they are
    /// done.
    pub fence: u32,
    /// Events to be reported.
    pub notices: Vec<Notice>,
    /// Whether a subsystem reset has been requested.
    pub reset_asked: bool,
}

impl Nvm {
    /// State after power on.
    pub fn new(config: &SubsystemConfig) -> Self {
        let index =
            |id| config.controllers.iter().position(|controller| controller.id == id).unwrap_or(usize::MAX);
        let mut namespaces: Vec<Namespace> = config
            .namespaces
            .iter()
            .map(|namespace| {
                let attached = namespace.attached.iter().fold(0, |bits, &id| bits | 1 << index(id));
                let mut made = Namespace {
                    nsid: namespace.nsid,
                    bytes: namespace.bytes,
                    formats: namespace.formats.clone(),
                    format: 0,
                    block_log2: 0,
                    blocks: 0,
                    attached,
                    protection: WriteProtectionState::NONE,
                    failed: false,
                    formatting: false,
                    format_remaining: 0,
                    zero_after_deallocate: namespace.zero_after_deallocate,
                };
                made.set_format(namespace.format);
                made
            })
            .collect();
        namespaces.sort_by_key(|namespace| namespace.nsid);
        let sanitize = Sanitize {
            state: SanitizeState::NEVER,
            dword10: SanitizeDword10::ZERO,
            progress: 0xffff,
            erased: true,
        };
        Self {
            config: config.clone(),
            access: Access::new(config.access_ports, namespaces.len()),
            namespaces,
            sanitize,
            counters: Counters::default(),
            telemetry: ControllerInitiated::default(),
            fence: 0,
            notices: Vec::new(),
            reset_asked: false,
        }
    }

    /// Index of the namespace with this number, usually the number less one.
    #[inline]
    pub fn place(&self, nsid: Nsid) -> Option<usize> {
        let guess = nsid.0.wrapping_sub(1) as usize;
        if self.namespaces.get(guess).is_some_and(|namespace| namespace.nsid == nsid) {
            return Some(guess);
        }
        self.namespaces.binary_search_by_key(&nsid, |namespace| namespace.nsid).ok()
    }
    /// The namespace with this number, if it is attached to the controller with this index.
    #[inline]
    pub fn active(&self, nsid: Nsid, controller: u8) -> Option<&Namespace> {
        let namespace = &self.namespaces[self.place(nsid)?];
        (namespace.attached >> controller & 1 == 1).then_some(namespace)
    }
    /// The namespaces attached to the controller with this index.
    pub fn all_active(&self, controller: u8) -> impl Iterator<Item = &Namespace> {
        self.namespaces.iter().filter(move |namespace| namespace.attached >> controller & 1 == 1)
    }
    /// Status with which the ANA state refuses commands for a namespace at this port, if it does (Base 2.0 §8.1).
    #[inline]
    pub fn barrier(&self, port: u16, nsid: Nsid) -> Option<Status> {
        if !self.access.is_reported() {
            return None;
        }
        self.access.barrier(port, self.place(nsid)?)
    }
    /// Status with which all I/O commands are refused now, if any.
    #[inline]
    pub fn obstacle(&self) -> Option<Status> {
        match self.sanitize.state {
            SanitizeState::IN_PROGRESS => Some(Status::SANITIZE_IN_PROGRESS),
            SanitizeState::FAILED => Some(Status::SANITIZE_FAILED),
            _ => None,
        }
    }
}

/// Ends the sanitize operation.
pub(super) fn sanitize_done(nvm: &mut Nvm, status: Status) {
    if nvm.sanitize.state != SanitizeState::IN_PROGRESS {
        return;
    }
    let kept = nvm.sanitize.dword10.no_deallocate();
    nvm.sanitize.state = match status.is_success() {
        true if kept => SanitizeState::COMPLETED_NO_DEALLOCATE,
        true => SanitizeState::COMPLETED,
        false => SanitizeState::FAILED,
    };
    nvm.sanitize.erased = status.is_success();
    nvm.sanitize.progress = 0xffff;
    nvm.notices.push(Notice {
        kind: EventType::IO_COMMAND_SET,
        information: IoEvent::SANITIZE_COMPLETED.0,
        log: LogPage::SANITIZE_STATUS,
        changed: None,
        but: None,
    });
}

/// The notice that a namespace has changed.
pub(super) fn namespace_changed(nsid: Option<Nsid>, but: Option<u8>) -> Notice {
    Notice {
        kind: EventType::NOTICE,
        information: NoticeEvent::NAMESPACE_CHANGED.0,
        log: LogPage::CHANGED_NAMESPACES,
        changed: nsid,
        but,
    }
}
