//! A chain of elements from the root port's die to the endpoint's, and changes to it.

use super::Share;
use crate::element::{Axis, Corner, Element, Family, Length, Library, Number, Piece};
use crate::network::Network;
use crate::problem::{Finding, Problem};
use crate::transfer::Transfer;
use serde::Serialize;

/// An element with its name.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// Name, with which changes address it.
    pub name: String,
    /// The element.
    pub element: Element,
    /// Share of the budget that it counts in, if any.
    pub share: Option<Share>,
}

impl Item {
    /// An element with its name, without a share.
    #[must_use]
    pub fn new(name: &str, element: Element) -> Self {
        Self { name: name.to_owned(), element, share: None }
    }
    /// The same in a share of the budget.
    #[must_use]
    pub fn in_share(self, share: Share) -> Self {
        Self { share: Some(share), ..self }
    }
}

/// A change to a chain, for a what-if question.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// A retimer behind an item.
    Retimer {
        /// The item before it.
        after: String,
        /// The retimer, of the library.
        part: String,
    },
    /// A redriver behind an item.
    Redriver {
        /// The item before it.
        after: String,
        /// The redriver, of the library.
        part: String,
    },
    /// A trace on another material.
    Material {
        /// The trace.
        item: String,
        /// The material, of the library.
        material: String,
    },
    /// A trace or cable that is longer, or shorter, than it was.
    Longer {
        /// The trace or cable.
        item: String,
        /// Difference of the length \[m\]; negative for shorter.
        metres: f64,
    },
    /// Another element in its place.
    Replace {
        /// The item.
        item: String,
        /// The new element.
        element: Element,
    },
    /// The item is left out.
    Remove {
        /// The item.
        item: String,
    },
}

/// A number of the library that a result depends on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Used {
    /// The family of the entry.
    pub family: Family,
    /// The name of the entry.
    pub entry: String,
    /// Its place in the entry: `loss.16GHz`.
    pub place: String,
    /// The number.
    pub number: Number,
}

/// Elements from the root port's die to the endpoint's.
#[derive(Clone, PartialEq, Debug)]
pub struct Chain {
    items: Vec<Item>,
}

