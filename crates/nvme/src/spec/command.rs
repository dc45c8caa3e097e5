//! Submission queue entries: 64 bytes (Base 2.0 §3.3.3.1).

use super::id::{Cid, Nsid};
use lanetwin_wire::{open_enum, structure, wire};

/// The size of a submission queue entry \[B\] (Base 2.0 §3.3.3.1).
pub const COMMAND_BYTES: u32 = 64;

open_enum! {
    /// PRP or SGL for Data Transfer (PSDT): type of the data pointer (Base 2.0 §3.3.3.1).
    pub struct DataTransfer(u8) {
        /// PRP entries.
        PRP = 0b00;
        /// An SGL; metadata in one contiguous buffer.
        SGL = 0b01;
        /// An SGL; metadata in an SGL of their own.
        SGL_AND_METADATA_SGL = 0b10;
    }
}

wire! {
    /// Command Dword 0 (Base 2.0 §3.3.3.1).
    pub struct CommandDword0(u32) {
        /// Opcode (OPC)
        opcode / with_opcode: u8 = 7:0;
        /// Fused Operation (FUSE): 0 for none
        fused / with_fused: u8 = 9:8;
        /// Reserved
        reserved = 13:10;
        /// PRP or SGL for Data Transfer (PSDT)
        data_transfer / with_data_transfer: DataTransfer = 15:14;
        /// Command Identifier (CID)
        cid_number / with_cid_number: u16 = 31:16;
    }
}

structure! {
    /// A submission queue entry (Base 2.0 §3.3.3.1).
    pub struct Command(64) {
        /// Command Dword 0
        dword0 / set_dword0: CommandDword0 = 0;
        /// Namespace Identifier (NSID)
        nsid_number / set_nsid_number: u32 = 4;
        /// Command Dword 2
        cdw2 / set_cdw2: u32 = 8;
        /// Command Dword 3
        cdw3 / set_cdw3: u32 = 12;
        /// Metadata Pointer (MPTR)
        metadata_pointer / set_metadata_pointer: u64 = 16;
        /// Data Pointer (DPTR), first half: PRP Entry 1, or the address of SGL Entry 1
        prp1 / set_prp1: u64 = 24;
        /// Data Pointer, second half: PRP Entry 2, or length and type of SGL Entry 1
        prp2 / set_prp2: u64 = 32;
        /// Command Dword 10
        cdw10 / set_cdw10: u32 = 40;
        /// Command Dword 11
        cdw11 / set_cdw11: u32 = 44;
        /// Command Dword 12
        cdw12 / set_cdw12: u32 = 48;
        /// Command Dword 13
        cdw13 / set_cdw13: u32 = 52;
        /// Command Dword 14
        cdw14 / set_cdw14: u32 = 56;
        /// Command Dword 15
        cdw15 / set_cdw15: u32 = 60;
    }
}

impl Command {
    /// The command identifier.
    #[must_use]
    pub fn cid(&self) -> Cid {
        Cid(self.dword0().cid_number())
    }
    /// The namespace of the command.
    #[must_use]
    pub fn nsid(&self) -> Nsid {
        Nsid(self.nsid_number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn the_word_tiles() {
        assert_fields_tile::<CommandDword0>();
    }

    #[test]
    fn a_command_by_hand() {
        let mut bytes = [0; 64];
        bytes[..8].copy_from_slice(&[0x02, 0x40, 0x34, 0x12, 1, 0, 0, 0]);
        let command = Command::from_bytes(bytes);
        assert_eq!((command.cid(), command.nsid()), (Cid(0x1234), Nsid(1)));
        assert_eq!((command.dword0().opcode(), command.dword0().data_transfer()), (2, DataTransfer::SGL));
    }
}
