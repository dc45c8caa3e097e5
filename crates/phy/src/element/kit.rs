//! Kits: several elements that are bought and replaced as one, such as a riser with its slot.

use super::family::Family;
use super::number::{Known, Number};
use super::sizes::Length;
use crate::quantity::Dimension;
use serde::Deserialize;

/// A part of a kit as it is written: one of the kinds, with a length where it needs one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawPart {
    board: Option<String>,
    via: Option<String>,
    connector: Option<String>,
    cable: Option<String>,
    length: Option<Number>,
}

/// A kit as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawKit {
    about: String,
    parts: Vec<RawPart>,
}

/// An element of a kit.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Part {
    Board(String, Length),
    Cable(String, Length),
    Via(String),
    Connector(String),
}

impl Part {
    /// Its entry in the library.
    pub(super) fn entry(&self) -> (Family, &str) {
        match self {
            Self::Board(name, _) => (Family::Materials, name),
            Self::Cable(name, _) => (Family::Cables, name),
            Self::Via(name) => (Family::Vias, name),
            Self::Connector(name) => (Family::Connectors, name),
        }
    }
}

/// A kit of the library.
#[derive(Clone, PartialEq, Debug)]
pub struct Kit {
    /// Description.
    pub about: String,
    /// Its elements, the root port's side first, with the lengths as they are written.
    parts: Vec<(Part, Option<Number>)>,
}

impl Kit {
    pub(super) fn new(raw: RawKit) -> Result<Self, String> {
        if raw.parts.is_empty() {
            return Err("`parts:` is empty".into());
        }
        let parts = raw.parts.into_iter().map(part).collect::<Result<_, _>>()?;
        Ok(Self { about: raw.about, parts })
    }
    /// Its elements, the root port's side first.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().map(|(part, _)| part)
    }
    /// The lengths of its boards and cables: `parts.2.length`.
    pub fn numbers(&self) -> impl Iterator<Item = (String, &Number)> {
        let lengths = self.parts.iter().enumerate();
        lengths.filter_map(|(at, (_, length))| Some((format!("parts.{}.length", at + 1), length.as_ref()?)))
    }
}

fn part(raw: RawPart) -> Result<(Part, Option<Number>), String> {
    let read = |number: Number| Dimension::Length.read(&number.value).map(|value| Known { value, number });
    let length = raw.length.map(read).transpose()?;
    let metres = |of: &str| {
        let known = length.as_ref().ok_or_else(|| format!("`{of}` has no `length:`"))?;
        Length::metres(known.value).map_err(|finding| finding.message)
    };
    let part = match (raw.board, raw.via, raw.connector, raw.cable) {
        (Some(name), None, None, None) => {
            let length = metres(&name)?;
            Part::Board(name, length)
        }
        (None, None, None, Some(name)) => {
            let length = metres(&name)?;
            Part::Cable(name, length)
        }
        (None, Some(name), None, None) if length.is_none() => Part::Via(name),
        (None, None, Some(name), None) if length.is_none() => Part::Connector(name),
        _ => {
            return Err(
                "a part is one of board, via, connector and cable; boards and cables have a `length:`".into(),
            );
        }
    };
    Ok((part, length.map(|known| known.number)))
}
