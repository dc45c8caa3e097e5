//! Requests of a program to a drive: with data, or without.

use lanetwin_nvme::spec::IoOpcode;
use lanetwin_ports::{BlockCommand, BlockCommandKind, Operation, Transfer};

/// A request of a program, as a kind of NVMe command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    /// Opcode of the command, or of the commands if there are several.
    pub(crate) opcode: IoOpcode,
    /// Number of bytes; 0 for a flush.
    pub(crate) bytes: u32,
    /// The asker's name for it.
    pub(crate) handle: u32,
    /// The namespace, from 0.
    pub(crate) unit: u16,
    /// The byte offset in the namespace.
    pub(crate) address: u64,
}

impl Ask {
    /// To move bytes.
    pub(crate) const fn of(transfer: Transfer) -> Self {
        let Transfer { operation, bytes, handle, unit, address } = transfer;
        let opcode = match operation {
            Operation::Read => IoOpcode::READ,
            Operation::Write => IoOpcode::WRITE,
        };
        Self { opcode, bytes, handle, unit, address }
    }
    /// To do something that moves none.
    pub(crate) const fn to(command: BlockCommand) -> Self {
        let BlockCommand { kind, bytes, handle, unit, address } = command;
        let opcode = match kind {
            BlockCommandKind::Flush => IoOpcode::FLUSH,
            BlockCommandKind::Deallocate => IoOpcode::DATASET_MANAGEMENT,
            BlockCommandKind::WriteZeroes => IoOpcode::WRITE_ZEROES,
        };
        Self { opcode, bytes, handle, unit, address }
    }
}
