//! The data behind the elements and the budgets: files of numbers, each with its kind, source and confidence.
//!
//! The shipped library is `parts/phy/`. Whoever knows better writes a file of the same form; its entries take the place
//! of those of the same name. A number with `confidence: unconfirmed` is recollection: [`Entry::numbers`] lets a report
//! say which of them an answer rests on.

use super::corner::Corner;
use super::family::Family;
use super::kit::{Kit, Part, RawKit};
use super::law::Law;
use super::number::{Known, Number};
use super::piece::{Line, Piece, Pieces, shunt_loss_db};
use super::sizes::StatedLoss;
use super::stage::{RawStage, Stage};
use crate::budget::Budget;
use crate::problem::{Finding, Problem};
use crate::quantity::Dimension;
use crate::rate::DataRate;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

const SHIPPED: [&str; 4] = [
    include_str!("../../../../parts/phy/materials.yaml"),
    include_str!("../../../../parts/phy/elements.yaml"),
    include_str!("../../../../parts/phy/kits.yaml"),
    include_str!("../../../../parts/phy/budgets.yaml"),
];

/// An entry as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawEntry {
    about: String,
    loss: BTreeMap<String, Number>,
    delay: Number,
    impedance: Number,
    spread: Number,
    skin_share: Option<Number>,
    near_capacitance: Option<Number>,
    far_capacitance: Option<Number>,
    ends: Option<String>,
    stage: Option<RawStage>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawLibrary {
    materials: BTreeMap<String, RawEntry>,
    packages: BTreeMap<String, RawEntry>,
    vias: BTreeMap<String, RawEntry>,
    connectors: BTreeMap<String, RawEntry>,
    cables: BTreeMap<String, RawEntry>,
    retimers: BTreeMap<String, RawEntry>,
    redrivers: BTreeMap<String, RawEntry>,
    kits: BTreeMap<String, RawKit>,
    budgets: BTreeMap<DataRateName, BTreeMap<String, Number>>,
    reserve: Option<Number>,
}

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(transparent)]
struct DataRateName(String);

/// An element of the library.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// Description.
    pub about: String,
    family: Family,
    /// (frequency \[Hz\], loss \[dB, or dB/m\]), by frequency.
    losses: Vec<(f64, Known)>,
    delay: Known,
    impedance: Known,
    spread: Known,
    skin_share: Option<Known>,
    near: Option<Known>,
    far: Option<Known>,
    pub(crate) ends: Option<String>,
    pub(crate) stage: Option<Stage>,
}

