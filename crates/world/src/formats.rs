//! The formats of other programs in which a run leaves results: one file, one format.
//!
//! A new format is one file here and one word in the list below. It is told every case that has run whole, and adds in
//! the end what it has to the document: files that belong beside it, and metrics of its own.
//!
//! Not here: formats of rows (CSV, Parquet), which need nothing but the document: `python/lanetwin/formats/`.

use crate::format::{Format, Writer};
use serde::Deserialize;

/// What is attached to results only if somebody asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(default)]
pub struct Exports {
    /// Every latency histogram, as a log of HdrHistogram.
    pub hdr: bool,
    /// Operations of the first repeat, stage by stage.
    pub timeline: bool,
    /// TLPs on the links in the first repeat, as a capture file: at most so many, in equal shares of the cases.
    pub tlps: Option<u64>,
}

/// Declares the modules of the formats and the list of them.
macro_rules! formats {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*

        /// Every format, in the order of its files in the document.
        const FORMATS: &[Format] = &[$($name::FORMAT),*];
    };
}

formats! {
    iometer,
    fio,
}

mod hdr;
mod timeline;
mod tlps;

/// Every format, with nothing in it yet, and those that are asked for.
pub(super) fn begin(exports: Exports) -> Vec<Box<dyn Writer>> {
    let asked = [
        (exports.hdr, hdr::FORMAT),
        (exports.timeline, timeline::FORMAT),
        (exports.tlps.is_some(), tlps::FORMAT),
    ];
    let asked = asked.iter().filter(|(is_asked, _)| *is_asked).map(|(_, format)| format);
    FORMATS.iter().chain(asked).map(|begin| begin()).collect()
}
