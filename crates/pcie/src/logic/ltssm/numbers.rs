//! The times and counts of training, read from data, each with its kind and source.
//!
//! They come from `data/training.yaml`, which is built in; [`Numbers::read`] takes a corrected copy. Where the standard
//! is for members of the PCI-SIG only, they stand there as `assumed`.

use super::state::State;
use lanetwin_units::{Number, Span};
use serde::Deserialize;
use std::collections::BTreeMap;

pub(super) const BUILT_IN: &str = include_str!("../../../data/training.yaml");

/// Why a file of numbers cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NumbersError {
    /// Not YAML, or not of that form; the text says where.
    #[error("the numbers of training cannot be read: {0}")]
    Unreadable(String),
    /// A number is missing.
    #[error("`{0}` is missing")]
    Missing(String),
    /// A number that nothing asks for.
    #[error("`{0}` is not a number of training")]
    Unknown(String),
    /// A number that cannot be.
    #[error("`{0}` must be {1}")]
    Impossible(String, &'static str),
}

/// The numbers of one section, by name.
type Section = BTreeMap<String, Number>;

/// How a value of the file becomes one of ours.
trait Unit: Sized {
    fn of(value: f64, suffix: &str) -> Option<Self>;
    /// What it must be.
    const RULE: &'static str;
}

impl Unit for Span {
    const RULE: &'static str = "0 to 1e7 in its unit";
    fn of(value: f64, suffix: &str) -> Option<Self> {
        let ps = match suffix {
            "ns" => 1e3,
            "us" => 1e6,
            "ms" => 1e9,
            _ => return None,
        };
        (0.0..=1e7).contains(&value).then(|| Self::from_ps((value * ps).round() as u64))
    }
}

impl Unit for u32 {
    const RULE: &'static str = "a whole number up to 65535";
    fn of(value: f64, _: &str) -> Option<Self> {
        ((0.0..=65_535.0).contains(&value) && value.fract() == 0.0).then_some(value as Self)
    }
}

impl Unit for f64 {
    const RULE: &'static str = "above 0 and below 0.5";
    fn of(value: f64, _: &str) -> Option<Self> {
        (value > 0.0 && value < 0.5).then_some(value)
    }
}

fn take<T: Unit>(section: &mut Section, place: &str, name: &str) -> Result<T, NumbersError> {
    let number = section.remove(name).ok_or_else(|| NumbersError::Missing(format!("{place}.{name}")))?;
    let suffix = name.rsplit('-').next().unwrap_or_default();
    T::of(number.value, suffix).ok_or_else(|| NumbersError::Impossible(format!("{place}.{name}"), T::RULE))
}

