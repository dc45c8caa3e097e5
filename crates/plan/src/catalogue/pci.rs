//! The PCI IDs by which a part is recognised in a real machine.

use lanetwin_document::declaration::{Field, Holds};
use lanetwin_document::fields::Fields;
use lanetwin_document::problem::{Problem, Reports};
use serde::{Serialize, Serializer};

/// A vendor and a device ID, each of four hexadecimal digits as `lspci -nn` prints them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ids {
    /// Vendor ID, which the PCI-SIG assigns.
    pub vendor: u16,
    /// Device ID, which the vendor assigns.
    pub device: u16,
}

impl Ids {
    /// Reads `144d:a80a`.
    fn read(text: &str) -> Option<Self> {
        let (vendor, device) = text.split_once(':')?;
        let number = |text: &str| {
            let digits = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            digits.then(|| u16::from_str_radix(text, 16).ok()).flatten()
        };
        Some(Self { vendor: number(vendor)?, device: number(device)? })
    }
}

impl std::fmt::Display for Ids {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor, self.device)
    }
}

impl Serialize for Ids {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A PCI identity of a part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Identity {
    /// IDs of the function.
    pub id: Ids,
    /// The subsystems that are this part; empty for any. Cards with the same chip differ in their subsystems.
    pub subsystems: Vec<Ids>,
    /// The source of this identity.
    pub source: String,
}

/// The keys of an ID.
pub(super) const IDENTITY: &[Field] = &[
    field("id", Holds::Text, true, "vendor and device ID, as in `144d:a80a`"),
    field("subsystems", Holds::Names, false, "the subsystems that are this part; any if left out"),
    field("source", Holds::Text, true, "who says so"),
];

const fn field(name: &'static str, holds: Holds, required: bool, about: &'static str) -> Field {
    Field { name, holds, default: None, required, about }
}

/// Reads the IDs under `pci`; `None` if one of them is wrong.
pub(super) fn read(part: &Fields<'_>, reports: &mut Reports) -> Option<Vec<Identity>> {
    let listed = part.list("pci", reports)?;
    let found: Vec<_> = listed.into_iter().map(|fields| identity(fields, reports)).collect();
    found.into_iter().collect()
}

fn identity(mut fields: Fields<'_>, reports: &mut Reports) -> Option<Identity> {
    let id = fields.text("id", reports).map(|said| said.value);
    let id = id.and_then(|text| ids(&fields, "id", text, reports));
    let subsystems = match fields.written("subsystems") {
        None => Some(Vec::new()),
        Some(_) => {
            let (names, _) = fields.names("subsystems", "IDs", reports)?;
            let read: Vec<_> =
                names.into_iter().map(|said| ids(&fields, "subsystems", said.value, reports)).collect();
            read.into_iter().collect()
        }
    };
    let source = fields.text("source", reports).map(|said| said.value);
    Some(Identity { id: id?, subsystems: subsystems?, source: source? })
}

fn ids(fields: &Fields<'_>, key: &str, text: String, reports: &mut Reports) -> Option<Ids> {
    let found = Ids::read(&text);
    if found.is_none() {
        let hint = "two numbers of four hexadecimal digits, as in `144d:a80a`".into();
        fields.fault(key, Problem::Quantity { text, hint }, reports);
    }
    found
}
