//! The folder and its file, as seen by the kernel.
//!
//! The file behaves like a block device: its size does not change, and any bytes of it may be read and written.

use super::FILE;
use super::desk::{Asked, Awaited, Desk, Patch};
use crate::command::{Command, Kind};
use crate::drive::Facts;
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{FallocateFlags, OFlags};
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The file.
const DRIVE: INodeNo = INodeNo(2);
/// Nothing but this process changes attributes, and it does not.
const FOR_EVER: Duration = Duration::from_secs(3600);
/// The largest write \[B\].
const MOST: u32 = 1 << 20;
/// Number of requests in progress before the kernel throttles; its default is 12.
const MOST_IN_PROGRESS: u16 = 1024;
/// Maximum size of the pieces in which a range is deallocated \[B\].
const MOST_RANGE: u64 = 1 << 30;
/// A file that was opened to be written is known by this handle.
const WRITABLE: FileHandle = FileHandle(1);

/// A folder with the file of a drive.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) facts: Facts,
    pub(super) desk: Arc<Desk>,
}

impl Folder {
    fn attributes(&self, node: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match node {
            INodeNo::ROOT => (FileType::Directory, 0o700, 0),
            DRIVE => (FileType::RegularFile, 0o600, self.facts.bytes),
            _ => return None,
        };
        let then = SystemTime::UNIX_EPOCH;
        Some(FileAttr {
            ino: node,
            size,
            blocks: size.div_ceil(512),
            atime: then,
            mtime: then,
            ctime: then,
            crtime: then,
            kind,
            perm,
            nlink: 1,
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            rdev: 0,
            blksize: self.facts.block.max(4096),
            flags: 0,
        })
    }
    /// Whether a range ends beyond the drive.
    fn is_beyond(&self, first: u64, bytes: u64) -> bool {
        first.checked_add(bytes).is_none_or(|end| end > self.facts.bytes)
    }
    /// The blocks that a range within the drive is part of: where they begin, and how many bytes they have.
    fn blocks(&self, first: u64, bytes: u64) -> (u64, u64) {
        let block = u64::from(self.facts.block);
        let from = first / block * block;
        (from, (first + bytes).next_multiple_of(block) - from)
    }
}

/// A range in pieces that commands can be about.
fn pieces(first: u64, bytes: u64) -> impl Iterator<Item = (u64, u32)> {
    let starts = (0..bytes.div_ceil(MOST_RANGE)).map(|piece| piece * MOST_RANGE);
    starts.map(move |start| (first + start, (bytes - start).min(MOST_RANGE) as u32))
}

impl Filesystem for Folder {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let old =
            |_| io::Error::new(io::ErrorKind::Unsupported, "the kernel knows no asynchronous direct I/O");
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(old)?;
        // a kernel that allows less returns its limit, which is used
        let _ = config.set_max_write(MOST).or_else(|most| config.set_max_write(most));
        let _ = config.set_max_background(MOST_IN_PROGRESS);
        let _ = config.set_congestion_threshold(MOST_IN_PROGRESS);
        Ok(())
    }
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(DRIVE).filter(|_| parent == INodeNo::ROOT && name == FILE) {
            Some(found) => reply.entry(&FOR_EVER, &found, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }
    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(node) {
            Some(found) => reply.attr(&FOR_EVER, &found),
            None => reply.error(Errno::ENOENT),
        }
    }
    /// Changes nothing. Size 0 comes from `O_TRUNC`, which a block device ignores, too.
    fn setattr(
        &self,
        _: &Request,
        node: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let is_kept = size.is_none_or(|size| size == 0 || size == self.facts.bytes);
        match self.attributes(node) {
            Some(found) if is_kept => reply.attr(&FOR_EVER, &found),
            Some(_) => reply.error(Errno::EINVAL),
            None => reply.error(Errno::ENOENT),
        }
    }
    fn open(&self, _: &Request, _: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let is_read = flags.0 & OFlags::ACCMODE.bits().cast_signed() == OFlags::RDONLY.bits().cast_signed();
        let handle = if is_read { FileHandle(0) } else { WRITABLE };
        reply.opened(handle, FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);
    }
    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let bytes = u64::from(size).min(self.facts.bytes.saturating_sub(offset));
        if bytes == 0 {
            return reply.data(&[]);
        }
        let (first, whole) = self.blocks(offset, bytes);
        let awaited = Awaited::Read { reply, skip: (offset - first) as usize, bytes: bytes as usize };
        self.desk.leave(Asked::new(vec![Command::read(first, whole as u32)], awaited));
    }
    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if data.is_empty() {
            return reply.written(0);
        }
        let bytes = data.len() as u64;
        if self.is_beyond(offset, bytes) {
            return reply.error(Errno::ENOSPC);
        }
        let fua = flags.0.cast_unsigned() & OFlags::DSYNC.bits() != 0;
        let (first, whole) = self.blocks(offset, bytes);
        let (data, awaited) = (data.to_vec(), Awaited::Written { reply, bytes: bytes as u32 });
        self.desk.leave(if (first, whole) == (offset, bytes) {
            Asked::new(vec![Command { fua, ..Command::write(offset, data) }], awaited)
        } else {
            let skip = (offset - first) as usize;
            Asked::patch(Patch { first, bytes: whole as u32, skip, data, fua }, awaited)
        });
    }
    /// Flushes when a file is closed, as the last close of a block device does.
    fn flush(&self, _: &Request, _: INodeNo, handle: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        if handle != WRITABLE {
            return reply.ok();
        }
        self.desk.leave(Asked::new(vec![Command::flush()], Awaited::Done(reply)));
    }
    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.desk.leave(Asked::new(vec![Command::flush()], Awaited::Done(reply)));
    }
    /// Deallocates a hole; writes zeroes for a range of zeroes. The size stays.
    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        let kind = match mode - FallocateFlags::KEEP_SIZE {
            FallocateFlags::PUNCH_HOLE => Kind::Deallocate,
            FallocateFlags::ZERO_RANGE => Kind::WriteZeroes,
            _ => return reply.error(Errno::EOPNOTSUPP),
        };
        if self.is_beyond(offset, length) {
            return reply.error(Errno::ENOSPC);
        }
        if length == 0 || self.blocks(offset, length) != (offset, length) {
            return reply.error(Errno::EINVAL);
        }
        let commands = pieces(offset, length).map(|(first, bytes)| Command::of(kind, first, bytes));
        self.desk.leave(Asked::new(commands.collect(), Awaited::Done(reply)));
    }
    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let there = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (DRIVE, FileType::RegularFile, FILE),
        ];
        for (next, (node, kind, name)) in (1..).zip(there).skip(usize::try_from(offset).unwrap_or(usize::MAX))
        {
            if reply.add(node, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }
    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let block = self.facts.block.max(4096);
        reply.statfs(self.facts.bytes / u64::from(block), 0, 0, 1, 0, block, 255, block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_asked_for_in_pieces_without_gap_or_overlap() {
        for (first, bytes) in [(0, 1), (4096, MOST_RANGE), (512, MOST_RANGE + 512), (0, 5 * MOST_RANGE - 512)]
        {
            let mut next = first;
            for (start, length) in pieces(first, bytes) {
                assert!(start == next && length > 0 && u64::from(length) <= MOST_RANGE);
                next += u64::from(length);
            }
            assert_eq!(next, first + bytes);
        }
    }
}
