//! The paces of a link: how fast it runs, which an outage can change, and what it carries from one to the next.
//!
//! Pace 0 is the one that was declared, and no other is faster: what was found out about the least delays of a link
//! stays true.

use super::declare::Pace;
use super::serialiser::Serialiser;
use super::spec::Direction;
use lanetwin_units::Ticks;

/// An egress up to an outage that was said, since the one before or the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// When the wire was free, and the link down.
    pub ends: Ticks,
    /// When the link is up again.
    pub up: Ticks,
    /// The payload of the TLPs that had started by then, since the start of the run \[data credits of 16 B\].
    pub data_units: u64,
}

/// The paces of an egress.
#[derive(Clone, Debug)]
pub(super) struct Paces {
    /// The wire as it was declared.
    pub declared: Serialiser,
    /// The time of a SKP then.
    skp: u64,
    /// Pace 1 and so on.
    others: Vec<Pace>,
}

impl Paces {
    pub fn new(direction: &Direction) -> Self {
        let skp = direction.skp.map_or(0, |skp| skp.duration);
        Self { declared: Serialiser::new(direction.rate), skp, others: Vec::new() }
    }
    /// The number of a pace, which is new or not.
    pub fn number(&mut self, pace: Pace) -> u8 {
        let known = self.others.iter().position(|known| *known == pace);
        let place = known.unwrap_or_else(|| {
            self.others.push(pace);
            self.others.len() - 1
        });
        u8::try_from(place + 1).expect("a checked link has few paces")
    }
    /// A pace by its number.
    pub fn get(&self, number: u8) -> Pace {
        match number.checked_sub(1) {
            None => Pace { rate: self.declared.rate(), skp: self.skp },
            Some(other) => self.others[usize::from(other)],
        }
    }
}
