//! Where a controller is between power on and work.

use lanetwin_units::Instant;

/// Where a controller is between power on and work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// CC.EN is 0, and nothing is under way.
    Disabled,
    /// CC.EN is 1; ready from this time on, and when nothing from before is under way.
    Starting(Instant),
    /// CSTS.RDY is 1.
    Ready,
    /// CC.EN is 0, and something is under way.
    Stopping,
}
