//! Readers of the output of other programs about a machine. Each is one file: bytes or text in, a [`Snapshot`] out.
//!
//! | input | reader |
//! |---|---|
//! | `lspci -v`, `-vv`, `-vvv`, of old and new versions, with or without the bytes of `-x` | [`verbose`] |
//! | `lspci -mm`, `-vmm` | [`machine_readable`] |
//! | hwloc's XML | [`hwloc`] |
//! | JSON of `cxl list` and `nvme list` | [`json`] |
//! | `numactl -H` | [`numactl`] |
//! | a folder of sysfs in a tarball | [`archive`] |
//! | a record of `discover --record` | [`record`](super::record) |
//!
//! All are tolerant: they skip what they do not know. What they keep is limited by the number of functions that a
//! machine can have.

mod archive;
mod dump;
mod hwloc;
mod json;
mod machine_readable;
mod numactl;
mod sysfs;
mod verbose;

use super::record;
use super::snapshot::{NotRead, Snapshot};

/// Reads a file; its contents, not its name, decide which reader is used.
///
/// # Errors
/// If no reader knows the format, or the file contains nothing about a machine.
pub fn read(bytes: &[u8]) -> Result<Snapshot, NotRead> {
    if archive::is_one(bytes) {
        return archive::read(bytes);
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let start = text.trim_start();
    if start.starts_with(['{', '[']) {
        return if record::is_one(start) { record::read(start) } else { json::read(start) };
    }
    if start.starts_with('<') {
        return hwloc::read(text);
    }
    if numactl::is_one(start) {
        return numactl::read(text);
    }
    if machine_readable::is_one(start) {
        return machine_readable::read(text);
    }
    let told = verbose::read(text)?;
    match Snapshot::of_dump(text) {
        Ok(found) => Ok(found.merged(told)),
        Err(_) if !told.attributes.is_empty() => Ok(told),
        Err(why) if text.contains(": ") => Err(why),
        Err(_) => Err(NotRead("it looks like nothing that is read here".into())),
    }
}
