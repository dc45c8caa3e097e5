//! Completion queue entries: 16 bytes (Base 2.0 §3.3.3.2).

use super::id::{Cid, SqId};
use super::status::Status;
use lanetwin_wire::wire;

/// The size of a completion queue entry \[B\] (Base 2.0 §3.3.3.2).
pub const COMPLETION_ENTRY_BYTES: u32 = 16;

wire! {
    /// A completion queue entry (Base 2.0 §3.3.3.2), dword 0 lowest.
    pub struct CompletionEntry(u128) {
        /// Dword 0: what the command says of it
        dw0 / with_dw0: u32 = 31:0;
        /// Dword 1: what the command says of it
        dw1 / with_dw1: u32 = 63:32;
        /// SQ Head Pointer (SQHD): where the controller reads its submission queue next
        sq_head / with_sq_head: u16 = 79:64;
        /// SQ Identifier (SQID)
        sq_number / with_sq_number: u16 = 95:80;
        /// Command Identifier (CID)
        cid_number / with_cid_number: u16 = 111:96;
        /// Phase Tag (P): changes each time the queue is gone through
        phase / with_phase: bool = 112:112;
        /// Status Code Type and Status Code
        status / with_status: Status = 123:113;
        /// Command Retry Delay (CRD): which of the controller's three delays, 0 for none
        retry_delay / with_retry_delay: u8 = 125:124;
        /// More (M): the error log has more about it
        more / with_more: bool = 126:126;
        /// Do Not Retry (DNR)
        do_not_retry / with_do_not_retry: bool = 127:127;
    }
}

impl CompletionEntry {
    /// Decodes an entry from its bytes in memory.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self::from_raw(u128::from_le_bytes(bytes))
    }
    /// Encodes the entry as bytes in memory.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.raw().to_le_bytes()
    }
    /// The submission queue of the command.
    #[must_use]
    pub const fn sqid(self) -> SqId {
        SqId(self.sq_number())
    }
    /// The command.
    #[must_use]
    pub const fn cid(self) -> Cid {
        Cid(self.cid_number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn the_word_tiles() {
        assert_fields_tile::<CompletionEntry>();
    }

    /// Dword 3 by hand: CID 7, phase 1, SC 80h, SCT 0, DNR.
    #[test]
    fn an_entry_by_hand() {
        let entry = CompletionEntry::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0, 7, 0, 0x01, 0x81]);
        assert_eq!((entry.cid(), entry.sqid(), entry.sq_head()), (Cid(7), SqId(1), 3));
        assert_eq!(
            (entry.status(), entry.phase(), entry.do_not_retry()),
            (Status::LBA_OUT_OF_RANGE, true, true)
        );
        assert_eq!(CompletionEntry::from_bytes(entry.to_bytes()), entry);
    }
}
