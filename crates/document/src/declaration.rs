//! Declarations of mappings: their keys, and the types of the values.
//!
//! Each kind of document declares its keys in such tables; reading, defaults and the JSON Schema come from them.

use lanetwin_ports::Dimension;

/// A key of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The type of its value.
    pub holds: Holds,
    /// Its default value; `None` if it is required, derived from other values, or optional without a default.
    pub default: Option<&'static str>,
    /// Whether it is required.
    pub required: bool,
    /// Its meaning, in half a sentence.
    pub about: &'static str,
}

/// The type of a key's value.
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
    /// A mapping with these keys and, besides, paths with the values that they take in turn.
    Swept(&'static [Field]),
    /// The name of a memory node, a mapping with one of these keys, or a list of these.
    Placements(&'static [Field]),
    /// The name of a memory node, or a mapping with one of these keys.
    Placed(&'static [Field]),
    /// A mapping from names to such placements.
    PlacedParts(&'static [Field]),
    /// A mapping from names to whole numbers in a range.
    Weights(Dimension),
    /// A mapping from names of files to their texts.
    Texts,
    /// Anything; it is not read.
    Ignored,
}
