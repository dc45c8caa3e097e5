//! Content of a flit: the packing rules of the 68 B flit, and the choices that they leave open.
//!
//! The rules (CXL §4.2.5):
//!
//! | rule | effect |
//! |---|---|
//! | data goes into slots 1 to 3, in the order of headers, as early as possible | after a data header every slot holds data until none is left |
//! | more than three chunks roll over | the next flit is an all-data flit: four slots of data, no header |
//! | at most 2 Req, 1 RwD; 2 NDR, 3 DRS in a flit | |
//! | several data headers only in one slot (H5: 2, G6: 3), and then none elsewhere | two DRS in slot 0 halve the cost of their headers |
//! | a message takes the first slot that can hold it | slots fill from the left |
//!
//! Fairness between channels is left to the implementation. Here age decides: a free slot takes the message that has
//! waited longest, or, for responses, the format that holds the two (slot 0) or three (slots 1 to 3) oldest.
//!
//! | slot | oldest messages | format | content |
//! |---|---|---|---|
//! | 0, M2S | Req / RwD | H5 / H4 | the oldest |
//! | 1–3, M2S | Req / RwD | G4 / G5 | the oldest |
//! | 0, S2M | DRS, DRS / DRS, NDR / NDR, NDR | H5 / H3 / H4 | both |
//! | 1–3, S2M | three DRS / with an NDR among the three / no DRS | G6 / G4 / G5 | 2 or 3 DRS / 1 DRS and up to 2 NDR / up to 2 NDR |

use crate::spec::Direction;
use crate::spec::constants::{
    FLIT_SLOTS, LINE_SLOTS, M2S_REQ_PER_FLIT, M2S_RWD_PER_FLIT, S2M_DRS_PER_FLIT, S2M_NDR_PER_FLIT,
};

/// The two message classes of a direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// Without data: M2S Req, S2M NDR.
    NoData,
    /// With a line of data: M2S RwD, S2M DRS.
    Data,
}

impl Class {
    /// Both classes.
    pub const ALL: [Self; 2] = [Self::NoData, Self::Data];

    /// 0 without data, 1 with data.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Content of one slot.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Slot {
    /// Number of messages without data.
    pub no_data: u8,
    /// Number of headers of messages with data.
    pub data_headers: u8,
    /// Whether it holds 16 B of data.
    pub data: bool,
}

impl Slot {
    const DATA: Self = Self { no_data: 0, data_headers: 0, data: true };

    /// Whether the slot holds neither messages nor data.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.no_data == 0 && self.data_headers == 0 && !self.data
    }
}

/// Content of one flit.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Packed {
    /// The slots.
    pub slots: [Slot; FLIT_SLOTS],
    /// Whether it is an all-data flit.
    pub all_data: bool,
    /// Number of data chunks that follow in later flits.
    pub rollover: u8,
}

impl Packed {
    /// An all-data flit, with `rollover` chunks left after it.
    #[must_use]
    pub const fn all_data(rollover: u8) -> Self {
        Self { slots: [Slot::DATA; FLIT_SLOTS], all_data: true, rollover }
    }
    /// Number of messages without data in the flit.
    #[must_use]
    pub fn no_data(&self) -> u8 {
        self.slots.iter().map(|slot| slot.no_data).sum()
    }
    /// Number of headers of messages with data in the flit.
    #[must_use]
    pub fn data_headers(&self) -> u8 {
        self.slots.iter().map(|slot| slot.data_headers).sum()
    }
    /// Number of data slots in the flit.
    #[must_use]
    pub fn data(&self) -> u8 {
        self.slots.iter().map(|slot| u8::from(slot.data)).sum()
    }
}

/// Age of a message: its time and its number. The smaller is the older, in whichever channel.
pub type Age = (u64, u64);

/// The messages that may be sent now: those that have been submitted and have credits.
pub trait Waiting {
    /// Age of the `n`-th message of a class; `None` if there is none.
    fn age(&self, class: Class, n: u8) -> Option<Age>;
}

/// Fills the next flit, with `rollover` chunks of data left from earlier flits. With `multi`, both ends support several
/// data headers in a slot.
#[inline]
#[must_use]
pub fn pack(direction: Direction, rollover: u8, multi: bool, waiting: &impl Waiting) -> Packed {
    if rollover >= LINE_SLOTS {
        return Packed::all_data(rollover - FLIT_SLOTS as u8);
    }
    let mut flit = Packed { rollover, ..Packed::default() };
    let mut used = [0_u8; 2];
    for place in 0..FLIT_SLOTS {
        if place > 0 && flit.rollover > 0 {
            flit.slots[place] = Slot::DATA;
            flit.rollover -= 1;
            continue;
        }
        let slot = match direction {
            Direction::M2s => request_slot(used, waiting),
            Direction::S2m if place == 0 => response_slot_0(multi, waiting),
            Direction::S2m => response_slot(used, multi, waiting),
        };
        used[0] += slot.no_data;
        used[1] += slot.data_headers;
        flit.rollover += slot.data_headers * LINE_SLOTS;
        flit.slots[place] = slot;
    }
    flit
}