/// Declares a section of the file: a struct, and how it is read.
macro_rules! section {
    ($(#[doc = $about:literal])+ $name:ident = $place:literal {
        $($(#[doc = $doc:literal])+ $field:ident: $kind:ty = $key:literal;)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $name { $($(#[doc = $doc])+ pub $field: $kind,)+ }

        impl $name {
            fn take(section: &mut Section) -> Result<Self, NumbersError> {
                let read = Self { $($field: take(section, $place, $key)?,)+ };
                match section.keys().next() {
                    Some(name) => Err(NumbersError::Unknown(format!("{}.{name}", $place))),
                    None => Ok(read),
                }
            }
        }
    };
}

section! {
    /// How long a state may last, or must.
    Limits = "limits" {
        /// Detect.Quiet.
        detect_quiet: Span = "detect-quiet-ms";
        /// The least of Detect.Quiet after a rate above 2.5 GT/s.
        detect_quiet_least: Span = "detect-quiet-least-ms";
        /// Detect.Active, until receivers are looked for once more.
        detect_active: Span = "detect-active-ms";
        /// Polling.Active.
        polling_active: Span = "polling-active-ms";
        /// Polling.Configuration.
        polling_configuration: Span = "polling-configuration-ms";
        /// Configuration.Linkwidth.Start.
        linkwidth_start: Span = "linkwidth-start-ms";
        /// Configuration.Linkwidth.Accept.
        linkwidth_accept: Span = "linkwidth-accept-ms";
        /// Configuration.Lanenum.Wait and Accept.
        lanenum: Span = "lanenum-ms";
        /// Configuration.Complete.
        configuration_complete: Span = "configuration-complete-ms";
        /// Configuration.Idle.
        configuration_idle: Span = "configuration-idle-ms";
        /// Recovery.RcvrLock.
        rcvr_lock: Span = "rcvr-lock-ms";
        /// Recovery.RcvrCfg.
        rcvr_cfg: Span = "rcvr-cfg-ms";
        /// Recovery.Idle.
        recovery_idle: Span = "recovery-idle-ms";
        /// Recovery.Speed.
        recovery_speed: Span = "recovery-speed-ms";
        /// The least time in electrical idle when a rate was agreed.
        speed_idle_agreed: Span = "speed-idle-agreed-ns";
        /// The least time in electrical idle when a rate failed.
        speed_idle_failed: Span = "speed-idle-failed-us";
        /// Equalisation phase 0, of the upstream port.
        phase_0: Span = "phase-0-ms";
        /// Equalisation phase 1, of the downstream port.
        phase_1_downstream: Span = "phase-1-downstream-ms";
        /// Equalisation phase 1, of the upstream port.
        phase_1_upstream: Span = "phase-1-upstream-ms";
        /// Equalisation phase 2, of the downstream port.
        phase_2_downstream: Span = "phase-2-downstream-ms";
        /// Equalisation phase 2, of the upstream port.
        phase_2_upstream: Span = "phase-2-upstream-ms";
        /// Equalisation phase 3, of the downstream port.
        phase_3_downstream: Span = "phase-3-downstream-ms";
        /// Equalisation phase 3, of the upstream port.
        phase_3_upstream: Span = "phase-3-upstream-ms";
        /// Hot Reset, after the last TS1 with its bit.
        hot_reset: Span = "hot-reset-ms";
        /// Disabled, of an upstream port that sees no electrical idle.
        disabled: Span = "disabled-ms";
        /// Loopback.Entry.
        loopback_entry: Span = "loopback-entry-ms";
        /// Loopback.Exit.
        loopback_exit: Span = "loopback-exit-ms";
        /// The least time in L1.
        l1_least: Span = "l1-least-ns";
        /// The least time in L1.2.
        l1_2_least: Span = "l1-2-least-us";
        /// Without SKP and UpdateFC in L0 for as long, electrical idle is inferred.
        inferred_idle: Span = "inferred-idle-us";
    }
}

section! {
    /// How many ordered sets are sent or heard.
    Counts = "counts" {
        /// TS1 sent in Polling.Active.
        polling_ts1_sent: u32 = "polling-ts1-sent";
        /// Consecutive training sets heard, or symbols of logical idle.
        heard: u32 = "heard";
        /// Training sets sent after the first that was heard, or symbols of logical idle.
        sent: u32 = "sent";
        /// TS2 sent before a change of rate at 8b/10b.
        speed_change_sent_8b10b: u32 = "speed-change-sent-8b10b";
        /// TS2 sent before a change of rate at 128b/130b.
        speed_change_sent_128b130b: u32 = "speed-change-sent-128b130b";
        /// How often Recovery.Idle may go back to Recovery.RcvrLock.
        idle_to_rlock: u32 = "idle-to-rlock";
        /// Consecutive TS1 heard that announce the next phase of equalisation.
        heard_in_equalization: u32 = "heard-in-equalization";
        /// Training sets from one EIEOS to the next: blocks are aligned there.
        alignment_interval: u32 = "alignment-interval";
        /// Fast training sequences that wake a receiver from L0s.
        fast_training_sequences: u32 = "fast-training-sequences";
    }
}

section! {
    /// What ports and retimers take where the standard leaves it to them.
    Ports = "ports" {
        /// Looking for receivers on all lanes.
        receiver_detection: Span = "receiver-detection-us";
        /// From the pins to a decision and back to the pins.
        latency: Span = "latency-ns";
        /// Clock recovery after electrical idle.
        receiver_lock: Span = "receiver-lock-us";
        /// Another rate, in electrical idle.
        rate_change: Span = "rate-change-us";
        /// Until electrical idle, or its end, is noticed.
        idle_detection: Span = "idle-detection-ns";
        /// Adaptation of a receiver to a transmitter that is not tuned yet.
        initial_adaptation: Span = "initial-adaptation-us";
        /// Trying one setting of the partner's transmitter.
        evaluation: Span = "evaluation-us";
        /// Settings tried around the best preset; each leaves half of what is missing.
        coefficient_steps: u32 = "coefficient-steps";
        /// The preset before tuning.
        initial_preset: u32 = "initial-preset";
        /// A retimer's turn from forwarding to execution and back.
        retimer_turn: Span = "retimer-turn-us";
        /// The most bit errors with which equalisation goes on.
        equalization_ber: f64 = "equalization-ber";
        /// The reference clock comes on, leaving L1.1.
        clock_on: Span = "clock-on-us";
        /// Power comes on, leaving L1.2.
        power_on: Span = "power-on-us";
        /// The common mode is restored, leaving L1.2.
        common_mode: Span = "common-mode-us";
        /// From L1 into a substate.
        substate_entry: Span = "substate-entry-us";
        /// Nothing to send for as long leads to L1.
        aspm_idle: Span = "aspm-idle-us";
        /// Nothing to send for as long leads to L0s.
        l0s_idle: Span = "l0s-idle-us";
        /// Both ports agree on L1.
        l1_handshake: Span = "l1-handshake-us";
        /// The data link layer becomes active.
        data_link: Span = "data-link-us";
    }
}

section! {
    /// What the machine around a link takes.
    Host = "host" {
        /// A configuration request and its completion.
        request: Span = "request-us";
        /// How long an answer to a request is waited for.
        completion_timeout: Span = "completion-timeout-ms";
        /// From power good to the end of reset.
        power_good: Span = "power-good-ms";
    }
}

/// All numbers of training.
#[derive(Clone, PartialEq, Debug)]
pub struct Numbers {
    /// How long a state may last, or must.
    pub limits: Limits,
    /// How many ordered sets are sent or heard.
    pub counts: Counts,
    /// What ports and retimers take.
    pub ports: Ports,
    /// What the machine around it takes.
    pub host: Host,
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    limits: Section,
    counts: Section,
    ports: Section,
    host: Section,
}

impl Numbers {
    /// The numbers that lanetwin comes with.
    ///
    /// # Panics
    /// Never: a test reads them.
    #[must_use]
    pub fn built_in() -> Self {
        Self::read(BUILT_IN).expect("the built-in numbers are well-formed")
    }
    /// Reads a corrected copy of `data/training.yaml`.
    ///
    /// # Errors
    /// If the text is not of that form, or a number is missing, unknown or out of its range.
    pub fn read(text: &str) -> Result<Self, NumbersError> {
        let mut written = written(text)?;
        let ports = Ports::take(&mut written.ports)?;
        if ports.initial_preset > 10 {
            return Err(NumbersError::Impossible("ports.initial-preset".into(), "0 to 10"));
        }
        Ok(Self {
            limits: Limits::take(&mut written.limits)?,
            counts: Counts::take(&mut written.counts)?,
            ports,
            host: Host::take(&mut written.host)?,
        })
    }
    /// How long a port may be in a state, downstream and upstream: after that it leaves, whatever it is told. None
    /// where only a partner or somebody above ends it.
    #[must_use]
    pub const fn limit(&self, state: State) -> Option<[Span; 2]> {
        let limits = &self.limits;
        match state {
            State::DetectQuiet => Some([limits.detect_quiet; 2]),
            State::DetectActive => Some([limits.detect_active; 2]),
            State::PollingActive => Some([limits.polling_active; 2]),
            State::PollingConfiguration => Some([limits.polling_configuration; 2]),
            State::ConfigurationLinkwidthStart => Some([limits.linkwidth_start; 2]),
            State::ConfigurationLinkwidthAccept => Some([limits.linkwidth_accept; 2]),
            State::ConfigurationLanenumWait | State::ConfigurationLanenumAccept => Some([limits.lanenum; 2]),
            State::ConfigurationComplete => Some([limits.configuration_complete; 2]),
            State::ConfigurationIdle => Some([limits.configuration_idle; 2]),
            State::RecoveryRcvrLock => Some([limits.rcvr_lock; 2]),
            // the downstream port has no phase 0
            State::RecoveryEqualizationPhase0 => Some([limits.phase_0; 2]),
            State::RecoveryEqualizationPhase1 => Some([limits.phase_1_downstream, limits.phase_1_upstream]),
            State::RecoveryEqualizationPhase2 => Some([limits.phase_2_downstream, limits.phase_2_upstream]),
            State::RecoveryEqualizationPhase3 => Some([limits.phase_3_downstream, limits.phase_3_upstream]),
            State::RecoverySpeed => Some([limits.recovery_speed; 2]),
            State::RecoveryRcvrCfg => Some([limits.rcvr_cfg; 2]),
            State::RecoveryIdle => Some([limits.recovery_idle; 2]),
            State::LoopbackEntry => Some([limits.loopback_entry; 2]),
            State::LoopbackExit => Some([limits.loopback_exit; 2]),
            State::PollingCompliance
            | State::L0
            | State::L0s
            | State::L1
            | State::L1_1
            | State::L1_2
            | State::L2
            | State::HotReset
            | State::Disabled
            | State::LoopbackActive => None,
        }
    }
    /// The built-in numbers with their origins: section, name, number.
    ///
    /// # Panics
    /// Never: a test reads them.
    #[must_use]
    pub fn origins() -> Vec<(&'static str, String, Number)> {
        let written = written(BUILT_IN).expect("the built-in numbers are well-formed");
        let sections = [
            ("limits", written.limits),
            ("counts", written.counts),
            ("ports", written.ports),
            ("host", written.host),
        ];
        let rows = |(place, section): (_, Section)| {
            section.into_iter().map(move |(name, number)| (place, name, number))
        };
        sections.into_iter().flat_map(rows).collect()
    }
}

fn written(text: &str) -> Result<Written, NumbersError> {
    serde_saphyr::from_str(text).map_err(|error| NumbersError::Unreadable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_numbers_are_read() {
        let numbers = Numbers::built_in();
        assert_eq!(numbers.limits.rcvr_lock, Span::from_us(24_000));
        assert_eq!(numbers.limits.speed_idle_agreed, Span::from_ns(800));
        assert_eq!(numbers.ports.equalization_ber, 1e-4);
        assert!(Numbers::origins().iter().all(|(_, _, number)| !number.source.is_empty()));
    }

    #[test]
    fn a_corrected_copy_is_taken_and_a_wrong_one_refused() {
        let with = |from: &str, to: &str| Numbers::read(&BUILT_IN.replacen(from, to, 1));
        let corrected = with("rcvr-lock-ms: {value: 24", "rcvr-lock-ms: {value: 21.5").unwrap();
        assert_eq!(corrected.limits.rcvr_lock, Span::from_us(21_500));
        let says = |from, to| with(from, to).unwrap_err().to_string();
        assert_eq!(
            says("rcvr-lock-ms: {value: 24", "rcvr-lock-ms: {value: -1"),
            "`limits.rcvr-lock-ms` must be 0 to 1e7 in its unit"
        );
        assert_eq!(says("rcvr-lock-ms", "rcvr-luck-ms"), "`limits.rcvr-lock-ms` is missing");
        assert_eq!(
            says("limits:\n", "limits:\n  more-ms: {value: 1, kind: assumed, source: x}\n"),
            "`limits.more-ms` is not a number of training"
        );
        assert_eq!(
            says("heard: {value: 8", "heard: {value: 8.5"),
            "`counts.heard` must be a whole number up to 65535"
        );
        assert_eq!(
            says("initial-preset: {value: 7", "initial-preset: {value: 11"),
            "`ports.initial-preset` must be 0 to 10"
        );
        assert!(says("host:", "hosts:").contains("cannot be read"));
    }
}
