//! The medium of controllers: turns their requests into commands for drives, and keeps data on their way between host
//! and medium.

use crate::command::{Command, Ended, Kind};
use crate::drive::Facts;
use crate::engine::Reply;
use lanetwin_nvme::logic::{Effect, MediaOperation, MediaRequest, Subsystem, Token};
use lanetwin_nvme::spec::{Nsid, Status};
use lanetwin_units::Instant;
use std::collections::BTreeMap;
use std::ops::Range;

/// Data of writes that a front holds at most \[B\]; a write beyond that ends with Data Transfer Error.
pub const MOST_HELD: u64 = 512 << 20;
/// Maximum size of a command for a drive \[B\].
const MOST_ASKED: u64 = 1 << 31;

/// An action for the drives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ForDrives {
    /// Ask one of them; [`Medium::answered`] gets the reply.
    Ask {
        /// The medium's name for it.
        ticket: u64,
        /// Command.
        command: Command,
    },
    /// Every byte of a drive becomes zero (Format NVM, Sanitize). It takes no time.
    Erase {
        /// Index of the drive, if several are served together.
        unit: u16,
    },
    /// Report the state of the drives for a Telemetry log.
    Tell {
        /// Token for the report.
        token: Token,
    },
}

/// The end of a request to the medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MediaEnd {
    token: Token,
    operation: MediaOperation,
    status: Status,
}

/// A request to the medium: number of its commands without a reply, and status of the others.
struct Open {
    token: Token,
    operation: MediaOperation,
    left: u32,
    status: Status,
}

/// The drives behind the namespaces of a subsystem.
pub struct Medium {
    /// Properties of the drives of the namespaces, from namespace 1 on.
    facts: Vec<Facts>,
    /// By a number, and by the tickets of its commands.
    open: BTreeMap<u64, Open>,
    tickets: BTreeMap<u64, u64>,
    numbers: u64,
    /// Data between host and drive, by the part of a command that they belong to.
    data: BTreeMap<u64, (Token, Vec<u8>)>,
    /// Reserved memory for writes \[B\], by part, and the sum.
    room: BTreeMap<u64, u64>,
    held: u64,
}

impl Medium {
    /// A medium without requests.
    pub const fn new(facts: Vec<Facts>) -> Self {
        Self {
            facts,
            open: BTreeMap::new(),
            tickets: BTreeMap::new(),
            numbers: 0,
            data: BTreeMap::new(),
            room: BTreeMap::new(),
            held: 0,
        }
    }
    /// Number of namespaces.
    pub const fn namespaces(&self) -> u32 {
        self.facts.len() as u32
    }
    /// Data of writes that are held \[B\].
    pub const fn held(&self) -> u64 {
        self.held
    }
    /// Whether it holds no data of any command.
    pub fn is_at_rest(&self) -> bool {
        self.open.is_empty() && self.tickets.is_empty() && self.data.is_empty() && self.room.is_empty()
    }
    /// Whether data of any command are waiting.
    pub fn has_data(&self) -> bool {
        !self.data.is_empty()
    }

    /// Keeps room for data that come from the host; false if there is none.
    pub fn reserve(&mut self, token: Token, bytes: u32) -> bool {
        if self.held + u64::from(bytes) > MOST_HELD {
            return false;
        }
        self.held += u64::from(bytes);
        self.room.insert(token.part(), bytes.into());
        true
    }
    /// Data have come from the host.
    pub fn bring(
        &mut self,
        now: Instant,
        (token, bytes): (Token, Vec<u8>),
        subsystem: &mut Subsystem,
        out: &mut Vec<Effect>,
    ) {
        self.data.insert(token.part(), (token, bytes));
        subsystem.transferred(now, token, out);
        self.forget_if_gone(token, subsystem);
    }
    /// Hands out the data of a part, if they are here.
    pub fn hand_out(&mut self, token: Token) -> Option<Vec<u8>> {
        self.data.remove(&token.part()).map(|(_, data)| data)
    }
    /// The data of a part are of no use any more.
    pub fn forget(&mut self, token: Token) {
        self.data.remove(&token.part());
        self.held -= self.room.remove(&token.part()).unwrap_or(0);
    }
    fn forget_if_gone(&mut self, token: Token, subsystem: &Subsystem) {
        if subsystem.command(token).is_none() {
            self.forget(token);
        }
    }
    /// Discards data of commands that ended with their queue before the medium was accessed.
    pub fn sweep(&mut self, subsystem: &Subsystem) {
        let is_gone = |token: &Token| subsystem.command(*token).is_none();
        let gone: Vec<Token> = self.data.values().map(|(token, _)| *token).filter(is_gone).collect();
        gone.into_iter().for_each(|token| self.forget(token));
    }

