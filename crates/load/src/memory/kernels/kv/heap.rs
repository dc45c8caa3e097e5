//! Addresses of the store's objects: in slabs of an allocator's size classes, in the order of insertion.
//!
//! Redis 7: a dictionary entry of 24 B (key, value, next), the key as a string with a header of 3 B and a terminating
//! 0, the value as an object of 16 B. A value of at most 44 B lies in its object; a longer one is a string of its own
//! (`object.c`, `sds.c`, `dict.c`).

use super::super::layout::Layout;
use super::spec::{BUFFER, KeyValue};

/// A dictionary entry \[B\].
const ENTRY: u64 = 24;
/// An object \[B\].
const OBJECT: u64 = 16;
/// The longest value inside its object \[B\].
const LONGEST_EMBEDDED: u64 = 44;
/// Header and terminator of a string below 256 B, and of one below 64 KiB \[B\].
const SHORT_STRING: u64 = 3 + 1;
const STRING: u64 = 5 + 1;
/// Values come in groups of this size, whose sizes cover the distribution evenly.
const GROUP: u64 = 64;

/// The allocation that holds `bytes` \[B\]: multiples of 8 up to 64, then four classes for each power of two (jemalloc
/// 5 as Redis builds it, with a quantum of 8).
pub(super) const fn size_class(bytes: u64) -> u64 {
    if bytes <= 64 {
        return bytes.next_multiple_of(8);
    }
    let step = (bytes - 1).ilog2() - 2;
    bytes.next_multiple_of(1 << step)
}

/// A value of the group: its size, and its place in the slab of its size class.
#[derive(Clone, Copy, Debug)]
struct Slot {
    bytes: u64,
    slab: usize,
    /// Number of values of the group that precede it in the slab.
    rank: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slab {
    first: u64,
    class: u64,
    /// Number of values per group in this slab.
    of_group: u64,
}

/// A range of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Extent {
    pub(super) first: u64,
    pub(super) bytes: u64,
}

/// Addresses of all objects of one instance.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    table: u64,
    entries: u64,
    keys: u64,
    key_bytes: u64,
    objects: Option<u64>,
    slots: Vec<Slot>,
    slabs: Vec<Slab>,
    buffers: u64,
}

