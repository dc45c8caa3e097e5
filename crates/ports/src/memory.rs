//! Host memory whose bytes matter: data structures shared by a driver and its device.
//!
//! ```text
//!            allocate, free           write                        read
//!  driver ──► a region, zeroed   CPU ──► visible ◄── arrive ◄─┐    any ──► visible
//!                                           │       post ─────┘
//!            watch                          ▼  device: on its way
//!  driver ──► a range ···················► who polls it
//! ```
//!
//! Rings, lists of pages and shadow doorbells have bytes; user data have none, and no region is allocated for them.
//! Regions follow each other from [`HostMemory::FIRST`] on, so that a look-up is a comparison; a freed region is
//! reused for the next of its size. Writes of the CPU are visible at once. Writes of a device are *on their way* from
//! [`HostMemory::post`] until the host makes them visible ([`HostMemory::arrive`]), at a time that the links
//! determine. A component that polls a range is notified then, instead of polling all the time.
//!
//! Not here: times of accesses (the root complex, the links), caches.

use lanetwin_kernel::Trail;
use std::cell::{Ref, RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The bytes of a host's control structures.
#[derive(Default)]
pub struct HostMemory {
    /// Bytes as reads see them; index 0 is address [`HostMemory::FIRST`].
    visible: Vec<u8>,
    /// Bytes written by devices that have not arrived, at their addresses; undefined elsewhere.
    posted: Vec<u8>,
    /// The size of each region in use \[B\], by its address.
    regions: BTreeMap<u64, u64>,
    /// The regions that were freed and are not in use again: size \[B\] and address.
    free: BTreeSet<(u64, u64)>,
    /// Ranges that are polled, in the order of addresses.
    watched: Vec<Watch>,
    /// Trails of the requests to which ring entries belong, at the time when they became visible: by address in units
    /// of the smallest entry.
    trails: Vec<Trail>,
    /// The address at which the next buffer is mapped; `None` if devices see memory as the CPU does.
    next_mapped: Option<u64>,
}

/// Addresses for buffers mapped by an IOMMU: far behind everything that has bytes. They are reused cyclically, as
/// Linux reuses addresses.
const MAPPED: std::ops::Range<u64> = 1 << 40..1 << 47;

/// The smallest entry of a ring \[B\]: a completion of NVMe.
const ENTRY: u64 = 16;

#[derive(Clone, Copy)]
struct Watch {
    from: u64,
    to: u64,
    name: u32,
}

impl HostMemory {
    /// The address of the first region \[B\]. What is below has no bytes: an address of 0 means nothing to anybody.
    pub const FIRST: u64 = 4096;
    /// Regions begin at multiples of this \[B\]: the smallest page of a host.
    pub const PAGE: u64 = 4096;

    /// Allocates a region of at least `bytes`, a whole number of pages, filled with zeros. Returns its address: that
    /// of the lowest freed region of that size, or the end of the last region.
    pub fn allocate(&mut self, bytes: u64) -> u64 {
        let bytes = bytes.next_multiple_of(Self::PAGE);
        let freed = self.free.range((bytes, 0)..).next().copied().filter(|freed| freed.0 == bytes);
        let address = freed.map_or(self.end(), |freed| freed.1);
        let size = usize::try_from(bytes).expect("a region fits into the memory of this machine");
        let from = (address - Self::FIRST) as usize;
        for memory in [&mut self.visible, &mut self.posted] {
            memory.resize(memory.len().max(from + size), 0);
            memory[from..from + size].fill(0);
        }
        if let Some(freed) = freed {
            self.free.remove(&freed);
        }
        self.regions.insert(address, bytes);
        address
    }
    /// Frees a region. It is no longer polled. Later writes of a device still arrive there, as in any machine: a
    /// driver must not free a region that a device may write to.
    ///
    /// # Panics
    /// If no region in use begins at `address`.
    pub fn free(&mut self, address: u64) {
        let bytes = self.regions.remove(&address);
        let bytes = bytes.unwrap_or_else(|| panic!("no region in use begins at {address:#x}"));
        self.watched.retain(|watch| watch.to <= address || address + bytes <= watch.from);
        self.free.insert((bytes, address));
    }
    /// The end of the last region; addresses from here on have no bytes.
    #[must_use]
    pub fn end(&self) -> u64 {
        Self::FIRST + self.visible.len() as u64
    }
    /// The visible bytes from `address` on. Returns `None` if not all of them are in a region.
    #[must_use]
    pub fn read(&self, address: u64, bytes: usize) -> Option<&[u8]> {
        self.visible.get(place(address)?..)?.get(..bytes)
    }
    /// The CPU writes: visible at once. What is in no region is dropped.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        put(&mut self.visible, address, bytes);
    }
    /// A device has sent these bytes: on their way until they [`HostMemory::arrive`]. What is in no region is dropped.
    pub fn post(&mut self, address: u64, bytes: &[u8]) {
        put(&mut self.posted, address, bytes);
    }
    /// Sets the trail of the request that wrote `address`: a reader continues from it.
    pub fn leave_trail(&mut self, address: u64, trail: Trail) {
        if let Some(place) = place(address).filter(|place| *place < self.visible.len()) {
            let place = place / ENTRY as usize;
            if self.trails.len() <= place {
                self.trails.resize(self.visible.len().div_ceil(ENTRY as usize), Trail::NONE);
            }
            self.trails[place] = trail;
        }
    }
    /// The trail of the request that wrote `address`.
    #[must_use]
    pub fn trail(&self, address: u64) -> Trail {
        let known = place(address).and_then(|place| self.trails.get(place / ENTRY as usize));
        known.copied().unwrap_or_default()
    }
    /// Says that devices see this memory through an IOMMU: from now on buffers have to be mapped for them.
    pub const fn translate(&mut self) {
        self.next_mapped = Some(MAPPED.start);
    }
    /// Whether devices see this memory through an IOMMU.
    #[must_use]
    pub const fn is_translated(&self) -> bool {
        self.next_mapped.is_some()
    }
    /// Maps a buffer of this size. Returns its address for devices, in pages that no translation cache has, or `None`
    /// if devices see memory as the CPU does.
    pub fn map(&mut self, bytes: u64) -> Option<u64> {
        let next = self.next_mapped.as_mut()?;
        let bytes = bytes.next_multiple_of(Self::PAGE);
        if MAPPED.end - *next < bytes {
            *next = MAPPED.start;
        }
        let address = *next;
        *next += bytes;
        Some(address)
    }
    /// Registers a polled range under a name.
    ///
    /// # Panics
    /// If part of it is polled already.
    pub fn watch(&mut self, address: u64, bytes: u64, name: u32) {
        let place = self.watched.partition_point(|watch| watch.to <= address);
        let next = self.watched.get(place).map_or(u64::MAX, |next| next.from);
        assert!(address + bytes <= next, "one poller is enough for an address");
        self.watched.insert(place, Watch { from: address, to: address + bytes, name });
    }
    /// Makes a device's write of this size visible; has no effect at addresses without bytes. Returns the name of the
    /// range, if it is polled.
    #[inline]
    pub fn arrive(&mut self, address: u64, bytes: u64) -> Option<u32> {
        if address >= self.end() || address < Self::FIRST {
            return None;
        }
        let from = (address - Self::FIRST) as usize;
        let to = from + bytes.min(self.end() - address) as usize;
        self.visible[from..to].copy_from_slice(&self.posted[from..to]);
        let watch = self.watched.get(self.watched.partition_point(|watch| watch.to <= address))?;
        (watch.from <= address).then_some(watch.name)
    }
}

