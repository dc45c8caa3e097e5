//! How a mapping is declared: its keys, and what each of them holds.
//!
//! Whoever owns a kind of document declares its words in such tables; reading, defaults and the JSON Schema come from
//! there.

use lanetwin_ports::Dimension;

/// A key of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
    /// Its value when nobody says one; none if it is required, or found from its surroundings, or simply absent.
    pub default: Option<&'static str>,
    /// Whether somebody must say it.
    pub required: bool,
    /// What it means, in half a sentence.
    pub about: &'static str,
}

/// What a key holds.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// A quantity.
    One(Dimension),
    /// A quantity, or a list of them.
    Many(Dimension),
    /// The width of a link.
    Width,
    /// The generation of a link.
    Generation,
    /// A time, the name of a part, or a list of these.
    Stages,
    /// A name, or a sentence.
    Text,
    /// A number from 0 on, without a unit.
    Number,
    /// A name, or a list of them.
    Names,
    /// A mapping with these keys.
    Section(&'static [Field]),
    /// A mapping with these keys, or the name of a file alone.
    SectionOfFile(&'static [Field]),
    /// A list of mappings with these keys.
    List(&'static [Field]),
    /// A mapping from names to mappings with these keys (and, for components, their parameters).
    Named(&'static [Field]),
    /// A mapping from names to mappings from paths to values.
    Variants,
    /// A mapping with these keys and, beside them, paths with the values that they take one after the other.
    Swept(&'static [Field]),
    /// The name of a node of memory, a mapping with one of these keys, or a list of such.
    Placements(&'static [Field]),
    /// The name of a node of memory, or a mapping with one of these keys.
    Placed(&'static [Field]),
    /// A mapping from names to such.
    PlacedParts(&'static [Field]),
    /// A mapping from names to whole numbers in a range.
    Weights(Dimension),
    /// A mapping from names of files to their texts.
    Texts,
    /// Anything: read by nobody.
    Ignored,
}
