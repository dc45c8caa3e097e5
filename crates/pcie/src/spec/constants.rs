//! Every number taken from the standard or a paper, with where it comes from and how sure we are of it.
//!
//! The functions of [`spec`](crate::spec) use these constants and no others, so [`CONSTANTS`] is what a report has to
//! list. Bit positions are not here: they are the wire words' own.

use core::fmt;

/// How far a number can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Confidence {
    /// Stated by the named public source.
    Sourced,
    /// Follows from other numbers by the formula given.
    Computed,
    /// Read off published raw measurements.
    Measured,
    /// Engineering recollection that no public source has confirmed. A report lists it.
    Assumed,
}

/// Where a number comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// The document, the formula or the reason.
    pub text: &'static str,
    /// How far to trust it.
    pub confidence: Confidence,
}

/// A named number with its unit and source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constant {
    /// The name of the Rust constant.
    pub name: &'static str,
    /// The value, in `unit`.
    pub value: u64,
    /// The unit, as it is written.
    pub unit: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Where it comes from.
    pub source: Source,
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, unit, source, .. } = self;
        write!(f, "{name} = {value} {unit} ({:?}: {})", source.confidence, source.text)
    }
}

/// The constants that no public source has confirmed.
pub fn assumed() -> impl Iterator<Item = &'static Constant> {
    CONSTANTS.iter().filter(|constant| constant.source.confidence == Confidence::Assumed)
}

/// Declares `pub const NAME: u64` and its row of [`CONSTANTS`] together.
macro_rules! constants {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:expr, $unit:literal, $confidence:ident: $text:literal;)+) => {
        $(
            $(#[doc = $doc])+
            #[doc = concat!("\n", stringify!($value), " ", $unit, ". ", stringify!($confidence), ": ", $text, ".")]
            pub const $name: u64 = $value;
        )+
        /// Every constant of the specification that the models rest on.
        pub const CONSTANTS: &[Constant] = &[$(Constant {
            name: stringify!($name),
            value: $value,
            unit: $unit,
            doc: concat!($($doc, "\n"),+),
            source: Source { text: $text, confidence: Confidence::$confidence },
        }),+];
    };
}

