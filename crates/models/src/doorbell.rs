//! Conventions between a block driver and a block device: content of a doorbell, and addresses of data in host
//! memory.
//!
//! ```text
//!   address of the write   63     62 … 39      38 … 0
//!                          write  length − 1   place on the medium / 512 B
//!
//!   handle of the write    31 … 24  23 … 0
//!                          unit     the driver's name for the request, returned with the signal
//! ```
//!
//! The memory buffer of a request is chosen by its handle, so that a load of depth `n` uses `n` buffers over and over,
//! as a program with `n` buffers does.
//!
//! Not here: queues in host memory and commands fetched from them.

use lanetwin_ports::{Operation, Transfer};

/// Largest size of a request \[B\].
pub(crate) const LARGEST: u32 = 1 << LENGTH_BITS;
/// Places on the medium are multiples of this \[B\].
pub(crate) const SECTOR: u64 = 512;
/// Size of the write that signals the completion of a request to the host \[B\]: a completion entry.
pub(crate) const SIGNAL_BYTES: u16 = 16;

const LENGTH_BITS: u32 = 24;
const PLACE_BITS: u32 = 39;
const NAME_BITS: u32 = 24;
const PAGE: u64 = 4096;

/// Handle and content of the doorbell for `request`. Returns `None` if it has no bytes or too many, if its address is
/// not a sector's, or if its unit or handle is too large.
pub(crate) fn ring(request: &Transfer) -> Option<(u32, u64)> {
    let place = request.address / SECTOR;
    let legal = (1..=LARGEST).contains(&request.bytes)
        && request.address.is_multiple_of(SECTOR)
        && place >> PLACE_BITS == 0
        && request.handle >> NAME_BITS == 0
        && u32::from(request.unit) >> (u32::BITS - NAME_BITS) == 0;
    let write = u64::from(request.operation == Operation::Write);
    let length = u64::from(request.bytes.wrapping_sub(1));
    let handle = u32::from(request.unit) << NAME_BITS | request.handle;
    legal.then_some((handle, write << 63 | length << PLACE_BITS | place))
}

/// The request encoded in a doorbell with this handle and content.
pub(crate) fn heard(handle: u32, content: u64) -> Transfer {
    let operation = if content >> 63 == 1 { Operation::Write } else { Operation::Read };
    let bytes = (content >> PLACE_BITS & u64::from(LARGEST - 1)) as u32 + 1;
    let (unit, handle) = ((handle >> NAME_BITS) as u16, handle & ((1 << NAME_BITS) - 1));
    Transfer { operation, bytes, handle, unit, address: (content & ((1 << PLACE_BITS) - 1)) * SECTOR }
}

/// Address of the data of a request in host memory.
pub(crate) fn buffer(handle: u32, bytes: u32) -> u64 {
    u64::from(handle) * u64::from(bytes).next_multiple_of(PAGE)
}

/// Address of the completion entry of a request in host memory.
pub(crate) fn completion_entry(handle: u32) -> u64 {
    u64::from(handle) * u64::from(SIGNAL_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_rung_is_heard(write: bool, bytes in 1..=LARGEST, place in 0_u64..1 << PLACE_BITS, unit in 0_u16..256, handle in 0_u32..1 << NAME_BITS) {
            let operation = if write { Operation::Write } else { Operation::Read };
            let request = Transfer { operation, bytes, handle, unit, address: place * SECTOR };
            let (handle, content) = ring(&request).unwrap();
            prop_assert_eq!(heard(handle, content), request);
        }
    }

    #[test]
    fn what_does_not_fit_is_not_rung() {
        let request = Transfer { operation: Operation::Read, bytes: 1, handle: 0, unit: 0, address: 0 };
        let ask = |bytes, address| ring(&Transfer { bytes, address, ..request });
        assert!(ask(LARGEST, 0).is_some() && ask(1, (1 << 48) - 512).is_some());
        assert_eq!([ask(0, 0), ask(LARGEST + 1, 0), ask(1, 1 << 48), ask(1, 511)], [None; 4]);
        let named = |unit, handle| ring(&Transfer { unit, handle, ..request });
        assert_eq!(
            (named(255, (1 << 24) - 1), named(256, 0), named(0, 1 << 24)),
            (Some((u32::MAX, 0)), None, None)
        );
    }

    #[test]
    fn buffers_do_not_overlap() {
        assert_eq!(buffer(3, 4096), 3 * 4096);
        assert_eq!(buffer(1, 4097), 8192);
    }
}
