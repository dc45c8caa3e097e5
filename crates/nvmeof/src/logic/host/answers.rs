//! Reception from a controller: data units of TCP, responses and completions of RDMA.
//!
//! | error in a data unit | FES | FEI |
//! |---|---|---|
//! | ICResp twice or missing, or an unexpected type | PDU Sequence Error | 0 |
//! | PFV is not 0, CPDA above 31, MAXH2CDATA below 4096, digests that were not requested | Unsupported Parameter | 8, 10, 12, 11 |
//! | R2T, C2HData or CapsuleResp for an unknown command, or one without such data | Invalid PDU Header Field | 8 |
//! | R2T past the end of the data, C2HData not at the next offset or past the end | Data Transfer Out of Range | 0 |
//! | SUCCESS without LAST_PDU, or with flow control | Invalid PDU Header Field | 1 |

use super::config::HostTransport;
use super::effect::{Ending, Failure, QueueEffect, Transfer};
use super::queue::{CONNECT_NAME, MESSAGE_NAME, Queue, Stage};
use crate::logic::data::Data;
use crate::logic::tcp::{Fault, Framing, Pdu, Stream};
use crate::spec::authentication::{SECURE_CHANNEL_REQUIRED, TRANSACTION_REQUIRED};
use crate::spec::fabrics::{ConnectResult, FLOW_CONTROL_IS_OFF};
use crate::spec::rdma::{AcceptPrivateData, RejectPrivateData, RejectStatus};
use crate::spec::tcp::{DigestTypes, FatalError, LARGEST_ALIGNMENT, LEAST_H2C_DATA, MOST_TERMINATE_DATA};
use lanetwin_nvme::spec::{Cid, CompletionEntry, ControllerId, Status};

/// An error in a data unit: FES and FEI.
struct Wrong(FatalError, u32);

/// No command has this identifier, or the command has no such data.
const UNKNOWN: Wrong = Wrong(FatalError::INVALID_HEADER_FIELD, 8);
const SEQUENCE: Wrong = Wrong(FatalError::PDU_SEQUENCE, 0);
const RANGE: Wrong = Wrong(FatalError::OUT_OF_RANGE, 0);

impl Queue {
    /// Bytes have arrived over TCP, in order.
    pub fn receive(&mut self, stream: Stream, effects: &mut Vec<QueueEffect>) {
        self.reader.push(stream);
        while self.stage != Stage::Dead {
            let fault = match self.reader.read() {
                None => return,
                Some(Err(fault)) => fault,
                Some(Ok(received)) => match self.take_unit(received.pdu, received.data_intact, effects) {
                    Ok(()) => continue,
                    Err(Wrong(status, information)) => self.reader.fault(status, information),
                },
            };
            let Fault { status, information, mut header } = fault;
            header.truncate(MOST_TERMINATE_DATA);
            self.send(Pdu::Terminate { from_host: true, status, information, header }, effects);
            self.fail(Failure::Protocol(status), effects);
        }
    }
    fn take_unit(&mut self, pdu: Pdu, intact: bool, effects: &mut Vec<QueueEffect>) -> Result<(), Wrong> {
        let carries = matches!(self.stage, Stage::Connecting | Stage::Authenticating | Stage::Live);
        match pdu {
            Pdu::Terminate { status, .. } => self.fail(Failure::Terminated(status), effects),
            Pdu::InitializeResponse { version, alignment, digests, most_data }
                if self.stage == Stage::Opening =>
            {
                self.initialized((version, alignment, digests, most_data), effects)?;
            }
            Pdu::Response { entry } if carries => self.response(entry, effects)?,
            Pdu::ReadyToTransfer { cid, tag, offset, length } if carries => {
                self.answer_r2t(cid, tag, (offset, length), effects)?;
            }
            Pdu::DataToHost { cid, offset, last, success, data } if carries => {
                let ends = self.take_data(cid, (offset, data), intact, (last, success), effects)?;
                if ends {
                    let entry = CompletionEntry::ZERO.with_cid_number(cid.0).expect("16 bits");
                    self.settle(cid, entry, effects);
                }
            }
            _ => return Err(SEQUENCE),
        }
        Ok(())
    }

