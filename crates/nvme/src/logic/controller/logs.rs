//! Get Log Page (Base 2.0 §5.16).

use super::{Controller, Cx};
use crate::logic::effect::{Effect, Kind};
use crate::logic::health::Health;
use crate::logic::nvm::Nvm;
use crate::spec::admin::{LogDword10, LogDword11, LogDword14};
use crate::spec::ana::ANA_LOG;
use crate::spec::log::{
    CommandEffects, CriticalWarning, FirmwareSlotLog, LogPage, SanitizeLog, SanitizeState, SanitizeStatus,
    SmartLog,
};
use crate::spec::{AdminOpcode, IoOpcode, Nsid, Status};
use lanetwin_wire::DoesNotFit;

/// Size of a data unit \[B\] (Base 2.0 §5.16.1.3).
const DATA_UNIT: u64 = 512_000;
/// Log Specific Parameter of the ANA log: Return Groups Only (RGO).
const GROUPS_ONLY: u8 = 1;
/// No estimate.
const NONE_16: u16 = 0xffff;
/// Maximum number of namespaces in the Changed Namespace List (Base 2.0 §5.16.1.5).
const MOST_CHANGED: usize = 1024;

impl Controller {
    /// Get Log Page.
    pub(super) fn get_log_page(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let command = self.slots.at(number).command;
        let dword = LogDword10::from_raw(command.cdw10());
        let log = LogPage(dword.log());
        let of_all = [Nsid::NONE, Nsid::ALL].contains(&command.nsid());
        if LogDword14::from_raw(command.cdw14()).offset_is_index() || (log == LogPage::SMART && !of_all) {
            return Err(Status::INVALID_FIELD); // no log of single namespaces, no indexed offsets
        }
        if [LogPage::TELEMETRY_HOST, LogPage::TELEMETRY_CONTROLLER].contains(&log) {
            return self.telemetry_log(number, cx);
        }
        let mut content = core::mem::take(&mut self.slots.at(number).content);
        content.clear();
        let made = self.fill_log(&mut content, (log, dword.parameter()), cx.nvm);
        self.slots.at(number).content = content;
        made?;
        if !dword.retain_event() {
            self.events.read(log);
            if log == LogPage::CHANGED_NAMESPACES {
                self.changed.clear();
            }
        }
        if log == LogPage::SMART {
            let slot = self.slots.at(number);
            slot.under_way += 1;
            let token = self.token(Kind::Health, number, 0);
            cx.effects.push(Effect::Health { token });
            return Ok(());
        }
        self.give_log(number, cx)?;
        self.tell_events(cx);
        Ok(())
    }
    /// Transfers the requested part of the log in `content` to the host.
    pub(super) fn give_log(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let slot = self.slots.at(number);
        let command = slot.command;
        let dwords = u64::from(LogDword10::from_raw(command.cdw10()).dwords_low())
            | u64::from(LogDword11::from_raw(command.cdw11()).dwords_high()) << 16;
        let bytes = (dwords + 1) * 4;
        let offset = u64::from(command.cdw12()) | u64::from(command.cdw13()) << 32;
        if offset & 3 != 0 || offset > slot.content.len() as u64 || bytes > self.longest_transfer() {
            return Err(Status::INVALID_FIELD);
        }
        self.slots.at(number).content.drain(..offset as usize);
        self.give_content(number, bytes as u32, cx)
    }
    /// Takes the owner's counters for the SMART log; `None` if they are not available.
    pub(super) fn health_arrived(&mut self, number: u32, health: Option<&Health>, cx: &mut Cx<'_>) {
        if self.slots.get(number).is_none() {
            return;
        }
        let slot = self.slots.at(number);
        slot.under_way = slot.under_way.saturating_sub(1);
        let given = match health {
            Some(health) => {
                let log = self.smart(health, cx.nvm);
                self.slots.at(number).content.extend_from_slice(log.as_bytes());
                self.give_log(number, cx)
            }
            None => Err(Status::INTERNAL_ERROR),
        };
        if let Err(status) = given {
            self.slots.at(number).status = status;
            self.settle(number, cx);
        }
        self.tell_events(cx);
    }

