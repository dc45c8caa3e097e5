//! Memory of the guest, as seen by the device: files that the client has mapped at addresses.
//!
//! It is read and written as a file, not mapped: access to an unmapped address, or to a file that its owner has
//! truncated, is then an error of one access, while in a mapping it would kill the process.

use super::wire::{MapBody, PAGE, UnmapBody};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

/// Maximum number of mappings (`max_dma_maps`): each occupies a file descriptor.
pub const MOST_MAPS: usize = 256;

/// A piece of it.
struct Piece {
    /// Its last address.
    last: u64,
    /// The file; `None` for memory that devices do not access, such as firmware ROM.
    file: Option<File>,
    /// Offset in the file \[B\].
    offset: u64,
    is_readable: bool,
    is_writable: bool,
}

/// Everything that is mapped, by first address.
#[derive(Default)]
pub struct Memory {
    pieces: BTreeMap<u64, Piece>,
}

impl Memory {
    /// Maps a range. A range without a file exists but cannot be accessed: QEMU does not answer the messages by which
    /// a client would read and write for the device (DMA_READ, DMA_WRITE).
    ///
    /// # Errors
    /// `EINVAL` for an invalid range or a file that is not memory; `EEXIST` for an overlap; `ENOSPC` for too many
    /// mappings.
    pub fn map(&mut self, body: &MapBody, file: Option<OwnedFd>) -> Result<(), Errno> {
        let (address, size, offset) = (body.address(), body.size(), body.offset());
        let is_whole = size > 0 && size.is_multiple_of(PAGE) && address.is_multiple_of(PAGE);
        let last = address.checked_add(size.wrapping_sub(1)).filter(|_| is_whole).ok_or(Errno::INVAL)?;
        if self.pieces.range(..=last).next_back().is_some_and(|(_, below)| below.last >= address) {
            return Err(Errno::EXIST);
        }
        if self.pieces.len() >= MOST_MAPS {
            return Err(Errno::NOSPC);
        }
        if let Some(file) = &file {
            // another kind of file might block its reader
            let seen = fstat(file)?;
            let end = offset.checked_add(size).ok_or(Errno::INVAL)?;
            let is_there = u64::try_from(seen.st_size).is_ok_and(|bytes| end <= bytes);
            if FileType::from_raw_mode(seen.st_mode) != FileType::RegularFile || !is_there {
                return Err(Errno::INVAL);
            }
        }
        let (is_readable, is_writable) = (body.flags().read(), body.flags().write());
        let file = file.map(File::from);
        self.pieces.insert(address, Piece { last, file, offset, is_readable, is_writable });
        Ok(())
    }
    /// Unmaps all ranges, or all within a range.
    ///
    /// # Errors
    /// `EINVAL` if there is none, or one extends beyond; `ENOTSUP` if dirty pages are requested.
    pub fn unmap(&mut self, body: &UnmapBody) -> Result<(), Errno> {
        if body.flags().dirty() {
            return Err(Errno::NOTSUP);
        }
        if body.flags().all() {
            self.pieces.clear();
            return Ok(());
        }
        let (address, size) = (body.address(), body.size());
        let last = size.checked_sub(1).and_then(|more| address.checked_add(more)).ok_or(Errno::INVAL)?;
        let touched = self.pieces.range(..=last).filter(|(_, piece)| piece.last >= address);
        let touched: Vec<(u64, u64)> = touched.map(|(first, piece)| (*first, piece.last)).collect();
        if touched.is_empty() || touched.iter().any(|(first, end)| *first < address || *end > last) {
            return Err(Errno::INVAL);
        }
        touched.iter().for_each(|(first, _)| drop(self.pieces.remove(first)));
        Ok(())
    }
    /// Nothing is mapped any more.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }

