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

/// Where an operation waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queue {
    /// Somebody waits for this read.
    Front = 0,
    /// Programs and erases, first come first served.
    Writes = 1,
    /// Reads that nobody waits for.
    Back = 2,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Who is told when it ends.
    pub owner: u32,
    /// Which server does it.
    pub server: u32,
    /// What it does.
    pub work: Work,
    /// Which die of the server.
    pub die: u8,
    /// Which plane, of a read.
    pub plane: u8,
    /// Which page of the block, of a read.
    pub page: u32,
    /// On the bus before the array works, in so many transfers of this length; a read's command is added by the machine
    /// \[ps\].
    pub bus_in: u64,
    /// Transfers of a program: others may use the bus between them.
    pub transfers: u16,
    /// In the array \[ps\].
    pub array: u64,
    /// On the bus after the array has worked, of a read \[ps\].
    pub bus_out: u64,
    /// Who is told when the data of a program are in the registers, as if that were an end.
    pub when_loaded: Option<u32>,
    /// Nothing follows from its end sooner than so long after it; 0 if something may at once \[ps\].
    pub heard_after: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub op: Op,
    pub next: u32,
    /// How often a program or an erase has been suspended; of a read that is out of its queue, whether it was at the
    /// back.
    pub note: u32,
    /// How many came before.
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

/// Puts an operation behind the last.
#[inline]
pub(super) fn push(slots: &mut [Slot], list: &mut List, id: u32) {
    if list.tail == NONE {
        list.head = id;
    } else {
        slots[list.tail as usize].next = id;
    }
    list.tail = id;
}

/// Takes the first operation out.
#[inline]
pub(super) fn pop(slots: &[Slot], list: &mut List) -> u32 {
    let id = list.head;
    list.head = slots[id as usize].next;
    if list.head == NONE {
        list.tail = NONE;
    }
    id
}
