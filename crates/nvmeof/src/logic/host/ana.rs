//! Decoding and encoding of the ANA log (Base 2.0 §8.1).

use crate::spec::ana::{ANA_GROUP_BYTES, ANA_HEADER_BYTES, AnaGroup, AnaHeader, AnaState, AnaStateWord};
use lanetwin_nvme::spec::Nsid;

/// A group of namespaces and its state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// ANAGRPID.
    pub number: u32,
    /// State of the group.
    pub state: AnaState,
    /// Number of changes of the group (CHGCNT).
    pub changes: u64,
    /// Namespaces of the group; empty if only groups were requested.
    pub namespaces: Vec<Nsid>,
}

/// The ANA log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AnaLog {
    /// Number of changes of the log (CHGCNT).
    pub changes: u64,
    /// Groups in the log.
    pub groups: Vec<Group>,
}

/// A log that ends before its descriptors do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the ANA log ends before its descriptors do")]
pub struct TooShort;

impl AnaLog {
    /// Decodes the log; bytes after it are ignored.
    ///
    /// # Errors
    /// If there are fewer bytes than the descriptors announce.
    pub fn read(bytes: &[u8]) -> Result<Self, TooShort> {
        let (header, mut rest) = bytes.split_first_chunk::<ANA_HEADER_BYTES>().ok_or(TooShort)?;
        let header = AnaHeader::from_bytes(*header);
        let mut groups = Vec::new();
        for _ in 0..header.groups() {
            let (group, behind) = rest.split_first_chunk::<ANA_GROUP_BYTES>().ok_or(TooShort)?;
            let group = AnaGroup::from_bytes(*group);
            let bytes = (group.namespaces() as usize).checked_mul(4).ok_or(TooShort)?;
            let (list, behind) = behind.split_at_checked(bytes).ok_or(TooShort)?;
            let namespaces = list.as_chunks().0.iter().map(|raw| Nsid(u32::from_le_bytes(*raw))).collect();
            groups.push(Group {
                number: group.group(),
                state: group.state().state(),
                changes: group.changes(),
                namespaces,
            });
            rest = behind;
        }
        Ok(Self { changes: header.changes(), groups })
    }
    /// Encodes the log.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut header = AnaHeader::ZERO;
        header.set_changes(self.changes);
        header.set_groups(self.groups.len() as u16);
        let mut bytes = header.as_bytes().to_vec();
        for group in &self.groups {
            let mut told = AnaGroup::ZERO;
            told.set_group(group.number);
            told.set_namespaces(group.namespaces.len() as u32);
            told.set_changes(group.changes);
            told.set_state(AnaStateWord::from_raw(group.state.0 & 0xf));
            bytes.extend_from_slice(told.as_bytes());
            group.namespaces.iter().for_each(|nsid| bytes.extend_from_slice(&nsid.0.to_le_bytes()));
        }
        bytes
    }
    /// ANA state of a namespace; `None` if it is not in the log.
    #[must_use]
    pub fn state(&self, nsid: Nsid) -> Option<AnaState> {
        self.groups.iter().find(|group| group.namespaces.contains(&nsid)).map(|group| group.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By hand: two changes; group 1 optimized with namespace 3, group 2 inaccessible with 1 and 4.
    #[test]
    fn a_log_by_hand() {
        let mut bytes = vec![0; 16 + 32 + 4 + 32 + 8];
        (bytes[0], bytes[8]) = (2, 2);
        (bytes[16], bytes[20], bytes[32], bytes[48]) = (1, 1, 1, 3);
        (bytes[52], bytes[56], bytes[60], bytes[68], bytes[84], bytes[88]) = (2, 2, 9, 3, 1, 4);
        let log = AnaLog::read(&bytes).unwrap();
        assert_eq!((log.changes, log.groups.len(), log.groups[1].changes), (2, 2, 9));
        assert_eq!(log.state(Nsid(3)), Some(AnaState::OPTIMIZED));
        assert_eq!(log.state(Nsid(4)), Some(AnaState::INACCESSIBLE));
        assert_eq!(log.state(Nsid(2)), None);
        assert_eq!(log.to_bytes(), bytes);
        for length in 0..bytes.len() {
            assert_eq!(AnaLog::read(&bytes[..length]), Err(TooShort));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_what_is_read_is_written(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(log) = AnaLog::read(&bytes) {
                prop_assert_eq!(AnaLog::read(&log.to_bytes()), Ok(log));
            }
        }
    }
}
