//! Data pointers of commands: PRP entries, PRP lists and SGLs of a buffer.

use crate::spec::pointer::{PRP_BYTES, SglDescriptor, SglType};
use crate::spec::{Command, DataTransfer};

/// A PRP list that must be in host memory before the doorbell is rung for the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrpList {
    /// Address of the list.
    pub address: u64,
    /// Address of the first page in the list; the others follow it.
    pub first: u64,
    /// Number of pages in the list.
    pub pages: u32,
    /// Page size \[B\].
    pub page_bytes: u32,
}

impl PrpList {
    /// Length of the list \[B\], including the pointers from one page of it to the next.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries().count() as u64 * u64::from(PRP_BYTES)
    }
    /// Entries of the list, in order. If more entries follow, the last entry of a memory page points to the next page
    /// of the list, which is the next in memory.
    pub fn entries(&self) -> impl Iterator<Item = u64> + '_ {
        let (mut named, mut at) = (0, self.address);
        core::iter::from_fn(move || {
            let left = self.pages - named;
            if left == 0 {
                return None;
            }
            at += u64::from(PRP_BYTES);
            if at.is_multiple_of(u64::from(self.page_bytes)) && left > 1 {
                return Some(at);
            }
            let page = self.first + u64::from(named) * u64::from(self.page_bytes);
            named += 1;
            Some(page)
        })
    }
}

/// Sets the PRP entries of a command for a contiguous buffer.
///
/// Returns the list if one is needed; `list` is its address, a multiple of 8. It continues in the pages that follow.
///
/// # Panics
/// If `page_bytes` is not a power of two, or the buffer is not aligned to dwords.
pub fn point_prp(
    command: &mut Command,
    address: u64,
    bytes: u32,
    page_bytes: u32,
    list: u64,
) -> Option<PrpList> {
    assert!(page_bytes.is_power_of_two(), "a memory page is a power of two");
    assert!(address & 3 == 0, "PRP entries point at dwords");
    let inside = page_bytes - (address as u32 & (page_bytes - 1));
    command.set_prp1(address);
    let rest = bytes.saturating_sub(inside);
    let first = address + u64::from(inside);
    if rest <= page_bytes {
        command.set_prp2(if rest == 0 { 0 } else { first });
        return None;
    }
    command.set_prp2(list);
    Some(PrpList { address: list, first, pages: rest.div_ceil(page_bytes), page_bytes })
}

/// Sets the SGL of a command for pieces of memory. A single piece is described in the command; for more, returns the
/// descriptors that must be written to `segment`.
///
/// # Panics
/// If there are no pieces, or more than a segment can describe.
pub fn point_sgl(command: &mut Command, pieces: &[(u64, u32)], segment: u64) -> Vec<SglDescriptor> {
    let dword0 = command.dword0().with_data_transfer(DataTransfer::SGL).expect("two bits");
    command.set_dword0(dword0);
    let described: Vec<_> =
        pieces.iter().map(|&(address, bytes)| SglDescriptor::block(address, bytes)).collect();
    let (first, list) = match described[..] {
        [] => panic!("an SGL describes something"),
        [only] => (only, Vec::new()),
        _ => {
            let bytes = u32::try_from(described.len() * 16).expect("a segment is less than 4 GiB");
            (SglDescriptor::of(SglType::LAST_SEGMENT, segment, bytes), described)
        }
    };
    let (low, high) = first.to_halves();
    command.set_prp1(low);
    command.set_prp2(high);
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_to_two_pages_need_no_list() {
        let mut command = Command::ZERO;
        assert_eq!(point_prp(&mut command, 0x1000, 4096, 4096, 0), None);
        assert_eq!((command.prp1(), command.prp2()), (0x1000, 0));
        assert_eq!(point_prp(&mut command, 0x1800, 4096, 4096, 0), None);
        assert_eq!((command.prp1(), command.prp2()), (0x1800, 0x2000));
        assert_eq!(point_prp(&mut command, 0x1000, 8192, 4096, 0), None);
        assert_eq!(command.prp2(), 0x2000);
    }

    #[test]
    fn a_list_goes_on_behind_its_page() {
        let mut command = Command::ZERO;
        let list = point_prp(&mut command, 0x10_0800, 4 * 4096, 4096, 0xff0).unwrap();
        assert_eq!(command.prp2(), 0xff0);
        // two entries fit into the page: a page of the buffer, and the way on
        assert_eq!(list.entries().collect::<Vec<_>>(), [0x10_1000, 0x1000, 0x10_2000, 0x10_3000, 0x10_4000]);
        assert_eq!(list.bytes(), 40);
        let exact = point_prp(&mut command, 0x10_0000, 3 * 4096, 4096, 0xff0).unwrap();
        assert_eq!(exact.entries().collect::<Vec<_>>(), [0x10_1000, 0x10_2000]);
    }
}
