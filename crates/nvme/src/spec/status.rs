//! Status of a command: Status Code Type and Status Code in one value of 11 bits (Base 2.0 §3.3.3.2.1).
//!
//! The high byte is the Status Code Type (SCT): 0 generic, 1 command specific, 2 media and data integrity, 3 path, 7
//! vendor.

use lanetwin_wire::open_enum;

open_enum! {
    /// Status Code Type and Status Code (Base 2.0 §3.3.3.2.1, NVM Command Set 1.0 §3.1.2).
    pub struct Status(u16) {
        /// Successful Completion.
        SUCCESS = 0x000;
        /// Invalid Command Opcode.
        INVALID_OPCODE = 0x001;
        /// Invalid Field in Command.
        INVALID_FIELD = 0x002;
        /// Command ID Conflict.
        COMMAND_ID_CONFLICT = 0x003;
        /// Data Transfer Error.
        DATA_TRANSFER_ERROR = 0x004;
        /// Commands Aborted due to Power Loss Notification.
        ABORTED_POWER_LOSS = 0x005;
        /// Internal Error.
        INTERNAL_ERROR = 0x006;
        /// Command Abort Requested.
        ABORT_REQUESTED = 0x007;
        /// Command Aborted due to SQ Deletion.
        ABORTED_SQ_DELETION = 0x008;
        /// Command Aborted due to Failed Fused Command.
        ABORTED_FAILED_FUSED = 0x009;
        /// Command Aborted due to Missing Fused Command.
        ABORTED_MISSING_FUSED = 0x00a;
        /// Invalid Namespace or Format.
        INVALID_NAMESPACE_OR_FORMAT = 0x00b;
        /// Command Sequence Error.
        COMMAND_SEQUENCE_ERROR = 0x00c;
        /// Invalid SGL Segment Descriptor.
        INVALID_SGL_SEGMENT_DESCRIPTOR = 0x00d;
        /// Invalid Number of SGL Descriptors.
        INVALID_NUMBER_OF_SGL_DESCRIPTORS = 0x00e;
        /// Data SGL Length Invalid.
        DATA_SGL_LENGTH_INVALID = 0x00f;
        /// Metadata SGL Length Invalid.
        METADATA_SGL_LENGTH_INVALID = 0x010;
        /// SGL Descriptor Type Invalid.
        SGL_DESCRIPTOR_TYPE_INVALID = 0x011;
        /// Invalid Use of Controller Memory Buffer.
        INVALID_USE_OF_CMB = 0x012;
        /// PRP Offset Invalid.
        PRP_OFFSET_INVALID = 0x013;
        /// Atomic Write Unit Exceeded.
        ATOMIC_WRITE_UNIT_EXCEEDED = 0x014;
        /// Operation Denied.
        OPERATION_DENIED = 0x015;
        /// SGL Offset Invalid.
        SGL_OFFSET_INVALID = 0x016;
        /// Host Identifier Inconsistent Format.
        HOST_IDENTIFIER_INCONSISTENT = 0x018;
        /// Keep Alive Timer Expired.
        KEEP_ALIVE_EXPIRED = 0x019;
        /// Keep Alive Timeout Invalid.
        KEEP_ALIVE_TIMEOUT_INVALID = 0x01a;
        /// Command Aborted due to Preempt and Abort.
        ABORTED_PREEMPT = 0x01b;
        /// Sanitize Failed.
        SANITIZE_FAILED = 0x01c;
        /// Sanitize In Progress.
        SANITIZE_IN_PROGRESS = 0x01d;
        /// SGL Data Block Granularity Invalid.
        SGL_GRANULARITY_INVALID = 0x01e;
        /// Command Not Supported for Queue in CMB.
        NOT_SUPPORTED_IN_CMB = 0x01f;
        /// Namespace is Write Protected.
        NAMESPACE_WRITE_PROTECTED = 0x020;
        /// Command Interrupted.
        COMMAND_INTERRUPTED = 0x021;
        /// Transient Transport Error.
        TRANSIENT_TRANSPORT_ERROR = 0x022;
        /// LBA Out of Range.
        LBA_OUT_OF_RANGE = 0x080;
        /// Capacity Exceeded.
        CAPACITY_EXCEEDED = 0x081;
        /// Namespace Not Ready.
        NAMESPACE_NOT_READY = 0x082;
        /// Reservation Conflict.
        RESERVATION_CONFLICT = 0x083;
        /// Format In Progress.
        FORMAT_IN_PROGRESS = 0x084;

        /// Completion Queue Invalid.
        COMPLETION_QUEUE_INVALID = 0x100;
        /// Invalid Queue Identifier.
        INVALID_QUEUE_IDENTIFIER = 0x101;
        /// Invalid Queue Size.
        INVALID_QUEUE_SIZE = 0x102;
        /// Abort Command Limit Exceeded.
        ABORT_LIMIT_EXCEEDED = 0x103;
        /// Asynchronous Event Request Limit Exceeded.
        EVENT_REQUEST_LIMIT_EXCEEDED = 0x105;
        /// Invalid Firmware Slot.
        INVALID_FIRMWARE_SLOT = 0x106;
        /// Invalid Firmware Image.
        INVALID_FIRMWARE_IMAGE = 0x107;
        /// Invalid Interrupt Vector.
        INVALID_INTERRUPT_VECTOR = 0x108;
        /// Invalid Log Page.
        INVALID_LOG_PAGE = 0x109;
        /// Invalid Format.
        INVALID_FORMAT = 0x10a;
        /// Invalid Queue Deletion.
        INVALID_QUEUE_DELETION = 0x10c;
        /// Feature Identifier Not Saveable.
        FEATURE_NOT_SAVEABLE = 0x10d;
        /// Feature Not Changeable.
        FEATURE_NOT_CHANGEABLE = 0x10e;
        /// Feature Not Namespace Specific.
        FEATURE_NOT_NAMESPACE_SPECIFIC = 0x10f;
        /// Conflicting Attributes (NVM command set).
        CONFLICTING_ATTRIBUTES = 0x180;
        /// Invalid Protection Information (NVM command set).
        INVALID_PROTECTION_INFORMATION = 0x181;
        /// Attempted Write to Read Only Range (NVM command set).
        WRITE_TO_READ_ONLY_RANGE = 0x182;
        /// Command Size Limit Exceeded (NVM command set).
        COMMAND_SIZE_LIMIT_EXCEEDED = 0x183;

        /// Write Fault.
        WRITE_FAULT = 0x280;
        /// Unrecovered Read Error.
        UNRECOVERED_READ_ERROR = 0x281;
        /// End-to-end Guard Check Error.
        GUARD_CHECK_ERROR = 0x282;
        /// End-to-end Application Tag Check Error.
        APPLICATION_TAG_CHECK_ERROR = 0x283;
        /// End-to-end Reference Tag Check Error.
        REFERENCE_TAG_CHECK_ERROR = 0x284;
        /// Compare Failure.
        COMPARE_FAILURE = 0x285;
        /// Access Denied.
        ACCESS_DENIED = 0x286;
        /// Deallocated or Unwritten Logical Block.
        DEALLOCATED_OR_UNWRITTEN = 0x287;

        /// Internal Path Error.
        INTERNAL_PATH_ERROR = 0x300;
        /// Asymmetric Access Persistent Loss.
        ASYMMETRIC_ACCESS_PERSISTENT_LOSS = 0x301;
        /// Asymmetric Access Inaccessible.
        ASYMMETRIC_ACCESS_INACCESSIBLE = 0x302;
        /// Asymmetric Access Transition.
        ASYMMETRIC_ACCESS_TRANSITION = 0x303;
        /// Controller Pathing Error.
        CONTROLLER_PATHING_ERROR = 0x360;
        /// Host Pathing Error.
        HOST_PATHING_ERROR = 0x370;
        /// Command Aborted By Host.
        ABORTED_BY_HOST = 0x371;
    }
}

