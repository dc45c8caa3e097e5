//! An egress at its pace: which wire it has, what its DLLPs take, and how it changes.

use super::declare::Pace;
use super::egress::Egress;
use super::serialiser::Serialiser;
use crate::spec::constants::DLLP_BYTES;
use lanetwin_units::LinkRate;

impl Egress {
    /// The wire at a pace of this egress.
    #[inline]
    pub(super) fn at_pace(&self, number: u8) -> Serialiser {
        if number == self.pace { self.serialiser } else { Serialiser::new(self.rate_at(number)) }
    }

    #[inline(never)]
    fn rate_at(&self, number: u8) -> LinkRate {
        self.paces.get(number).rate
    }

    /// The link comes back with a pace.
    pub(super) fn run_at(&mut self, number: u8) {
        if number == self.pace {
            return;
        }
        self.overhead.caused_before = (self.overhead.caused_by(self.done.tlps), self.dllp_time());
        let Pace { rate, skp } = self.paces.get(number);
        (self.pace, self.serialiser, self.overhead.skp) = (number, Serialiser::new(rate), skp);
    }

    /// The wire time of the DLLPs that the TLPs of this direction have caused; those of a TLP have the pace that it
    /// had.
    pub(super) fn dllp_time(&self) -> u64 {
        let (before, time) = self.overhead.caused_before;
        let mut serialiser = self.serialiser;
        time + (self.overhead.caused_by(self.done.tlps) - before) * serialiser.ticks(DLLP_BYTES)
    }
}
