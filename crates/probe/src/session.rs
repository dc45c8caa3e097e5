//! A session on a link: every register is saved before its first write, and restored when the session ends, however it
//! ends.

use crate::function::Function;
use crate::host::{Address, Attribute, Host, HostError, Width};
use crate::journal::{Entry, Journal, Saved};
use crate::registers::{BRIDGE_CONTROL, LINK_CONTROL, LINK_STATUS, POWER_CONTROL, Place, Register};
use crate::wait::{AFTER_RESET, FOR_LINK, FOR_POWER, until};
use lanetwin_units::Instant;
use lanetwin_wire::Word;
use serde::Serialize;

/// A write.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Written {
    /// The function.
    pub address: Address,
    /// The register.
    pub register: String,
    /// Its offset in configuration space \[B\].
    pub offset: u16,
    /// Its width.
    pub width: Width,
    /// The previous value.
    pub before: u32,
    /// The value written.
    pub value: u32,
}

/// A register that could not be restored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NotRestored {
    /// The saved value.
    pub saved: Saved,
    /// The current value, or why it cannot be read.
    pub now: String,
}

/// A session on a link, with the changes made to it.
pub struct Session<'h> {
    host: &'h mut dyn Host,
    port: Address,
    device: Address,
    journal: Option<Journal>,
    saved: Vec<Saved>,
    attributes: Vec<Attribute>,
    written: Option<Vec<Written>>,
}

impl<'h> Session<'h> {
    /// A session on the link between `port` and `device`, with a journal if the machine outlives this process.
    pub fn new(host: &'h mut dyn Host, port: Address, device: Address, journal: Option<Journal>) -> Self {
        Self { host, port, device, journal, saved: Vec::new(), attributes: Vec::new(), written: None }
    }
    /// Starts recording writes.
    pub fn log(&mut self) {
        self.written = Some(Vec::new());
    }
    /// The writes since [`log`](Self::log).
    #[must_use]
    pub fn written(&self) -> &[Written] {
        self.written.as_deref().unwrap_or_default()
    }
    /// The machine.
    pub fn host(&mut self) -> &mut dyn Host {
        self.host
    }
    /// The time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.host.now()
    }
    /// The registers saved so far.
    #[must_use]
    pub fn saved(&self) -> &[Saved] {
        &self.saved
    }

    /// Records a setting of the operating system that is about to be changed.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn keep_attribute(&mut self, attribute: Attribute) -> Result<(), HostError> {
        self.note(&Entry::Attribute(attribute.clone()))?;
        self.attributes.push(attribute);
        Ok(())
    }

    /// Reads a register; `None` if the function does not have it.
    ///
    /// # Errors
    /// If the machine does not permit it.
    pub fn get<W: Word>(&mut self, of: &Function, register: Register<W>) -> Result<Option<W>, HostError> {
        of.read(self.host, register)
    }

    /// Writes a register, and saves its value before the first write. Returns false if the function does not have it.
    ///
    /// # Errors
    /// If the machine or the journal does not permit it.
    pub fn set<W: Word>(&mut self, of: &Function, register: Register<W>, word: W) -> Result<bool, HostError> {
        let Some(offset) = of.offset(&register.place) else { return Ok(false) };
        let before = self.save(of.address, offset, &register.place)?;
        let value = word.to_bits() as u32 & !register.place.clears;
        self.put(of.address, offset, &register.place, before, value)?;
        Ok(true)
    }

    /// Clears bits of a register by writing ones to them; its other bits stay unchanged. Returns false if the function
    /// does not have it.
    ///
    /// # Errors
    /// If the machine does not permit it.
    pub fn clear<W: Word>(
        &mut self,
        of: &Function,
        register: Register<W>,
        ones: u32,
    ) -> Result<bool, HostError> {
        let Some(offset) = of.offset(&register.place) else { return Ok(false) };
        let place = register.place;
        let before = self.host.read(of.address, offset, place.width)?;
        // the other bits are written with their current values
        let value = (ones & place.clears) | (before & !place.clears);
        self.put(of.address, offset, &place, before, value)?;
        Ok(true)
    }

    /// Restores the saved registers of a function, and keeps them saved. Returns those that could not be restored.
    pub(crate) fn put_back_function(&mut self, of: Address) -> Vec<NotRestored> {
        let saved = self.saved.clone();
        saved.iter().filter(|one| one.address == of).filter_map(|one| put_one(self.host, one)).collect()
    }

    fn put(
        &mut self,
        at: Address,
        offset: u16,
        place: &Place,
        before: u32,
        value: u32,
    ) -> Result<(), HostError> {
        if let Some(written) = &mut self.written {
            let register = place.name.to_owned();
            written.push(Written { address: at, register, offset, width: place.width, before, value });
        }
        self.host.write(at, offset, place.width, value)
    }

    /// Saves a register unless it is saved already. Returns its current value.
    pub(crate) fn save(&mut self, at: Address, offset: u16, place: &Place) -> Result<u32, HostError> {
        let value = self.host.read(at, offset, place.width)?;
        let known = self.saved.iter().any(|saved| (saved.address, saved.offset) == (at, offset));
        if place.keeps != 0 && !known {
            let name = place.name.to_owned();
            let Place { width, keeps, clears, .. } = *place;
            let saved = Saved { address: at, offset, width, value, keeps, clears, name };
            self.note(&Entry::Register(saved.clone()))?;
            self.saved.push(saved);
        }
        Ok(value)
    }

    fn note(&mut self, entry: &Entry) -> Result<(), HostError> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        journal.note(entry).map_err(|error| HostError::Refused {
            what: format!("the journal {}", journal.path().display()),
            said: error.to_string(),
        })
    }

    /// Restores everything, reads it back, and removes the journal if everything is restored.
    ///
    /// Returns what could not be restored.
    pub fn restore(&mut self) -> Vec<NotRestored> {
        let saved = core::mem::take(&mut self.saved);
        let attributes = core::mem::take(&mut self.attributes);
        let left = put_back(self.host, (self.port, self.device), &saved, &attributes);
        if left.is_empty()
            && let Some(journal) = self.journal.take()
        {
            // if the file cannot be removed, the next run only refuses (LC012) until the journal is restored
            let _ = journal.close();
        }
        left
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if !self.saved.is_empty() || !self.attributes.is_empty() || self.journal.is_some() {
            self.restore();
        }
    }
}

