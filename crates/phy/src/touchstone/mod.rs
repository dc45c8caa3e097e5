//! Touchstone files, versions 1 and 2: the exchange format of S-parameters.
//!
//! Valid files are read according to the format. Common deviations are also read if they are unambiguous:
//!
//! | in the file | is read as |
//! |---|---|
//! | options in any order, any case, `#GHz`, `R50` | the options |
//! | no option line | GHz, S, MA, 50 Ω, with a warning (`PH101`) |
//! | `R 50 50 50 50` in version 1 | a reference for each port |
//! | rows wrapped anywhere, several records on a line | a stream of numbers |
//! | a remark after data, CR, LF or CR LF, a byte order mark, `1.0D-3` | what it stands for |
//! | two ports | S11 S21 S12 S22, unless `[Two-Port Data Order]` says otherwise |
//! | lines of five numbers that begin again at a low frequency, two ports | noise data, left out (`PH111`) |
//! | Y, Z, H and G, normalised in version 1 | converted to S |
//! | `[Mixed-Mode Order]` | converted to single-ended ports |
//!
//! Not here: what the data are worth (see [`crate::quality`]), who is P and who is N (see [`crate::network::Pairing`]).
//!
//! ```
//! let text = "! a wire\n# MHz MA S R 50\n100 0 0 1 -36 1 -36 0 0\n";
//! let reading = lanetwin_phy::touchstone::read(text, Some(2)).unwrap();
//! assert_eq!(reading.network.frequencies(), [100e6]);
//! assert_eq!(lanetwin_phy::touchstone::read(text, None).unwrap_err()[0].code, "PH002");
//! ```

mod convert;
mod keywords;
mod options;
mod reader;
mod reading;
#[cfg(test)]
mod tests;
mod write;

use crate::problem::{Finding, Problem};
use lanetwin_textfile::Limit;
use std::path::Path;

pub use reading::Reading;
pub use write::write;

/// Reads a file; its name says how many ports it has.
///
/// # Errors
/// Everything that is wrong with it; `PH001` if it cannot be read at all.
pub fn read_file(path: &Path) -> Result<Reading, Vec<Finding>> {
    let bytes = lanetwin_textfile::read_bytes(path, Limit::Data)
        .map_err(|error| vec![unreadable(error.to_string())])?;
    // remarks may be in any encoding; data are ASCII
    read(&String::from_utf8_lossy(&bytes), ports_of_name(&path.to_string_lossy()))
}

/// `PH001` of a file that is not read, for this reason.
#[must_use]
pub fn unreadable(said: String) -> Finding {
    Problem::Unreadable { said }.found()
}

/// Reads a text; `ports` is what the name of its file says, see [`ports_of_name`].
///
/// # Errors
/// Everything that is wrong with it, each with its place and remedy: `PH002` to `PH014`, `PH027` and `PH030`.
pub fn read(text: &str, ports: Option<usize>) -> Result<Reading, Vec<Finding>> {
    reader::Reader::new(ports).read(text)
}

/// The number of ports in the name of a file: 4 for `line.s4p`; none for `line.ts`, which says it inside.
#[must_use]
pub fn ports_of_name(name: &str) -> Option<usize> {
    let (_, ending) = name.rsplit_once('.')?;
    let digits = ending.strip_prefix(['s', 'S'])?.strip_suffix(['p', 'P'])?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}
