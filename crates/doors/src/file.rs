//! A file with the bytes of a drive, so that they outlive the program.
//!
//! ```text
//!  0 ─ "lanetwin drive 1" ─ bytes of the drive, 8 B little-endian ─ zeroes ─ 4096 ─ the bytes of the drive, with holes ─
//! ```
//!
//! A device, a directory or a file with another header is refused, so that no foreign file is ever overwritten. While
//! it is open, no second process can open it (flock(2)).

use crate::problem::Problem;
use lanetwin_ssd::{ByteStore, StoreFault};
use rustix::fs::{FallocateFlags, FlockOperation, OFlags, fallocate, flock};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

const MAGIC: &[u8; 16] = b"lanetwin drive 1";
/// Size of the header \[B\].
const HEADER: u64 = 4096;
/// Block of zeroes written where a file system cannot make holes.
static ZEROES: [u8; 64 << 10] = [0; 64 << 10];

/// The bytes of a drive in a file.
#[derive(Debug)]
pub struct FileStore {
    file: File,
}

impl FileStore {
    /// Opens the file of a drive of this size; creates it if there is none.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn open(path: &Path, bytes: u64) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let unusable = |said: String| Problem::DataUnusable { file: name.clone(), said };
        // a FIFO would wait for its other end
        let flags = OFlags::NONBLOCK.bits() as i32;
        let is_new = !path.exists();
        if let Ok(meta) = path.metadata()
            && !meta.is_file()
        {
            return Err(Problem::DataForeign { file: name, what: "no plain file".into() });
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).custom_flags(flags).mode(0o600);
        let file = options.open(path).map_err(|error| unusable(error.to_string()))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| Problem::DataInUse { file: name.clone() })?;
        let length = file.metadata().map_err(|error| unusable(error.to_string()))?.len();
        if is_new && length == 0 {
            let mut header = [0; HEADER as usize];
            header[..16].copy_from_slice(MAGIC);
            header[16..24].copy_from_slice(&bytes.to_le_bytes());
            let made = file
                .write_all_at(&header, 0)
                .and_then(|()| file.set_len(HEADER + bytes.next_multiple_of(HEADER)));
            made.map_err(|error| unusable(error.to_string()))?;
            return Ok(Self { file });
        }
        let mut header = [0; 24];
        let read = file.read_exact_at(&mut header, 0);
        if read.is_err() || header[..16] != *MAGIC {
            let what = "not the file of a drive that was made here".into();
            return Err(Problem::DataForeign { file: name, what });
        }
        let held = u64::from_le_bytes(header[16..24].try_into().expect("eight bytes"));
        if held != bytes {
            return Err(Problem::DataSize { file: name, held, wanted: bytes });
        }
        Ok(Self { file })
    }
    fn zero(&self, first: u64, bytes: u64) -> Result<(), StoreFault> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if bytes == 0 || fallocate(&self.file, flags, HEADER + first, bytes).is_ok() {
            return Ok(());
        }
        let mut at = first;
        while at < first + bytes {
            let piece = (first + bytes - at).min(ZEROES.len() as u64);
            let zeroes = &ZEROES[..piece as usize];
            self.file.write_all_at(zeroes, HEADER + at).map_err(|_| StoreFault)?;
            at += piece;
        }
        Ok(())
    }
}

impl ByteStore for FileStore {
    fn read(&mut self, first: u64, into: &mut [u8]) -> Result<(), StoreFault> {
        self.file.read_exact_at(into, HEADER + first).map_err(|_| StoreFault)
    }
    fn write(&mut self, first: u64, bytes: &[u8]) -> Result<(), StoreFault> {
        self.file.write_all_at(bytes, HEADER + first).map_err(|_| StoreFault)
    }
    fn deallocate(&mut self, first: u64, bytes: u64) -> Result<(), StoreFault> {
        self.zero(first, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_document::problem::Complaint;
    use std::path::PathBuf;

    /// A folder that goes away with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("lanetwin-file-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("a folder");
            Self(folder)
        }
    }
    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn refused(path: &Path, bytes: u64) -> &'static str {
        FileStore::open(path, bytes).map_or_else(|problem| problem.code(), |_| "opened")
    }

    #[test]
    fn what_was_written_is_there_afterwards_and_holes_are_zero() {
        let folder = Folder::new("kept");
        let path = folder.0.join("drive");
        let mut store = FileStore::open(&path, 1 << 20).expect("a new file");
        store.write(8192, &[5; 8192]).expect("a write");
        store.deallocate(8192, 4096).expect("a hole");
        assert_eq!(refused(&path, 1 << 20), "DO008");
        drop(store);
        assert_eq!(refused(&path, 1 << 21), "DO007");
        let mut store = FileStore::open(&path, 1 << 20).expect("the same file");
        let mut read = vec![1; 12288];
        store.read(8192, &mut read).expect("a read");
        assert!(read[..4096].iter().all(|byte| *byte == 0));
        assert!(read[4096..8192].iter().all(|byte| *byte == 5));
        assert!(read[8192..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn nothing_is_written_over_what_was_not_made_here() {
        let folder = Folder::new("foreign");
        let (text, empty) = (folder.0.join("text"), folder.0.join("empty"));
        std::fs::write(&text, "a letter to a friend, longer than a header has to be").expect("a file");
        std::fs::write(&empty, "").expect("a file");
        assert_eq!(refused(&text, 4096), "DO006");
        assert_eq!(refused(&empty, 4096), "DO006");
        assert_eq!(refused(&folder.0, 4096), "DO006");
        assert_eq!(refused(Path::new("/dev/null"), 4096), "DO006");
        assert_eq!(refused(&folder.0.join("no/such/folder"), 4096), "DO005");
        assert!(std::fs::read_to_string(&text).expect("the file").starts_with("a letter"));
    }
}
