//! FCP: the information units (IU) of a SCSI command over Fibre Channel, and their sizes.

use super::frame::{DataField, sequence_bytes, spacing_bytes};

/// FCP_CMND \[B\]: LUN 8, control 4, CDB 16, FCP_DL 4 (FCP-4, FCP_CMND IU without additional CDB).
pub const COMMAND_BYTES: u32 = 32;
/// FCP_XFER_RDY \[B\]: relative offset 4, burst length 4, reserved 4 (FCP-4, FCP_XFER_RDY IU).
pub const TRANSFER_READY_BYTES: u32 = 12;
/// FCP_RSP \[B\] of a command that ended well: reserved 8, status 4, residual 4, lengths of sense and response 8
/// (FCP-4, FCP_RSP IU without sense data).
pub const RESPONSE_BYTES: u32 = 24;

/// Kind of an information unit of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// FCP_CMND: the initiator's command.
    Command,
    /// FCP_XFER_RDY: the target requests the data of a write.
    TransferReady,
    /// FCP_RSP: the target ends the exchange.
    Response,
}

impl Unit {
    /// Its size, which is the data field of its frame \[B\].
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Command => COMMAND_BYTES,
            Self::TransferReady => TRANSFER_READY_BYTES,
            Self::Response => RESPONSE_BYTES,
        }
    }
}

/// Bytes of one exchange on the wire, in each direction \[B\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExchangeBytes {
    /// From the initiator to the target.
    pub to_target: u64,
    /// From the target to the initiator.
    pub to_initiator: u64,
}

impl ExchangeBytes {
    /// A read of this many bytes.
    #[must_use]
    pub const fn read(bytes: u64, field: DataField) -> Self {
        Self {
            to_target: spacing_bytes(COMMAND_BYTES) as u64,
            to_initiator: sequence_bytes(bytes, field) + spacing_bytes(RESPONSE_BYTES) as u64,
        }
    }
    /// A write of this many bytes, requested by the target at once.
    #[must_use]
    pub const fn write(bytes: u64, field: DataField) -> Self {
        Self {
            to_target: spacing_bytes(COMMAND_BYTES) as u64 + sequence_bytes(bytes, field),
            to_initiator: (spacing_bytes(TRANSFER_READY_BYTES) + spacing_bytes(RESPONSE_BYTES)) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, 2 MiB in frames of 2048 B: 1024 × 2108 = 2 158 592; CMND 92, XFER_RDY 72, RSP 84.
    #[test]
    fn an_exchange_by_hand() {
        let field = DataField::B2048;
        let read = ExchangeBytes { to_target: 92, to_initiator: 2_158_592 + 84 };
        let write = ExchangeBytes { to_target: 92 + 2_158_592, to_initiator: 72 + 84 };
        assert_eq!(ExchangeBytes::read(2 << 20, field), read);
        assert_eq!(ExchangeBytes::write(2 << 20, field), write);
    }
}
