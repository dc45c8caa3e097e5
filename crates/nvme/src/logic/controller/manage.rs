//! Admin commands for management: queues, Abort, doorbell buffers, Format NVM, Sanitize.

use super::arbiter::Class;
use super::queues::{CompletionQueue, DoorbellBuffers, Ended, QueueOrigin, QueueState, SubmissionQueue};
use super::slots::Plan;
use super::{Controller, Cx};
use crate::logic::effect::{Effect, Kind, MediaOperation, MediaRequest, Ticket};
use crate::logic::nvm::{Nvm, Sanitize, namespace_changed};
use crate::spec::admin::{
    AbortDword10, CreateCqDword11, CreateSqDword11, FormatDword10, QueueDword10, SanitizeAction,
    SanitizeDword10, SecureErase,
};
use crate::spec::log::SanitizeState;
use crate::spec::registers::ArbitrationMechanism;
use crate::spec::{Nsid, Status};

/// Log2 of the size of a submission queue entry, as in CC.IOSQES.
const SQ_ENTRY_LOG2: u8 = 6;
/// Log2 of the size of a completion queue entry, as in CC.IOCQES.
const CQ_ENTRY_LOG2: u8 = 4;

impl Controller {
    /// Checks and returns number, size and address of a queue to be created.
    fn new_queue(&mut self, number: u32, taken: bool, entry_known: bool) -> Result<(u16, u32, u64), Status> {
        let slot = self.slots.at(number);
        let dword = QueueDword10::from_raw(slot.command.cdw10());
        let (queue, entries) = (dword.queue(), u32::from(dword.entries_less_1()) + 1);
        if queue == 0 || queue > self.config.io_queues || taken {
            return Err(Status::INVALID_QUEUE_IDENTIFIER);
        }
        if entries < 2 || entries > self.config.queue_entries || !entry_known {
            return Err(Status::INVALID_QUEUE_SIZE);
        }
        let address = slot.command.prp1();
        if address & ((1 << self.page_log2) - 1) != 0 {
            return Err(Status::PRP_OFFSET_INVALID);
        }
        if slot.command.cdw11() & 1 == 0 {
            return Err(Status::INVALID_FIELD); // CAP.CQR: physically contiguous
        }
        Ok((queue, entries, address))
    }
    /// Number of the queue to be created or deleted.
    fn queue_of(&mut self, number: u32) -> u16 {
        QueueDword10::from_raw(self.slots.at(number).command.cdw10()).queue()
    }

