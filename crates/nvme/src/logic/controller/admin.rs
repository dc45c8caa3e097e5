//! Admin commands: dispatch, and transfer of the controller's data to the host.

use super::slots::Plan;
use super::{Controller, Cx};
use crate::logic::connection::DataLocation;
use crate::spec::{AdminOpcode, DataTransfer, Status};

impl Controller {
    /// Begins an admin command.
    pub(super) fn begin_admin(&mut self, number: u32, cx: &mut Cx<'_>) {
        if let Err(status) = self.try_admin(number, cx) {
            let slot = self.slots.at(number);
            slot.status = status;
            self.settle(number, cx);
        }
    }
    fn try_admin(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let dword0 = self.slots.at(number).command.dword0();
        // admin commands use PRPs if data are in host memory, and SGLs otherwise (Base 2.0 §4.1)
        let in_memory = self.slots.at(number).data_location == DataLocation::Memory;
        let taken = if in_memory { DataTransfer::PRP } else { DataTransfer::SGL };
        if dword0.fused() != 0 || dword0.data_transfer() != taken {
            return Err(Status::INVALID_FIELD);
        }
        match AdminOpcode(dword0.opcode()) {
            opcode if !in_memory && is_about_memory(opcode) => return Err(Status::INVALID_OPCODE),
            AdminOpcode::DELETE_IO_SQ => return self.delete_sq(number, cx),
            AdminOpcode::CREATE_IO_SQ => self.create_sq(number)?,
            AdminOpcode::GET_LOG_PAGE => return self.get_log_page(number, cx),
            AdminOpcode::DELETE_IO_CQ => self.delete_cq(number)?,
            AdminOpcode::CREATE_IO_CQ => self.create_cq(number)?,
            AdminOpcode::IDENTIFY => return self.identify(number, cx),
            AdminOpcode::ABORT => self.abort(number, cx),
            AdminOpcode::SET_FEATURES => self.set_features(number, cx)?,
            AdminOpcode::GET_FEATURES => self.get_features(number, cx)?,
            AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST => return self.event_request(number, cx),
            AdminOpcode::KEEP_ALIVE => self.keep_alive_came(cx),
            AdminOpcode::DOORBELL_BUFFER_CONFIG => self.set_doorbell_buffers(number)?,
            AdminOpcode::FORMAT_NVM => self.format(number, cx)?,
            AdminOpcode::SANITIZE => self.sanitize(number, cx)?,
            _ => return Err(Status::INVALID_OPCODE),
        }
        self.settle(number, cx);
        Ok(())
    }

    /// Transfers the first `bytes` bytes of the content, padded with zeroes, to the host.
    pub(super) fn give_content(&mut self, number: u32, bytes: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        if u64::from(bytes) > self.longest_transfer() {
            return Err(Status::INVALID_FIELD);
        }
        let slot = self.slots.at(number);
        slot.content.resize(bytes as usize, 0);
        slot.plan = Plan::Store;
        (slot.part_bytes, slot.parts, slot.parts_left) = (bytes, 1, 1);
        self.resolve_pointers(number, bytes, cx)?;
        if self.slots.at(number).unresolved == 0 {
            self.pointers_resolved(number, cx);
        }
        Ok(())
    }

    /// Asynchronous Event Request: waits without occupying a slot for commands.
    fn event_request(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let cid = self.slots.at(number).cid;
        if !self.events.request(cid) {
            return Err(Status::EVENT_REQUEST_LIMIT_EXCEEDED);
        }
        self.slots.give(number);
        let queue = &mut self.submission_queues[0];
        queue.in_progress = queue.in_progress.saturating_sub(1);
        self.refresh(0);
        self.tell_events(cx);
        Ok(())
    }
}

/// Whether a command is valid only if queues and doorbells are in memory shared by host and controller.
const fn is_about_memory(opcode: AdminOpcode) -> bool {
    matches!(
        opcode,
        AdminOpcode::CREATE_IO_SQ
            | AdminOpcode::CREATE_IO_CQ
            | AdminOpcode::DELETE_IO_SQ
            | AdminOpcode::DELETE_IO_CQ
            | AdminOpcode::DOORBELL_BUFFER_CONFIG
    )
}
