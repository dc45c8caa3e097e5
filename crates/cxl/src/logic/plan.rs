//! All possible protocol flits, computed when a link is built.
//!
//! The content that the [packer](super::packer) chooses for a flit depends on four small numbers: the chunks that roll
//! over (0 to 3), the number of messages of each class that may be sent (up to what a flit can carry), and the order of
//! the two classes by age. So the packer runs once for each case when a link is built, and each flit is a table
//! look-up.

use super::activity::Activity;
use super::packer::{Age, Class, Packed, Waiting, pack};
use crate::spec::Direction;
use crate::spec::constants::{
    LINE_SLOTS, M2S_REQ_PER_FLIT, M2S_RWD_PER_FLIT, S2M_DRS_PER_FLIT, S2M_NDR_PER_FLIT,
};

/// Order of the oldest messages of both classes by age.
///
/// Beyond the two oldest the order does not matter: by then the flit has a data header, after which all slots hold
/// data, or the maximum number of messages without data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    /// The two oldest have data. Also used if only one class, or none, has messages.
    DataData,
    /// The oldest has data, the next has none.
    DataNone,
    /// The oldest has no data, the next has data.
    NoneData,
    /// The two oldest have no data.
    NoneNone,
}

impl Order {
    /// The order if both classes have messages.
    #[inline(never)]
    fn of([no_data, data]: [u8; 2], age: impl Fn(Class, usize) -> Age) -> Self {
        let (none, some) = (age(Class::NoData, 0), age(Class::Data, 0));
        if some < none {
            if data > 1 && age(Class::Data, 1) < none { Self::DataData } else { Self::DataNone }
        } else if no_data > 1 && age(Class::NoData, 1) < some {
            Self::NoneNone
        } else {
            Self::NoneData
        }
    }
}

const ORDERS: [Order; 4] = [Order::DataData, Order::DataNone, Order::NoneData, Order::NoneNone];
/// Number of cases: four numbers of two bits each.
const CASES: usize = 256;
const _: () = assert!(LINE_SLOTS == 4 && ORDERS.len() == 4);
const _: () = assert!(M2S_REQ_PER_FLIT == S2M_NDR_PER_FLIT && S2M_NDR_PER_FLIT < 4);
const _: () = assert!(M2S_RWD_PER_FLIT <= S2M_DRS_PER_FLIT && S2M_DRS_PER_FLIT < 4);

/// One of all protocol flits: its index in the tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case(u8);

/// Messages that may be sent now, as far as they matter to the next flit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ready {
    no_data: u8,
    data: u8,
    order: Order,
}

impl Ready {
    /// From the number of messages of each class, at most what a flit can carry; `age` is the age of the `n`-th of a
    /// class.
    #[inline(always)]
    pub fn new([no_data, data]: [u8; 2], age: impl Fn(Class, usize) -> Age) -> Self {
        let order = if no_data > 0 && data > 0 { Order::of([no_data, data], age) } else { Order::DataData };
        Self { no_data, data, order }
    }
    /// Whether there is no message.
    #[inline(always)]
    pub const fn is_nothing(self) -> bool {
        self.no_data == 0 && self.data == 0
    }
    /// The case with `rollover` chunks left from earlier flits, fewer than an all-data flit holds.
    #[inline(always)]
    pub fn case(self, rollover: u8) -> Case {
        Case(rollover << 6 | self.no_data << 4 | self.data << 2 | self.order as u8)
    }
}

/// Messages of these numbers, with ages in this order.
impl Waiting for Ready {
    fn age(&self, class: Class, n: u8) -> Option<Age> {
        let (ages, there) = match (class, self.order) {
            (Class::NoData, _) => ([4, 7, 11], self.no_data),
            (Class::Data, Order::DataData) => ([1, 2, 3], self.data),
            (Class::Data, Order::DataNone) => ([3, 5, 6], self.data),
            (Class::Data, Order::NoneData) => ([5, 8, 9], self.data),
            (Class::Data, Order::NoneNone) => ([8, 9, 10], self.data),
        };
        (n < there).then(|| (ages[usize::from(n)], 0))
    }
}

/// The properties of a protocol flit that are needed to fill it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Plan {
    /// Number of data chunks that follow in later flits.
    pub rollover: u8,
    /// Number of messages without data in slot 0, before data that roll over.
    pub no_data_first: u8,
    /// Number of messages without data in the other slots.
    pub no_data_then: u8,
    /// Number of data headers.
    pub data_headers: u8,
}

impl Plan {
    fn new(packed: &Packed) -> Self {
        let first = packed.slots[0].no_data;
        Self {
            rollover: packed.rollover,
            no_data_first: first,
            no_data_then: packed.no_data() - first,
            data_headers: packed.data_headers(),
        }
    }
}

/// All protocol flits of a direction.
pub struct Plans {
    plans: Box<[Plan; CASES]>,
    /// Number of flits sent of each case.
    sent: Box<[u64; CASES]>,
    /// Slots of each case.
    packed: Box<[Packed; CASES]>,
    most_data: u8,
}

