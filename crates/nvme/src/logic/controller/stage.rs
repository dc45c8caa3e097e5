//! Stages of a controller between power on and operation.

use lanetwin_units::Instant;

/// Stage of a controller between power on and operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// CC.EN is 0, without outstanding effects.
    Disabled,
    /// CC.EN is 1; becomes ready at this time, when no earlier effects are outstanding.
    Starting(Instant),
    /// CSTS.RDY is 1.
    Ready,
    /// CC.EN is 0, with outstanding effects.
    Stopping,
}
