//! Output formats of other programs: one file, one format.
//!
//! A new format is one file here and one word in the list below. It receives every case of which all repeats have
//! run, and at the end adds its files and its own metrics to the document.
//!
//! Not here: formats of rows (CSV, Parquet), which need nothing but the document: `python/lanetwin/formats/`.

use crate::format::{Format, Writer};
use serde::Deserialize;

/// Exports that are attached to the results only on request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(default)]
pub struct Exports {
    /// Every latency histogram, as a log of HdrHistogram.
    pub hdr: bool,
    /// Operations of the first repeat, stage by stage.
    pub timeline: bool,
    /// TLPs on the links in the first repeat, as a capture file: at most this many, divided equally among the cases.
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

/// An empty writer for every format, and for every export that is requested.
pub(super) fn begin(exports: Exports) -> Vec<Box<dyn Writer>> {
    let asked = [
        (exports.hdr, hdr::FORMAT),
        (exports.timeline, timeline::FORMAT),
        (exports.tlps.is_some(), tlps::FORMAT),
    ];
    let asked = asked.iter().filter(|(is_asked, _)| *is_asked).map(|(_, format)| format);
    FORMATS.iter().chain(asked).map(|begin| begin()).collect()
}