impl Entry {
    fn new(family: Family, raw: RawEntry) -> Result<Self, String> {
        let (loss, delay) = family.dimensions();
        let read = |number: Number, dimension: Dimension| {
            dimension.read(&number.value).map(|value| Known { value, number })
        };
        let maybe = |number: Option<Number>, dimension| number.map(|n| read(n, dimension)).transpose();
        let mut losses = Vec::new();
        for (at, number) in raw.loss {
            losses.push((Dimension::Frequency.read(&at)?, read(number, loss)?));
        }
        losses.sort_by(|a, b| a.0.total_cmp(&b.0));
        let made = Self {
            about: raw.about,
            family,
            losses,
            delay: read(raw.delay, delay)?,
            impedance: read(raw.impedance, Dimension::Resistance)?,
            spread: read(raw.spread, Dimension::Ratio)?,
            skin_share: maybe(raw.skin_share, Dimension::Ratio)?,
            near: maybe(raw.near_capacitance, Dimension::Capacitance)?,
            far: maybe(raw.far_capacitance, Dimension::Capacitance)?,
            ends: raw.ends,
            stage: raw.stage.map(Stage::new).transpose()?,
        };
        made.check()
    }
    fn check(self) -> Result<Self, String> {
        if self.losses.is_empty() {
            return Err("`loss:` is empty".into());
        }
        if self.losses.len() == 1 && self.skin_share.is_none() {
            return Err("a loss at a single frequency needs a `skin-share:`".into());
        }
        if !crate::network::is_resistance(self.impedance.value) {
            return Err("an impedance is above 0 Ohm".into());
        }
        if self.stage.is_some() != (self.family == Family::Redrivers) {
            return Err("a `stage:` is what a redriver has, and nothing else".into());
        }
        let shares = [Some(&self.spread), self.skin_share.as_ref()];
        if shares.into_iter().flatten().any(|share| share.value > 1.0) {
            return Err("a share is not above 100%".into());
        }
        Ok(self)
    }
    /// The loss that is stated as a whole is that of the line and of its capacitances: the line has what they leave.
    fn law(&self) -> Law {
        let stated = |(f, loss): &(f64, Known)| {
            let across = [&self.near, &self.far].into_iter().flatten();
            let taken: f64 = across.map(|c| shunt_loss_db(c.value, self.impedance.value, *f)).sum();
            (*f, (loss.value - taken).max(0.0))
        };
        let losses: Vec<(f64, f64)> = self.losses.iter().map(stated).collect();
        Law::fitted(&losses, self.skin_share.as_ref().map_or(0.5, |share| share.value))
    }
    /// The length that has a stated loss \[m\], for families per length.
    pub(crate) fn metres_of(&self, loss: StatedLoss) -> f64 {
        let per_metre = self.law().loss_db(loss.hertz());
        if per_metre > 0.0 { loss.as_decibels() / per_metre } else { 0.0 }
    }
    pub(crate) fn pieces(&self, metres: f64, corner: Corner) -> Pieces {
        let line = Line {
            law: self.law().times(metres * corner.scale(self.spread.value)),
            delay_s: self.delay.value * metres,
            impedance_ohm: self.impedance.value,
        };
        let shunt = |c: &Option<Known>| c.as_ref().map(|c| Piece::Shunt(c.value));
        let pieces = shunt(&self.near).into_iter().chain([Piece::Line(line)]).chain(shunt(&self.far));
        Pieces { pieces: pieces.collect(), impedance_ohm: self.impedance.value }
    }
    /// Every number of it, by its place: `loss.16GHz`, `delay` …
    pub fn numbers(&self) -> impl Iterator<Item = (String, &Number)> {
        let losses = self.losses.iter().map(|(f, known)| (format!("loss.{}GHz", f / 1e9), &known.number));
        let others = [
            ("delay", Some(&self.delay)),
            ("impedance", Some(&self.impedance)),
            ("spread", Some(&self.spread)),
            ("skin-share", self.skin_share.as_ref()),
            ("near-capacitance", self.near.as_ref()),
            ("far-capacitance", self.far.as_ref()),
        ];
        let others = others.into_iter().filter_map(|(name, known)| Some((name.to_owned(), &known?.number)));
        losses.chain(others).chain(self.stage.iter().flat_map(Stage::numbers))
    }
}

/// All entries, and the budgets.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Library {
    entries: BTreeMap<(Family, String), Entry>,
    kits: BTreeMap<String, Kit>,
    budgets: BTreeMap<DataRate, Budget>,
    reserve: Option<Known>,
}

