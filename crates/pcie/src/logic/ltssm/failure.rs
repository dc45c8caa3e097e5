//! What can be wrong with a link that was cycled: codes, and the verdict on a cycle.

use core::fmt;

/// Declares failure codes: a bit, a code, a sentence.
macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal;)+) => {
        /// Why a cycle is not as it should be.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum FailureCode { $($(#[doc = $doc])+ $variant,)+ }

        impl FailureCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The code, as reports have it.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
            /// What it means, in a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc, "\n"),+).trim_ascii(),)+ }
            }
        }
    };
}

codes! {
    /// The upstream port did not leave phase 0 of equalisation in time.
    EqP0Timeout = "EQ_P0_TIMEOUT";
    /// A port did not leave phase 1 of equalisation in time.
    EqP1Timeout = "EQ_P1_TIMEOUT";
    /// The transmitter of the downstream port could not be tuned in time.
    EqP2Timeout = "EQ_P2_TIMEOUT";
    /// The transmitter of the upstream port could not be tuned in time.
    EqP3Timeout = "EQ_P3_TIMEOUT";
    /// Recovery.RcvrLock timed out: training sets were not heard on every lane.
    LockFail = "LOCK_FAIL";
    /// The link runs slower than both ports can, or than software asked for.
    SpeedFallback = "SPEED_FALLBACK";
    /// The link runs with fewer lanes than both ports have, or than were asked for.
    WidthDegrade = "WIDTH_DEGRADE";
    /// The data link layer was not active within 1 s.
    DllInactive1s = "DLL_INACTIVE_1S";
    /// The device answered configuration requests with Request Retry Status (RRS) for too long.
    CfgRrsTimeout = "CFG_RRS_TIMEOUT";
    /// More correctable errors than a cycle may have.
    AerCorExcess = "AER_COR_EXCESS";
    /// The link went down and nobody had asked for it.
    SurpriseDown = "SURPRISE_DOWN";
    /// Target Link Speed was left at 2.5 GT/s, by a driver that took slow training for failed training.
    Stuck2_5Gt = "STUCK_2.5GT";
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// A set of failure codes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FailureCodes(u16);

impl FailureCodes {
    /// No code.
    pub const NONE: Self = Self(0);

    /// With this code.
    #[must_use]
    pub const fn with(self, code: FailureCode) -> Self {
        Self(self.0 | 1 << code as u16)
    }
    /// Adds a code.
    pub const fn insert(&mut self, code: FailureCode) {
        *self = self.with(code);
    }
    /// Whether this code is in it.
    #[must_use]
    pub const fn contains(self, code: FailureCode) -> bool {
        self.0 & 1 << code as u16 != 0
    }
    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// The codes, in the order of [`FailureCode::ALL`].
    pub fn iter(self) -> impl Iterator<Item = FailureCode> {
        FailureCode::ALL.iter().copied().filter(move |code| self.contains(*code))
    }
}

impl fmt::Debug for FailureCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(FailureCode::text)).finish()
    }
}

impl fmt::Display for FailureCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<_> = self.iter().map(FailureCode::text).collect();
        f.pad(&texts.join(" "))
    }
}

/// How a cycle ended, worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Outcome {
    /// The device does not answer, or is not the one that was there before.
    Lost,
    /// The data link layer is not active.
    DataLinkDown,
    /// The action left no trace: whatever was tested, it was not this.
    NotPerformed,
    /// Up, and slower than before.
    Slow,
    /// Up, and narrower than before.
    Narrow,
    /// Up at full speed and width, with more correctable errors than allowed.
    ErrorsExceeded,
    /// As before.
    Ok,
}

impl Outcome {
    /// Every outcome, worst first.
    pub const ALL: [Self; 7] = [
        Self::Lost,
        Self::DataLinkDown,
        Self::NotPerformed,
        Self::Slow,
        Self::Narrow,
        Self::ErrorsExceeded,
        Self::Ok,
    ];

    /// As reports have it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::DataLinkDown => "DL down",
            Self::NotPerformed => "NOT PERFORMED",
            Self::Slow => "slow",
            Self::Narrow => "narrow",
            Self::ErrorsExceeded => "AER exceeded",
            Self::Ok => "ok",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in() {
        let mut set = FailureCodes::NONE;
        assert!(set.is_empty());
        for &code in FailureCode::ALL {
            assert!(!set.contains(code));
            set.insert(code);
            assert!(set.contains(code));
        }
        assert_eq!(set.iter().count(), FailureCode::ALL.len());
        let two = FailureCodes::NONE.with(FailureCode::SpeedFallback).with(FailureCode::EqP1Timeout);
        assert_eq!(two.to_string(), "EQ_P1_TIMEOUT SPEED_FALLBACK");
    }

    #[test]
    fn outcomes_are_ordered_from_the_worst() {
        assert!(Outcome::ALL.is_sorted());
        assert_eq!(Outcome::Ok.min(Outcome::Narrow), Outcome::Narrow);
    }

    #[test]
    fn meanings_are_sentences() {
        assert!(
            FailureCode::ALL.iter().all(|code| code.meaning().ends_with('.') && code.meaning().len() > 20)
        );
    }
}