    /// Create I/O Completion Queue (Base 2.0 §5.4).
    pub(super) fn create_cq(&mut self, number: u32) -> Result<(), Status> {
        let id = self.queue_of(number);
        let known = self.completion_queues.get(usize::from(id));
        let taken = known.is_some_and(|queue| queue.life != QueueState::Absent);
        let entry_known = self.configuration.cq_entry() == CQ_ENTRY_LOG2;
        let (queue, entries, address) = self.new_queue(number, taken, entry_known)?;
        let dword = CreateCqDword11::from_raw(self.slots.at(number).command.cdw11());
        if dword.interrupts() && dword.vector() >= self.interrupts.count() {
            return Err(Status::INVALID_INTERRUPT_VECTOR);
        }
        self.completion_queues[usize::from(queue)] = CompletionQueue {
            life: QueueState::Active,
            address,
            entries,
            interrupts: dword.interrupts(),
            vector: dword.vector(),
            ..CompletionQueue::ABSENT
        };
        Ok(())
    }
    /// Create I/O Submission Queue (Base 2.0 §5.5).
    pub(super) fn create_sq(&mut self, number: u32) -> Result<(), Status> {
        let id = self.queue_of(number);
        let known = self.submission_queues.get(usize::from(id));
        let taken = known.is_some_and(|queue| queue.life != QueueState::Absent);
        let entry_known = self.configuration.sq_entry() == SQ_ENTRY_LOG2;
        let (queue, entries, address) = self.new_queue(number, taken, entry_known)?;
        let dword = CreateSqDword11::from_raw(self.slots.at(number).command.cdw11());
        let cqid = dword.completion_queue();
        if cqid == 0 || cqid > self.config.io_queues {
            return Err(Status::INVALID_QUEUE_IDENTIFIER);
        }
        let completion = &mut self.completion_queues[usize::from(cqid)];
        if completion.life != QueueState::Active {
            return Err(Status::COMPLETION_QUEUE_INVALID);
        }
        completion.submission_queues += 1;
        let weighted = self.configuration.arbitration() == ArbitrationMechanism::WEIGHTED_ROUND_ROBIN;
        self.submission_queues[usize::from(queue)] = SubmissionQueue {
            life: QueueState::Active,
            home: QueueOrigin::Memory { address, cqid },
            entries,
            class: Class::of(dword.priority(), weighted),
            ..SubmissionQueue::ABSENT
        };
        Ok(())
    }
    /// Delete I/O Completion Queue (Base 2.0 §5.6).
    pub(super) fn delete_cq(&mut self, number: u32) -> Result<(), Status> {
        let id = self.queue_of(number);
        let known = self.completion_queues.get_mut(usize::from(id)).filter(|_| id != 0);
        let queue =
            known.filter(|queue| queue.life == QueueState::Active).ok_or(Status::INVALID_QUEUE_IDENTIFIER)?;
        if queue.submission_queues > 0 {
            return Err(Status::INVALID_QUEUE_DELETION);
        }
        *queue = CompletionQueue::ABSENT;
        Ok(())
    }
    /// Delete I/O Submission Queue (Base 2.0 §5.7). Stops the commands that can be stopped, and ends when all commands
    /// fetched from the queue are completed.
    pub(super) fn delete_sq(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let id = self.queue_of(number);
        let known = self.submission_queues.get_mut(usize::from(id)).filter(|_| id != 0);
        let deletable =
            |queue: &&mut SubmissionQueue| queue.life == QueueState::Active && queue.is_in_memory();
        let queue = known.filter(deletable).ok_or(Status::INVALID_QUEUE_IDENTIFIER)?;
        queue.life = QueueState::Deleting;
        queue.deleted_by = number;
        self.refresh(id);
        self.slots.at(number).plan = Plan::DeleteSq;
        self.abort_queue(id, cx);
        self.deletion(id, cx);
        Ok(())
    }
    /// Stops every command of a queue that can be stopped.
    pub(super) fn abort_queue(&mut self, id: u16, cx: &mut Cx<'_>) {
        let commands: Vec<u32> =
            self.slots.taken().filter(|(_, slot)| slot.sqid == id).map(|(number, _)| number).collect();
        // if a deletion ends in this loop, its slot is still free, as no command is fetched in between
        for command in commands {
            self.stop(command, Status::ABORTED_SQ_DELETION, cx);
        }
    }
    /// Ends a deletion if no command of the queue is in progress.
    pub(super) fn deletion(&mut self, id: u16, cx: &mut Cx<'_>) {
        let queue = &mut self.submission_queues[usize::from(id)];
        if queue.life != QueueState::Deleting || queue.in_progress > 0 {
            return;
        }
        let number = queue.deleted_by;
        let QueueOrigin::Memory { cqid, .. } = core::mem::replace(queue, SubmissionQueue::ABSENT).home else {
            return; // the front asked for it, by no command
        };
        let completion = &mut self.completion_queues[usize::from(cqid)];
        completion.submission_queues = completion.submission_queues.saturating_sub(1);
        let slot = self.slots.at(number);
        slot.plan = Plan::Ending;
        self.settle(number, cx);
    }

    /// Abort (Base 2.0 §5.1). Bit 0 of dword 0 is set if no command was aborted.
    pub(super) fn abort(&mut self, number: u32, cx: &mut Cx<'_>) {
        let dword = AbortDword10::from_raw(self.slots.at(number).command.cdw10());
        let (sqid, cid) = (dword.sq_number(), dword.cid_number());
        let aborted = if sqid == 0 && self.events.abort(cid) {
            self.submission_queues[0].in_progress += 1; // as for an event that is told
            let status = Status::ABORT_REQUESTED;
            self.post(Ended { sqid, cid, status, more: false, dw0: 0 }, cx);
            true
        } else {
            let meant = |slot: &super::slots::Slot| slot.sqid == sqid && slot.cid == cid;
            let command = self.slots.taken().find(|&(other, slot)| other != number && meant(slot));
            let command = command.map(|(command, _)| command);
            command.is_some_and(|command| self.stop(command, Status::ABORT_REQUESTED, cx))
        };
        self.slots.at(number).dw0 = u32::from(!aborted);
    }

    /// Doorbell Buffer Config (Base 2.0 §5.11).
    pub(super) fn set_doorbell_buffers(&mut self, number: u32) -> Result<(), Status> {
        if !self.config.doorbell_buffers {
            return Err(Status::INVALID_OPCODE);
        }
        let command = &self.slots.at(number).command;
        let (shadow, event_index) = (command.prp1(), command.prp2());
        let inside = (1_u64 << self.page_log2) - 1;
        if (shadow | event_index) & inside != 0 || shadow == 0 || event_index == 0 {
            return Err(Status::INVALID_FIELD);
        }
        self.doorbell_buffers = Some(DoorbellBuffers { shadow, event_index });
        Ok(())
    }