    fn initialized(
        &mut self,
        (version, alignment, digests, most_data): (u16, u8, DigestTypes, u32),
        effects: &mut Vec<QueueEffect>,
    ) -> Result<(), Wrong> {
        let HostTransport::Tcp(asked) = self.config.transport else { return Err(SEQUENCE) };
        let wrong = [
            (version != 0, 8),
            (alignment > LARGEST_ALIGNMENT, 10),
            (digests.raw() & !asked.digests.raw() != 0, 11),
            (most_data < LEAST_H2C_DATA, 12),
        ];
        if let Some((_, at)) = wrong.into_iter().find(|(wrong, _)| *wrong) {
            return Err(Wrong(FatalError::UNSUPPORTED_PARAMETER, at));
        }
        self.framing = Framing { digests, alignment };
        self.reader.agree(digests, asked.alignment);
        self.most_data = most_data;
        self.connect(effects);
        Ok(())
    }

    /// Handles R2T: sends the data at once, in units of at most MAXH2CDATA.
    fn answer_r2t(
        &mut self,
        cid: Cid,
        tag: u16,
        (offset, length): (u32, u32),
        effects: &mut Vec<QueueEffect>,
    ) -> Result<(), Wrong> {
        let most = self.most_data & !3;
        let slot = self.slots.get(cid).filter(|slot| !slot.in_capsule).ok_or(UNKNOWN)?;
        let Transfer::ToController(data) = &slot.transfer else { return Err(UNKNOWN) };
        let end = offset.checked_add(length).filter(|&end| end <= data.len() && length > 0).ok_or(RANGE)?;
        let mut units = Vec::new();
        let mut at = offset;
        while at < end {
            let part = data.slice(at, most.min(end - at));
            let last = at + part.len() == end;
            let bytes = part.len();
            units.push(Pdu::DataToController { cid, tag, offset: at, last, data: part });
            at += bytes;
        }
        units.into_iter().for_each(|unit| self.send(unit, effects));
        Ok(())
    }
    /// Handles C2HData; returns whether they end the command.
    fn take_data(
        &mut self,
        cid: Cid,
        (offset, data): (u32, Data),
        intact: bool,
        (last, success): (bool, bool),
        effects: &mut Vec<QueueEffect>,
    ) -> Result<bool, Wrong> {
        let flow_control = self.slots.flow_control;
        let slot = self.slots.get(cid).ok_or(UNKNOWN)?;
        let Transfer::FromController(bytes) = slot.transfer else { return Err(UNKNOWN) };
        if success && (!last || flow_control) {
            return Err(Wrong(FatalError::INVALID_HEADER_FIELD, 1));
        }
        let end = offset.checked_add(data.len()).filter(|&end| end <= bytes && offset == slot.come);
        slot.come = end.ok_or(RANGE)?;
        slot.damaged |= !intact;
        if intact && slot.name == MESSAGE_NAME {
            self.message.extend_from_slice(data.bytes().unwrap_or(&[])); // in order
        } else if intact {
            effects.push(QueueEffect::Deliver { name: slot.name, offset, data });
        }
        Ok(success)
    }

