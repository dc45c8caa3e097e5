//! Reads a whole file that a user named. The name can be that of a folder, a disk, a pipe to which no process writes,
//! or `/dev/zero`, which has no end. Anything but a plain file of limited size is refused before memory is used for it.
//!
//! Not here: the meaning of a text, and the code of the refusal, which depend on the caller.
//!
//! ```
//! use lanetwin_textfile::{Limit, read_text};
//! let refused = read_text("/".as_ref(), Limit::Document).unwrap_err();
//! assert_eq!(refused.to_string(), "it is a folder");
//! ```

mod reach;

pub use reach::{OutOfReach, Reach};

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// The kind of a file, which decides its maximum size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Files that people write: scenarios, parts, job files. The largest one of lanetwin has 40 KB; a complete plan has
    /// a few MB.
    Document,
    /// Files that programs write: S-parameters, logs of I/Os, results.
    Data,
}

impl Limit {
    /// The maximum size \[B\]; `assumed`: far above the size of such files, and far below the memory of a small
    /// machine.
    const fn most_bytes(self) -> u64 {
        match self {
            Self::Document => 32 << 20,
            Self::Data => 512 << 20,
        }
    }
    fn check(self, bytes: u64) -> io::Result<()> {
        let most = self.most_bytes();
        if bytes <= most {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is larger than {} MiB, the most that such a file may have", most >> 20),
        ))
    }
}

/// The bytes of the plain file at `path`.
///
/// # Errors
/// The error of the operating system; `InvalidInput` for a folder, a device, a pipe or a socket, which are not opened;
/// `FileTooLarge` above the limit.
pub fn read_bytes(path: &Path, limit: Limit) -> io::Result<Vec<u8>> {
    // checked before opening, since opening a pipe would wait for a writer
    check(&std::fs::metadata(path)?, limit)?;
    let file = File::open(path)?;
    // checked again, since the name may belong to another file by now
    check(&file.metadata()?, limit)?;
    let mut bytes = Vec::new();
    // limited again, since files of /proc claim a size of 0 B
    file.take(limit.most_bytes() + 1).read_to_end(&mut bytes)?;
    limit.check(bytes.len() as u64)?;
    Ok(bytes)
}

/// The text of the plain file at `path`.
///
/// # Errors
/// As [`read_bytes`]; `InvalidData` if it is not UTF-8.
pub fn read_text(path: &Path, limit: Limit) -> io::Result<String> {
    String::from_utf8(read_bytes(path, limit)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(io::ErrorKind::InvalidData, format!("it is not UTF-8 text, from byte {at} on"))
    })
}

fn check(found: &Metadata, limit: Limit) -> io::Result<()> {
    if found.is_file() {
        return limit.check(found.len());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {}", kind(found.file_type()))))
}

#[cfg(unix)]
fn kind(found: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match found {
        _ if found.is_dir() => "a folder",
        _ if found.is_fifo() => "a pipe, not a file",
        _ if found.is_socket() => "a socket, not a file",
        _ => "a device, not a file",
    }
}

#[cfg(not(unix))]
fn kind(found: FileType) -> &'static str {
    if found.is_dir() { "a folder" } else { "no plain file" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_a_file(name: &str, make: impl Fn(&Path)) -> io::Result<Vec<u8>> {
        let path = std::env::temp_dir().join(format!("lanetwin-textfile-{name}-{}", std::process::id()));
        make(&path);
        let read = read_bytes(&path, Limit::Document);
        std::fs::remove_file(&path).expect("a file");
        read
    }
    fn said(path: &str) -> String {
        read_text(path.as_ref(), Limit::Document).expect_err("no plain file").to_string()
    }

    #[test]
    fn plain_files_are_read() {
        assert_eq!(
            in_a_file("plain", |path| std::fs::write(path, "a\n").expect("written")).ok(),
            Some(b"a\n".to_vec())
        );
    }

    #[test]
    fn a_file_above_the_limit_is_refused_without_reading_it() {
        let huge =
            |path: &Path| File::create(path).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
        assert_eq!(in_a_file("huge", huge).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
        let most = |path: &Path| {
            File::create(path)
                .and_then(|file| file.set_len(Limit::Document.most_bytes()))
                .expect("a sparse file");
        };
        assert_eq!(in_a_file("most", most).map(|bytes| bytes.len() as u64).ok(), Some(32 << 20));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_plain_file_is_refused_at_once() {
        for device in ["/dev/zero", "/dev/tty", "/dev/null"] {
            assert!(said(device).starts_with("it is a device") || !Path::new(device).exists(), "{device}");
        }
        assert_eq!(said("/"), "it is a folder");
        let (reader, _writer) = io::pipe().expect("a pipe");
        let number = std::os::fd::AsRawFd::as_raw_fd(&reader);
        assert_eq!(said(&format!("/proc/self/fd/{number}")), "it is a pipe, not a file");
    }

    #[test]
    fn what_is_not_text_says_from_where() {
        let path = std::env::temp_dir().join(format!("lanetwin-textfile-latin-{}", std::process::id()));
        std::fs::write(&path, b"ab\xff").expect("written");
        let read = read_text(&path, Limit::Document).expect_err("not UTF-8");
        std::fs::remove_file(&path).expect("a file");
        assert_eq!(read.to_string(), "it is not UTF-8 text, from byte 2 on");
    }
}
