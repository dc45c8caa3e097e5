//! Keeps the cores of this machine from sleeping while a drive is used.
//!
//! A core that is idle sleeps, and to wake it takes tens of microseconds in a virtual machine (measured: 17 to 30 µs,
//! 3 to 4 µs of a core that does not sleep), and as much in the deeper states of a real one. A program that waits for
//! its drive, and the door that waits for requests, would be woken that much later. Linux has an interface for
//! programs that cannot wait so long: the latency limit of CPUs (PM QoS, Documentation/power/pm_qos_interface.rst).
//! While the limit is zero, idle cores poll. Only root may set it, and it ends when the file is closed, also when the
//! program is killed.

use lanetwin_units::{Instant, Span};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The limit of Linux.
pub const LIMIT: &str = "/dev/cpu_dma_latency";
/// So long after the last request cores may sleep again. `assumed`: programs that pause for longer do not wait for
/// their drive.
const PAUSE: Span = Span::from_us(100_000);

/// Whether idle cores can be kept awake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wakefulness {
    /// They are, while the drive is used.
    Kept,
    /// Only another user may (root).
    NotAllowed,
    /// This system has no such limit.
    NotThere,
    /// It was not wanted.
    NotWanted,
}

/// Keeps cores awake while there are requests.
#[derive(Debug)]
pub struct Awake {
    path: PathBuf,
    limit: Option<File>,
    can: Wakefulness,
    /// When there was a request last.
    used: Instant,
}

impl Awake {
    /// By the limit that is this file; it is tried at once, so that [`Awake::can`] is known.
    #[must_use]
    pub fn by(path: &Path) -> Self {
        let mut awake = Self { path: path.into(), limit: None, can: Wakefulness::Kept, used: Instant::ZERO };
        awake.keep();
        awake
    }
    /// Never.
    #[must_use]
    pub fn not_wanted() -> Self {
        Self { path: PathBuf::new(), limit: None, can: Wakefulness::NotWanted, used: Instant::ZERO }
    }
    /// Whether it can be done.
    #[must_use]
    pub const fn can(&self) -> Wakefulness {
        self.can
    }
    /// There is a request: cores do not sleep from now on.
    pub fn use_now(&mut self, now: Instant) {
        self.used = now;
        if self.limit.is_none() && self.can == Wakefulness::Kept {
            self.keep();
        }
    }
    /// Nothing is in progress: cores may sleep if that has been so for long enough.
    pub fn rest(&mut self, now: Instant) {
        if self.limit.is_some() && now.since(self.used) > PAUSE {
            self.limit = None;
        }
    }
    /// Whether cores are kept awake at present.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        self.limit.is_some()
    }
    fn keep(&mut self) {
        let limited = OpenOptions::new().write(true).open(&self.path).and_then(|mut file| {
            // microseconds, in the byte order of this machine
            file.write_all(&0_i32.to_ne_bytes())?;
            Ok(file)
        });
        match limited {
            Ok(file) => self.limit = Some(file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => self.can = Wakefulness::NotThere,
            Err(_) => self.can = Wakefulness::NotAllowed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_awake_while_there_are_requests_and_a_tenth_of_a_second_after() {
        let path = std::env::temp_dir().join(format!("lanetwin-awake-{}", std::process::id()));
        std::fs::write(&path, [9; 4]).expect("a file");
        let at = |ms: u64| Instant::ZERO + Span::from_us(ms * 1000);
        let mut awake = Awake::by(&path);
        assert_eq!((awake.can(), awake.is_held()), (Wakefulness::Kept, true));
        assert_eq!(std::fs::read(&path).expect("bytes"), [0; 4]);
        awake.use_now(at(50));
        awake.rest(at(149));
        assert!(awake.is_held());
        awake.rest(at(151));
        assert!(!awake.is_held());
        awake.use_now(at(200));
        assert!(awake.is_held());
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(Awake::by(&path).can(), Wakefulness::NotThere);
        let mut not = Awake::not_wanted();
        not.use_now(at(1));
        assert!(!not.is_held() && not.can() == Wakefulness::NotWanted);
    }
}
