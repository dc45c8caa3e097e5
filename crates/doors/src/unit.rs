//! One of the served drives: its bytes, and its faults.

use crate::bytes::{Bytes, Content};
use crate::command::{Command, Ended, Kind, Request};
use crate::drive::{Earlier, Facts};
use crate::faults::{Fault, Faults};
use lanetwin_kernel::Stream;
use lanetwin_ssd::{ByteStore, StoreFault};
use lanetwin_units::Instant;

/// A drive without its time.
pub struct Unit {
    pub facts: Facts,
    pub bytes: Bytes,
    pub faults: Faults,
    /// The part of the lead by which the drive itself is faster.
    pub earlier: Earlier,
}

impl Unit {
    pub fn new(store: Box<dyn ByteStore + Send>, facts: Facts) -> Self {
        let bytes = Bytes::new(store, facts);
        Self { facts, bytes, faults: Faults::default(), earlier: Earlier::default() }
    }
    /// A fault, from a time of the machine on.
    pub fn fault(&mut self, at: Instant, fault: &Fault) {
        match fault {
            Fault::Lie => self.bytes.lies = true,
            Fault::None => self.bytes.lies = false,
            _ => {}
        }
        self.faults.add(fault, at);
    }
    /// Every byte becomes zero, at once.
    pub fn erase(&mut self) {
        self.faults.written(0, self.facts.bytes);
        // if the store fails, its next read or write reports that
        let _ = self.bytes.write(0, Content::Zeroes(self.facts.bytes), true);
    }
    /// Applies the effect of a completed command to the bytes.
    pub fn carry_out(&mut self, command: Command, is_done: bool, chance: &mut Stream) -> (Ended, Vec<u8>) {
        let Command { request: Request { kind, first, bytes }, fua, data, .. } = command;
        let written = |done: Result<(), _>| done.map_or(Ended::WriteError, |()| Ended::Well);
        let unreadable = self.faults.is_unreadable(first, bytes.into());
        let ended = match kind {
            _ if !is_done => Ended::Aborted,
            Kind::Read | Kind::Compare if unreadable || self.faults.is_unlucky(chance) => Ended::ReadError,
            Kind::Write | Kind::WriteZeroes if !self.faults.take_room(bytes.into()) => Ended::NoRoom,
            Kind::Read => {
                let mut data = vec![0; bytes as usize];
                return match self.bytes.read(first, &mut data) {
                    Ok(()) => (Ended::Well, data),
                    Err(_) => (Ended::ReadError, Vec::new()),
                };
            }
            Kind::Compare => match self.bytes.compare(first, &data) {
                Ok(true) => Ended::Well,
                Ok(false) => Ended::Differs,
                Err(_) => Ended::ReadError,
            },
            Kind::Flush => written(self.bytes.flush()),
            Kind::Write => {
                self.faults.written(first, bytes.into());
                written(self.bytes.write(first, Content::Data(data), fua))
            }
            Kind::Deallocate | Kind::WriteZeroes => {
                if kind == Kind::Deallocate {
                    self.faults.give_room(bytes.into());
                }
                self.faults.written(first, bytes.into());
                written(self.bytes.write(first, Content::Zeroes(bytes.into()), fua))
            }
        };
        (ended, Vec::new())
    }
    /// Everything that was acknowledged survives.
    pub fn close(&mut self) -> Result<(), StoreFault> {
        self.bytes.lies = false;
        self.bytes.flush()
    }
}
