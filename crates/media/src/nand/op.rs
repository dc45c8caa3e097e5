//! Operations, and the lists in which they wait.

/// No operation.
pub(super) const NONE: u32 = u32::MAX;

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Sense and send out.
    Read,
    /// Take data in and program.
    Program,
    /// Erase.
    Erase,
}

/// Queues of operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queue {
    /// Reads for which a request waits.
    Front = 0,
    /// Programs and erases, in order of arrival.
    Writes = 1,
    /// Reads for which no request waits.
    Back = 2,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Owner, to whom its end is reported.
    pub owner: u32,
    /// Its server.
    pub server: u32,
    /// Kind of work.
    pub work: Work,
    /// The die of the server.
    pub die: u8,
    /// The plane of a read.
    pub plane: u8,
    /// The page in the block, of a read.
    pub page: u32,
    /// Time on the bus before the array works, for each of `transfers`; the machine adds the command of a read
    /// \[ps\].
    pub bus_in: u64,
    /// Number of transfers of a program; others may use the bus in between.
    pub transfers: u16,
    /// Time in the array \[ps\].
    pub array: u64,
    /// Time on the bus after the array has worked, of a read \[ps\].
    pub bus_out: u64,
    /// Owner to whom it is reported that the data of a program are in the registers, like an end.
    pub when_loaded: Option<u32>,
    /// Least time from its end to the first effect on its owner; 0 if the owner may react at once \[ps\].
    pub heard_after: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub op: Op,
    pub next: u32,
    /// Number of suspensions of a program or an erase; for a read that has left its queue, whether that was the back
    /// queue.
    pub note: u32,
    /// Number of operations put in before.
    pub came: u64,
}

#[derive(Clone, Copy)]
pub(super) struct List {
    pub head: u32,
    pub tail: u32,
}

impl List {
    pub const EMPTY: Self = Self { head: NONE, tail: NONE };
    pub const fn is_empty(self) -> bool {
        self.head == NONE
    }
}

/// Appends an operation.
#[inline]
pub(super) fn push(slots: &mut [Slot], list: &mut List, id: u32) {
    if list.tail == NONE {
        list.head = id;
    } else {
        slots[list.tail as usize].next = id;
    }
    list.tail = id;
}

/// Takes the first operation.
#[inline]
pub(super) fn pop(slots: &[Slot], list: &mut List) -> u32 {
    let id = list.head;
    list.head = slots[id as usize].next;
    if list.head == NONE {
        list.tail = NONE;
    }
    id
}