impl Chain {
    /// From items, in their order.
    ///
    /// # Errors
    /// `PH010` for no items, `PH029` for two of one name, `PH025` for a retimer at an end or beside another, and for a
    /// second redriver in a segment.
    pub fn new(items: Vec<Item>) -> Result<Self, Finding> {
        if items.is_empty() {
            return Err(Problem::NoData.found());
        }
        if let Some(at) =
            (0..items.len()).find(|&at| items[..at].iter().any(|item| item.name == items[at].name))
        {
            return Err(Problem::TwiceNamed { name: items[at].name.clone() }.found());
        }
        let retimer = |at: Option<usize>| {
            at.and_then(|at| items.get(at)).is_none_or(|item| matches!(item.element, Element::Retimer(_)))
        };
        let lonely = (0..items.len())
            .find(|&at| retimer(Some(at)) && (retimer(at.checked_sub(1)) || retimer(Some(at + 1))));
        if let Some(at) = lonely {
            let why = "a retimer stands between two elements that are none";
            return Err(Problem::CannotChange { name: items[at].name.clone(), why }.found());
        }
        let made = Self { items };
        let redrivers = |segment: &[Item]| {
            let all = segment.iter().filter(|item| matches!(item.element, Element::Redriver(_)));
            all.map(|item| item.name.clone()).nth(1)
        };
        match made.segments().into_iter().find_map(redrivers) {
            Some(name) => {
                let why = "a segment has one redriver at most";
                Err(Problem::CannotChange { name, why }.found())
            }
            None => Ok(made),
        }
    }
    /// The items.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }
    /// The segments: the items between retimers, with the retimers that end them.
    #[must_use]
    pub fn segments(&self) -> Vec<&[Item]> {
        let cuts: Vec<usize> = (0..self.items.len())
            .filter(|&at| matches!(self.items[at].element, Element::Retimer(_)))
            .collect();
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([self.items.len() - 1]);
        starts.zip(ends).map(|(start, end)| &self.items[start..=end]).collect()
    }
    /// The chain after a change.
    ///
    /// # Errors
    /// `PH024` for an item that is not there, `PH025` for a change that its element does not take, `PH020`, `PH021` for
    /// what it would become, else as [`Chain::new`].
    pub fn with(&self, change: &Change, library: &Library) -> Result<Self, Finding> {
        let mut items = self.items.clone();
        let cannot = |name: &str, why| Err(Problem::CannotChange { name: name.to_owned(), why }.found());
        match change {
            Change::Retimer { after, part } => {
                library.entry(Family::Retimers, part)?;
                let at = self.find(after)?;
                let number = 1 + items.iter().filter(|item| item.name.starts_with("retimer-")).count();
                items.insert(at + 1, Item::new(&format!("retimer-{number}"), Element::Retimer(part.clone())));
            }
            Change::Redriver { after, part } => {
                library.entry(Family::Redrivers, part)?;
                let at = self.find(after)?;
                let number = 1 + items.iter().filter(|item| item.name.starts_with("redriver-")).count();
                items.insert(
                    at + 1,
                    Item::new(&format!("redriver-{number}"), Element::Redriver(part.clone())),
                );
            }
            Change::Material { item, material } => match &mut items[self.find(item)?].element {
                Element::Trace(of, _) => {
                    library.entry(Family::Materials, material)?;
                    material.clone_into(of);
                }
                _ => return cannot(item, "it is no trace"),
            },
            Change::Longer { item, metres } => match &mut items[self.find(item)?].element {
                Element::Trace(_, length) | Element::Cable(_, length) => {
                    *length = Length::metres(length.as_metres() + metres)?;
                }
                _ => return cannot(item, "it is neither trace nor cable"),
            },
            Change::Replace { item, element } => {
                element.entries(library)?;
                items[self.find(item)?].element = element.clone();
            }
            Change::Remove { item } => {
                items.remove(self.find(item)?);
            }
        }
        Self::new(items)
    }
    pub(super) fn find(&self, name: &str) -> Result<usize, Finding> {
        self.items.iter().position(|item| item.name == name).ok_or_else(|| {
            let known: Vec<String> = self.items.iter().map(|item| format!("`{}`", item.name)).collect();
            Problem::UnknownItem { name: name.to_owned(), known: known.join(", ") }.found()
        })
    }
    /// The loss of each item of a segment \[dB\], between terminations that match; none outside the data of a file.
    ///
    /// # Errors
    /// `PH020` for names that the library does not have, `PH017` for data that are no two-port.
    pub(crate) fn losses(
        segment: &[Item],
        library: &Library,
        corner: Corner,
        hertz: f64,
    ) -> Result<Vec<Option<f64>>, Finding> {
        segment.iter().map(|item| Ok(item.element.pieces(library, corner)?.loss_db(hertz))).collect()
    }
    /// A segment as one network between these resistances, with every bounce in it; and what was guessed about data.
    ///
    /// # Errors
    /// As for its elements: `PH020`, `PH017`, `PH010`, `PH013`.
    ///
    /// # Panics
    /// If there is no segment `index`.
    pub fn segment_network(
        &self,
        index: usize,
        library: &Library,
        corner: Corner,
        axis: &Axis,
        reference_ohm: f64,
    ) -> Result<(Network, Vec<Finding>), Finding> {
        let pieces = self.pieces(index, library, corner)?.concat();
        axis.cascade(&pieces, reference_ohm)
    }
    /// The pieces of each item of a segment.
    pub(super) fn pieces(
        &self,
        index: usize,
        library: &Library,
        corner: Corner,
    ) -> Result<Vec<Vec<Piece>>, Finding> {
        let segments = self.segments();
        let of_item = |(at, item): (usize, &Item)| {
            let made = item.element.pieces(library, corner)?;
            // the die of a package is on the outer side
            let die_last = matches!(item.element, Element::Package(_) | Element::Retimer(_)) && at > 0;
            Ok(if die_last { made.reversed() } else { made }.pieces)
        };
        segments[index].iter().enumerate().map(of_item).collect()
    }
    /// The through transfer function of a segment, between terminations of these resistances; through a redriver, to a
    /// small signal.
    ///
    /// # Errors
    /// As [`Chain::segment_network`].
    ///
    /// # Panics
    /// If there is no segment `index`.
    pub fn transfer(
        &self,
        index: usize,
        library: &Library,
        corner: Corner,
        axis: &Axis,
        reference_ohm: f64,
    ) -> Result<Transfer, Finding> {
        let (network, _) = self.segment_network(index, library, corner, axis, reference_ohm)?;
        Ok(Transfer { step_hz: axis.grid().step_hz(), h: network.term(1, 0) })
    }
    /// All numbers of the library that the chain depends on, each once, in the order of the chain.
    ///
    /// # Errors
    /// `PH020` for names that the library does not have.
    pub fn numbers(&self, library: &Library) -> Result<Vec<Used>, Finding> {
        let mut seen: Vec<(Family, String)> = Vec::new();
        let mut used: Vec<Used> = Vec::new();
        for item in &self.items {
            if let Element::Kit(name) = &item.element
                && !used.iter().any(|known| known.family == Family::Kits && known.entry == *name)
            {
                used.extend(kit_numbers(library, name)?);
            }
            for (family, name) in item.element.entries(library)? {
                if seen.contains(&(family, name.clone())) {
                    continue;
                }
                let numbers = library.entry(family, &name)?.numbers();
                used.extend(numbers.map(|(place, number)| Used {
                    family,
                    entry: name.clone(),
                    place,
                    number: number.clone(),
                }));
                seen.push((family, name));
            }
        }
        Ok(used)
    }
}

/// The lengths in a kit.
fn kit_numbers(library: &Library, name: &str) -> Result<Vec<Used>, Finding> {
    let numbers = library.kit(name)?.numbers();
    let used = numbers.map(|(place, number)| Used {
        family: Family::Kits,
        entry: name.to_owned(),
        place,
        number: number.clone(),
    });
    Ok(used.collect())
}
