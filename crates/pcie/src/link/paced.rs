//! The pace of an egress: its serialiser, the time of its DLLPs, and changes.

use super::declare::Pace;
use super::egress::Egress;
use super::serialiser::Serialiser;
use crate::spec::constants::DLLP_BYTES;
use lanetwin_units::LinkRate;

impl Egress {
    /// The serialiser at a pace of this egress.
    #[inline]
    pub(super) fn at_pace(&self, number: u8) -> Serialiser {
        if number == self.pace { self.serialiser } else { Serialiser::new(self.rate_at(number)) }
    }

    #[inline(never)]
    fn rate_at(&self, number: u8) -> LinkRate {
        self.paces.get(number).rate
    }

    /// Changes to the pace with which the link comes back.
    pub(super) fn run_at(&mut self, number: u8) {
        if number == self.pace {
            return;
        }
        self.overhead.caused_before = (self.overhead.caused_by(self.done.tlps), self.dllp_time());
        let Pace { rate, skp } = self.paces.get(number);
        (self.pace, self.serialiser, self.overhead.skp) = (number, Serialiser::new(rate), skp);
    }

    /// Wire time of the DLLPs caused by TLPs of this direction, each at the pace of its TLP.
    pub(super) fn dllp_time(&self) -> u64 {
        let (before, time) = self.overhead.caused_before;
        let mut serialiser = self.serialiser;
        time + (self.overhead.caused_by(self.done.tlps) - before) * serialiser.ticks(DLLP_BYTES)
    }
}
