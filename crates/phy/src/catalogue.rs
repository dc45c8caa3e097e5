//! List of the elements of a library.

use crate::element::{Confidence, Corner, Element, Family, Length, Library, Number};
use crate::problem::Finding;
use crate::quantity::INCH;
use serde::Serialize;

/// An element of a library.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Listed {
    /// The key of an element that is one: `board`.
    pub element: &'static str,
    /// Its name.
    pub name: String,
    /// Description.
    pub about: String,
    /// Loss between matched terminations \[dB\]: of a board per inch, of a cable of one metre with its ends, of a
    /// retimer on one side; negative for a redriver.
    pub loss_db: f64,
    /// The part that the loss refers to, if not the whole: `inch`, `metre with its ends`, `side`.
    pub of: Option<&'static str>,
    /// The lowest confidence of the numbers that it depends on.
    pub confidence: Confidence,
    /// Those numbers.
    pub numbers: Vec<(String, Number)>,
}

impl Library {
    /// Every element, family by family, with its loss at a frequency \[Hz\].
    ///
    /// # Errors
    /// `PH020` for an element that is made of what the library does not have.
    pub fn listed(&self, hertz: f64) -> Result<Vec<Listed>, Finding> {
        let names =
            Family::ALL.into_iter().flat_map(|family| self.names(family).map(move |name| (family, name)));
        names.map(|(family, name)| self.listing(family, name, hertz)).collect()
    }
    fn listing(&self, family: Family, name: &str, hertz: f64) -> Result<Listed, Finding> {
        let (element, of) = of_family(family, name)?;
        let mut numbers = Vec::new();
        for (family, entry) in element.entries(self)? {
            let of_entry = self.entry(family, &entry)?.numbers();
            numbers.extend(of_entry.map(|(place, number)| (format!("{entry}: {place}"), number.clone())));
        }
        let about = match family {
            Family::Kits => {
                let kit = self.kit(name)?;
                numbers.extend(kit.numbers().map(|(place, number)| (place, number.clone())));
                kit.about.clone()
            }
            _ => self.entry(family, name)?.about.clone(),
        };
        let confidence = numbers.iter().map(|(_, number)| number.confidence).min();
        Ok(Listed {
            element: if family == Family::Materials { "board" } else { family.word() },
            name: name.to_owned(),
            about,
            loss_db: element.pieces(self, Corner::Nominal)?.loss_db(hertz).unwrap_or(0.0),
            of,
            confidence: confidence.unwrap_or(Confidence::Unconfirmed),
            numbers,
        })
    }
}

/// An element of a family, so long as its loss is told of.
fn of_family(family: Family, name: &str) -> Result<(Element, Option<&'static str>), Finding> {
    let name = name.to_owned();
    Ok(match family {
        Family::Materials => (Element::Trace(name, Length::metres(INCH)?), Some("inch")),
        Family::Cables => (Element::Cable(name, Length::metres(1.0)?), Some("metre with its ends")),
        Family::Packages => (Element::Package(name), None),
        Family::Vias => (Element::Via(name), None),
        Family::Connectors => (Element::Connector(name), None),
        Family::Retimers => (Element::Retimer(name), Some("side")),
        Family::Redrivers => (Element::Redriver(name), None),
        Family::Kits => (Element::Kit(name), None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_listed_with_a_loss_and_what_it_rests_on() {
        let listed = Library::standard().listed(16e9).unwrap();
        for one in &listed {
            assert!(!one.numbers.is_empty() && one.loss_db.is_finite(), "{one:?}");
        }
        let board = listed.iter().find(|one| one.element == "board" && one.name == "low-loss").unwrap();
        assert!((board.loss_db - 0.75).abs() < 0.05, "{board:?}");
        let slot = listed.iter().find(|one| one.element == "kit" && one.name == "slot").unwrap();
        assert!((slot.loss_db - 2.2).abs() < 1e-9 && slot.confidence == Confidence::Unconfirmed, "{slot:?}");
    }
}