fn place(address: u64) -> Option<usize> {
    usize::try_from(address.checked_sub(HostMemory::FIRST)?).ok()
}

fn put(memory: &mut [u8], address: u64, bytes: &[u8]) {
    let room =
        place(address).and_then(|from| memory.get_mut(from..)).and_then(|rest| rest.get_mut(..bytes.len()));
    if let Some(room) = room {
        room.copy_from_slice(bytes);
    }
}

// A megabyte of ring helps nobody who looks at a component.
impl std::fmt::Debug for HostMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostMemory({} B)", self.visible.len())
    }
}

/// A [`HostMemory`] that several components of one world have: a world is one thread.
#[derive(Clone, Default, Debug)]
pub struct SharedMemory(Rc<RefCell<HostMemory>>);

impl SharedMemory {
    /// A memory without regions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Borrows the memory for reading.
    ///
    /// # Panics
    /// If it is borrowed for writing: a component must not keep a borrow longer than needed.
    #[must_use]
    pub fn reader(&self) -> Ref<'_, HostMemory> {
        self.0.borrow()
    }
    /// Borrows the memory for writing.
    ///
    /// # Panics
    /// If it is borrowed already.
    #[must_use]
    pub fn change(&self) -> RefMut<'_, HostMemory> {
        self.0.borrow_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_device_writes_is_seen_when_it_has_arrived_and_not_before() {
        let memory = SharedMemory::new();
        let ring = memory.change().allocate(100);
        assert_eq!(ring, HostMemory::FIRST);
        memory.change().post(ring + 16, &[7; 16]);
        assert_eq!(memory.reader().read(ring + 16, 16), Some(&[0; 16][..]));
        assert_eq!(memory.change().arrive(ring + 16, 16), None);
        assert_eq!(memory.reader().read(ring + 16, 16), Some(&[7; 16][..]));
        assert_eq!(memory.reader().read(ring, 16), Some(&[0; 16][..]), "and nothing else");
    }

    #[test]
    fn what_the_cpu_writes_is_seen_at_once() {
        let mut memory = HostMemory::default();
        let ring = memory.allocate(4096);
        memory.write(ring + 4092, &[1, 2, 3, 4]);
        assert_eq!(memory.read(ring + 4092, 4), Some(&[1, 2, 3, 4][..]));
    }

    #[test]
    fn who_polls_is_told_of_what_arrives() {
        let mut memory = HostMemory::default();
        let rings = memory.allocate(3 * 4096);
        memory.watch(rings + 8192, 64, 7);
        memory.watch(rings, 4096, 3);
        let names = [0, 4095, 4096, 8192, 8255, 8256].map(|at| memory.arrive(rings + at, 1));
        assert_eq!(names, [Some(3), Some(3), None, Some(7), Some(7), None]);
    }

    #[test]
    fn buffers_are_mapped_anew_each_time_and_only_behind_an_iommu() {
        let mut memory = HostMemory::default();
        assert_eq!((memory.is_translated(), memory.map(4096)), (false, None));
        memory.translate();
        let [a, b, c] = [512, 8192, 4096].map(|bytes| memory.map(bytes).unwrap());
        assert_eq!((b - a, c - b, a % HostMemory::PAGE), (4096, 8192, 0));
        assert_eq!(memory.arrive(a, 512), None, "no buffer has bytes");
    }

    #[test]
    fn what_was_freed_is_used_again_for_the_same_size_lowest_first_and_is_zero() {
        let mut memory = HostMemory::default();
        let [a, b, c, d] = [4096, 8192, 4096, 4096].map(|bytes| memory.allocate(bytes));
        memory.write(a, &[1; 4096]);
        memory.post(a, &[2; 4096]);
        memory.watch(a + 4000, 96, 7);
        memory.watch(b, 64, 8);
        let end = memory.end();
        [d, a, c].into_iter().for_each(|region| memory.free(region));
        assert_eq!((memory.arrive(a, 4000), memory.arrive(a + 4000, 96)), (None, None), "nobody polls it");
        assert_eq!(memory.arrive(b, 64), Some(8), "its neighbour is still polled");
        assert_eq!(memory.allocate(12288), end, "nothing of this size was freed");
        assert_eq!([1, 4096, 100].map(|bytes| memory.allocate(bytes)), [a, c, d]);
        assert_eq!(memory.read(a, 4096), Some(&[0; 4096][..]));
        memory.arrive(a, 4096);
        assert_eq!(memory.read(a, 4096), Some(&[0; 4096][..]), "nor is anything on its way");
        assert_eq!(memory.allocate(4096), end + 12288);
    }

    #[test]
    #[should_panic(expected = "no region in use begins at 0x1000")]
    fn nothing_is_freed_twice() {
        let mut memory = HostMemory::default();
        let region = memory.allocate(4096);
        memory.free(region);
        memory.free(region);
    }

    #[test]
    fn regions_do_not_overlap_and_elsewhere_nothing_has_bytes() {
        let mut memory = HostMemory::default();
        let (a, b) = (memory.allocate(1), memory.allocate(5000));
        assert_eq!((b - a, memory.end() - b), (4096, 8192));
        let end = memory.end();
        memory.write(end - 1, &[1, 1]);
        memory.post(0, &[1]);
        for (address, bytes) in [(end, 64), (end - 1, 64), (0, 8), (u64::MAX, u64::MAX)] {
            assert_eq!(memory.arrive(address, bytes), None);
        }
        assert_eq!((memory.read(end - 1, 1), memory.read(end - 1, 2)), (Some(&[0][..]), None));
        assert_eq!((memory.read(0, 1), memory.read(u64::MAX, 1)), (None, None));
    }
}
