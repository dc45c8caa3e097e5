//! A folder of sysfs in a tarball, uncompressed or compressed by gzip or bzip2.
//!
//! Nothing is unpacked to disk: members are read one after the other, and only those whose names end like a file of a
//! function or of a NUMA node are kept, up to the size of such a file. So paths in a tarball cannot do harm, and a
//! member that expands to a large size costs only time, which is limited.

use super::sysfs::{ATTRIBUTES, LONGEST, node_of};
use crate::host::Address;
use crate::inventory::facts::Tells;
use crate::inventory::snapshot::{HEADER, MANY, NotRead, Snapshot, WHOLE};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use tar::{Archive, Entry, EntryType, Header};

/// Maximum size of an expanded tarball \[B\]: /sys of a large server has a tenth of that. Assumed.
const MOST_EXPANDED: u64 = 256 << 20;
/// Maximum number of members of a tarball: /sys of a large server has a fifth of that. Assumed.
const MOST_MEMBERS: usize = 1_000_000;
/// Offset of the magic in a tar header \[B\].
const MAGIC: usize = 257;
/// Offsets of the checksum in a tar header \[B\].
const SUM: std::ops::Range<usize> = 148..156;
/// Size of a tar header \[B\].
const HEADER_OF_MEMBER: usize = 512;

/// Whether a file begins like a tarball: with the magic of gzip or bzip2, or a tar header.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    let is_packed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(b"BZh");
    is_packed || bytes.get(..HEADER_OF_MEMBER).is_some_and(is_header)
}

/// Whether these bytes are a tar header. The magic alone does not prove it, as any text may have it at this offset; the
/// checksum, whose own bytes are summed as spaces, does.
fn is_header(bytes: &[u8]) -> bool {
    let sum: u32 = bytes
        .iter()
        .enumerate()
        .map(|(at, byte)| if SUM.contains(&at) { 32 } else { u32::from(*byte) })
        .sum();
    let told = Header::from_byte_slice(bytes).cksum();
    bytes[MAGIC..].starts_with(b"ustar") && told.is_ok_and(|told| told == sum)
}

/// Reads a tarball.
///
/// # Errors
/// If it expands to too much or has too many members, or if nothing of a function or NUMA node could be read from it.
pub(super) fn read(bytes: &[u8]) -> Result<Snapshot, NotRead> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        members(flate2::read::MultiGzDecoder::new(bytes))
    } else if bytes.starts_with(b"BZh") {
        members(bzip2::read::MultiBzDecoder::new(bytes))
    } else {
        members(bytes)
    }
}

/// The files of a NUMA node.
#[derive(Default)]
struct NodeFiles {
    cpus: String,
    memory: String,
    distances: String,
}

#[derive(Default)]
struct Members {
    found: Snapshot,
    nodes: BTreeMap<u32, NodeFiles>,
}

fn members(reader: impl Read) -> Result<Snapshot, NotRead> {
    let mut archive = Archive::new(Limited { reader, left: MOST_EXPANDED });
    let mut members = Members::default();
    let entries =
        archive.entries().map_err(|error| NotRead(format!("the tarball cannot be read: {error}")))?;
    for (count, entry) in entries.enumerate() {
        let taken = entry.and_then(|mut entry| members.take(&mut entry));
        if let Err(error) = taken {
            if error.kind() == std::io::ErrorKind::FileTooLarge {
                return Err(NotRead(format!("the tarball {error}")));
            }
            members.found.notes.push(format!("the tarball ends early: {}", error.kind()));
            break;
        }
        if count >= MOST_MEMBERS || members.found.spaces.len() > MANY || members.nodes.len() > MANY {
            return Err(NotRead("the tarball has more members than a machine has files".into()));
        }
    }
    let Members { mut found, nodes } = members;
    // functions without at least the header of their configuration space are left out
    found.spaces.retain(|_, space| space.len() >= HEADER);
    found.attributes.retain(|address, _| found.spaces.contains_key(address));
    let node = |(node, files): (u32, NodeFiles)| node_of(node, &files.cpus, &files.memory, &files.distances);
    found.nodes = nodes.into_iter().map(node).collect();
    if found.spaces.is_empty() && found.nodes.is_empty() {
        let said = "the tarball has neither `config` below a folder such as `0000:01:00.0` nor NUMA nodes";
        return Err(NotRead(said.into()));
    }
    Ok(found)
}

impl Members {
    /// Keeps a member if it is a file of a function or of a NUMA node, judged by its name.
    fn take<R: Read>(&mut self, entry: &mut Entry<'_, R>) -> std::io::Result<()> {
        let path = entry.path()?.into_owned();
        let part = |path: Option<&Path>| Some(path?.file_name()?.to_str()?.to_owned());
        let (Some(name), Some(folder)) = (part(Some(&path)), part(path.parent())) else { return Ok(()) };
        let is_file = entry.header().entry_type() == EntryType::Regular;
        if let Ok(address) = folder.parse::<Address>() {
            if is_file && name == "config" {
                let space = self.found.spaces.entry(address).or_default();
                space.clear();
                entry.take(WHOLE as u64).read_to_end(space)?;
            } else if is_file && ATTRIBUTES.contains(&name.as_str()) {
                self.found.attributes.entry(address).or_default().tell(&name, text(entry)?);
            } else if let Some(driver) = entry.link_name()?.filter(|_| name == "driver") {
                let driver = part(Some(&driver)).unwrap_or_default();
                self.found.attributes.entry(address).or_default().tell("driver", driver);
            }
        } else if let Some(number) = folder.strip_prefix("node").and_then(|number| number.parse().ok())
            && is_file
            && ["cpulist", "meminfo", "distance"].contains(&name.as_str())
        {
            let node = self.nodes.entry(number).or_default();
            *match name.as_str() {
                "cpulist" => &mut node.cpus,
                "meminfo" => &mut node.memory,
                _ => &mut node.distances,
            } = text(entry)?;
        }
        Ok(())
    }
}

/// The text of a member. Files of sysfs claim a size of 4096 B, so `tar` pads them with zeros, which are removed.
fn text(entry: &mut impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    entry.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_matches(['\0', '\n', ' ']).to_owned())
}

/// A reader that fails after a limited number of bytes.
struct Limited<R> {
    reader: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            let said = format!("expands to more than {} MiB", MOST_EXPANDED >> 20);
            std::io::Error::new(std::io::ErrorKind::FileTooLarge, said)
        })?;
        Ok(count)
    }
}