    /// The RDMA connection is accepted.
    pub fn accepted(&mut self, private: &[u8], effects: &mut Vec<QueueEffect>) {
        if self.stage != Stage::Opening {
            return;
        }
        let told = private.first_chunk().map(|bytes| AcceptPrivateData::from_bytes(*bytes));
        if told.is_some_and(|told| told.format() == 0 && told.receive_entries() > 0) {
            self.connect(effects);
        } else {
            self.fail(Failure::Protocol(FatalError::UNSUPPORTED_PARAMETER), effects);
        }
    }
    /// The RDMA connection is rejected.
    pub fn rejected(&mut self, private: &[u8], effects: &mut Vec<QueueEffect>) {
        let told = private.first_chunk().map(|bytes| RejectPrivateData::from_bytes(*bytes).status());
        self.fail(Failure::Rejected(told.unwrap_or(RejectStatus(0))), effects);
    }
    /// A response capsule has arrived over RDMA, and has invalidated this key.
    pub fn capsule(
        &mut self,
        entry: CompletionEntry,
        invalidated: Option<u32>,
        effects: &mut Vec<QueueEffect>,
    ) {
        if !matches!(self.stage, Stage::Connecting | Stage::Authenticating | Stage::Live) {
            return;
        }
        let Some(slot) = self.slots.get(entry.cid()) else {
            return self.fail(Failure::Protocol(FatalError::INVALID_HEADER_FIELD), effects);
        };
        if let Some(key) = invalidated {
            if slot.key != Some(key) {
                // the target invalidated a key that does not belong to the command
                return self.fail(Failure::Protocol(FatalError::INVALID_HEADER_FIELD), effects);
            }
            slot.key = None;
        }
        if let Transfer::FromController(bytes) = slot.transfer {
            slot.come = bytes; // by RDMA WRITE, ahead of the response
        }
        slot.entry = Some(entry);
        self.slots.moved(entry.sq_head());
        self.go_on(entry.cid(), effects);
    }
    /// The SEND of a command's capsule is complete.
    pub fn sent(&mut self, cid: Cid, effects: &mut Vec<QueueEffect>) {
        if let Some(slot) = self.slots.get(cid) {
            slot.sent = true;
            self.go_on(cid, effects);
        }
    }
    /// The local invalidation of a key is complete.
    pub fn invalidated(&mut self, key: u32, effects: &mut Vec<QueueEffect>) {
        let Some(cid) = (key >> 8).checked_sub(1).map(|cid| Cid(cid as u16)) else { return };
        if let Some(slot) = self.slots.get(cid).filter(|slot| slot.key == Some(key)) {
            slot.key = None;
            slot.invalidating = false;
            self.go_on(cid, effects);
        }
    }
    /// Ends a command over RDMA when its SEND is complete, its response has arrived and its key is invalid.
    fn go_on(&mut self, cid: Cid, effects: &mut Vec<QueueEffect>) {
        let Some(slot) = self.slots.get(cid) else { return };
        let Some(entry) = slot.entry else { return };
        if let Some(key) = slot.key {
            if !core::mem::replace(&mut slot.invalidating, true) {
                effects.push(QueueEffect::Invalidate { key });
            }
            return;
        }
        if slot.sent {
            self.settle(cid, entry, effects);
        }
    }

    fn response(&mut self, entry: CompletionEntry, effects: &mut Vec<QueueEffect>) -> Result<(), Wrong> {
        if self.slots.get(entry.cid()).is_none() {
            return Err(UNKNOWN);
        }
        self.slots.moved(entry.sq_head());
        self.settle(entry.cid(), entry, effects);
        Ok(())
    }
    /// Ends a command.
    fn settle(&mut self, cid: Cid, entry: CompletionEntry, effects: &mut Vec<QueueEffect>) {
        let Some(slot) = self.slots.give(cid) else { return };
        let short = matches!(slot.transfer, Transfer::FromController(bytes) if slot.come < bytes);
        let status = match entry.status() {
            status if status.is_success() && slot.damaged => Status::TRANSIENT_TRANSPORT_ERROR,
            status if status.is_success() && short => Status::DATA_TRANSFER_ERROR,
            status => status,
        };
        match slot.name {
            CONNECT_NAME => return self.connect_ended(status, entry, effects),
            // a message contains its own length
            MESSAGE_NAME if entry.status().is_success() && !slot.damaged => {
                return self.message_ended(matches!(slot.transfer, Transfer::FromController(_)), effects);
            }
            MESSAGE_NAME => return self.fail(Failure::Refused(status, entry.dw0()), effects),
            _ => {}
        }
        let ending = Ending { status, dw0: entry.dw0(), dw1: entry.dw1() };
        effects.push(QueueEffect::Completed { name: slot.name, ending });
    }
    fn connect_ended(&mut self, status: Status, entry: CompletionEntry, effects: &mut Vec<QueueEffect>) {
        if !status.is_success() {
            return self.fail(Failure::Refused(status, entry.dw0()), effects);
        }
        if !self.config.flow_control && entry.sq_head() != FLOW_CONTROL_IS_OFF {
            self.slots.flow_control = true; // it was not granted
        }
        let result = ConnectResult::from_raw(entry.dw0());
        self.to = ControllerId(result.controller());
        let is_asked = result.authentication() & (TRANSACTION_REQUIRED | SECURE_CHANNEL_REQUIRED) != 0;
        self.authenticate(is_asked, effects);
    }
}
