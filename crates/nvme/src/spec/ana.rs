//! Asymmetric Namespace Access: its log and event (Base 2.0 §8.1, Asymmetric Namespace Access Reporting, and the log
//! page of that name).

use super::log::LogPage;
use lanetwin_wire::{open_enum, structure, wire};

/// Log Page Identifier of the ANA log.
pub const ANA_LOG: LogPage = LogPage(0x0c);
/// Information of the notice that an ANA state has changed (Base 2.0 §5.2.1).
pub const ANA_CHANGED: u8 = 0x03;
/// The size of [`AnaHeader`] \[B\].
pub const ANA_HEADER_BYTES: usize = 16;
/// The size of [`AnaGroup`] \[B\]; namespaces, 4 B each, follow it.
pub const ANA_GROUP_BYTES: usize = 32;

open_enum! {
    /// Asymmetric Namespace Access State.
    pub struct AnaState(u8) {
        /// Optimized.
        OPTIMIZED = 0x1;
        /// Non-Optimized.
        NON_OPTIMIZED = 0x2;
        /// Inaccessible.
        INACCESSIBLE = 0x3;
        /// Persistent Loss.
        PERSISTENT_LOSS = 0x4;
        /// Change: a transition to another state.
        CHANGE = 0xf;
    }
}

wire! {
    /// The state of a group.
    pub struct AnaStateWord(u8) {
        /// Asymmetric Namespace Access State
        state / with_state: AnaState = 3:0;
        /// Reserved
        reserved = 7:4;
    }
}

structure! {
    /// Header of the log.
    pub struct AnaHeader(16) {
        /// Change Count (CHGCNT)
        changes / set_changes: u64 = 0;
        /// Number of ANA Group Descriptors
        groups / set_groups: u16 = 8;
    }

    /// ANA Group Descriptor; its namespaces follow.
    pub struct AnaGroup(32) {
        /// ANA Group ID (ANAGRPID), from 1
        group / set_group: u32 = 0;
        /// Number of NSID Values; 0 if only groups were asked for
        namespaces / set_namespaces: u32 = 4;
        /// Change Count (CHGCNT)
        changes / set_changes: u64 = 8;
        /// Asymmetric Namespace Access State
        state / set_state: AnaStateWord = 16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn the_word_tiles() {
        assert_fields_tile::<AnaStateWord>();
    }
}
