//! Addresses in host memory: user data, which have no bytes, and PRP lists, which have.

use lanetwin_ports::HostMemory;

/// Start of user data: far behind everything that has bytes, so that they are in DRAM.
const DATA: u64 = 1 << 36;

/// Address of the data of a request: a buffer for each handle, so that a load of depth `n` reuses `n` buffers, as a
/// program with `n` buffers does.
pub(super) fn data_address(handle: u32, bytes: u32) -> u64 {
    DATA + u64::from(handle) * u64::from(bytes).next_multiple_of(HostMemory::PAGE)
}

/// The PRP lists of a queue's commands, by the commands' names. Each is made when it is needed first.
#[derive(Default)]
pub(super) struct Lists {
    addresses: Vec<u64>,
    /// Addresses of the ranges of deallocating commands.
    ranges: Vec<u64>,
    /// The regions that they are in.
    regions: Vec<u64>,
    /// Entries of the list at hand; kept for its room.
    entries: Vec<u8>,
}

impl Lists {
    /// PRP Entry 2 of a command: nothing for one page, the second page for two, else the address of a list, which is
    /// written. No command moves more than `most` bytes.
    pub(super) fn second_pointer(
        &mut self,
        name: u32,
        data: u64,
        bytes: u32,
        most: u32,
        memory: &mut HostMemory,
    ) -> u64 {
        let page = |i: u32| data + u64::from(i) * HostMemory::PAGE;
        match u64::from(bytes).div_ceil(HostMemory::PAGE) as u32 {
            0 | 1 => 0,
            2 => page(1),
            pages => {
                let list = self.address(name as usize, most, memory);
                self.entries.clear();
                (1..pages).for_each(|i| self.entries.extend(page(i).to_le_bytes()));
                memory.write(list, &self.entries);
                list
            }
        }
    }

    /// Writes the range of a command that deallocates; where it is.
    pub(super) fn range(&mut self, name: usize, range: &[u8; 16], memory: &mut HostMemory) -> u64 {
        while self.ranges.len() <= name {
            let page = memory.allocate(HostMemory::PAGE);
            self.regions.push(page);
            self.ranges.extend((0..HostMemory::PAGE / RANGE_BYTES).map(|i| page + i * RANGE_BYTES));
        }
        memory.write(self.ranges[name], range);
        self.ranges[name]
    }

    /// The regions of host memory that they take.
    pub(super) fn into_regions(self) -> Vec<u64> {
        self.regions
    }

    /// Address of a command's list. Sizes of lists are powers of two, so that none crosses a page.
    fn address(&mut self, name: usize, most: u32, memory: &mut HostMemory) -> u64 {
        let room =
            (u64::from(most) / HostMemory::PAGE * ENTRY_BYTES).next_power_of_two().min(HostMemory::PAGE);
        while self.addresses.len() <= name {
            let page = memory.allocate(HostMemory::PAGE);
            self.regions.push(page);
            self.addresses.extend((0..HostMemory::PAGE / room).map(|i| page + i * room));
        }
        self.addresses[name]
    }
}

/// A range of Dataset Management \[B\] (NVM Command Set 1.0, section 3.2.3).
const RANGE_BYTES: u64 = 16;
/// A PRP entry \[B\] (NVM Express Base 2.0, section 4.1.1).
const ENTRY_BYTES: u64 = 8;
/// The most that one page of PRP entries is enough for \[B\], with the first page in the command itself.
pub(super) const ONE_LIST: u32 = (HostMemory::PAGE / ENTRY_BYTES * HostMemory::PAGE) as u32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pages_need_no_list_and_a_list_has_all_pages_but_the_first() {
        let (mut lists, mut memory) = (Lists::default(), HostMemory::default());
        let data = data_address(3, 128 << 10);
        let mut second = |name, bytes| lists.second_pointer(name, data, bytes, 128 << 10, &mut memory);
        assert_eq!((second(0, 512), second(0, 4096), second(0, 4097)), (0, 0, data + 4096));
        let (a, b) = (second(5, 12 << 10), second(6, 128 << 10));
        assert_eq!((a % 256, b - a), (0, 256), "32 entries of 8 B are room enough");
        let entry = |i: u64| u64::from_le_bytes(memory.read(b + i * 8, 8).unwrap().try_into().unwrap());
        assert_eq!((entry(0), entry(30)), (data + 4096, data + 31 * 4096));
    }
}