const fn messages(no_data: u8, data_headers: u8) -> Slot {
    Slot { no_data, data_headers, data: false }
}

/// Age of the `n`-th message of a class, if the flit may carry it.
fn allowed(waiting: &impl Waiting, class: Class, n: u8, most: u8) -> Option<Age> {
    if n < most { waiting.age(class, n) } else { None }
}

fn request_slot(used: [u8; 2], waiting: &impl Waiting) -> Slot {
    let req = allowed(waiting, Class::NoData, used[0], M2S_REQ_PER_FLIT);
    let rwd = allowed(waiting, Class::Data, used[1], M2S_RWD_PER_FLIT);
    match (req, rwd) {
        (None, None) => Slot::default(),
        (Some(_), None) => messages(1, 0),
        (None, Some(_)) => messages(0, 1),
        (Some(req), Some(rwd)) => {
            if req < rwd {
                messages(1, 0)
            } else {
                messages(0, 1)
            }
        }
    }
}

/// Slot 0 of a response flit: the two oldest messages.
fn response_slot_0(multi: bool, waiting: &impl Waiting) -> Slot {
    let ndr = waiting.age(Class::NoData, 0);
    let drs = waiting.age(Class::Data, 0);
    let second = |class| waiting.age(class, 1);
    match (ndr, drs) {
        (None, None) => Slot::default(),
        (Some(_), None) => messages(1 + u8::from(second(Class::NoData).is_some()), 0),
        (None, Some(_)) => messages(0, 1 + u8::from(multi && second(Class::Data).is_some())),
        (Some(ndr), Some(drs)) => {
            if multi && second(Class::Data).is_some_and(|age| age < ndr) {
                messages(0, 2)
            } else if second(Class::NoData).is_some_and(|age| age < drs) {
                messages(2, 0)
            } else {
                messages(1, 1)
            }
        }
    }
}