impl Plans {
    /// Runs the packer for all cases; with `multi` a slot can have several data headers.
    pub fn new(direction: Direction, multi: bool) -> Self {
        let most = match direction {
            Direction::M2s => M2S_RWD_PER_FLIT,
            Direction::S2m if multi => S2M_DRS_PER_FLIT,
            Direction::S2m => 1,
        };
        let mut packed = Box::new([Packed::default(); CASES]);
        for rollover in 0..LINE_SLOTS {
            for no_data in 0..=M2S_REQ_PER_FLIT {
                for data in 0..=most {
                    for order in ORDERS {
                        let ready = Ready { no_data, data, order };
                        packed[usize::from(ready.case(rollover).0)] =
                            pack(direction, rollover, multi, &ready);
                    }
                }
            }
        }
        Self {
            plans: Box::new(packed.each_ref().map(Plan::new)),
            sent: Box::new([0; CASES]),
            packed,
            most_data: most,
        }
    }
    /// Maximum number of messages without data in a flit; further waiting messages do not matter to it.
    #[inline]
    pub const fn most_no_data(&self) -> u8 {
        M2S_REQ_PER_FLIT
    }
    /// Maximum number of data headers in a flit. A third is possible only in slots 1 to 3, which hold headers only if
    /// slot 0 has the two messages without data.
    #[inline(always)]
    pub fn most_data(&self, no_data: u8) -> u8 {
        if no_data < S2M_NDR_PER_FLIT { self.most_data.min(2) } else { self.most_data }
    }
    /// The flit of a case; counts it as sent.
    #[inline(always)]
    pub fn send(&mut self, case: Case) -> Plan {
        self.sent[usize::from(case.0)] += 1;
        self.plans[usize::from(case.0)]
    }
    /// The flit of a case, slot by slot.
    pub fn packed(&self, case: Case) -> Packed {
        self.packed[usize::from(case.0)]
    }
    /// Adds the flits sent to the counters.
    pub fn add_to(&self, activity: &mut Activity) {
        for (packed, &sent) in self.packed.iter().zip(&*self.sent).filter(|(_, sent)| **sent > 0) {
            let empty = packed.slots.iter().filter(|slot| slot.is_empty()).count() as u64;
            let (data, slots) = (u64::from(packed.data()), packed.slots.len() as u64);
            activity.protocol_flits += sent;
            activity.data_slots += data * sent;
            activity.empty_slots += empty * sent;
            activity.message_slots += (slots - data - empty) * sent;
            activity.no_data_messages += u64::from(packed.no_data()) * sent;
            activity.data_messages += u64::from(packed.data_headers()) * sent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Queues([Vec<u64>; 2]);
    impl Waiting for Queues {
        fn age(&self, class: Class, n: u8) -> Option<Age> {
            let i = class.index();
            self.0[i].get(usize::from(n)).map(|at| (*at, u64::from(n) * 2 + i as u64))
        }
    }

    proptest! {
        /// The table against the packer, whatever waits.
        #[test]
        fn the_table_says_what_the_packer_says(
            m2s: bool,
            multi: bool,
            rollover in 0_u8..4,
            ages in prop::collection::vec((any::<bool>(), 0_u64..6), 0..10),
        ) {
            let direction = if m2s { Direction::M2s } else { Direction::S2m };
            let mut queues = Queues([vec![], vec![]]);
            for (data, at) in ages {
                queues.0[usize::from(data)].push(at);
            }
            queues.0.iter_mut().for_each(|queue| queue.sort_unstable());
            let mut plans = Plans::new(direction, multi);
            let waiting = |i: usize| queues.0[i].len() as u8;
            let no_data = waiting(0).min(plans.most_no_data());
            let data = waiting(1).min(plans.most_data(no_data));
            let ready = Ready::new([no_data, data], |class, n| queues.age(class, n as u8).expect("it waits"));
            let packed = plans.packed(ready.case(rollover));
            prop_assert_eq!(packed, pack(direction, rollover, multi, &queues));
            let plan = plans.send(ready.case(rollover));
            prop_assert_eq!(plan.no_data_first + plan.no_data_then, packed.no_data());
            let mut sent = Activity::default();
            plans.add_to(&mut sent);
            prop_assert_eq!((sent.protocol_flits, sent.data_slots), (1, packed.data().into()));
            prop_assert_eq!(sent.message_slots + sent.data_slots + sent.empty_slots, 4);
            prop_assert_eq!(
                [sent.no_data_messages, sent.data_messages],
                [packed.no_data().into(), packed.data_headers().into()]
            );
            // What rolls over completes one message, and nothing that begins here does.
            prop_assert!(packed.slots[1..=usize::from(rollover)].iter().all(|slot| slot.data));
            prop_assert!(packed.data() < rollover + 4 && packed.data() >= rollover);
        }
    }
}
