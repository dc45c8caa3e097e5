//! The memory of the machine.

use std::collections::BTreeMap;

pub const PAGE: u64 = 4096;

/// Host memory, by pages.
#[derive(Default)]
pub struct Memory {
    pages: BTreeMap<u64, Box<[u8; 4096]>>,
    next: u64,
}

impl Memory {
    /// So many bytes at the beginning of a page.
    pub fn allocate(&mut self, bytes: u64) -> u64 {
        let address = (1 << 32) + self.next;
        self.next += bytes.div_ceil(PAGE) * PAGE;
        address
    }
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        for (at, &byte) in (address..).zip(bytes) {
            self.pages.entry(at / PAGE).or_insert_with(|| Box::new([0; 4096]))[(at % PAGE) as usize] = byte;
        }
    }
    pub fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        (address..)
            .take(bytes)
            .map(|at| self.pages.get(&(at / PAGE)).map_or(0, |page| page[(at % PAGE) as usize]))
            .collect()
    }
}
