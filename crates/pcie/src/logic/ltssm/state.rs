//! The states of link training (PCIe Base §4.2.6), with their substates.

use core::fmt;

/// Declares the states with the names that the standard has for them.
macro_rules! states {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// A state of the Link Training and Status State Machine (LTSSM), with its substate.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum State { $($(#[doc = $doc])+ $variant,)+ }

        impl State {
            /// Every state.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The standard's name: `Recovery.RcvrLock`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

states! {
    /// Transmitters are in electrical idle; wait for somebody, or look after 12 ms.
    DetectQuiet = "Detect.Quiet";
    /// Look for receivers on all lanes.
    DetectActive = "Detect.Active";
    /// Exchange TS1 at 2.5 GT/s: bit and symbol lock.
    PollingActive = "Polling.Active";
    /// A load board, or software, asked for compliance patterns.
    PollingCompliance = "Polling.Compliance";
    /// Exchange TS2: polarity is set right here.
    PollingConfiguration = "Polling.Configuration";
    /// The downstream port proposes a link number.
    ConfigurationLinkwidthStart = "Configuration.Linkwidth.Start";
    /// The width is agreed.
    ConfigurationLinkwidthAccept = "Configuration.Linkwidth.Accept";
    /// Wait for lane numbers.
    ConfigurationLanenumWait = "Configuration.Lanenum.Wait";
    /// Lane numbers are agreed, reversed if need be.
    ConfigurationLanenumAccept = "Configuration.Lanenum.Accept";
    /// Exchange TS2; retimers announce themselves.
    ConfigurationComplete = "Configuration.Complete";
    /// Exchange logical idle.
    ConfigurationIdle = "Configuration.Idle";
    /// Lock again: TS1 at the present rate.
    RecoveryRcvrLock = "Recovery.RcvrLock";
    /// Equalisation, phase 0: the upstream port sends the preset that it was told.
    RecoveryEqualizationPhase0 = "Recovery.Equalization.Phase0";
    /// Equalisation, phase 1: both hear each other well enough to talk.
    RecoveryEqualizationPhase1 = "Recovery.Equalization.Phase1";
    /// Equalisation, phase 2: the upstream port tunes the transmitter of the downstream port.
    RecoveryEqualizationPhase2 = "Recovery.Equalization.Phase2";
    /// Equalisation, phase 3: the downstream port tunes the transmitter of the upstream port.
    RecoveryEqualizationPhase3 = "Recovery.Equalization.Phase3";
    /// Both are in electrical idle and change the rate.
    RecoverySpeed = "Recovery.Speed";
    /// Exchange TS2: agree on a change of rate, or on going on.
    RecoveryRcvrCfg = "Recovery.RcvrCfg";
    /// Exchange logical idle.
    RecoveryIdle = "Recovery.Idle";
    /// Working.
    L0 = "L0";
    /// This transmitter naps; fast training sequences wake it.
    L0s = "L0s";
    /// Both directions idle.
    L1 = "L1";
    /// L1 with the reference clock off, common mode kept.
    L1_1 = "L1.1";
    /// L1 with the reference clock off and the common mode lost.
    L1_2 = "L1.2";
    /// Main power may go.
    L2 = "L2";
    /// TS1 with the Hot Reset bit.
    HotReset = "Hot Reset";
    /// TS1 with the Disable Link bit, then electrical idle until the bit in Link Control is cleared.
    Disabled = "Disabled";
    /// A test of the transmitter or the receiver is being agreed on.
    LoopbackEntry = "Loopback.Entry";
    /// One port sends back what the other sends.
    LoopbackActive = "Loopback.Active";
    /// The way out of a test.
    LoopbackExit = "Loopback.Exit";
}

impl State {
    /// Whether the port trains, as Link Status says it: neither working, nor asleep, nor looking for a partner, nor
    /// disabled.
    #[must_use]
    pub const fn is_training(self) -> bool {
        matches!(
            self,
            Self::ConfigurationLinkwidthStart
                | Self::ConfigurationLinkwidthAccept
                | Self::ConfigurationLanenumWait
                | Self::ConfigurationLanenumAccept
                | Self::ConfigurationComplete
                | Self::ConfigurationIdle
                | Self::RecoveryRcvrLock
                | Self::RecoveryEqualizationPhase0
                | Self::RecoveryEqualizationPhase1
                | Self::RecoveryEqualizationPhase2
                | Self::RecoveryEqualizationPhase3
                | Self::RecoverySpeed
                | Self::RecoveryRcvrCfg
                | Self::RecoveryIdle
        )
    }
    /// The states that may follow, but for fundamental reset, which leads to Detect.Quiet from anywhere.
    #[must_use]
    pub const fn follows(self) -> &'static [Self] {
        match self {
            Self::DetectQuiet => &[Self::DetectActive],
            Self::DetectActive => &[Self::DetectQuiet, Self::PollingActive],
            Self::PollingActive => &[Self::DetectQuiet, Self::PollingCompliance, Self::PollingConfiguration],
            Self::PollingCompliance => &[Self::DetectQuiet, Self::PollingActive],
            Self::PollingConfiguration => &[Self::DetectQuiet, Self::ConfigurationLinkwidthStart],
            Self::ConfigurationLinkwidthStart => &[
                Self::DetectQuiet,
                Self::ConfigurationLinkwidthAccept,
                Self::Disabled,
                Self::LoopbackEntry,
                Self::LoopbackActive,
            ],
            Self::ConfigurationLinkwidthAccept => &[Self::DetectQuiet, Self::ConfigurationLanenumWait],
            Self::ConfigurationLanenumWait => &[Self::DetectQuiet, Self::ConfigurationLanenumAccept],
            Self::ConfigurationLanenumAccept => &[Self::ConfigurationComplete],
            Self::ConfigurationComplete => &[Self::DetectQuiet, Self::ConfigurationIdle],
            Self::ConfigurationIdle => &[Self::DetectQuiet, Self::RecoveryRcvrLock, Self::L0],
            Self::RecoveryRcvrLock => &[
                Self::DetectQuiet,
                Self::ConfigurationLinkwidthStart,
                Self::RecoveryEqualizationPhase0,
                Self::RecoveryEqualizationPhase1,
                Self::RecoverySpeed,
                Self::RecoveryRcvrCfg,
            ],
            Self::RecoveryEqualizationPhase0 => &[Self::RecoveryEqualizationPhase1, Self::RecoverySpeed],
            Self::RecoveryEqualizationPhase1 => &[Self::RecoveryEqualizationPhase2, Self::RecoverySpeed],
            Self::RecoveryEqualizationPhase2 => &[Self::RecoveryEqualizationPhase3, Self::RecoverySpeed],
            Self::RecoveryEqualizationPhase3 => &[Self::RecoveryRcvrLock, Self::RecoverySpeed],
            Self::RecoverySpeed => &[Self::DetectQuiet, Self::RecoveryRcvrLock],
            Self::RecoveryRcvrCfg => &[
                Self::DetectQuiet,
                Self::ConfigurationLinkwidthStart,
                Self::RecoverySpeed,
                Self::RecoveryIdle,
            ],
            Self::RecoveryIdle => &[
                Self::DetectQuiet,
                Self::ConfigurationLinkwidthStart,
                Self::RecoveryRcvrLock,
                Self::L0,
                Self::HotReset,
                Self::Disabled,
                Self::LoopbackEntry,
                Self::LoopbackActive,
            ],
            Self::L0 => &[Self::RecoveryRcvrLock, Self::L0s, Self::L1, Self::L2],
            Self::L0s => &[Self::RecoveryRcvrLock, Self::L0, Self::L1],
            Self::L1 => &[Self::RecoveryRcvrLock, Self::L1_1, Self::L1_2],
            Self::L1_1 | Self::L1_2 => &[Self::RecoveryRcvrLock],
            Self::L2 | Self::HotReset | Self::Disabled | Self::LoopbackExit => &[Self::DetectQuiet],
            Self::LoopbackEntry => &[Self::LoopbackActive, Self::LoopbackExit],
            Self::LoopbackActive => &[Self::LoopbackExit],
        }
    }
    /// Whether the link is up for packets, or asleep and up as soon as they come.
    #[must_use]
    pub const fn is_link_up(self) -> bool {
        matches!(self, Self::L0 | Self::L0s | Self::L1 | Self::L1_1 | Self::L1_2)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
