//! Errors and warnings about a channel: one variant per code, with its message and remedy.
//!
//! `PH0…` are errors, `PH1…` warnings. A code never changes its meaning and is never used again; `docs/errors/` has a
//! page for each. Findings are plain data: whoever shows them adds the file.

use lanetwin_problems::{Complaint, Severity, problems};
use serde::Serialize;

/// A mistake, or a doubt, with its place and remedy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, thiserror::Error)]
#[error("{code} {line}:{column} {message}; {help}")]
pub struct Finding {
    /// Line of the file, from 1; 0 if it is about the whole.
    pub line: u32,
    /// Column, from 1, in bytes; 0 if it is about the whole line.
    pub column: u32,
    /// `PH003`.
    pub code: &'static str,
    /// Whether it stops the computation.
    pub severity: Severity,
    /// Message.
    pub message: String,
    /// Remedy.
    pub help: String,
}

problems! {
    /// The file cannot be read.
    Unreadable { said: String } = "PH001", "the file cannot be read: {said}", "check the path, and that the file may be read";
    /// Nobody says how many ports there are.
    NoPortCount = "PH002", "nothing says how many ports the network has", "name the file after them (`.s4p` for 4 ports), or give `[Number of Ports]` in a file of version 2";
    /// A word where a number belongs.
    NotANumber { word: String } = "PH003", "`{word}` is not a number", "a line of data holds numbers alone; a remark opens with `!`";
    /// A word that an option line cannot have.
    UnknownOption { word: String } = "PH004", "`{word}` has no place in the option line", "an option line is `# GHz S MA R 50`, in any order: Hz, kHz, MHz or GHz; S, Y, Z, H or G; DB, MA or RI; R and the reference resistance";
    /// The same option twice.
    OptionTwice { what: &'static str } = "PH005", "the option line gives {what} twice", "keep one of the two";
    /// A keyword that nobody knows, or in the wrong place.
    UnknownKeyword { word: String } = "PH006", "`[{word}]` is no keyword of Touchstone 2", "check the spelling; vendors' own keywords stand between `[Begin Information]` and `[End Information]`";
    /// A keyword without what belongs to it.
    KeywordValue { keyword: &'static str, wanted: &'static str } = "PH007", "`[{keyword}]` is not followed by {wanted}", "write {wanted} after `[{keyword}]`";
    /// A record that stops too early.
    Incomplete { found: usize, wanted: usize, ports: usize } = "PH008", "the last frequency has {found} numbers, where {ports} ports need {wanted}", "the file was cut short, or its name says another number of ports than it has";
    /// Frequencies that do not ascend.
    NotAscending { now: String, before: String } = "PH009", "frequency {now} does not follow {before}", "frequencies ascend; if this is no frequency, the file has another number of ports than its name says";
    /// No data.
    NoData = "PH010", "there are no S-parameters in the file", "a frequency and its numbers make a record; check that the file is Touchstone, not a project file";
    /// Two counts that do not agree.
    CountDiffers { said: usize, found: usize } = "PH011", "`[Number of Frequencies]` says {said}, the file has {found}", "correct the number, or look whether the file was cut short";
    /// An impedance that cannot be.
    Reference { text: String } = "PH012", "{text} is no reference resistance", "give a resistance above 0 Ω and below 1 MΩ: one for all ports, or one for each";
    /// Parameters that do not describe a network of waves.
    NoScattering { why: &'static str } = "PH013", "these parameters cannot be converted to S-parameters: {why}", "H and G describe two ports; export S-parameters instead";
    /// A number that cannot be.
    NotFinite { word: String } = "PH014", "`{word}` is too large, negative or not finite", "frequencies are not negative, magnitudes are finite; export the file again";
    /// No line through the network.
    NoThrough { best: String } = "PH015", "no port is connected to another at low frequency: {best}", "a file of crosstalk has no through lines: give the pairing of the ports yourself";
    /// A pairing that cannot be.
    BadPairing { why: String } = "PH016", "the ports cannot be paired so: {why}", "name each port once, from 1: near P, near N, far P, far N for each lane";
    /// Networks that do not fit together.
    PortsDiffer { left: usize, right: usize } = "PH017", "a network of {left} ports cannot be followed by one of {right}", "cascade networks of the same, even number of ports: near ports first, then far ports";
    /// Data that stop below the Nyquist frequency.
    TooShort { last: String, nyquist: String } = "PH018", "the data stop at {last}, below the Nyquist frequency of {nyquist}", "measure or simulate to at least twice the Nyquist frequency, or ask about a lower rate";
    /// A network that gives out more than it takes in.
    Active { at: String, gain: String } = "PH019", "the network gives out more than it takes in: gain {gain} at {at}", "a channel is passive: the data are wrong (calibration, de-embedding, wrong reference resistance)";
    /// A name that the library does not have.
    UnknownElement { what: &'static str, name: String, known: String } = "PH020", "there is no {what} `{name}`", "known are {known}; your own go into a library file";
    /// A size that cannot be.
    BadSize { what: &'static str, text: String } = "PH021", "{text} is no {what}", "give a {what} that is finite and not negative";
    /// A library file that is not one.
    BadLibrary { said: String } = "PH022", "this is no library of elements: {said}", "compare the entry with `parts/phy/`: every number has value, kind, source and confidence";
    /// A grid that cannot be.
    BadGrid { why: &'static str } = "PH023", "this is no frequency grid: {why}", "choose a step above 0 Hz and between 2 and 2 097 152 points";
    /// An element that the chain does not have.
    UnknownItem { name: String, known: String } = "PH024", "the chain has no element `{name}`", "its elements are {known}";
    /// A change that does not apply.
    CannotChange { name: String, why: &'static str } = "PH025", "`{name}` cannot be changed so: {why}", "name an element that has this property";
    /// Networks on different grids.
    GridsDiffer = "PH026", "the networks have different frequencies", "bring them to one grid first";
    /// More ports or points than can be held.
    TooLarge { what: &'static str, most: usize } = "PH027", "there are more than {most} {what}", "split the network";
    /// A rate without a budget.
    NoBudget { rate: String } = "PH028", "no loss budget is known for {rate}", "add one to a library file, with its source";
    /// Two elements of one name.
    TwiceNamed { name: String } = "PH029", "two elements of the chain are called `{name}`", "rename one: changes are addressed by name";
    /// A keyword that has to be there.
    MissingKeyword { keyword: &'static str } = "PH030", "`[{keyword}]` is missing", "add it before `[Network Data]`: without it the numbers have no one meaning";
    /// A lane through which nothing comes.
    NothingPasses { lane: usize, at: String } = "PH031", "nothing passes through lane {lane} at {at}: its transfer is 0", "a channel loses much, but never all: export the file again, or give the pairing of the ports that are connected";

    /// No option line.
    NoOptionLine = "PH101", "there is no option line; `# GHz S MA R 50` was assumed, as the format says", "add the line, so that it says what is meant";
    /// Another option line.
    SecondOptionLine = "PH102", "this option line has no effect: only the first counts", "remove it";
    /// Data that stop early.
    FewHarmonics { last: String, wanted: String } = "PH103", "the data stop at {last}, below {wanted}, twice the Nyquist frequency; above, the slope was continued", "measure or simulate further up: the edges of the signal are made of these frequencies";
    /// Data that begin late.
    NoDc { first: String } = "PH104", "the data begin at {first}; below, they were continued to 0 Hz", "the closer to 0 Hz the data begin, the better long runs of equal bits are known";
    /// P and N are exchanged.
    PolaritySwapped = "PH105", "P and N are exchanged between the two ends of the lane; this was undone", "PCIe receivers undo it in Polling; if the board does not exchange them, the ports are numbered in another way";
    /// Not quite passive.
    SlightlyActive { metric: String, at: String, gain: String } = "PH106", "passivity is {metric} %: gain {gain} at {at}", "check the calibration; a passive network has 100 %";
    /// Not reciprocal.
    NotReciprocal { metric: String, at: String, difference: String } = "PH107", "reciprocity is {metric} %: forward and backward differ by {difference} at {at}", "a channel is reciprocal: noise of the measurement, or a wrong de-embedding";
    /// Not causal.
    NotCausal { metric: String, from: usize, to: usize } = "PH108", "causality is {metric} %, least from port {from} to port {to}", "the data answer before they are asked: noise, interpolation, or a model without dispersion";
    /// A step too coarse for the delay.
    CoarseStep { step: String, turn: String } = "PH109", "from one frequency to the next, {step} apart, the phase of the line turns by {turn}°", "use a finer step: above 90° interpolation guesses";
    /// Reference resistances that differ.
    Renormalised { from: String, to: String } = "PH110", "the reference resistance of {from} was converted to {to}", "this is exact; look whether the file says the resistance it was measured with";
    /// Something that was left out.
    Ignored { what: &'static str } = "PH111", "{what} was left out", "nothing here needs it; if the data depend on it, export them without it";
    /// More lanes than can be told apart.
    LanesAssumed { lanes: usize } = "PH112", "lines were paired to {lanes} lanes in the order of their port numbers", "give the pairing if lanes are numbered in another way";
    /// Impedances where no program looks for them.
    ImpedanceRemark = "PH113", "remarks give impedances of the ports; the reference of the option line was taken", "if the data are not referred to that, export them again, renormalised to 50 Ω";
}

impl Problem {
    /// As a finding about the whole.
    pub(crate) fn found(self) -> Finding {
        self.at(0, 0)
    }
    /// As a finding at a place of a file.
    pub(crate) fn at(self, line: u32, column: u32) -> Finding {
        let (code, severity) = (self.code(), self.severity());
        Finding { line, column, code, severity, message: self.message(), help: self.help() }
    }
}

/// A frequency, for a message.
pub(crate) fn hertz(f: f64) -> String {
    let scaled = [(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz")].into_iter().find(|(unit, _)| f >= *unit);
    let (unit, name) = scaled.unwrap_or((1.0, "Hz"));
    format!("{} {name}", (f / unit * 1e6).round() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_are_never_used_twice() {
        assert!(CODES.windows(2).all(|pair| pair[0] < pair[1]), "{CODES:?}");
    }

    #[test]
    fn frequencies_are_written_in_their_unit() {
        assert_eq!(hertz(16e9), "16 GHz");
        assert_eq!(hertz(12.5e6), "12.5 MHz");
        assert_eq!(hertz(0.0), "0 Hz");
    }
}