/// Restores what was saved: the port first, so that the device can be reached, then the device, then the settings of
/// the operating system.
///
/// Returns what could not be restored.
pub fn put_back(
    host: &mut dyn Host,
    (port, device): (Address, Address),
    saved: &[Saved],
    attributes: &[Attribute],
) -> Vec<NotRestored> {
    let mut left = Vec::new();
    let mut link_was_down = false;
    for one in saved.iter().rev().filter(|one| one.address != device) {
        let held = host.read(one.address, one.offset, one.width).unwrap_or(one.value);
        link_was_down |= differs(held, one) && holds_link_down(one, held);
        left.extend(put_one(host, one));
    }
    if link_was_down {
        wait_for_link(host, port);
    }
    let powers = |one: &&Saved| one.name == POWER_CONTROL.place.name;
    let of_device = || saved.iter().filter(|one| one.address == device);
    for one in of_device().filter(powers) {
        left.extend(put_one(host, one));
        host.wait(FOR_POWER);
    }
    for one in of_device().filter(|one| !powers(one)) {
        left.extend(put_one(host, one));
    }
    for attribute in attributes.iter().rev() {
        if let Err(error) = host.put_back(attribute) {
            let saved = Saved {
                address: device,
                offset: 0,
                width: Width::Byte,
                value: 0,
                keeps: 0,
                clears: 0,
                name: attribute.name.clone(),
            };
            left.push(NotRestored { saved, now: error.to_string() });
        }
    }
    left
}

fn differs(held: u32, saved: &Saved) -> bool {
    (held ^ saved.value) & saved.keeps != 0
}

/// Whether the value of a register keeps the link from coming up.
fn holds_link_down(saved: &Saved, held: u32) -> bool {
    let (disable, reset) = (1 << 4, 1 << 6);
    (saved.name == LINK_CONTROL.place.name && held & disable != 0)
        || (saved.name == BRIDGE_CONTROL.place.name && held & reset != 0)
}

fn put_one(host: &mut dyn Host, saved: &Saved) -> Option<NotRestored> {
    let mut attempt = || {
        let held = host.read(saved.address, saved.offset, saved.width)?;
        if differs(held, saved) {
            host.write(saved.address, saved.offset, saved.width, saved.value & !saved.clears)?;
        }
        host.read(saved.address, saved.offset, saved.width)
    };
    match attempt() {
        Ok(held) if !differs(held, saved) => None,
        Ok(held) => Some(NotRestored { saved: saved.clone(), now: format!("{held:#x}") }),
        Err(error) => Some(NotRestored { saved: saved.clone(), now: error.to_string() }),
    }
}

fn wait_for_link(host: &mut dyn Host, port: Address) {
    let Ok(port) = Function::find(host, port) else { return };
    let _ = until(host, FOR_LINK, |host| {
        Ok(port.read(host, LINK_STATUS)?.is_none_or(|status| status.active() && !status.training()))
    });
    host.wait(AFTER_RESET);
}
