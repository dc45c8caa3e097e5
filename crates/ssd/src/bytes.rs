//! Stored bytes: the interface that a drive with bytes needs, and a store in memory.
//!
//! A drive used for prediction has no store: its commands have addresses and sizes but no bytes, and every Compare
//! succeeds. In emulation bytes are available immediately; the medium determines when a command completes.

use core::fmt;
use std::collections::BTreeMap;

/// The store failed: the command fails with Unrecovered Read Error or Write Fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoreFault;

impl fmt::Display for StoreFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store of bytes failed")
    }
}
impl core::error::Error for StoreFault {}

/// The bytes of a medium, by address. Bytes that were never written, or are deallocated, read as zero.
pub trait ByteStore {
    /// Reads the bytes from `first` on.
    ///
    /// # Errors
    /// The bytes cannot be read.
    fn read(&mut self, first: u64, into: &mut [u8]) -> Result<(), StoreFault>;
    /// Writes bytes from `first` on.
    ///
    /// # Errors
    /// The bytes cannot be written; the content of the range is then unspecified.
    fn write(&mut self, first: u64, bytes: &[u8]) -> Result<(), StoreFault>;
    /// Deallocates bytes, which then read as zero.
    ///
    /// # Errors
    /// They cannot be deallocated.
    fn deallocate(&mut self, first: u64, bytes: u64) -> Result<(), StoreFault>;
    /// Writes zeroes.
    ///
    /// # Errors
    /// They cannot be written.
    fn write_zeroes(&mut self, first: u64, bytes: u64) -> Result<(), StoreFault> {
        self.deallocate(first, bytes)
    }
    /// Whether the bytes from `first` on are equal to these.
    ///
    /// # Errors
    /// The bytes cannot be read.
    fn compare(&mut self, first: u64, with: &[u8]) -> Result<bool, StoreFault> {
        let mut stored = vec![0; with.len()];
        self.read(first, &mut stored)?;
        Ok(stored == with)
    }
    /// Erases bytes for a format or a sanitize, so that they cannot be recovered.
    ///
    /// # Errors
    /// They cannot be erased.
    fn format(&mut self, first: u64, bytes: u64) -> Result<(), StoreFault> {
        self.deallocate(first, bytes)
    }
    /// Makes everything that was written survive the end of the program.
    ///
    /// # Errors
    /// The data may not survive.
    fn flush(&mut self) -> Result<(), StoreFault> {
        Ok(())
    }
}

/// The size of a page of [`SparseMemory`] \[B\].
const PAGE: u64 = 4096;

/// A store in memory that holds only the pages of 4 KiB that have, or had, bytes other than zero.
#[derive(Clone, Default, Debug)]
pub struct SparseMemory {
    pages: BTreeMap<u64, Box<[u8; PAGE as usize]>>,
}

impl SparseMemory {
    /// A store in which all bytes are zero.
    #[must_use]
    pub const fn new() -> Self {
        Self { pages: BTreeMap::new() }
    }
    /// Size of the pages held \[B\].
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.pages.len() as u64 * PAGE
    }
}

/// Divides a range at page boundaries: page, offset in it, number of bytes.
fn pieces(first: u64, bytes: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut at = first;
    let end = first + bytes;
    core::iter::from_fn(move || {
        let inside = at % PAGE;
        let piece = (PAGE - inside).min(end - at);
        let found = (piece > 0).then_some((at / PAGE, inside as usize, piece as usize));
        at += piece;
        found
    })
}

impl ByteStore for SparseMemory {
    fn read(&mut self, first: u64, into: &mut [u8]) -> Result<(), StoreFault> {
        let mut rest = into;
        for (page, inside, bytes) in pieces(first, rest.len() as u64) {
            let (piece, behind) = rest.split_at_mut(bytes);
            match self.pages.get(&page) {
                Some(page) => piece.copy_from_slice(&page[inside..inside + bytes]),
                None => piece.fill(0),
            }
            rest = behind;
        }
        Ok(())
    }
    fn write(&mut self, first: u64, bytes: &[u8]) -> Result<(), StoreFault> {
        let mut rest = bytes;
        for (page, inside, count) in pieces(first, bytes.len() as u64) {
            let (piece, behind) = rest.split_at(count);
            let page = self.pages.entry(page).or_insert_with(|| Box::new([0; PAGE as usize]));
            page[inside..inside + count].copy_from_slice(piece);
            rest = behind;
        }
        Ok(())
    }
    fn deallocate(&mut self, first: u64, bytes: u64) -> Result<(), StoreFault> {
        // iterates over the whole pages that are held, which may be far fewer than the range has
        let (from, to) = (first.div_ceil(PAGE), (first + bytes) / PAGE);
        if from < to {
            let mut behind = self.pages.split_off(&from);
            let mut kept = behind.split_off(&to);
            self.pages.append(&mut kept);
        }
        let parts =
            pieces(first, bytes.min(PAGE)).chain(pieces((first + bytes).saturating_sub(1), bytes.min(1)));
        let partial: Vec<u64> = parts.map(|(page, ..)| page).collect();
        for page in partial {
            let start = first.max(page * PAGE);
            let end = (first + bytes).min((page + 1) * PAGE);
            if let Some(held) = self.pages.get_mut(&page) {
                held[(start % PAGE) as usize..][..(end - start) as usize].fill(0);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: u64 = 5 * PAGE;

    #[derive(Clone, Debug)]
    enum Step {
        Write(u64, u64, u8),
        Deallocate(u64, u64),
    }

    fn any_step() -> impl Strategy<Value = Step> {
        let range = (0..SIZE).prop_flat_map(|first| (Just(first), 0..=SIZE - first));
        (range, any::<u8>(), any::<bool>()).prop_map(|((first, bytes), byte, writes)| match writes {
            true => Step::Write(first, bytes, byte),
            false => Step::Deallocate(first, bytes),
        })
    }

    proptest! {
        /// It holds what an array holds, at any offset and length, and Compare says so.
        #[test]
        fn sparse_memory_is_an_array(steps in prop::collection::vec(any_step(), 1..20)) {
            let (mut store, mut array) = (SparseMemory::new(), vec![0; SIZE as usize]);
            for step in steps {
                match step {
                    Step::Write(first, bytes, byte) => {
                        store.write(first, &vec![byte; bytes as usize]).expect("memory");
                        array[first as usize..(first + bytes) as usize].fill(byte);
                    }
                    Step::Deallocate(first, bytes) => {
                        store.deallocate(first, bytes).expect("memory");
                        array[first as usize..(first + bytes) as usize].fill(0);
                    }
                }
                let mut all = vec![1; SIZE as usize];
                store.read(0, &mut all).expect("memory");
                prop_assert_eq!(&all, &array);
            }
            prop_assert_eq!(store.compare(7, &array[7..]), Ok(true));
            array[SIZE as usize - 1] ^= 1;
            prop_assert_eq!(store.compare(7, &array[7..]), Ok(false));
            store.format(0, SIZE).expect("memory");
            prop_assert_eq!(store.held_bytes(), 0);
        }
    }
}
