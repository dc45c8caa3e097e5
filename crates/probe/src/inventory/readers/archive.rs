//! A folder of sysfs in a tarball, plain or compressed by gzip or bzip2.
//!
//! Nothing is unpacked: members are read one after the other, and those whose names end as a file of a function or of
//! a NUMA node does are kept, up to the size that such a file has. So it does not matter where a name leads, and what
//! a member expands to costs time alone, which is limited.

use super::sysfs::{ATTRIBUTES, LONGEST, node_of};
use crate::host::Address;
use crate::inventory::facts::Tells;
use crate::inventory::snapshot::{HEADER, MANY, NotRead, Snapshot, WHOLE};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use tar::{Archive, Entry, EntryType, Header};

/// What a tarball may expand to \[B\]: the files of /sys of a large server have a tenth of that. Assumed.
const MOST_EXPANDED: u64 = 256 << 20;
/// Members of a tarball, of which a large server's /sys has a fifth. Assumed.
const MOST_MEMBERS: usize = 1_000_000;
/// Where a header of tar says that it is one \[B\].
const MAGIC: usize = 257;
/// Where it has the sum of its bytes \[B\].
const SUM: std::ops::Range<usize> = 148..156;
/// How long it is \[B\].
const HEADER_OF_MEMBER: usize = 512;

/// Whether bytes begin as a tarball does.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    let is_packed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(b"BZh");
    is_packed || bytes.get(..HEADER_OF_MEMBER).is_some_and(is_header)
}

/// Whether these are the header of a member: its magic, which any text may have at that place, and its sum, in which
/// the sum itself counts as blanks.
fn is_header(bytes: &[u8]) -> bool {
    let sum: u32 = bytes
        .iter()
        .enumerate()
        .map(|(at, byte)| if SUM.contains(&at) { 32 } else { u32::from(*byte) })
        .sum();
    let told = Header::from_byte_slice(bytes).cksum();
    bytes[MAGIC..].starts_with(b"ustar") && told.is_ok_and(|told| told == sum)
}

/// Reads it.
///
/// # Errors
/// If it is damaged before anything of a function was read, expands to too much, or has no function.
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
    // a function counts if its configuration space was read
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
    /// Keeps a member if its name says that it is a file of a function or of a node.
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

/// The text of a member. `tar` pads a file of sysfs, which says that it has 4096 B, with zeros.
fn text(entry: &mut impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    entry.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_matches(['\0', '\n', ' ']).to_owned())
}

/// A reader that fails once it has given as much as it may.
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
