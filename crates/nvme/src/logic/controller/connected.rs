//! Queues that a front creates and commands that it submits; Property Get and Property Set of a fabric.

use super::arbiter::Class;
use super::queues::{Inbox, QueueOrigin, QueueState, SubmissionQueue};
use super::stage::Stage;
use super::{Controller, Cx};
use crate::logic::connection::{Capsule, ConnectFault, Connection, PropertySize, Refused};
use crate::spec::registers::{CAP, CC, CSTS, LEAST_QUEUE_ENTRIES, NSSR, VS};
use crate::spec::{SqId, Status};
use std::collections::VecDeque;

impl Controller {
    /// Whether the controller is unused, that is disabled and without an admin queue.
    pub fn is_unused(&self) -> bool {
        self.stage == Stage::Disabled && self.submission_queues[0].life == QueueState::Absent
    }

    /// Creates a queue.
    pub fn connect(&mut self, connection: &Connection) -> Result<(), ConnectFault> {
        let Connection { queue, entries, data_location, flow_control, port } = *connection;
        let admin = queue == SqId::ADMIN;
        if admin && !self.is_unused() {
            return Err(ConnectFault::Busy);
        }
        if !admin && !self.is_working() {
            return Err(ConnectFault::NotReady);
        }
        if !(LEAST_QUEUE_ENTRIES..=self.config.queue_entries).contains(&entries) {
            return Err(ConnectFault::Size);
        }
        let place =
            self.submission_queues.get_mut(queue.index()).filter(|queue| queue.life == QueueState::Absent);
        let inbox = Inbox { data_location, flow_control, waiting: VecDeque::new() };
        *place.ok_or(ConnectFault::Queue)? = SubmissionQueue {
            life: QueueState::Active,
            home: QueueOrigin::Front(inbox),
            entries,
            class: Class::FIRST,
            ..SubmissionQueue::ABSENT
        };
        if admin {
            self.port = port;
        }
        Ok(())
    }

    /// Disconnects an I/O queue whose connection is lost. Its commands end without a completion; those that can still
    /// be stopped have no effect.
    pub fn disconnect(&mut self, queue: SqId, cx: &mut Cx<'_>) {
        let Some(queue_at) = self.submission_queues.get_mut(queue.index()) else { return };
        let QueueOrigin::Front(inbox) = &mut queue_at.home else { return };
        if queue_at.life != QueueState::Active {
            return;
        }
        inbox.waiting.clear();
        queue_at.life = QueueState::Deleting;
        self.refresh(queue.0);
        self.abort_queue(queue.0, cx);
        self.deletion(queue.0, cx);
        self.pump(cx);
    }

    /// Accepts a command.
    pub fn submit(&mut self, queue: SqId, capsule: Capsule, cx: &mut Cx<'_>) -> Result<(), Refused> {
        let working = self.is_working();
        let known =
            self.submission_queues.get_mut(queue.index()).filter(|queue| queue.life == QueueState::Active);
        let queue_at = known.ok_or(Refused::NoQueue)?;
        let entries = queue_at.entries as usize;
        let QueueOrigin::Front(inbox) = &mut queue_at.home else { return Err(Refused::NoQueue) };
        if !working {
            return Err(Refused::NotReady);
        }
        if inbox.waiting.len() >= entries {
            return Err(Refused::Full);
        }
        inbox.waiting.push_back(capsule);
        self.refresh(queue.0);
        self.pump(cx);
        Ok(())
    }

    /// Property Get of a fabric.
    pub fn property(&self, offset: u32, size: PropertySize) -> Result<u64, Status> {
        if size_of(offset) != Some(size) {
            return Err(Status::INVALID_FIELD);
        }
        let low = u64::from(self.read_register(offset));
        Ok(match size {
            PropertySize::Four => low,
            PropertySize::Eight => low | u64::from(self.read_register(offset + 4)) << 32,
        })
    }
    /// Property Set of a fabric.
    pub fn set_property(&mut self, offset: u32, value: u64, cx: &mut Cx<'_>) -> Result<(), Status> {
        match (offset, u32::try_from(value)) {
            (CC | CSTS | NSSR, Ok(value)) => self.write_register(offset, value, cx),
            _ => return Err(Status::INVALID_FIELD),
        }
        Ok(())
    }
}

/// Size of a property; `None` if fabrics do not have it (Base 2.0 §3.1.3: those of memory-based transports have no
/// meaning there).
const fn size_of(offset: u32) -> Option<PropertySize> {
    match offset {
        CAP => Some(PropertySize::Eight),
        VS | CC | CSTS | NSSR => Some(PropertySize::Four),
        _ => None,
    }
}
