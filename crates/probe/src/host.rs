//! A machine from the probe's view: configuration space, time, and services of its operating system.

use lanetwin_pcie::logic::ltssm::failure::FailureCode;
use lanetwin_units::{Instant, Span};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The address of a function: domain, bus, device, function.
///
/// ```
/// use lanetwin_probe::Address;
/// let drive: Address = "0000:01:00.0".parse().expect("an address");
/// assert_eq!(drive, "01:00.0".parse().expect("domain 0"));
/// assert_eq!(drive.to_string(), "0000:01:00.0");
/// assert!("01:20.0".parse::<Address>().is_err(), "a bus has 32 devices");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address {
    /// The PCI segment group; Linux and lspci call it the domain.
    pub domain: u32,
    /// The bus.
    pub bus: u8,
    /// The device on it, below 32.
    pub device: u8,
    /// The function of it, below 8.
    pub function: u8,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{}", self.domain, self.bus, self.device, self.function)
    }
}

/// Text that is not an [`Address`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no address of a function")]
pub struct NoAddress(pub String);

impl FromStr for Address {
    type Err = NoAddress;
    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let read = || {
            let (rest, function) = text.split_once('.')?;
            let mut parts = rest.split(':').rev();
            let hex = |part: &str, digits: usize| {
                let plain = (1..=digits).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_hexdigit());
                plain.then(|| u32::from_str_radix(part, 16).ok()).flatten()
            };
            let device = hex(parts.next()?, 2).filter(|device| *device < 32)?;
            let bus = hex(parts.next()?, 2)?;
            let domain = parts.next().map_or(Some(0), |part| hex(part, 8))?;
            let function = hex(function, 1).filter(|function| *function < 8)?;
            let small = |value: u32| u8::try_from(value).ok();
            let last = parts.next().is_none();
            last.then_some(Self {
                domain,
                bus: small(bus)?,
                device: small(device)?,
                function: small(function)?,
            })
        };
        read().ok_or_else(|| NoAddress(text.to_owned()))
    }
}

impl Serialize for Address {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Width of an access to configuration space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits.
    Word,
    /// 32 bits.
    Dword,
}

impl Width {
    /// Size \[B\].
    #[must_use]
    pub const fn bytes(self) -> u16 {
        match self {
            Self::Byte => 1,
            Self::Word => 2,
            Self::Dword => 4,
        }
    }
    /// All ones: the value that reads of a missing function return.
    #[must_use]
    pub const fn ones(self) -> u32 {
        u32::MAX >> (32 - 8 * self.bytes() as u32)
    }
}

/// Why an access or a service failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HostError {
    /// The function does not exist.
    #[error("{0} is not there")]
    Gone(Address),
    /// The machine refused, or the attempt failed.
    #[error("{what}: {said}")]
    Refused {
        /// The attempt.
        what: String,
        /// The error of the machine.
        said: String,
    },
    /// The machine does not have this service.
    #[error("{0} is not offered here")]
    Unsupported(&'static str),
}

/// Errors that the operating system has counted for a function.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Counters {
    /// Correctable ones.
    pub correctable: u64,
    /// Uncorrectable, not fatal.
    pub nonfatal: u64,
    /// Fatal.
    pub fatal: u64,
}

/// A setting outside configuration space that was changed and has to be restored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attribute {
    /// Its name: a file of sysfs.
    pub name: String,
    /// Its previous value.
    pub value: String,
}

/// A machine: the only interface between the runner and the hardware.
///
/// Configuration space is little-endian and is accessed in naturally aligned units. Reading a missing function gives
/// all ones or [`HostError::Gone`]; the runner treats both as absence. Methods with a default are services that only an
/// operating system has.
pub trait Host {
    /// Reads configuration space.
    ///
    /// # Errors
    /// If the machine does not permit it.
    fn read(&mut self, at: Address, offset: u16, width: Width) -> Result<u32, HostError>;
    /// Writes configuration space.
    ///
    /// # Errors
    /// If the machine does not permit it.
    fn write(&mut self, at: Address, offset: u16, width: Width, value: u32) -> Result<(), HostError>;
    /// Readable size of a function's configuration space \[B\]: 64, 256 or 4096.
    ///
    /// # Errors
    /// If the function does not exist.
    fn size(&mut self, at: Address) -> Result<u16, HostError>;
    /// The current time, which never decreases.
    fn now(&self) -> Instant;
    /// Waits.
    fn wait(&mut self, span: Span);

    /// The kind of the machine: `simulated`, `fake`, `Linux 6.1.0`.
    fn name(&self) -> String;
    /// Resets the bus below `port` through the operating system; `device` has to be the only function there.
    ///
    /// # Errors
    /// If the system has no such service; on [`HostError::Unsupported`] the runner sets the bit itself.
    fn bus_reset(&mut self, _port: Address, _device: Address) -> Result<(), HostError> {
        Err(HostError::Unsupported("a bus reset by the operating system"))
    }
    /// Power cycles `device`.
    ///
    /// # Errors
    /// If the machine cannot do that.
    fn power_cycle(&mut self, _device: Address) -> Result<(), HostError> {
        Err(HostError::Unsupported("a power cycle"))
    }
    /// Finds a device again after it has disappeared: remove and rescan.
    ///
    /// # Errors
    /// If it does not come back.
    fn rescan(&mut self, _device: Address) -> Result<(), HostError> {
        Err(HostError::Unsupported("a rescan of the bus"))
    }
    /// Requests a link width by the machine's own means, such as a vendor's register or a simulation.
    ///
    /// # Errors
    /// If it has none.
    fn direct_width(&mut self, _port: Address, _lanes: u8) -> Result<(), HostError> {
        Err(HostError::Unsupported("a change of width by software"))
    }
    /// The errors that the operating system has counted, if it counts them.
    fn counters(&mut self, _at: Address) -> Option<Counters> {
        None
    }
    /// The state of the link below `port`, where a simulation or a debug port shows it; registers do not.
    fn state(&mut self, _port: Address) -> Option<String> {
        None
    }
    /// The causes of failures since the last call, where a simulation reports them; registers do not.
    fn take_causes(&mut self, _port: Address) -> Vec<FailureCode> {
        Vec::new()
    }
    /// Restores an attribute.
    ///
    /// # Errors
    /// If it cannot be written.
    fn put_back(&mut self, attribute: &Attribute) -> Result<(), HostError> {
        Err(HostError::Refused { what: attribute.name.clone(), said: "there are no attributes here".into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_lspci_writes_them() {
        let read = |text: &str| text.parse::<Address>().ok().map(|address| address.to_string());
        assert_eq!(read("0000:3b:00.0").as_deref(), Some("0000:3b:00.0"));
        assert_eq!(read("10000:e1:00.7").as_deref(), Some("10000:e1:00.7"));
        assert_eq!(read("3b:1f.0").as_deref(), Some("0000:3b:1f.0"));
        for wrong in
            ["", "3b", "3b:00", "3b:00.8", "3b:20.0", "g:00.0", "1:2:3:4.0", ":.", "+1:00.0", "100:00.0"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn absence_reads_as_all_ones_of_a_width() {
        assert_eq!([Width::Byte, Width::Word, Width::Dword].map(Width::ones), [0xff, 0xffff, 0xffff_ffff]);
    }
}
