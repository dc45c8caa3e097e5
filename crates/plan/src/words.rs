//! Shorthands for declaring keys.

pub(crate) use lanetwin_document::declaration::{Field, Holds};
use lanetwin_ports::Dimension;

pub(crate) const fn field(
    name: &'static str,
    holds: Holds,
    default: &'static str,
    about: &'static str,
) -> Field {
    Field { name, holds, default: Some(default), required: false, about }
}
pub(crate) const fn required(name: &'static str, holds: Holds, about: &'static str) -> Field {
    Field { name, holds, default: None, required: true, about }
}
pub(crate) const fn optional(name: &'static str, holds: Holds, about: &'static str) -> Field {
    Field { name, holds, default: None, required: false, about }
}

pub(crate) const fn one_of(words: &'static [&'static str]) -> Holds {
    Holds::One(Dimension::Choice(words))
}
pub(crate) const fn count(least: u64, most: u64) -> Dimension {
    Dimension::Count { least, most }
}
