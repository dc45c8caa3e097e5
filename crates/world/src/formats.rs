//! The formats of other programs in which a run leaves results: one file, one format.
//!
//! A new format is one file here and one word in the list below. It is told every case that has run whole, and adds in
//! the end what it has to the document: files that belong beside it, and metrics of its own.
//!
//! Not here: formats of rows (CSV, Parquet), which need nothing but the document: `python/lanetwin/formats/`.

use crate::format::{Format, Writer};

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

/// Every format, with nothing in it yet.
pub(super) fn begin() -> Vec<Box<dyn Writer>> {
    FORMATS.iter().map(|begin| begin()).collect()
}