/// Slot 1 to 3 of a response flit. The flit has no data header yet, as all slots after one hold data.
fn response_slot(used: [u8; 2], multi: bool, waiting: &impl Waiting) -> Slot {
    debug_assert!(used[1] == 0, "data follows its header");
    let ndr = |n| allowed(waiting, Class::NoData, used[0] + n, S2M_NDR_PER_FLIT);
    let ndrs = u8::from(ndr(0).is_some()) + u8::from(ndr(1).is_some());
    let drs = |n| waiting.age(Class::Data, n);
    if drs(0).is_none() {
        return messages(ndrs, 0);
    }
    let several = if !multi {
        1
    } else if let Some(oldest) = ndr(0) {
        let older = drs(S2M_DRS_PER_FLIT - 1).is_some_and(|age| age < oldest);
        if older { S2M_DRS_PER_FLIT } else { 1 }
    } else {
        (1..S2M_DRS_PER_FLIT).take_while(|n| drs(*n).is_some()).count() as u8 + 1
    };
    if several > 1 { messages(0, several) } else { messages(ndrs, 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Ages of the waiting messages of both classes.
    struct Queues([Vec<u64>; 2]);
    impl Waiting for Queues {
        fn age(&self, class: Class, n: u8) -> Option<Age> {
            self.0[class.index()].get(usize::from(n)).map(|at| (*at, 0))
        }
    }
    impl Queues {
        fn take(&mut self, flit: &Packed) {
            self.0[0].drain(..usize::from(flit.no_data()));
            self.0[1].drain(..usize::from(flit.data_headers()));
        }
        fn are_empty(&self) -> bool {
            self.0.iter().all(Vec::is_empty)
        }
    }

    /// How many slots these messages take when they have all been waiting from the start.
    fn slots(direction: Direction, multi: bool, no_data: u64, data: u64) -> u64 {
        // Evenly mixed ages.
        let mut queues = Queues([
            (0..no_data).map(|i| i * 1_000_000 / no_data.max(1)).collect(),
            (0..data).map(|i| i * 1_000_000 / data.max(1) + 1).collect(),
        ]);
        let (mut rollover, mut flits) = (0, 0);
        while rollover > 0 || !queues.are_empty() {
            let flit = pack(direction, rollover, multi, &queues);
            queues.take(&flit);
            rollover = flit.rollover;
            flits += 1;
        }
        flits * 4
    }

    #[test]
    fn reads_take_four_and_a_half_slots_back_and_one_there() {
        assert_eq!(slots(Direction::S2m, true, 0, 8000), 36_000);
        assert_eq!(slots(Direction::S2m, false, 0, 8000), 40_000);
        // Two requests in a flit is all that a flit may carry.
        assert_eq!(slots(Direction::M2s, true, 8000, 0), 16_000);
    }

    #[test]
    fn writes_take_five_slots_there_and_half_a_flit_back() {
        assert_eq!(slots(Direction::M2s, true, 0, 8000), 40_000);
        // Two NDR in a flit is all that a flit may carry.
        assert_eq!(slots(Direction::S2m, true, 8000, 0), 16_000);
    }

    #[test]
    fn mixed_requests_leave_no_slot_empty() {
        let exact = 5 * 5400 + 4600;
        let got = slots(Direction::M2s, true, 4600, 5400);
        assert!(got.abs_diff(exact) <= exact / 1000, "{got} slots, {exact} expected");
    }

    /// As long as responses can be the bottleneck: with more writes than reads, requests are.
    #[test]
    fn responses_of_a_mix_take_half_a_slot_for_each_header() {
        for (writes, reads) in [(100, 9900), (1000, 9000), (2000, 6000), (3000, 6000), (4000, 4000)] {
            let exact = (9 * reads + writes) / 2;
            let got = slots(Direction::S2m, true, writes, reads);
            assert!(got.abs_diff(exact) <= 8, "{got} slots for {reads} DRS and {writes} NDR");
        }
        let got = slots(Direction::S2m, true, 6000, 2000);
        assert!(got < 5 * 6000 + 2000, "{got} slots back, fewer than there");
    }

    proptest! {
        /// Against the rules as the standard states them, one by one.
        #[test]
        fn every_flit_obeys_the_rules(
            m2s: bool,
            multi: bool,
            ages in prop::collection::vec((any::<bool>(), 0_u64..40), 0..40),
        ) {
            let direction = if m2s { Direction::M2s } else { Direction::S2m };
            let mut queues = Queues([vec![], vec![]]);
            for (data, at) in ages {
                queues.0[usize::from(data)].push(at);
            }
            queues.0.iter_mut().for_each(|queue| queue.sort_unstable());
            let total = queues.0[1].len() * 4;
            let (mut rollover, mut sent) = (0, 0);
            while rollover > 0 || !queues.are_empty() {
                let flit = pack(direction, rollover, multi, &queues);
                let waited = !queues.are_empty();
                queues.take(&flit);
                sent += usize::from(flit.data());
                prop_assert_eq!(flit.all_data, rollover > 3);
                if flit.all_data {
                    prop_assert_eq!(flit.rollover, rollover - 4);
                    rollover = flit.rollover;
                    continue;
                }
                prop_assert!(!flit.slots[0].data, "slot 0 has no room for data");
                // Chunks that roll over stand in the first slots behind the header.
                for place in 1..=usize::from(rollover) {
                    prop_assert!(flit.slots[place].data);
                }
                let (most, most_data) = if m2s { (2, 1) } else { (2, 3) };
                prop_assert!(flit.no_data() <= most && flit.data_headers() <= most_data);
                let with_headers: Vec<_> = flit.slots.iter().filter(|slot| slot.data_headers > 0).collect();
                prop_assert!(with_headers.len() <= 1, "data headers stand in one slot");
                prop_assert!(multi || flit.data_headers() <= 1);
                // Behind a header everything is data while there is any.
                let mut pending = u32::from(rollover);
                for (place, slot) in flit.slots.iter().enumerate() {
                    prop_assert!(!slot.data || pending > 0);
                    if place > 0 {
                        prop_assert_eq!(slot.data, pending > 0);
                    }
                    pending = pending - u32::from(slot.data) + 4 * u32::from(slot.data_headers);
                    let formats: &[(u8, u8)] = match (m2s, place) {
                        (true, _) => &[(1, 0), (0, 1)],
                        (false, 0) => &[(0, 1), (1, 0), (1, 1), (2, 0), (0, 2)],
                        (false, _) => &[(0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (0, 2), (0, 3)],
                    };
                    prop_assert!(slot.data || slot.is_empty() || formats.contains(&(slot.no_data, slot.data_headers)));
                }
                prop_assert_eq!(pending, u32::from(flit.rollover));
                prop_assert!(rollover > 0 || !waited || !flit.slots[0].is_empty(), "nobody waits beside an empty slot 0");
                rollover = flit.rollover;
            }
            prop_assert_eq!(sent, total);
        }
    }
}