    /// Reads; false if not all of it is there.
    #[must_use]
    pub fn read(&self, address: u64, into: &mut [u8]) -> bool {
        self.in_pieces(address, into.len(), |piece, at, range| {
            piece.is_readable
                && piece.file.as_ref().is_some_and(|file| file.read_exact_at(&mut into[range], at).is_ok())
        })
    }
    /// Writes; false if not all of it is there. Some of it may be written then.
    #[must_use]
    pub fn write(&self, address: u64, bytes: &[u8]) -> bool {
        self.in_pieces(address, bytes.len(), |piece, at, range| {
            piece.is_writable
                && piece.file.as_ref().is_some_and(|file| file.write_all_at(&bytes[range], at).is_ok())
        })
    }
    /// Acts on each piece that the addresses go through, until one fails.
    fn in_pieces(
        &self,
        address: u64,
        bytes: usize,
        mut act: impl FnMut(&Piece, u64, std::ops::Range<usize>) -> bool,
    ) -> bool {
        let mut done = 0;
        while done < bytes {
            let Some(at) = address.checked_add(done as u64) else { return false };
            let found = self.pieces.range(..=at).next_back().filter(|(_, piece)| piece.last >= at);
            let Some((first, piece)) = found else { return false };
            let room = usize::try_from((piece.last - at).saturating_add(1)).unwrap_or(usize::MAX);
            let next = done + room.min(bytes - done);
            if !act(piece, piece.offset + (at - first), done..next) {
                return false;
            }
            done = next;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vfio_user::wire::{MapFlags, UnmapFlags};
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

    fn body(address: u64, size: u64, offset: u64, flags: u32) -> MapBody {
        let mut body = MapBody::ZERO;
        body.set_address(address);
        body.set_size(size);
        body.set_offset(offset);
        body.set_flags(MapFlags::from_raw(flags));
        body
    }
    fn file(bytes: u64) -> OwnedFd {
        let file = memfd_create("memory", MemfdFlags::CLOEXEC).expect("a file of memory");
        ftruncate(&file, bytes).expect("its size");
        file
    }

    #[test]
    fn what_crosses_two_pieces_is_read_and_written_and_what_is_not_mapped_is_not() {
        let (mut memory, both) = (Memory::default(), file(8192));
        // in the file the second piece comes first
        memory.map(&body(0x1000, 4096, 4096, 3), Some(both.try_clone().expect("a copy"))).expect("a piece");
        memory.map(&body(0x2000, 4096, 0, 3), Some(both)).expect("another");
        assert!(memory.write(0x1ffe, b"abcd"));
        let mut back = [0; 4];
        assert!(memory.read(0x1ffe, &mut back) && back == *b"abcd");
        assert!(
            !memory.write(0x2ffe, b"abcd")
                && !memory.read(0xfff, &mut back)
                && !memory.read(u64::MAX, &mut back)
        );
        let mut gone = UnmapBody::ZERO;
        gone.set_address(0x1000);
        gone.set_size(4096 + 1);
        assert_eq!(memory.unmap(&gone), Err(Errno::INVAL));
        gone.set_size(4096);
        assert_eq!(memory.unmap(&gone), Ok(()));
        assert!(!memory.read(0x1ffe, &mut back) && memory.read(0x2000, &mut back) && back == *b"cd\0\0");
        gone.set_flags(UnmapFlags::from_raw(2));
        assert_eq!(memory.unmap(&gone), Ok(()));
        assert!(!memory.read(0x2000, &mut back));
    }

    #[test]
    fn what_is_no_memory_is_refused() {
        let mut memory = Memory::default();
        let mut refused = |body: MapBody, file: Option<OwnedFd>| memory.map(&body, file);
        assert_eq!(
            refused(body(0, 4096, 4096, 3), Some(file(4096))),
            Err(Errno::INVAL),
            "beyond the end of the file"
        );
        assert_eq!(refused(body(0, 4096, u64::MAX, 3), Some(file(4096))), Err(Errno::INVAL));
        assert_eq!(refused(body(u64::MAX - 4095, 8192, 0, 3), None), Err(Errno::INVAL));
        assert_eq!(refused(body(0, 0, 0, 3), None), Err(Errno::INVAL));
        assert_eq!(refused(body(1, 4096, 0, 3), None), Err(Errno::INVAL));
        let (pipe, _other) = std::io::pipe().expect("a pipe");
        assert_eq!(refused(body(0, 4096, 0, 3), Some(pipe.into())), Err(Errno::INVAL), "what may make wait");
        assert_eq!(refused(body(0x1000, 4096, 0, 1), Some(file(4096))), Ok(()));
        assert_eq!(refused(body(0, 8192, 0, 3), None), Err(Errno::EXIST));
        assert!(!memory.write(0x1000, b"x"), "it is for reading");
    }

    #[test]
    fn a_file_that_is_cut_short_ends_one_access() {
        let (mut memory, file) = (Memory::default(), file(8192));
        memory.map(&body(0, 8192, 0, 3), Some(file.try_clone().expect("a copy"))).expect("a piece");
        ftruncate(&file, 4096).expect("its size");
        assert!(memory.read(0, &mut [0; 16]) && !memory.read(4090, &mut [0; 16]));
    }
}
