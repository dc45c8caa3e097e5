//! The units in which a workload leaves data contiguous on a drive in its lived state.

use lanetwin_units::{Bytes, greatest_common_divisor};

/// Requests of one kind, as far as they affect the layout of their data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessShape {
    /// Whether they are writes.
    pub is_write: bool,
    /// Whether their addresses are random instead of consecutive.
    pub is_random: bool,
    /// Their sizes and addresses are multiples of this \[B\].
    pub multiple_of: Bytes,
}

/// The values for reads and for writes, given whether there are any of each.
pub fn of_kinds<T>((reads, writes): (bool, bool), of: impl Fn(bool) -> T) -> impl Iterator<Item = T> {
    let kinds = [(reads, false), (writes, true)];
    kinds.into_iter().filter(|(is_there, _)| *is_there).map(move |(_, is_write)| of(is_write))
}

/// Size of the aligned units that are overwritten at once on a drive in its lived state: the largest common unit of all
/// random writes. Without random writes, that of all writes; without writes, the drive was written as it is read.
/// Returns `None` if there are no requests.
#[must_use]
pub fn written_at_once(shapes: &[AccessShape]) -> Option<Bytes> {
    let of = |wanted: fn(&AccessShape) -> bool| common(shapes.iter().filter(|shape| wanted(shape)));
    of(|shape| shape.is_write && shape.is_random)
        .or_else(|| of(|shape| shape.is_write))
        .or_else(|| of(|shape| shape.is_random))
        .or_else(|| of(|_| true))
}

/// The greatest common divisor of their units.
fn common<'a>(shapes: impl Iterator<Item = &'a AccessShape>) -> Option<Bytes> {
    let sizes = shapes.map(|shape| shape.multiple_of);
    sizes.reduce(|all, one| Bytes(greatest_common_divisor(all.0, one.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn shape(is_write: bool, is_random: bool, bytes: u64) -> AccessShape {
        AccessShape { is_write, is_random, multiple_of: Bytes(bytes) }
    }

    #[test]
    fn who_writes_at_random_decides_and_who_only_reads_found_it_as_it_reads() {
        let reads = shape(false, true, 65536);
        assert_eq!(written_at_once(&[reads]), Some(Bytes(65536)));
        assert_eq!(written_at_once(&[reads, shape(true, true, 8192)]), Some(Bytes(8192)));
        assert_eq!(written_at_once(&[shape(true, true, 12288), shape(true, true, 8192)]), Some(Bytes(4096)));
        assert_eq!(written_at_once(&[reads, shape(true, false, 1 << 20)]), Some(Bytes(1 << 20)));
        assert_eq!(written_at_once(&[]), None);
    }
}
