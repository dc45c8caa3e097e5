//! Content of a group of a 256 B flit: the packing rules, and the choices that they leave open.
//!
//! The rules (CXL §4.3.4):
//!
//! | rule | effect |
//! |---|---|
//! | data go into G-slots, in the order of headers, as early as possible | after a data header every G-slot holds data until none is left |
//! | H-slots and HS-slots never hold data | slot 0, and slot 8 of a latency-optimised flit, are free for messages in every flit |
//! | no data headers in H-slots and HS-slots with more than 16 data slots pending | |
//! | a slot holds messages of one kind: 1 Req, 1 RwD; 3 NDR or 3 DRS in a G-slot, 2 in the others | |
//! | at most 4 Req, 2 RwD, 6 NDR, 3 DRS in two consecutive groups | slot 7 of a latency-optimised flit counts with the group after it, too |
//!
//! Fairness between channels is left to the implementation. Here age decides, as in 68 B flits: a free slot takes the
//! message that has waited longest, and more messages of the same kind.

use super::super::packer::{Class, Slot, Waiting};
use crate::spec::Direction;
use crate::spec::constants::LINE_SLOTS;
use crate::spec::flit_256::{
    GROUP_SLOTS, GROUPS, HEADER_SLOT_MAX_ROLLOVER, Layout, Message, SLOTS, SlotKind,
};

/// Packing rules that are the same for all groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Direction of the messages.
    pub direction: Direction,
    /// Layout of the flit.
    pub layout: Layout,
    /// Whether a slot can have several data headers (MDH).
    pub multi: bool,
}

/// State of earlier groups that matters to the next group.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Before {
    /// Number of data slots that must follow.
    pub rollover: u8,
    /// Messages of the previous group, by class; including those of slot 7 where they count.
    recent: [u8; 2],
    /// Messages of slot 7, by class.
    seventh: [u8; 2],
}

/// Content of a group.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Group {
    /// The slots; the last group has three.
    pub slots: [Slot; GROUP_SLOTS],
}

impl Group {
    /// Whether the group holds neither messages nor data.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.iter().all(|slot| slot.is_empty())
    }
    /// Number of messages in the group, by class.
    #[must_use]
    pub fn messages(&self) -> [u8; 2] {
        self.slots.iter().fold([0, 0], |[none, data], slot| [none + slot.no_data, data + slot.data_headers])
    }
}

impl Before {
    /// The state after an interval in which no group was sent: only the pending data slots remain.
    #[must_use]
    pub fn rested(self) -> Self {
        Self { rollover: self.rollover, ..Self::default() }
    }
}

/// Number of slots of a group.
#[must_use]
pub const fn slots_of(group: usize) -> usize {
    if group + 1 < GROUPS { GROUP_SLOTS } else { SLOTS - (GROUPS - 1) * GROUP_SLOTS }
}

/// Fills the next group, which has this number in its flit. Also returns the state for the group after it.
#[must_use]
pub fn pack(rules: Rules, number: usize, before: Before, waiting: &impl Waiting) -> (Group, Before) {
    let mut group = Group::default();
    let mut rollover = before.rollover;
    let mut used = [0; 2];
    for (place, slot) in group.slots.iter_mut().enumerate().take(slots_of(number)) {
        let kind = rules.layout.kind(number * GROUP_SLOTS + place);
        if kind == SlotKind::G && rollover > 0 {
            rollover -= 1;
            *slot = Slot { data: true, ..Slot::default() };
            continue;
        }
        let room = rules.room(kind, rollover, [before.recent[0] + used[0], before.recent[1] + used[1]]);
        *slot = fill(room, used, waiting);
        used = [used[0] + slot.no_data, used[1] + slot.data_headers];
        rollover += slot.data_headers * LINE_SLOTS;
    }
    let mut after = Before { rollover, recent: used, seventh: [0; 2] };
    if rules.layout == Layout::LatencyOptimised {
        match number {
            1 => after.seventh = [group.slots[3].no_data, group.slots[3].data_headers],
            2 => after.recent = [used[0] + before.seventh[0], used[1] + before.seventh[1]],
            _ => {}
        }
    }
    (group, after)
}

impl Rules {
    /// Maximum number of messages in a slot, by class, with `sent` messages in this group and the previous one.
    fn room(self, kind: SlotKind, rollover: u8, sent: [u8; 2]) -> [u8; 2] {
        let [none, data] = Message::of(self.direction);
        let most = |message: Message, sent: u8| {
            kind.most(message).min(message.most_in_two_groups().saturating_sub(sent))
        };
        let headers = if self.multi { u8::MAX } else { 1 };
        let headers = if rollover > HEADER_SLOT_MAX_ROLLOVER { 0 } else { headers };
        [most(none, sent[0]), most(data, sent[1]).min(headers)]
    }
}

/// Fills a slot with the oldest message that it has room for, and more of the same kind.
fn fill(room: [u8; 2], used: [u8; 2], waiting: &impl Waiting) -> Slot {
    let age = |class: Class, n: u8| {
        let i = class.index();
        if n < room[i] { waiting.age(class, used[i] + n) } else { None }
    };
    let oldest = Class::ALL.into_iter().filter_map(|class| Some((age(class, 0)?, class))).min();
    let Some((_, class)) = oldest else { return Slot::default() };
    let count = (0..room[class.index()]).take_while(|n| age(class, *n).is_some()).count() as u8;
    match class {
        Class::NoData => Slot { no_data: count, ..Slot::default() },
        Class::Data => Slot { data_headers: count, ..Slot::default() },
    }
}
