//! Opcodes of admin and I/O commands. Bits 1:0 encode the direction of data (Base 2.0 §3.3.3.1).

use lanetwin_wire::open_enum;

open_enum! {
    /// Admin commands (Base 2.0 §5).
    pub struct AdminOpcode(u8) {
        /// Delete I/O Submission Queue.
        DELETE_IO_SQ = 0x00;
        /// Create I/O Submission Queue.
        CREATE_IO_SQ = 0x01;
        /// Get Log Page.
        GET_LOG_PAGE = 0x02;
        /// Delete I/O Completion Queue.
        DELETE_IO_CQ = 0x04;
        /// Create I/O Completion Queue.
        CREATE_IO_CQ = 0x05;
        /// Identify.
        IDENTIFY = 0x06;
        /// Abort.
        ABORT = 0x08;
        /// Set Features.
        SET_FEATURES = 0x09;
        /// Get Features.
        GET_FEATURES = 0x0a;
        /// Asynchronous Event Request.
        ASYNCHRONOUS_EVENT_REQUEST = 0x0c;
        /// Namespace Management.
        NAMESPACE_MANAGEMENT = 0x0d;
        /// Firmware Commit.
        FIRMWARE_COMMIT = 0x10;
        /// Firmware Image Download.
        FIRMWARE_IMAGE_DOWNLOAD = 0x11;
        /// Device Self-test.
        DEVICE_SELF_TEST = 0x14;
        /// Namespace Attachment.
        NAMESPACE_ATTACHMENT = 0x15;
        /// Keep Alive.
        KEEP_ALIVE = 0x18;
        /// Directive Send.
        DIRECTIVE_SEND = 0x19;
        /// Directive Receive.
        DIRECTIVE_RECEIVE = 0x1a;
        /// Virtualization Management.
        VIRTUALIZATION_MANAGEMENT = 0x1c;
        /// NVMe-MI Send.
        NVME_MI_SEND = 0x1d;
        /// NVMe-MI Receive.
        NVME_MI_RECEIVE = 0x1e;
        /// Doorbell Buffer Config.
        DOORBELL_BUFFER_CONFIG = 0x7c;
        /// Format NVM.
        FORMAT_NVM = 0x80;
        /// Security Send.
        SECURITY_SEND = 0x81;
        /// Security Receive.
        SECURITY_RECEIVE = 0x82;
        /// Sanitize.
        SANITIZE = 0x84;
        /// Get LBA Status.
        GET_LBA_STATUS = 0x86;
    }

    /// I/O commands of the NVM command set (Base 2.0 §7, NVM Command Set 1.0 §3.2).
    pub struct IoOpcode(u8) {
        /// Flush.
        FLUSH = 0x00;
        /// Write.
        WRITE = 0x01;
        /// Read.
        READ = 0x02;
        /// Write Uncorrectable.
        WRITE_UNCORRECTABLE = 0x04;
        /// Compare.
        COMPARE = 0x05;
        /// Write Zeroes.
        WRITE_ZEROES = 0x08;
        /// Dataset Management.
        DATASET_MANAGEMENT = 0x09;
        /// Verify.
        VERIFY = 0x0c;
        /// Reservation Register.
        RESERVATION_REGISTER = 0x0d;
        /// Reservation Report.
        RESERVATION_REPORT = 0x0e;
        /// Reservation Acquire.
        RESERVATION_ACQUIRE = 0x11;
        /// Reservation Release.
        RESERVATION_RELEASE = 0x15;
        /// Copy.
        COPY = 0x19;
    }
}
