//! Statuses of Fabrics commands, and path related statuses of Asymmetric Namespace Access.
//!
//! The meaning of a command specific status code depends on the command: 180h is Connect Incompatible Format here and
//! Conflicting Attributes for a command of the NVM command set.

use lanetwin_nvme::spec::Status;
use lanetwin_wire::open_enum;

open_enum! {
    /// Status Code Type and Status Code of Fabrics commands (NVMe-oF 1.1 §2.2), and of paths (Base 2.0, Status Code:
    /// Path Related Status).
    pub struct FabricsStatus(u16) {
        /// Connect or Disconnect Incompatible Format.
        INCOMPATIBLE_FORMAT = 0x180;
        /// Connect Controller Busy.
        CONTROLLER_BUSY = 0x181;
        /// Connect Invalid Parameters.
        INVALID_PARAMETERS = 0x182;
        /// Connect Restart Discovery.
        RESTART_DISCOVERY = 0x183;
        /// Connect Invalid Host.
        INVALID_HOST = 0x184;
        /// Disconnect Invalid Queue Type.
        INVALID_QUEUE_TYPE = 0x185;
        /// Discover Restart.
        DISCOVER_RESTART = 0x190;
        /// Authentication Required.
        AUTHENTICATION_REQUIRED = 0x191;
        /// Asymmetric Access Persistent Loss.
        PERSISTENT_LOSS = 0x301;
        /// Asymmetric Access Inaccessible.
        INACCESSIBLE = 0x302;
        /// Asymmetric Access Transition.
        TRANSITION = 0x303;
    }
}

impl FabricsStatus {
    /// The status as it is encoded in a completion.
    #[must_use]
    pub const fn status(self) -> Status {
        Status(self.0)
    }
}