    fn fill_log(&self, out: &mut Vec<u8>, (log, parameter): (LogPage, u8), nvm: &Nvm) -> Result<(), Status> {
        match log {
            LogPage::SUPPORTED => {
                let pages = [
                    LogPage::SUPPORTED,
                    LogPage::ERROR,
                    LogPage::SMART,
                    LogPage::FIRMWARE_SLOT,
                    LogPage::CHANGED_NAMESPACES,
                    LogPage::COMMAND_EFFECTS,
                    LogPage::TELEMETRY_HOST,
                    LogPage::TELEMETRY_CONTROLLER,
                    LogPage::SANITIZE_STATUS,
                ];
                out.resize(1024, 0);
                let access = nvm.access.is_reported().then_some(ANA_LOG);
                pages.into_iter().chain(access).for_each(|page| out[usize::from(page.0) * 4] = 1);
            }
            LogPage::ERROR => {
                self.errors.entries.iter().for_each(|entry| out.extend_from_slice(entry.as_bytes()));
                out.resize(self.errors.most * 64, 0);
            }
            LogPage::SMART => {} // with the owner's counters
            LogPage::FIRMWARE_SLOT => {
                let mut log = FirmwareSlotLog::ZERO;
                log.set_active(1);
                let mut revision = [b' '; 8];
                revision[..nvm.config.firmware.len()].copy_from_slice(nvm.config.firmware.as_bytes());
                log.set_revision_1(revision);
                out.extend_from_slice(log.as_bytes());
            }
            LogPage::CHANGED_NAMESPACES => {
                if self.changed.len() > MOST_CHANGED {
                    out.extend_from_slice(&Nsid::ALL.0.to_le_bytes());
                } else {
                    self.changed.iter().for_each(|nsid| out.extend_from_slice(&nsid.0.to_le_bytes()));
                }
                out.resize(4096, 0);
            }
            LogPage::COMMAND_EFFECTS => self.effects_log(out).expect("values that fit"),
            LogPage::SANITIZE_STATUS => {
                out.extend_from_slice(sanitize_log(nvm).expect("values that fit").as_bytes())
            }
            ANA_LOG if nvm.access.is_reported() => {
                nvm.access.write_log(out, self.port, |place| {
                    let namespace = &nvm.namespaces[place];
                    let is_active = namespace.attached >> self.index & 1 == 1;
                    (is_active && parameter & GROUPS_ONLY == 0).then_some(namespace.nsid)
                });
            }
            _ => return Err(Status::INVALID_LOG_PAGE),
        }
        Ok(())
    }
    fn smart(&self, health: &Health, nvm: &Nvm) -> SmartLog {
        let mut log = SmartLog::ZERO;
        log.set_critical_warning(self.warning(health).expect("bits"));
        log.set_temperature(health.temperature_kelvin);
        log.set_available_spare(health.available_spare_percent);
        log.set_spare_threshold(health.spare_threshold_percent);
        log.set_percentage_used(health.percentage_used);
        log.set_data_units_read(nvm.counters.bytes_read.div_ceil(DATA_UNIT).into());
        log.set_data_units_written(nvm.counters.bytes_written.div_ceil(DATA_UNIT).into());
        log.set_host_reads(nvm.counters.reads.into());
        log.set_host_writes(nvm.counters.writes.into());
        log.set_busy_minutes(health.busy_minutes);
        log.set_power_cycles(health.power_cycles);
        log.set_power_on_hours(health.power_on_hours);
        log.set_unsafe_shutdowns(health.unsafe_shutdowns);
        log.set_media_errors(health.media_errors);
        log.set_error_entries(self.errors.count.into());
        log
    }
    /// Critical warnings that follow from the owner's counters.
    pub(super) fn warning(&self, health: &Health) -> Result<CriticalWarning, DoesNotFit> {
        CriticalWarning::ZERO
            .with_spare(health.available_spare_percent < health.spare_threshold_percent)?
            .with_temperature(health.temperature_kelvin >= self.features.over_temperature.kelvin())?
            .with_degraded(health.degraded)?
            .with_read_only(health.read_only)?
            .with_backup_failed(health.backup_failed)
    }
    fn effects_log(&self, out: &mut Vec<u8>) -> Result<(), DoesNotFit> {
        out.resize(4096, 0);
        let supported = CommandEffects::ZERO.with_supported(true)?;
        let changes = supported.with_changes_blocks(true)?;
        let alone = changes.with_changes_namespace(true)?.with_alone(1)?;
        let admin = [
            (AdminOpcode::DELETE_IO_SQ, supported),
            (AdminOpcode::CREATE_IO_SQ, supported),
            (AdminOpcode::GET_LOG_PAGE, supported),
            (AdminOpcode::DELETE_IO_CQ, supported),
            (AdminOpcode::CREATE_IO_CQ, supported),
            (AdminOpcode::IDENTIFY, supported),
            (AdminOpcode::ABORT, supported),
            (AdminOpcode::SET_FEATURES, supported),
            (AdminOpcode::GET_FEATURES, supported),
            (AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST, supported),
            (AdminOpcode::KEEP_ALIVE, supported),
            (AdminOpcode::DOORBELL_BUFFER_CONFIG, supported.with_supported(self.config.doorbell_buffers)?),
            (AdminOpcode::FORMAT_NVM, alone),
            (AdminOpcode::SANITIZE, changes.with_alone(2)?),
        ];
        let io = [
            (IoOpcode::FLUSH, supported),
            (IoOpcode::WRITE, changes),
            (IoOpcode::READ, supported),
            (IoOpcode::COMPARE, supported),
            (IoOpcode::WRITE_ZEROES, changes),
            (IoOpcode::DATASET_MANAGEMENT, changes),
        ];
        let words = out.as_chunks_mut::<4>().0;
        admin.into_iter().for_each(|(opcode, word)| words[usize::from(opcode.0)] = word.raw().to_le_bytes());
        io.into_iter()
            .for_each(|(opcode, word)| words[256 + usize::from(opcode.0)] = word.raw().to_le_bytes());
        Ok(())
    }
}

fn sanitize_log(nvm: &Nvm) -> Result<SanitizeLog, DoesNotFit> {
    let sanitize = &nvm.sanitize;
    let mut log = SanitizeLog::ZERO;
    log.set_progress(if sanitize.state == SanitizeState::IN_PROGRESS { sanitize.progress } else { NONE_16 });
    log.set_status(SanitizeStatus::ZERO.with_state(sanitize.state)?.with_erased(sanitize.erased)?);
    log.set_dword10(sanitize.dword10.raw());
    log.set_overwrite_seconds(u32::MAX);
    log.set_block_erase_seconds(u32::MAX);
    log.set_crypto_erase_seconds(u32::MAX);
    log.set_overwrite_kept_seconds(u32::MAX);
    log.set_block_erase_kept_seconds(u32::MAX);
    log.set_crypto_erase_kept_seconds(u32::MAX);
    Ok(log)
}
