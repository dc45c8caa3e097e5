//! The Telemetry logs, and capturing the owner's state (Base 2.0 §5.16.1.8 and §5.16.1.9).

use super::{Controller, Cx};
use crate::logic::effect::{Effect, Kind, Ticket};
use crate::logic::telemetry::{BLOCK, Telemetry};
use crate::spec::Status;
use crate::spec::admin::LogDword10;
use crate::spec::log::LogPage;

/// Log Specific Parameter of the Telemetry Host-Initiated log: Create Telemetry Host-Initiated Data.
const CREATE: u8 = 1;

impl Controller {
    /// Get Log Page of one of the Telemetry logs.
    pub(super) fn telemetry_log(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let command = self.slots.at(number).command;
        let dword = LogDword10::from_raw(command.cdw10());
        if !command.cdw12().is_multiple_of(BLOCK as u32) {
            return Err(Status::INVALID_FIELD); // only whole blocks
        }
        if LogPage(dword.log()) == LogPage::TELEMETRY_HOST && dword.parameter() & CREATE != 0 {
            self.slots.at(number).under_way += 1;
            let token = self.token(Kind::Telemetry, number, 0);
            cx.effects.push(Effect::Telemetry { token });
            return Ok(());
        }
        self.give_telemetry(number, cx)
    }
    /// Takes the owner's state that the host requested; `None` if it is not available.
    pub(super) fn telemetry_arrived(&mut self, number: u32, state: Option<&Telemetry>, cx: &mut Cx<'_>) {
        if self.slots.get(number).is_none() {
            return;
        }
        let slot = self.slots.at(number);
        slot.under_way = slot.under_way.saturating_sub(1);
        let given = match state {
            Some(state) => {
                self.telemetry.save(state);
                self.give_telemetry(number, cx)
            }
            None => Err(Status::INTERNAL_ERROR),
        };
        if let Err(status) = given {
            self.slots.at(number).status = status;
            self.settle(number, cx);
        }
        self.tell_events(cx);
    }
    fn give_telemetry(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let slot = self.slots.at(number);
        let dword = LogDword10::from_raw(slot.command.cdw10());
        let log = LogPage(dword.log());
        slot.content.clear();
        if log == LogPage::TELEMETRY_HOST {
            self.telemetry.write(&cx.nvm.telemetry, &mut slot.content);
            return self.give_log(number, cx);
        }
        cx.nvm.telemetry.write(&mut slot.content);
        self.give_log(number, cx)?;
        if !dword.retain_event() {
            self.events.read(log);
            cx.nvm.telemetry.release();
            self.tell_events(cx);
        }
        Ok(())
    }
    /// Captures the medium's state if a part of a command has failed there, unless an earlier capture has not been
    /// read.
    pub(super) fn capture_if_faulty(&mut self, number: u32, status: Status, cx: &mut Cx<'_>) {
        let what = match status {
            Status::UNRECOVERED_READ_ERROR => "Unrecovered Read Error",
            Status::WRITE_FAULT => "Write Fault",
            _ => return,
        };
        let Some(slot) = self.slots.get(number) else { return };
        let (nsid, block) = (slot.command.nsid_number(), slot.slba);
        let reason = || format!("{what}: namespace {nsid}, block {block}, controller {}", self.config.id.0);
        if cx.nvm.telemetry.begin(reason) {
            let ticket = Ticket { controller: self.index, kind: Kind::Capture, epoch: 0, number: 0, part: 0 };
            cx.effects.push(Effect::Telemetry { token: ticket.token() });
        }
    }
}
