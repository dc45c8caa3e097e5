//! Discovery controllers: no namespaces, no I/O queues, one log (NVMe-oF 1.1 §5; Base 2.0 §3.1.2.3).

use crate::spec::discovery::{DISCOVERY_CHANGE_BIT, DISCOVERY_CHANGED, DISCOVERY_LOG, DISCOVERY_NQN};
use lanetwin_nvme::logic::PropertySize;
use lanetwin_nvme::spec::admin::{
    GetFeaturesDword10, IdentifyDword10, IdentifyStructure, LogDword10, LogDword11, SetFeaturesDword10,
};
use lanetwin_nvme::spec::feature::Feature;
use lanetwin_nvme::spec::identify::{
    ControllerType, EntrySizes, IdentifyController, LogAttributes, OptionalEvents, SglSupport,
};
use lanetwin_nvme::spec::log::{EventResult, EventType};
use lanetwin_nvme::spec::registers::{
    CAP, CC, CSTS, Capabilities, Configuration, ControllerStatus, ShutdownNotification, ShutdownStatus,
    VERSION, VS, Version,
};
use lanetwin_nvme::spec::{AdminOpcode, Cid, Command, ControllerId, Status};
use lanetwin_units::{Instant, Span};
use std::collections::VecDeque;

/// Maximum size of an admin queue \[entries\] (ASQSZ). `assumed`: as Linux.
pub(super) const MOST_ENTRIES: u32 = 128;
/// Maximum number of outstanding Asynchronous Event Requests. `assumed`: as Linux.
const EVENT_REQUESTS: usize = 4;

/// Maximum length of the log that one command returns \[B\]. `assumed`: 1 MiB, as transfers of Linux targets.
const MOST_LOG_BYTES: u64 = 1 << 20;

/// Result of a command of a discovery controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// The command ends with this status and dword 0.
    Ends(Status, u32),
    /// The command ends successfully with these bytes for the host.
    Gives(Vec<u8>),
    /// The command ends with the next event.
    Waits,
}

/// A discovery controller.
#[derive(Clone, Debug)]
pub(super) struct DiscoveryController {
    id: ControllerId,
    configuration: Configuration,
    keep_alive_ms: u32,
    pub deadline: Instant,
    events_wanted: u32,
    requests: VecDeque<Cid>,
    /// Whether the log has changed without a notice to the host; whether the host has not read the log since its last
    /// notice.
    changed: bool,
    told: bool,
}

impl DiscoveryController {
    pub fn new(id: ControllerId, keep_alive_ms: u32, now: Instant) -> Self {
        let mut made = Self {
            id,
            configuration: Configuration::ZERO,
            keep_alive_ms,
            deadline: Instant::NEVER,
            events_wanted: 0,
            requests: VecDeque::new(),
            changed: false,
            told: false,
        };
        made.keep_alive(now);
        made
    }
    fn keep_alive(&mut self, now: Instant) {
        let ms = self.keep_alive_ms;
        self.deadline = if ms == 0 { Instant::NEVER } else { now + Span::from_us(1000) * u64::from(ms) };
    }
    fn is_ready(&self) -> bool {
        self.configuration.enable() && self.configuration.shutdown() == ShutdownNotification::NONE
    }
    fn status(&self) -> ControllerStatus {
        let shut = self.configuration.shutdown() != ShutdownNotification::NONE;
        let shutdown = if shut { ShutdownStatus::COMPLETE } else { ShutdownStatus::NORMAL };
        let raw = u32::from(self.configuration.enable()) | u32::from(shutdown.0) << 2;
        ControllerStatus::from_raw(raw)
    }
    /// Property Get.
    pub fn property(&self, offset: u32, size: PropertySize) -> Result<u64, Status> {
        let capabilities = 1 << 37 | 1 << 24 | 1 << 16 | u64::from(MOST_ENTRIES - 1);
        match (offset, size) {
            (CAP, PropertySize::Eight) => Ok(Capabilities::from_raw(capabilities).raw()),
            (VS, PropertySize::Four) => Ok(VERSION.into()),
            (CC, PropertySize::Four) => Ok(self.configuration.raw().into()),
            (CSTS, PropertySize::Four) => Ok(self.status().raw().into()),
            _ => Err(Status::INVALID_FIELD),
        }
    }
    /// Property Set.
    pub fn set_property(&mut self, offset: u32, value: u64) -> Result<(), Status> {
        let value = u32::try_from(value).ok().filter(|_| offset == CC).ok_or(Status::INVALID_FIELD)?;
        self.configuration = Configuration::from_raw(value);
        if !self.configuration.enable() {
            self.requests.clear();
            (self.events_wanted, self.changed, self.told) = (0, false, false);
        }
        Ok(())
    }