impl Library {
    /// The library that is shipped.
    ///
    /// # Panics
    /// Never: a test reads it.
    pub fn standard() -> &'static Self {
        static STANDARD: OnceLock<Library> = OnceLock::new();
        STANDARD.get_or_init(|| {
            let mut made = Self::default();
            for text in SHIPPED {
                made.extend(Self::read(text).expect("what is shipped can be read"));
            }
            made
        })
    }
    /// Reads a file of entries.
    ///
    /// # Errors
    /// `PH022`, which says what is wrong and where.
    pub fn read(text: &str) -> Result<Self, Finding> {
        let bad = |said: String| Problem::BadLibrary { said };
        let raw: RawLibrary = serde_saphyr::from_str(text).map_err(|error| {
            let place = error.location();
            let (line, column) = place.map_or((0, 0), |at| (at.line() as u32, at.column() as u32));
            let said = error.to_string();
            bad(said.lines().next().unwrap_or_default().to_owned()).at(line, column)
        })?;
        let mut made = Self::default();
        let families = [
            (Family::Materials, raw.materials),
            (Family::Packages, raw.packages),
            (Family::Vias, raw.vias),
            (Family::Connectors, raw.connectors),
            (Family::Cables, raw.cables),
            (Family::Retimers, raw.retimers),
            (Family::Redrivers, raw.redrivers),
        ];
        for (family, entries) in families {
            for (name, entry) in entries {
                let entry = Entry::new(family, entry)
                    .map_err(|said| bad(format!("{} `{name}`: {said}", family.word())).found())?;
                made.entries.insert((family, name), entry);
            }
        }
        for (name, kit) in raw.kits {
            let kit = Kit::new(kit).map_err(|said| bad(format!("kit `{name}`: {said}")).found())?;
            made.kits.insert(name, kit);
        }
        for (DataRateName(name), numbers) in raw.budgets {
            let rate = DataRate::ALL.into_iter().find(|rate| rate.name() == name);
            let rate = rate.ok_or_else(|| bad(format!("budget `{name}`: rates are gen1 to gen7")).found())?;
            let budget =
                Budget::new(numbers).map_err(|said| bad(format!("budget `{name}`: {said}")).found())?;
            made.budgets.insert(rate, budget);
        }
        if let Some(number) = raw.reserve {
            let value = Dimension::Ratio.read(&number.value).map_err(|said| bad(said).found())?;
            made.reserve = Some(Known { value, number });
        }
        Ok(made)
    }
    /// Adds the entries of another library; they replace those of the same name.
    pub fn extend(&mut self, other: Self) {
        self.entries.extend(other.entries);
        self.kits.extend(other.kits);
        self.budgets.extend(other.budgets);
        self.reserve = other.reserve.or_else(|| self.reserve.take());
    }
    /// An entry by its name.
    ///
    /// # Errors
    /// `PH020` if there is none.
    pub fn entry(&self, family: Family, name: &str) -> Result<&Entry, Finding> {
        self.entries.get(&(family, name.to_owned())).ok_or_else(|| self.unknown(family, name))
    }
    fn unknown(&self, family: Family, name: &str) -> Finding {
        let known: Vec<String> = self.names(family).map(|name| format!("`{name}`")).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        Problem::UnknownElement { what: family.word(), name: name.to_owned(), known }.found()
    }
    /// Whether a family has an element of this name, and of a kit, whether all that it is made of is there.
    ///
    /// # Errors
    /// `PH020` if not.
    pub fn check(&self, family: Family, name: &str) -> Result<(), Finding> {
        match family {
            Family::Kits => self.kit(name).map(|_| ()),
            _ => self.entry(family, name).map(|_| ()),
        }
    }
    /// A kit by its name, all of whose elements are known.
    ///
    /// # Errors
    /// `PH020` if there is none, or none of what it is made of.
    pub fn kit(&self, name: &str) -> Result<&Kit, Finding> {
        let kit = self.kits.get(name).ok_or_else(|| self.unknown(Family::Kits, name))?;
        kit.parts().map(Part::entry).try_for_each(|(family, name)| self.entry(family, name).map(|_| ()))?;
        Ok(kit)
    }
    /// The names of a family, in order.
    pub fn names(&self, family: Family) -> impl Iterator<Item = &str> {
        let of_family = self.entries.keys().filter(move |(of, _)| *of == family).map(|(_, name)| name);
        let kits = self.kits.keys().filter(move |_| family == Family::Kits);
        of_family.chain(kits).map(String::as_str)
    }
    /// The loss budget of a rate.
    ///
    /// # Errors
    /// `PH028` if none is known.
    pub fn budget(&self, rate: DataRate) -> Result<&Budget, Finding> {
        self.budgets.get(&rate).ok_or_else(|| Problem::NoBudget { rate: rate.name().to_owned() }.found())
    }
    /// The share of a budget that is kept as a margin.
    #[must_use]
    pub fn reserve(&self) -> f64 {
        self.reserve.as_ref().map_or(0.0, |known| known.value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::number::Confidence;
    use super::*;
    use crate::element::{Element, Length};
    use lanetwin_units::NumberKind;

    #[test]
    fn what_is_shipped_can_be_read_and_every_unconfirmed_number_is_assumed() {
        let library = Library::standard();
        for family in Family::ALL {
            assert!(library.names(family).count() > 0, "{family:?}");
        }
        for ((family, name), entry) in &library.entries {
            for (place, number) in entry.numbers() {
                let unconfirmed = number.confidence == Confidence::Unconfirmed;
                assert!(!unconfirmed || number.kind == NumberKind::Assumed, "{family:?} {name} {place}");
                assert!(!number.source.is_empty());
            }
            if let Some(ends) = &entry.ends {
                assert!(library.entry(Family::Connectors, ends).is_ok(), "{name}");
            }
        }
    }

    #[test]
    fn kits_are_made_of_what_is_there_and_lose_the_sum_of_it() {
        let library = Library::standard();
        let loss =
            |element: &Element, corner| element.pieces(library, corner).unwrap().loss_db(16e9).unwrap();
        for name in library.names(Family::Kits) {
            let kit = library.kit(name).unwrap();
            let parts = kit.parts().cloned().map(Element::from);
            let sum: f64 = parts.map(|element| loss(&element, Corner::High)).sum();
            assert!((loss(&Element::Kit(name.to_owned()), Corner::High) - sum).abs() < 1e-9, "{name}");
            assert!(kit.numbers().all(|(_, number)| number.kind == NumberKind::Assumed), "{name}");
        }
        let own = "kits: {x: {about: a, parts: [{connector: cem-gen9}]}}";
        let mut library = library.clone();
        library.extend(Library::read(own).unwrap());
        assert_eq!(library.check(Family::Kits, "x").unwrap_err().code, "PH020");
        for wrong in ["[]", "[{}]", "[{via: via, connector: cem}]", "[{board: fr4}]"] {
            let text = format!("kits: {{x: {{about: a, parts: {wrong}}}}}");
            assert_eq!(Library::read(&text).unwrap_err().code, "PH022", "{wrong}");
        }
    }

    /// What is stated is stated: no corner moves it.
    #[test]
    fn a_stated_loss_is_that_loss_at_every_corner() {
        let stated = Element::Stated(StatedLoss::new(30.0, 16e9).unwrap());
        for corner in [Corner::Low, Corner::Nominal, Corner::High] {
            let pieces = stated.pieces(Library::standard(), corner).unwrap();
            assert!((pieces.loss_db(16e9).unwrap() - 30.0).abs() < 1e-9);
            assert!(pieces.loss_db(8e9).unwrap() < 20.0);
        }
        assert_eq!(StatedLoss::new(f64::NAN, 16e9).unwrap_err().code, "PH021");
    }

    /// The law of a material goes through what is stated about it, to 5 % of it.
    #[test]
    fn laws_pass_close_to_the_losses_they_were_fitted_to() {
        let library = Library::standard();
        for ((family, name), entry) in &library.entries {
            for (f, known) in &entry.losses {
                let loss = entry.pieces(1.0, Corner::Nominal).loss_db(*f).unwrap();
                assert!(
                    (loss / known.value - 1.0).abs() < 0.07,
                    "{family:?} {name} {f} {loss} {}",
                    known.value
                );
            }
        }
    }

    #[test]
    fn a_file_of_ones_own_replaces_entries_of_the_same_name() {
        let text = "materials:\n  fr4:\n    about: mine\n    loss: {8GHz: &n {value: 1dB/in, kind: measured, source: my coupon, confidence: sourced}}\n    delay: {value: 170ps/in, kind: assumed, source: x, confidence: unconfirmed}\n    impedance: {value: 85Ohm, kind: assumed, source: x, confidence: unconfirmed}\n    spread: {value: 5%, kind: assumed, source: x, confidence: unconfirmed}\n    skin-share: {value: 50%, kind: assumed, source: x, confidence: unconfirmed}\n";
        let mut library = Library::standard().clone();
        library.extend(Library::read(text).unwrap());
        let trace = Element::Trace("fr4".into(), Length::inches(3.0).unwrap());
        let loss = trace.pieces(&library, Corner::High).unwrap().loss_db(8e9).unwrap();
        assert!((loss - 3.15).abs() < 1e-9, "{loss}");
        assert!(library.budget(DataRate::Gen5).is_ok());
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_with_its_place() {
        let said = |text: &str| {
            let finding = Library::read(text).unwrap_err();
            assert_eq!(finding.code, "PH022");
            (finding.line, finding.message)
        };
        assert_eq!(said("materials: {}\nmaterial: {}\n").0, 2);
        assert!(said("budgets: {gen9: {}}").1.contains("gen9"));
        let entry = |loss: &str| {
            format!(
                "vias:\n  x:\n    about: a\n    loss: {loss}\n    delay: {{value: 1ps, kind: assumed, source: x, confidence: unconfirmed}}\n    impedance: {{value: 85Ohm, kind: assumed, source: x, confidence: unconfirmed}}\n    spread: {{value: 5%, kind: assumed, source: x, confidence: unconfirmed}}\n"
            )
        };
        assert!(said(&entry("{}")).1.contains("via `x`: `loss:` is empty"));
        let one = "{16GHz: {value: 1dB, kind: assumed, source: x, confidence: unconfirmed}}";
        assert!(said(&entry(one)).1.contains("skin-share"));
        assert!(said(&entry(&one.replace("1dB", "1dB/in"))).1.contains("`1dB/in`"));
    }

    #[test]
    fn a_name_that_is_not_there_is_answered_with_those_that_are() {
        let finding = Library::standard().entry(Family::Materials, "fr5").unwrap_err();
        assert_eq!(finding.code, "PH020");
        assert!(finding.help.contains("`fr4`"), "{finding}");
    }
}