    /// Handles a request of a controller: returns the commands for the drives, or the end if it ends at once.
    pub fn ask(&mut self, token: Token, request: MediaRequest) -> (Vec<ForDrives>, Option<MediaEnd>) {
        let MediaRequest { operation, .. } = request;
        let ended = |status| Some(MediaEnd { token, operation, status });
        let (kind, fua) = match operation {
            MediaOperation::Read => (Kind::Read, false),
            MediaOperation::Write { force_unit_access } => (Kind::Write, force_unit_access),
            MediaOperation::Compare => (Kind::Compare, false),
            MediaOperation::WriteZeroes { force_unit_access, .. } => (Kind::WriteZeroes, force_unit_access),
            MediaOperation::Deallocate => (Kind::Deallocate, false),
            MediaOperation::Flush => (Kind::Flush, false),
            MediaOperation::Format { .. } | MediaOperation::Sanitize { .. } => {
                let erase = self.units(request.nsid).map(|unit| ForDrives::Erase { unit });
                return (erase.collect(), ended(Status::SUCCESS));
            }
        };
        let data = match kind {
            Kind::Write | Kind::Compare => self.hand_out(token),
            _ => Some(Vec::new()),
        };
        let Some(data) = data else { return (Vec::new(), ended(Status::DATA_TRANSFER_ERROR)) };
        self.numbers += 1;
        let number = self.numbers;
        let pieces = self.pieces(kind, &request);
        self.open
            .insert(number, Open { token, operation, left: pieces.len() as u32, status: Status::SUCCESS });
        let mut data = Some(data);
        let ask = |(unit, first, length): (u16, u64, u32)| {
            let data = data.take().unwrap_or_default();
            let command = Command { fua, data, unit, ..Command::of(kind, first, length) };
            self.numbers += 1;
            self.tickets.insert(self.numbers, number);
            ForDrives::Ask { ticket: self.numbers, command }
        };
        (pieces.into_iter().map(ask).collect(), None)
    }
    /// The drives that a namespace identifier is about.
    fn units(&self, nsid: Nsid) -> Range<u16> {
        let all = self.facts.len() as u16;
        match nsid {
            Nsid::ALL => 0..all,
            Nsid(number) => (number - 1) as u16..number as u16,
        }
    }
    /// The pieces for each drive: index, first byte, number of bytes.
    fn pieces(&self, kind: Kind, request: &MediaRequest) -> Vec<(u16, u64, u32)> {
        let units = self.units(request.nsid);
        if kind == Kind::Flush {
            return units.map(|unit| (unit, 0, 0)).collect();
        }
        let unit = units.start;
        let block = u64::from(self.facts[usize::from(unit)].block);
        let (first, bytes) = (request.slba * block, u64::from(request.blocks) * block);
        let most = MOST_ASKED / block * block;
        let length = |from: u64| (bytes - from).min(most) as u32;
        let pieces = (0..bytes.div_ceil(most).max(1)).map(|piece| piece * most);
        pieces.map(|from| (unit, first + from, length(from))).collect()
    }
    /// Handles a reply of a drive. Returns the request that has ended with it, if any.
    pub fn answered(&mut self, reply: Reply) -> Option<MediaEnd> {
        let number = self.tickets.remove(&reply.ticket)?;
        let open = self.open.get_mut(&number)?;
        open.left -= 1;
        if open.status.is_success() {
            open.status = status(reply.ended);
        }
        if open.left > 0 {
            return None;
        }
        let Open { token, operation, status, .. } = *open;
        self.open.remove(&number);
        if operation == MediaOperation::Read && status.is_success() {
            self.data.insert(token.part(), (token, reply.data));
        }
        Some(MediaEnd { token, operation, status })
    }
    /// Reports an end to the controller.
    pub fn end(&mut self, now: Instant, end: MediaEnd, subsystem: &mut Subsystem, out: &mut Vec<Effect>) {
        let MediaEnd { token, operation, status } = end;
        if operation != MediaOperation::Read {
            self.forget(token);
        }
        subsystem.media_done(now, token, status, out);
        self.forget_if_gone(token, subsystem);
    }
}

/// The NVMe status of an outcome.
const fn status(ended: Ended) -> Status {
    match ended {
        Ended::Well => Status::SUCCESS,
        Ended::Differs => Status::COMPARE_FAILURE,
        Ended::ReadError => Status::UNRECOVERED_READ_ERROR,
        Ended::WriteError => Status::WRITE_FAULT,
        Ended::NoRoom => Status::CAPACITY_EXCEEDED,
        Ended::Aborted | Ended::NoPower => Status::INTERNAL_ERROR,
    }
}
