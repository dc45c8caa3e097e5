//! What a port may be told, and what happens then besides its next state.

use super::super::failure::FailureCodes;
use super::super::ordered_sets::{Lanes, TrainingSet};
use lanetwin_units::Generation;

/// What a port may be told.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Input {
    /// Time has passed; see [`Port::wake`](super::Port::wake).
    Tick,
    /// Fundamental reset is asserted (true) or released.
    Reset(bool),
    /// Receivers were found on these lanes.
    Receivers(Lanes),
    /// The partner has left electrical idle.
    IdleExit,
    /// The partner is in electrical idle.
    IdleEntered,
    /// As many consecutive training sets as the state asks for ([`Port::consecutive`](super::Port::consecutive)) were
    /// heard on these lanes.
    Sets(Lanes, TrainingSet),
    /// The same of logical idle.
    LogicalIdle(Lanes),
    /// The receiver hears the untuned transmitter well enough to go on with equalisation.
    Adapted,
    /// The partner's transmitter is tuned.
    Tuned,
    /// The link does not work as it should.
    RecoveryCause(RecoveryCause),
    /// Somebody above wants something.
    Direct(Directive),
}

/// Why a working link goes to Recovery by itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RecoveryCause {
    /// A sync header or a token that cannot be.
    Framing,
    /// REPLAY_NUM has rolled over.
    ReplayRollover,
    /// No SKP and no UpdateFC for too long: electrical idle is inferred.
    InferredIdle,
}

/// What software, power management or the data link layer wants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Directive {
    /// Retrain Link.
    Retrain,
    /// Target Link Speed: what the next retrain, and training from Detect, aims at.
    TargetSpeed(Generation),
    /// Perform Equalization: the next retrain that changes the rate equalises again.
    PerformEqualization,
    /// Link Disable is set (true) or cleared.
    Disable(bool),
    /// Secondary Bus Reset is asserted (true) or released.
    HotReset(bool),
    /// So many lanes, at most.
    Width(u8),
    /// L0s of the transmitter.
    L0s,
    /// L1, which both ports have agreed on.
    L1,
    /// L1.1: both ports have released the clock.
    L1_1,
    /// L1.2: the same, and the common mode goes.
    L1_2,
    /// L2, which both ports have agreed on.
    L2,
    /// There is something to send.
    Wake,
    /// Enter Compliance is set (true) or cleared.
    Compliance(bool),
    /// A loopback test begins (true) or ends.
    Loopback(bool),
}

/// What has happened, for registers and reports.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Effects {
    /// What went wrong.
    pub codes: FailureCodes,
    /// The link is up: the data link layer may start.
    pub link_up: bool,
    /// The link is down: what is below it is reset.
    pub link_down: bool,
    /// Link Bandwidth Management Status is to be set.
    pub bandwidth_management: bool,
    /// Link Autonomous Bandwidth Status is to be set.
    pub autonomous_bandwidth: bool,
}
