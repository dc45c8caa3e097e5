//! Readers of what other programs write about a machine. Each is one file: bytes or text in, a [`Snapshot`] out.
//!
//! | what | reader |
//! |---|---|
//! | `lspci -v`, `-vv`, `-vvv`, old and new, bytes of `-x` between them or not | [`verbose`] |
//! | `lspci -mm`, `-vmm` | [`machine_readable`] |
//! | hwloc's XML | [`hwloc`] |
//! | `cxl list`, nvme-cli's `list`, JSON | [`json`] |
//! | `numactl -H` | [`numactl`] |
//! | a folder of sysfs in a tarball | [`archive`] |
//! | what `discover --record` wrote | [`record`](super::record) |
//!
//! All are tolerant: what they do not know is passed over. What they keep is limited by how many functions a machine
//! has.

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

/// Reads a file by what is in it; its name does not count.
///
/// # Errors
/// If it is nothing that is known, or nothing of a machine is in it.
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