impl Heap {
    /// Appends an instance to the layout.
    pub(super) fn place(spec: &KeyValue, buckets: u64, layout: &mut Layout) -> Self {
        let keys = spec.keys;
        let key_bytes = spec.key_bytes + SHORT_STRING;
        let table = layout.place("hash table", buckets * 8);
        let entries = layout.place("entries", keys * ENTRY);
        let key_strings = layout.place("keys", keys * size_class(key_bytes));
        let sizes = (0..GROUP).map(|index| spec.values.quantile((index as f64 + 0.5) / GROUP as f64));
        // neighbours in the order of insertion have different sizes
        let sizes: Vec<u64> = sizes.collect();
        let sizes: Vec<u64> = (0..GROUP).map(|index| sizes[(index * 37 % GROUP) as usize]).collect();
        let separate = sizes.iter().any(|bytes| *bytes > LONGEST_EMBEDDED);
        let objects = separate.then(|| layout.place("objects", keys * OBJECT));
        let mut heap = Self {
            table,
            entries,
            keys: key_strings,
            key_bytes,
            objects,
            slots: Vec::new(),
            slabs: Vec::new(),
            buffers: 0,
        };
        let groups = keys.div_ceil(GROUP);
        for bytes in sizes {
            let class = size_class(heap.allocation(bytes));
            let slab = heap.slabs.iter().position(|slab| slab.class == class).unwrap_or_else(|| {
                heap.slabs.push(Slab { first: 0, class, of_group: 0 });
                heap.slabs.len() - 1
            });
            heap.slots.push(Slot { bytes, slab, rank: heap.slabs[slab].of_group });
            heap.slabs[slab].of_group += 1;
        }
        for slab in &mut heap.slabs {
            slab.first = layout.place("values", groups * slab.of_group * slab.class);
        }
        heap.buffers = layout.place("client buffers", u64::from(spec.clients) * 2 * BUFFER);
        heap
    }
    /// Size of the allocation of a value, with its object if the value is inside \[B\].
    fn allocation(&self, bytes: u64) -> u64 {
        match self.objects {
            None => OBJECT + SHORT_STRING + bytes,
            Some(_) if bytes < 256 => SHORT_STRING + bytes,
            Some(_) => STRING + bytes,
        }
    }
    pub(super) const fn bucket(&self, bucket: u64) -> u64 {
        self.table + bucket * 8
    }
    pub(super) const fn entry(&self, key: u64) -> Extent {
        Extent { first: self.entries + key * ENTRY, bytes: ENTRY }
    }
    pub(super) const fn key(&self, key: u64) -> Extent {
        Extent { first: self.keys + key * size_class(self.key_bytes), bytes: self.key_bytes }
    }
    /// The object of a value; `None` if the value is inside it.
    pub(super) fn object(&self, key: u64) -> Option<u64> {
        self.objects.map(|objects| objects + key * OBJECT)
    }
    /// The value, with its object if that holds it.
    pub(super) fn value(&self, key: u64) -> Extent {
        let slot = self.slots[(key % GROUP) as usize];
        let slab = self.slabs[slot.slab];
        let index = key / GROUP * slab.of_group + slot.rank;
        Extent { first: slab.first + index * slab.class, bytes: self.allocation(slot.bytes) }
    }
    /// The size of a key's value \[B\].
    pub(super) fn value_bytes(&self, key: u64) -> u64 {
        self.slots[(key % GROUP) as usize].bytes
    }
    /// The buffer of a client for requests, or for replies.
    pub(super) const fn buffer(&self, client: u32, replies: bool) -> u64 {
        self.buffers + (client as u64 * 2 + replies as u64) * BUFFER
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::ValueSize;
    use super::*;

    /// From the table of size classes in jemalloc's manual, `SIZE CLASSES`.
    #[test]
    fn size_classes_are_those_of_the_allocator() {
        let classes =
            [1, 8, 19, 24, 25, 64, 65, 81, 128, 129, 160, 161, 1024, 1025, 1280, 4097].map(size_class);
        assert_eq!(classes, [8, 8, 24, 24, 32, 64, 80, 96, 128, 160, 160, 192, 1024, 1280, 1280, 5120]);
    }

    #[test]
    fn objects_do_not_overlap_and_stay_inside() {
        let values = [
            ValueSize::Fixed(32),
            ValueSize::Fixed(1024),
            ValueSize::Even { least: 10, most: 5000 },
            ValueSize::Even { least: 1, most: 44 },
        ];
        for values in values {
            let spec = KeyValue { keys: 1000, values, ..Default::default() };
            let mut layout = Layout::default();
            let heap = Heap::place(&spec, 1024, &mut layout);
            let mut extents = Vec::new();
            for key in 0..1000 {
                extents.extend([heap.entry(key), heap.key(key), heap.value(key)]);
                extents.extend(heap.object(key).map(|first| Extent { first, bytes: OBJECT }));
            }
            extents.sort_by_key(|extent| extent.first);
            assert!(
                extents.windows(2).all(|pair| pair[0].first + pair[0].bytes <= pair[1].first),
                "{values:?}"
            );
            let last = extents.last().expect("there are some");
            assert!(last.first + last.bytes <= layout.end());
        }
    }

    #[test]
    fn sizes_of_values_cover_their_range_evenly() {
        let spec =
            KeyValue { keys: 6400, values: ValueSize::Even { least: 100, most: 1000 }, ..Default::default() };
        let heap = Heap::place(&spec, 8192, &mut Layout::default());
        let mean = (0..6400).map(|key| heap.value_bytes(key)).sum::<u64>() as f64 / 6400.0;
        assert!((mean - 550.0).abs() < 5.0, "{mean}");
    }
}