impl Status {
    /// True for [`Status::SUCCESS`].
    #[must_use]
    pub const fn is_success(self) -> bool {
        self.0 == 0
    }
    /// The Status Code Type.
    #[must_use]
    pub const fn code_type(self) -> u8 {
        (self.0 >> 8) as u8 & 7
    }
    /// The Status Code.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0 as u8
    }
    /// Whether the same command would fail again, which a controller reports with Do Not Retry (DNR).
    ///
    /// The specification leaves DNR to the controller; `assumed`: all errors in the command itself, and unrecovered
    /// reads.
    #[must_use]
    pub const fn is_permanent(self) -> bool {
        !matches!(
            self,
            Self::SUCCESS
                | Self::DATA_TRANSFER_ERROR
                | Self::ABORTED_POWER_LOSS
                | Self::INTERNAL_ERROR
                | Self::ABORT_REQUESTED
                | Self::ABORTED_SQ_DELETION
                | Self::SANITIZE_IN_PROGRESS
                | Self::COMMAND_INTERRUPTED
                | Self::TRANSIENT_TRANSPORT_ERROR
                | Self::NAMESPACE_NOT_READY
                | Self::FORMAT_IN_PROGRESS
                | Self::INTERNAL_PATH_ERROR
                | Self::ASYMMETRIC_ACCESS_PERSISTENT_LOSS
                | Self::ASYMMETRIC_ACCESS_INACCESSIBLE
                | Self::ASYMMETRIC_ACCESS_TRANSITION
                | Self::CONTROLLER_PATHING_ERROR
                | Self::HOST_PATHING_ERROR
                | Self::ABORTED_BY_HOST
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_type_and_code() {
        assert_eq!((Status::COMPARE_FAILURE.code_type(), Status::COMPARE_FAILURE.code()), (2, 0x85));
        assert!(Status::SUCCESS.is_success() && !Status::SUCCESS.is_permanent());
        assert!(Status::LBA_OUT_OF_RANGE.is_permanent() && !Status::FORMAT_IN_PROGRESS.is_permanent());
    }
}