    /// Executes a command; `log` returns the whole log.
    pub fn command(&mut self, now: Instant, command: &Command, log: impl FnOnce() -> Vec<u8>) -> Answer {
        let fails = |status| Answer::Ends(status, 0);
        if !self.is_ready() {
            return fails(Status::COMMAND_SEQUENCE_ERROR);
        }
        match AdminOpcode(command.dword0().opcode()) {
            AdminOpcode::IDENTIFY => self.identify(command),
            AdminOpcode::GET_LOG_PAGE => self.give_log(command, log),
            AdminOpcode::KEEP_ALIVE => {
                self.keep_alive(now);
                Answer::Ends(Status::SUCCESS, 0)
            }
            AdminOpcode::SET_FEATURES => {
                match Feature(SetFeaturesDword10::from_raw(command.cdw10()).feature()) {
                    Feature::KEEP_ALIVE_TIMER => {
                        self.keep_alive_ms = command.cdw11();
                        self.keep_alive(now);
                    }
                    Feature::EVENT_CONFIGURATION => self.events_wanted = command.cdw11(),
                    _ => return fails(Status::INVALID_FIELD),
                }
                Answer::Ends(Status::SUCCESS, 0)
            }
            AdminOpcode::GET_FEATURES => {
                match Feature(GetFeaturesDword10::from_raw(command.cdw10()).feature()) {
                    Feature::KEEP_ALIVE_TIMER => Answer::Ends(Status::SUCCESS, self.keep_alive_ms),
                    Feature::EVENT_CONFIGURATION => Answer::Ends(Status::SUCCESS, self.events_wanted),
                    _ => fails(Status::INVALID_FIELD),
                }
            }
            AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST if self.requests.len() == EVENT_REQUESTS => {
                fails(Status::EVENT_REQUEST_LIMIT_EXCEEDED)
            }
            AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST => {
                self.requests.push_back(command.cid());
                Answer::Waits
            }
            _ => fails(Status::INVALID_OPCODE),
        }
    }
    fn identify(&self, command: &Command) -> Answer {
        let dword = IdentifyDword10::from_raw(command.cdw10());
        if dword.structure() != IdentifyStructure::CONTROLLER {
            return Answer::Ends(Status::INVALID_FIELD, 0);
        }
        let mut told = IdentifyController::ZERO;
        told.set_serial([b' '; 20]);
        told.set_model(padded(b"lanetwin discovery"));
        told.set_firmware(padded(b"1"));
        told.set_controller(self.id.0);
        told.set_version(Version::from_raw(VERSION));
        told.set_events(OptionalEvents::from_raw(1 << DISCOVERY_CHANGE_BIT));
        told.set_controller_type(ControllerType::DISCOVERY);
        told.set_event_limit_less_1(EVENT_REQUESTS as u8 - 1);
        told.set_log_attributes(LogAttributes::from_raw(1 << 2)); // lengths of 32 bits, and offsets
        told.set_keep_alive(1);
        told.set_outstanding(MOST_ENTRIES as u16);
        told.set_sq_entry(EntrySizes::from_raw(0x66));
        told.set_cq_entry(EntrySizes::from_raw(0x44));
        told.set_sgl(SglSupport::from_raw(1 | 1 << 2 | 1 << 20 | 1 << 21)); // keyed, offsets, transport
        let mut nqn = [0; 256];
        nqn[..DISCOVERY_NQN.len()].copy_from_slice(DISCOVERY_NQN.as_bytes());
        told.set_nqn(nqn);
        Answer::Gives(told.as_bytes().to_vec())
    }
    fn give_log(&mut self, command: &Command, log: impl FnOnce() -> Vec<u8>) -> Answer {
        let dword = LogDword10::from_raw(command.cdw10());
        if dword.log() != DISCOVERY_LOG.0 {
            return Answer::Ends(Status::INVALID_LOG_PAGE, 0);
        }
        let high = LogDword11::from_raw(command.cdw11()).dwords_high();
        let bytes = (u64::from(high) << 16 | u64::from(dword.dwords_low())) * 4 + 4;
        let offset = u64::from(command.cdw12()) | u64::from(command.cdw13()) << 32;
        if offset % 4 != 0 || bytes > MOST_LOG_BYTES {
            return Answer::Ends(Status::INVALID_FIELD, 0);
        }
        if !dword.retain_event() {
            self.told = false;
        }
        let log = log();
        if offset > log.len() as u64 {
            return Answer::Ends(Status::INVALID_FIELD, 0);
        }
        // bytes past the end are zero
        let mut part: Vec<u8> = log[offset as usize..].iter().copied().take(bytes as usize).collect();
        part.resize(bytes as usize, 0);
        Answer::Gives(part)
    }
    /// Notes that the log has changed.
    pub fn change(&mut self) {
        self.changed |= self.events_wanted >> DISCOVERY_CHANGE_BIT & 1 == 1;
    }
    /// The next event to be reported, if any: the request that it ends, and dword 0.
    pub fn next_event(&mut self) -> Option<(Cid, u32)> {
        if !self.changed || self.told {
            return None;
        }
        let cid = self.requests.pop_front()?;
        (self.changed, self.told) = (false, true);
        let raw = u32::from(EventType::NOTICE.0)
            | u32::from(DISCOVERY_CHANGED) << 8
            | u32::from(DISCOVERY_LOG.0) << 16;
        Some((cid, EventResult::from_raw(raw).raw()))
    }
}

/// Text padded with spaces.
fn padded<const N: usize>(text: &[u8]) -> [u8; N] {
    core::array::from_fn(|at| text.get(at).copied().unwrap_or(b' '))
}
