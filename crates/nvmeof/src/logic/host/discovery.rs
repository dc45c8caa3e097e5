//! Reading the discovery log. Its generation counter shows whether it has changed between two reads (NVMe-oF 1.1 §5.3).

use crate::spec::discovery::{DISCOVERY_LOG, DiscoveryEntry, DiscoveryHeader, RECORD_BYTES, SubsystemType};
use lanetwin_nvme::logic::host::commands::get_log_page;
use lanetwin_nvme::spec::Command;

/// Maximum number of reads from the start if the log keeps changing. `assumed`: as nvme-cli.
const MOST_ATTEMPTS: u32 = 10;
/// Maximum number of entries accepted. `assumed`: one megabyte of them.
const MOST_ENTRIES: u64 = 1024;

/// Next step of a reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// Send this Get Log Page command with a buffer of this size, and pass the data to [`LogReader::take`].
    Ask(Command, u32),
    /// The log has been read: its entries, including referrals.
    Read(Vec<DiscoveryEntry>),
    /// The log is invalid: its record format is not 0, it is too long or too short, or it keeps changing.
    Bad,
}

/// Reader of the discovery log.
#[derive(Clone, Debug, Default)]
pub struct LogReader {
    generation: Option<u64>,
    entries: Vec<DiscoveryEntry>,
    complete: bool,
    attempts: u32,
}

impl LogReader {
    /// A new reader, and its first step.
    #[must_use]
    pub fn start() -> (Self, Next) {
        (Self::default(), Self::ask(0, RECORD_BYTES as u32))
    }
    fn ask(offset: u64, bytes: u32) -> Next {
        Next::Ask(get_log_page(DISCOVERY_LOG, offset, bytes), bytes)
    }
    /// Takes the data of the last Get Log Page command.
    pub fn take(&mut self, bytes: &[u8]) -> Next {
        let records = bytes.as_chunks::<RECORD_BYTES>().0;
        if self.generation.is_some() && !self.complete {
            self.entries = records.iter().map(|record| DiscoveryEntry::from_bytes(*record)).collect();
            self.complete = true;
            return Self::ask(0, RECORD_BYTES as u32);
        }
        let Some(header) = records.first().map(|record| DiscoveryHeader::from_bytes(*record)) else {
            return Next::Bad;
        };
        if header.format() != 0 || header.records() > MOST_ENTRIES {
            return Next::Bad;
        }
        if self.complete && self.generation == Some(header.generation()) {
            return match self.entries.len() as u64 == header.records() {
                true => Next::Read(core::mem::take(&mut self.entries)),
                false => Next::Bad,
            };
        }
        self.attempts += 1;
        if self.attempts > MOST_ATTEMPTS {
            return Next::Bad;
        }
        self.generation = Some(header.generation());
        self.complete = false;
        if header.records() == 0 {
            return Next::Read(Vec::new());
        }
        Self::ask(RECORD_BYTES as u64, header.records() as u32 * RECORD_BYTES as u32)
    }
}

/// The referrals to other discovery services among entries.
pub fn referrals(entries: &[DiscoveryEntry]) -> impl Iterator<Item = &DiscoveryEntry> {
    entries.iter().filter(|entry| entry.subsystem_type() == SubsystemType::REFERRAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(generation: u64, records: u64) -> Vec<u8> {
        let mut header = DiscoveryHeader::ZERO;
        header.set_generation(generation);
        header.set_records(records);
        header.as_bytes().to_vec()
    }
    fn bytes_of(next: &Next) -> u32 {
        match next {
            Next::Ask(_, bytes) => *bytes,
            other => panic!("{other:?} asks for nothing"),
        }
    }

    #[test]
    fn a_log_that_changes_is_read_again() {
        let (mut reader, first) = LogReader::start();
        assert_eq!(bytes_of(&first), 1024);
        assert_eq!(bytes_of(&reader.take(&header(1, 2))), 2048);
        assert_eq!(bytes_of(&reader.take(&[0; 2048])), 1024);
        // one more entry since
        assert_eq!(bytes_of(&reader.take(&header(2, 3))), 3072);
        let mut entries = vec![0; 3072];
        (entries[2], entries[1026], entries[2050]) = (2, 1, 2);
        assert_eq!(bytes_of(&reader.take(&entries)), 1024);
        let Next::Read(read) = reader.take(&header(2, 3)) else { panic!("it is read") };
        assert_eq!((read.len(), referrals(&read).count()), (3, 1));
    }

    #[test]
    fn what_is_no_log_is_told() {
        let mut format = header(1, 1);
        format[16] = 1;
        for bad in [vec![], vec![0; 1023], header(1, 1 << 40), format] {
            assert_eq!(LogReader::start().0.take(&bad), Next::Bad);
        }
        let (mut reader, _) = LogReader::start();
        let mut last = Next::Bad;
        for generation in 0..2 * u64::from(MOST_ATTEMPTS) + 2 {
            last = reader.take(&header(generation, 1));
            if last == Next::Bad {
                break;
            }
            last = reader.take(&[0; 1024]);
        }
        assert_eq!(last, Next::Bad);
    }
}
