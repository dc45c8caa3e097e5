//! The paces of a link: its rates, which outages can change, and its traffic between changes.
//!
//! Pace 0 is the declared one, and no other is faster, so that the least delays computed for a link remain valid.

use super::declare::Pace;
use super::serialiser::Serialiser;
use super::spec::Direction;
use lanetwin_units::Ticks;

/// Traffic of an egress up to a declared outage, from the previous one or from the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// When the wire became free and the link went down.
    pub ends: Ticks,
    /// When the link is up again.
    pub up: Ticks,
    /// Payload of the TLPs started up to then, since the start of the run \[data credits of 16 B\].
    pub data_units: u64,
}

/// The paces of an egress.
#[derive(Clone, Debug)]
pub(super) struct Paces {
    /// The serialiser at the declared rate.
    pub declared: Serialiser,
    /// Time of a SKP at the declared pace.
    skp: u64,
    /// Pace 1 and so on.
    others: Vec<Pace>,
}

impl Paces {
    pub fn new(direction: &Direction) -> Self {
        let skp = direction.skp.map_or(0, |skp| skp.duration);
        Self { declared: Serialiser::new(direction.rate), skp, others: Vec::new() }
    }
    /// The number of a pace; adds it if it is new.
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
