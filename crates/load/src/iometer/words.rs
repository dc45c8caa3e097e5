//! The words of an `.icf` file: every choice and its spelling.

use serde::{Serialize, Serializer};

/// A choice that a file writes as a word.
pub trait Word: Copy + 'static {
    /// Every word with its value, in the order of the user's guide.
    const WORDS: &'static [(&'static str, Self)];

    /// The value of a word, ignoring case as Iometer does.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, value)| *value)
    }
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$about])* $variant,)* }

        impl Word for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),*];
        }
        impl $name {
            /// Its spelling in a file.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }
    )*};
}

words! {
    /// The levels for which results are recorded.
    Record {
        /// Targets, workers, managers, all.
        All = "ALL",
        /// Workers, managers, all.
        NoTargets = "NO_TARGETS",
        /// Managers, all.
        NoWorkers = "NO_WORKERS",
        /// The sum only.
        NoManagers = "NO_MANAGERS",
        /// Nothing.
        None = "NONE",
    }
    /// How a cycled value grows.
    Step {
        /// By adding the step.
        Linear = "LINEAR",
        /// By multiplying with the step.
        Exponential = "EXPONENTIAL",
    }
    /// What is varied from one test to the next.
    TestType {
        /// Nothing.
        Normal = "NORMAL",
        /// The number of targets.
        CycleTargets = "CYCLE_TARGETS",
        /// The number of workers.
        CycleWorkers = "CYCLE_WORKERS",
        /// Targets are added to all workers at the same time.
        IncrementTargetsParallel = "INCREMENT_TARGETS_PARALLEL",
        /// Targets are added to one worker after the other.
        IncrementTargetsSerial = "INCREMENT_TARGETS_SERIAL",
        /// Workers and targets.
        CycleWorkersAndTargets = "CYCLE_WORKERS_AND_TARGETS",
        /// The number of outstanding I/Os.
        CycleOutstandingIos = "CYCLE_OUTSTANDING_IOS",
        /// Outstanding I/Os and targets.
        CycleOutstandingIosAndTargets = "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
    }
    /// The new workers to which an access specification is assigned by default.
    Assignment {
        /// None.
        None = "NONE",
        /// All.
        All = "ALL",
        /// Disk workers.
        Disk = "DISK",
        /// Network workers.
        Network = "NET",
    }
    /// The time that the bar charts cover.
    UpdateType {
        /// Since the last update.
        LastUpdate = "LAST_UPDATE",
        /// Since the start of the test.
        WholeTest = "WHOLE_TEST",
    }
    /// On or off.
    Switch {
        /// On.
        Enabled = "ENABLED",
        /// Off.
        Disabled = "DISABLED",
    }
    /// The protocol of a network worker.
    Protocol {
        /// TCP.
        Tcp = "TCP",
        /// Virtual Interface.
        Vi = "VI",
    }
    /// The type of a worker or target.
    Kind {
        /// A disk.
        Disk = "DISK",
        /// A network interface.
        Network = "NETWORK",
    }
}

impl Switch {
    /// On if `condition` holds.
    #[must_use]
    pub const fn when(condition: bool) -> Self {
        if condition { Self::Enabled } else { Self::Disabled }
    }
    /// Whether it is on.
    #[must_use]
    pub const fn is_on(self) -> bool {
        matches!(self, Self::Enabled)
    }
}

impl TestType {
    /// Its number in results files: its position in the list of the program's window.
    #[must_use]
    pub fn number(self) -> u32 {
        Self::WORDS.iter().position(|(_, value)| *value == self).unwrap_or_default() as u32
    }
    /// The test type with this number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::WORDS.get(number as usize).map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_in_any_case() {
        for (word, value) in TestType::WORDS {
            assert_eq!(TestType::from_word(&word.to_lowercase()), Some(*value));
            assert_eq!(value.word(), *word);
            assert_eq!(TestType::from_number(value.number()), Some(*value));
        }
        assert_eq!(TestType::from_word("CYCLE"), None);
        assert_eq!(TestType::from_number(8), None);
    }
}
