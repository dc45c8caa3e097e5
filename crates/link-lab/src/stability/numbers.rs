//! Numbers of a simulated link besides its eyes, each with its kind and source.

use lanetwin_units::NumberKind;
use serde::Serialize;

/// A number behind the results of cycles.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Basis {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Its kind.
    pub kind: NumberKind,
    /// Its source, or the reason for the choice.
    pub source: &'static str,
}

macro_rules! numbers {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:literal, $word:literal, $unit:literal, $kind:ident, $source:literal;)*) => {
        $($(#[doc = $doc])+ pub(super) const $name: Basis = Basis { name: $word, value: $value, unit: $unit, kind: NumberKind::$kind, source: $source };)*

        /// All numbers.
        pub const ALL: &[Basis] = &[$($name),*];
    };
}

numbers! {
    /// How far one adaptation of a receiver ends from the next.
    ADAPTATION = 1.0, "spread of the height that an adaptation ends at", "mV", Assumed,
        "a step of receivers' own converters is of this size; no vendor publishes the spread";
    /// Height at rates that are not equalised.
    UNEQUALISED = 400.0, "height of eyes at 2.5 and 5 GT/s", "mV", Assumed,
        "no eye is computed there; a channel that is judged at 8 GT/s or more is open at a quarter of its loss";
    /// Height that goes with a sigma at these rates.
    UNEQUALISED_SIGMA = 10.0, "height that goes with a standard deviation of noise there", "mV", Assumed,
        "so that these rates never fail: they are not what is tested";
    /// What a retimer adds.
    RETIMER = 10.0, "latency of a retimer", "ns", Datasheet,
        "below 10 ns: Astera Labs, Microchip (Gen5 retimers, product briefs)";
    /// From the end of a reset until the device answers.
    READY = 100.0, "time until the device answers after a reset", "ms", Assumed,
        "PCIe Base §6.6.1 allows software to ask after 100 ms; drives answer configuration requests by then";
    /// From D3hot to D0.
    WAKE = 10.0, "time from D3hot to D0", "ms", Standard, "PCIe Base §5.9: 10 ms at most";
    /// A TLP.
    TLP = 280.0, "bytes of a TLP on the wire", "B", Standard, "256 B of payload, 24 B of header, sequence number and LCRC";
    /// How long power stays off.
    POWER_OFF = 1000.0, "time that power stays off", "ms", Assumed, "long enough for rails to discharge";
}