constants! {
    // --- packets on the wire

    /// What frames a TLP at 8b/10b: STP 1, sequence number 2, LCRC 4, END 1.
    TLP_FRAMING_8B10B_BYTES = 8, "B", Sourced: "IDT 89PES16T4G2 performance report; pcie-model";
    /// What frames a TLP at 128b/130b: STP token with length and sequence number 4, LCRC 4.
    TLP_FRAMING_128B130B_BYTES = 8, "B", Sourced: "pcie-model and cocotbext-pcie: 8 at every generation (STP token 4 + LCRC 4)";
    /// A TLP header of three dwords.
    HEADER_3DW_BYTES = 12, "B", Sourced: "pcie-model";
    /// A TLP header of four dwords: a 64-bit address, or a message.
    HEADER_4DW_BYTES = 16, "B", Sourced: "pcie-model";
    /// The end-to-end CRC, where a TLP has one.
    ECRC_BYTES = 4, "B", Sourced: "pcie-model";
    /// One end-to-end TLP prefix.
    PREFIX_BYTES = 4, "B", Assumed: "one dword each";
    /// The most end-to-end prefixes a TLP can have.
    PREFIXES_MAX = 4, "prefixes", Assumed: "range of Max End-End TLP Prefixes";
    /// A DLLP: framing 2, content 4, CRC 2.
    DLLP_BYTES = 8, "B", Sourced: "IDT 89PES16T4G2 performance report; pcie-model";

    // --- acknowledgement and replay

    /// What the ACK latency formula adds to the payload for headers and framing.
    ACK_TLP_OVERHEAD_SYMBOLS = 28, "symbols", Sourced: "pcie-model's table follows the formula";
    /// InternalDelay at 2.5 GT/s.
    ACK_INTERNAL_DELAY_GEN1_SYMBOLS = 19, "symbol times", Sourced: "pcie-model's table";
    /// InternalDelay at 5 GT/s.
    ACK_INTERNAL_DELAY_GEN2_SYMBOLS = 70, "symbol times", Sourced: "pcie-model's table";
    /// InternalDelay at 8 GT/s and above.
    ACK_INTERNAL_DELAY_GEN3_SYMBOLS = 115, "symbol times", Sourced: "pcie-model's table";
    /// AckFactor up to 256 B, x1 to x4.
    ACK_FACTOR_SMALL_X4_TENTHS = 14, "1/10", Sourced: "pcie-model's table";
    /// AckFactor up to 256 B, x8.
    ACK_FACTOR_SMALL_X8_TENTHS = 25, "1/10", Sourced: "pcie-model's table";
    /// AckFactor up to 256 B, x12 to x32.
    ACK_FACTOR_SMALL_X32_TENTHS = 30, "1/10", Sourced: "pcie-model's table";
    /// AckFactor from 512 B, x1 to x8.
    ACK_FACTOR_LARGE_X8_TENTHS = 10, "1/10", Sourced: "pcie-model's table";
    /// AckFactor from 512 B, x12.
    ACK_FACTOR_LARGE_X12_TENTHS = 20, "1/10", Assumed: "as x16; the table at hand has no x12";
    /// AckFactor from 512 B, x16 and x32.
    ACK_FACTOR_LARGE_X32_TENTHS = 20, "1/10", Sourced: "pcie-model's table";
    /// The replay timer, in ACK latency limits.
    REPLAY_TIMER_ACK_LIMITS = 3, "ACK latency limits", Assumed: "the rule of Gen1 to Gen3";
    /// The shortest simplified replay timer.
    REPLAY_TIMER_SIMPLIFIED_MIN_SYMBOLS = 24_000, "symbol times", Assumed: "simplified replay timer";
    /// The longest simplified replay timer.
    REPLAY_TIMER_SIMPLIFIED_MAX_SYMBOLS = 31_000, "symbol times", Assumed: "simplified replay timer";
    /// How many replays of the same TLP in a row make REPLAY_NUM roll over, and the link retrain.
    REPLAY_NUM_ROLLOVER = 4, "replays", Assumed: "two-bit counter; that it leads to Recovery is in LTSSM study notes";

    // --- SKP ordered sets

    /// The shortest time from SKP to SKP at 8b/10b with a common clock.
    SKP_8B10B_MIN_SYMBOLS = 1_180, "symbol times", Sourced: "PLX PEX8532 data book";
    /// The longest time from SKP to SKP at 8b/10b with a common clock.
    SKP_8B10B_MAX_SYMBOLS = 1_538, "symbol times", Sourced: "pcie-model";
    /// The longest time from SKP to SKP at 8b/10b with independent spread-spectrum clocks.
    SKP_8B10B_SRIS_SYMBOLS = 154, "symbol times", Sourced: "vendors' texts on SRIS";
    /// The length of a SKP ordered set at 8b/10b: COM and three SKP.
    SKP_8B10B_LENGTH_SYMBOLS = 4, "symbols", Sourced: "PLX PEX8532 data book; pcie-model";
    /// The shortest time from SKP to SKP at 128b/130b with a common clock.
    SKP_128B130B_MIN_BLOCKS = 370, "blocks", Sourced: "MindShare, PCI Express Technology 3.0";
    /// The longest time from SKP to SKP at 128b/130b with a common clock.
    SKP_128B130B_MAX_BLOCKS = 375, "blocks", Sourced: "MindShare, PCI Express Technology 3.0";
    /// The longest time from SKP to SKP at 128b/130b with independent spread-spectrum clocks.
    SKP_128B130B_SRIS_BLOCKS = 37, "blocks", Assumed: "fewer than 38";
    /// The length of a SKP ordered set at 128b/130b; retimers make it 66 to 194 bits of 130.
    SKP_128B130B_LENGTH_BLOCKS = 1, "blocks", Sourced: "Intel: nominal 130 bits";
    /// The symbols of one block at 128b/130b.
    BLOCK_SYMBOLS = 16, "symbols", Computed: "128 bits / 8";
    /// The most by which two reference clocks differ.
    CLOCK_DIFFERENCE_PPM = 600, "ppm", Sourced: "TI SNAA386: 300 ppm either way for each";
    /// The most by which spread spectrum lowers a reference clock.
    SPREAD_PPM = 5_000, "ppm", Sourced: "TI SNAA386: 0.5 % down";

    // --- retimers

    /// The most retimers in a link.
    RETIMERS_MAX = 2, "retimers", Sourced: "PCI-SIG retimer webinar; vendors' texts";

    // --- flow control

    /// The payload that one data credit stands for.
    DATA_CREDIT_DWORDS = 4, "dwords", Sourced: "cocotbext-pcie: one credit per 4 DW";
    /// The least posted, non-posted or completion header credit a receiver may advertise.
    MINIMUM_HEADER_CREDITS = 1, "TLPs", Assumed: "one TLP of each class";
    /// The least non-posted data credit a receiver may advertise.
    MINIMUM_NON_POSTED_DATA_CREDITS = 1, "x 16 B", Assumed: "non-posted requests carry at most two dwords";
    /// The most header credits outstanding without scaled flow control.
    HEADER_CREDITS_MAX = 127, "TLPs", Assumed: "less than half of an 8-bit counter";
    /// The most data credits outstanding without scaled flow control.
    DATA_CREDITS_MAX = 2_047, "x 16 B", Assumed: "less than half of a 12-bit counter";
    /// The longest time between two UpdateFC of a class.
    UPDATE_FC_PERIOD_MAX_US = 30, "us", Sourced: "cocotbext-pcie, port model; without extended synch";
    /// The longest time between two InitFC of a class while a link initialises.
    INIT_FC_PERIOD_MAX_US = 34, "us", Assumed: "no public source at hand";

    // --- sizes

    /// The least that MPS and MRRS can be.
    SIZE_LIMIT_MIN_BYTES = 128, "B", Sourced: "Linux pci_regs.h: PCI_EXP_DEVCTL_PAYLOAD, PCI_EXP_DEVCTL_READRQ";
    /// The most that MPS and MRRS can be, and the page that no request crosses.
    SIZE_LIMIT_MAX_BYTES = 4_096, "B", Sourced: "Linux pci_regs.h: PCI_EXP_DEVCTL_PAYLOAD, PCI_EXP_DEVCTL_READRQ";
    /// The read completion boundary of most root complexes.
    RCB_SMALL_BYTES = 64, "B", Sourced: "cocotbext-pcie, root complex model";
    /// The read completion boundary of everything else.
    RCB_LARGE_BYTES = 128, "B", Sourced: "cocotbext-pcie, endpoint model";
    /// Tags of a function without extended tags.
    TAGS_5_BIT = 32, "tags", Sourced: "cocotbext-pcie, function model";
    /// Tags of a function with extended tags.
    TAGS_8_BIT = 256, "tags", Sourced: "cocotbext-pcie, function model";
    /// Tags of a function with ten-bit tags, from Gen4: those whose two upper bits are not both zero.
    TAGS_10_BIT = 768, "tags", Assumed: "2^10 - 2^8";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_is_named_once_and_says_where_it_comes_from() {
        let mut names: Vec<_> = CONSTANTS.iter().map(|constant| constant.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CONSTANTS.len());
        for constant in CONSTANTS {
            assert!(constant.source.text.len() > 2 && !constant.doc.trim().is_empty(), "{constant}");
        }
    }

    #[test]
    fn the_assumed_ones_can_be_listed() {
        assert!(assumed().any(|constant| constant.name == "REPLAY_NUM_ROLLOVER"));
        assert!(assumed().all(|constant| constant.name != "DLLP_BYTES"));
        let shown = assumed().find(|constant| constant.name == "PREFIX_BYTES").unwrap().to_string();
        assert_eq!(shown, "PREFIX_BYTES = 4 B (Assumed: one dword each)");
    }
}
