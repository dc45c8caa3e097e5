//! An Ethernet port in its place: its line, and its station.

use lanetwin_fabric::ethernet::logic::{Station, Train};
use lanetwin_fabric::ethernet::spec::Line;
use lanetwin_units::Instant;
use std::ops::Range;

/// A line, as both of its ends know it.
pub type EthernetLine = Line;

/// An Ethernet port in its place.
///
/// The peer's port is joined to it directly: a frame that starts at `t` is sent as a message that arrives at `t` plus
/// [`Line::delay`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EthernetSite {
    /// The line behind the port.
    pub line: EthernetLine,
    /// The station of the port, if frames begin and end there; `None` for a port of a switch.
    pub station: Option<Station>,
    /// The largest payload of a frame \[B\].
    pub mtu: u32,
    /// Whether every frame is a separate message. The results are the same.
    pub frame_by_frame: bool,
}

/// Outages of the cable at an Ethernet port: frames whose first bit would arrive during one are lost silently.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CableOutages(Vec<Range<Instant>>);

impl CableOutages {
    /// Down in these times, each after the one before.
    #[must_use]
    pub fn new(times: Vec<Range<Instant>>) -> Self {
        debug_assert!(times.windows(2).all(|pair| pair[0].end <= pair[1].start), "{times:?}");
        Self(times)
    }
    /// Whether there are no outages.
    #[must_use]
    pub const fn are_none(&self) -> bool {
        self.0.is_empty()
    }
    /// The parts of a train that arrive, if its first frame would arrive at `at`, each with the time of its first
    /// frame.
    pub fn passed(&self, at: Instant, train: Train) -> impl Iterator<Item = (Instant, Train)> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let comes = |frame: u16| Instant::from_ps(train.start_of(at.as_ps(), frame));
            let first = (next..train.count).find(|frame| self.at(comes(*frame)).is_none())?;
            let until = self.0.iter().map(|down| down.start).find(|start| *start > comes(first));
            let lost = until.and_then(|until| (first..train.count).find(|frame| comes(*frame) >= until));
            next = lost.unwrap_or(train.count);
            Some((comes(first), train.after(first).first(next - first)))
        })
    }
    fn at(&self, at: Instant) -> Option<&Range<Instant>> {
        self.0.iter().find(|down| down.contains(&at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_fabric::ethernet::logic::Class;

    #[test]
    fn frames_that_come_while_a_cable_is_down_are_lost_and_no_others() {
        let (from, to) = (Station(1), Station(2));
        let words = [40, 1, 2];
        let class = Class::default();
        let train = Train { from, to, count: 10, bytes: 1518, spacing_ps: 100, class, entropy: 0, words };
        let passed = |times: &[[u64; 2]]| -> Vec<(u64, u16, u32)> {
            let times = times.iter().map(|&[from, to]| Instant::from_ps(from)..Instant::from_ps(to));
            let outages = CableOutages::new(times.collect());
            let pieces = outages.passed(Instant::from_ps(1_000), train);
            pieces.map(|(at, piece)| (at.as_ps(), piece.count, piece.words[0])).collect()
        };
        assert_eq!(passed(&[]), [(1_000, 10, 40)]);
        assert_eq!(passed(&[[0, 1_000]]), [(1_000, 10, 40)]);
        assert_eq!(passed(&[[0, 1_001]]), [(1_100, 9, 41)]);
        assert_eq!(passed(&[[1_250, 1_500], [1_900, 1_901]]), [(1_000, 3, 40), (1_500, 4, 45)]);
        assert_eq!(passed(&[[900, 3_000]]), []);
        assert_eq!(passed(&[[1_201, 1_299]]), [(1_000, 3, 40), (1_300, 7, 43)]);
    }
}
