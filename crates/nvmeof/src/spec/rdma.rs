//! Private data of NVMe/RDMA connections (RDMA Transport 1.0, RDMA_CM Private Data; NVMe-oF 1.1 §7.3).

use lanetwin_wire::{open_enum, structure};

/// UDP or TCP port number of subsystems (RDMA Transport 1.0).
pub const RDMA_PORT: u16 = 4420;
/// The size of request and accept private data \[B\].
pub const PRIVATE_DATA_BYTES: usize = 32;

open_enum! {
    /// Reason for rejecting a connection (STS).
    pub struct RejectStatus(u16) {
        /// Invalid Private Data Length.
        INVALID_LENGTH = 1;
        /// Invalid RECFMT.
        INVALID_FORMAT = 2;
        /// Invalid QID.
        INVALID_QUEUE = 3;
        /// Invalid HSQSIZE.
        INVALID_SEND_QUEUE = 4;
        /// Invalid HRQSIZE.
        INVALID_RECEIVE_QUEUE = 5;
        /// No Resources.
        NO_RESOURCES = 6;
        /// Invalid IRD.
        INVALID_READS_IN = 7;
        /// Invalid ORD.
        INVALID_READS_OUT = 8;
    }
}

structure! {
    /// Private data of a connection request.
    pub struct RequestPrivateData(32) {
        /// Record Format (RECFMT): 0
        format / set_format: u16 = 0;
        /// Queue ID (QID)
        queue / set_queue: u16 = 2;
        /// RDMA QP Host Receive Queue Size (HRQSIZE) \[entries\]
        receive_entries / set_receive_entries: u16 = 4;
        /// RDMA QP Host Send Queue Size (HSQSIZE) \[entries\], counted from 0
        send_entries_less_1 / set_send_entries_less_1: u16 = 6;
        /// Controller ID (CNTLID), of hosts that say it
        controller / set_controller: u16 = 8;
    }

    /// Private data of an accepted connection.
    pub struct AcceptPrivateData(32) {
        /// Record Format (RECFMT): 0
        format / set_format: u16 = 0;
        /// RDMA QP Controller Receive Queue Size (CRQSIZE) \[entries\]
        receive_entries / set_receive_entries: u16 = 2;
    }

    /// Private data of a rejected connection.
    pub struct RejectPrivateData(4) {
        /// Record Format (RECFMT): 0
        format / set_format: u16 = 0;
        /// Status (STS)
        status / set_status: RejectStatus = 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_by_hand() {
        let mut bytes = [0; PRIVATE_DATA_BYTES];
        bytes[2..8].copy_from_slice(&[5, 0, 128, 0, 127, 0]);
        let request = RequestPrivateData::from_bytes(bytes);
        assert_eq!((request.format(), request.queue()), (0, 5));
        assert_eq!((request.receive_entries(), request.send_entries_less_1()), (128, 127));
        let mut reject = RejectPrivateData::ZERO;
        reject.set_status(RejectStatus::NO_RESOURCES);
        assert_eq!(reject.as_bytes(), &[0, 0, 6, 0]);
    }
}