    /// Format NVM (Base 2.0 §5.14).
    pub(super) fn format(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        if let Some(status) = cx.nvm.obstacle() {
            return Err(status);
        }
        let slot = self.slots.at(number);
        let dword = FormatDword10::from_raw(slot.command.cdw10());
        let format = dword.format_low() | dword.format_high() << 4;
        if dword.protection() != 0
            || dword.metadata_settings()
            || dword.secure_erase().0 > SecureErase::CRYPTOGRAPHIC.0
        {
            return Err(Status::INVALID_FIELD);
        }
        let nsid = slot.command.nsid();
        let chosen = namespaces(cx.nvm, nsid, self.index);
        if chosen.is_empty() {
            return Err(Status::INVALID_NAMESPACE_OR_FORMAT);
        }
        for &place in &chosen {
            let namespace = &cx.nvm.namespaces[place];
            if let Some(status) = cx.nvm.barrier(self.port, namespace.nsid) {
                return Err(status);
            }
            if usize::from(format) >= namespace.formats.len() {
                return Err(Status::INVALID_FORMAT);
            }
            if namespace.is_protected() {
                return Err(Status::NAMESPACE_WRITE_PROTECTED);
            }
            if namespace.formatting {
                return Err(Status::FORMAT_IN_PROGRESS);
            }
        }
        let secure_erase = dword.secure_erase().0;
        let slot = self.slots.at(number);
        slot.plan = Plan::Format;
        slot.parts_left = chosen.len() as u32;
        for (part, place) in chosen.into_iter().enumerate() {
            let namespace = &mut cx.nvm.namespaces[place];
            namespace.formatting = true;
            namespace.format_remaining = 100;
            let (nsid, operation) = (namespace.nsid, MediaOperation::Format { secure_erase });
            self.media(
                number,
                part as u16,
                MediaRequest { nsid, operation, slba: 0, blocks: 0, part_of: None },
                cx,
            );
        }
        Ok(())
    }
    /// Ends a format after all requests to the medium have ended, successfully or not.
    pub(super) fn format_done(&mut self, number: u32, cx: &mut Cx<'_>) {
        let slot = self.slots.at(number);
        let dword = FormatDword10::from_raw(slot.command.cdw10());
        let format = dword.format_low() | dword.format_high() << 4;
        let (nsid, done) = (slot.command.nsid(), slot.status.is_success());
        for place in namespaces(cx.nvm, nsid, self.index) {
            let namespace = &mut cx.nvm.namespaces[place];
            namespace.formatting = false;
            namespace.format_remaining = 0;
            if done {
                namespace.set_format(format);
                let changed = Some(namespace.nsid);
                cx.nvm.notices.push(namespace_changed(changed, Some(self.index)));
            }
        }
    }

    /// Abandons formats at a reset: the namespaces keep their format, with undefined content.
    pub(super) fn abandon_formats(&mut self, cx: &mut Cx<'_>) {
        for (_, slot) in self.slots.taken().filter(|(_, slot)| slot.plan == Plan::Format) {
            for place in namespaces(cx.nvm, slot.command.nsid(), self.index) {
                cx.nvm.namespaces[place].formatting = false;
            }
        }
    }

    /// Sanitize (Base 2.0 §5.24): the command ends at once, and the operation continues.
    pub(super) fn sanitize(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let dword = SanitizeDword10::from_raw(self.slots.at(number).command.cdw10());
        let state = cx.nvm.sanitize.state;
        if state == SanitizeState::IN_PROGRESS {
            return Err(Status::SANITIZE_IN_PROGRESS);
        }
        match dword.action() {
            SanitizeAction::EXIT_FAILURE_MODE => {
                if state == SanitizeState::FAILED {
                    if !cx.nvm.sanitize.dword10.unrestricted_exit() {
                        return Err(Status::SANITIZE_FAILED);
                    }
                    cx.nvm.sanitize.state = SanitizeState::NEVER;
                }
                return Ok(());
            }
            SanitizeAction::BLOCK_ERASE | SanitizeAction::OVERWRITE | SanitizeAction::CRYPTO_ERASE => {}
            _ => return Err(Status::INVALID_FIELD),
        }
        if cx.nvm.namespaces.iter().any(|namespace| namespace.is_protected()) {
            return Err(Status::NAMESPACE_WRITE_PROTECTED);
        }
        cx.nvm.sanitize =
            Sanitize { state: SanitizeState::IN_PROGRESS, dword10: dword, progress: 0, erased: false };
        let ticket = Ticket { controller: self.index, kind: Kind::Sanitize, epoch: 0, number: 0, part: 0 };
        let operation = MediaOperation::Sanitize { action: dword.action().0 };
        let request = MediaRequest { nsid: Nsid::ALL, operation, slba: 0, blocks: 0, part_of: None };
        cx.effects.push(Effect::Media { token: ticket.token(), request });
        Ok(())
    }
}

/// Indices of the namespaces that a command addresses: one, or all that are attached.
fn namespaces(nvm: &Nvm, nsid: Nsid, controller: u8) -> Vec<usize> {
    let meant = |namespace: &super::super::nvm::Namespace| {
        namespace.attached >> controller & 1 == 1 && (nsid == Nsid::ALL || namespace.nsid == nsid)
    };
    (0..nvm.namespaces.len()).filter(|&place| meant(&nvm.namespaces[place])).collect()
}
