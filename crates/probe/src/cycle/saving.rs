//! State of a device that a reset clears: registers, which are restored, and a mark that proves the reset.

use super::bench::{Bench, Step, word};
use crate::host::Width;
use crate::registers::{
    CACHE_LINE, CacheLine, DEVICE_CONTROL, ERRORS, EXPRESS, Home, INTERRUPT_LINE, InterruptLine,
    LINK_CONTROL, LINK_CONTROL_2, MSIX_CONTROL, POWER_CONTROL, Place,
};

const fn place(name: &'static str, home: Home, offset: u16, width: Width, keeps: u32) -> Place {
    Place { name, home, offset, width, keeps, clears: 0 }
}
const fn bar(offset: u16) -> Place {
    place("Base Address Register", Home::Header, offset, Width::Dword, u32::MAX)
}

/// Registers of an endpoint that are saved and restored after a reset, in this order: those of the type 0 header and of
/// capabilities that Linux `pci_save_state` also restores. Command is last, so that nothing is decoded in between.
const OF_A_DEVICE: &[Place] = &[
    POWER_CONTROL.place,
    CACHE_LINE.place,
    bar(0x10),
    bar(0x14),
    bar(0x18),
    bar(0x1c),
    bar(0x20),
    bar(0x24),
    place("Expansion ROM", Home::Header, 0x30, Width::Dword, u32::MAX),
    INTERRUPT_LINE.place,
    DEVICE_CONTROL.place,
    LINK_CONTROL.place,
    place("Device Control 2", EXPRESS, 0x28, Width::Word, 0x7fff),
    LINK_CONTROL_2.place,
    MSIX_CONTROL.place,
    place("Uncorrectable Error Mask", ERRORS, 0x08, Width::Dword, u32::MAX),
    place("Uncorrectable Error Severity", ERRORS, 0x0c, Width::Dword, u32::MAX),
    place("Correctable Error Mask", ERRORS, 0x14, Width::Dword, u32::MAX),
    place("Latency Tolerance Reporting", Home::Extended(0x0018), 0x04, Width::Dword, u32::MAX),
    place("L1 PM Substates Control 1", Home::Extended(0x001e), 0x08, Width::Dword, u32::MAX),
    place("L1 PM Substates Control 2", Home::Extended(0x001e), 0x0c, Width::Dword, 0xff),
    place("Command", Home::Header, 0x04, Width::Word, 0x0547),
];

/// A value set in the device before a reset; that it is lost proves the reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mark {
    /// Function Mask of MSI-X, set while MSI-X is off. Operating systems do not restore it.
    FunctionMask,
    /// Cache Line Size, which is writable but has no effect in PCI Express. Operating systems restore it.
    CacheLine(u8),
    /// Interrupt Line, which only software uses. Operating systems restore it.
    InterruptLine(u8),
}

impl Bench<'_, '_> {
    /// Saves the device's registers that a reset clears, also to the journal, so that another process can restore them.
    pub(super) fn save_device(&mut self) -> Step<()> {
        let device = self.device.clone();
        for place in OF_A_DEVICE {
            if let Some(offset) = device.offset(place) {
                self.session.save(device.address, offset, place)?;
            }
        }
        Ok(())
    }

    /// Restores the saved registers. Returns those that do not keep their value.
    pub(super) fn restore_device(&mut self) -> Step<Vec<String>> {
        let address = self.device.address;
        Ok(self.session.put_back_function(address).into_iter().map(|left| left.saved.name).collect())
    }

    /// Sets a mark; with `by_system`, only one that the operating system does not restore. `None` if none can be set.
    pub(super) fn mark(&mut self, by_system: bool) -> Step<Option<Mark>> {
        let device = self.device.clone();
        if let Some(control) = self.session.get(&device, MSIX_CONTROL)?
            && !control.enable()
            && !control.function_mask()
        {
            self.session.set(&device, MSIX_CONTROL, word(control.with_function_mask(true)))?;
            if self.has_mark(Mark::FunctionMask)? {
                return Ok(Some(Mark::FunctionMask));
            }
        }
        if by_system {
            return Ok(None);
        }
        let held = self.of_device(CACHE_LINE)?.dwords();
        let value = if held == 0x10 { 0x08 } else { 0x10 };
        self.session.set(&device, CACHE_LINE, word(CacheLine::ZERO.with_dwords(value)))?;
        if self.has_mark(Mark::CacheLine(value))? {
            return Ok(Some(Mark::CacheLine(value)));
        }
        let value = self.of_device(INTERRUPT_LINE)?.value() ^ 0x5a;
        self.session.set(&device, INTERRUPT_LINE, word(InterruptLine::ZERO.with_value(value)))?;
        let kept = value != 0 && self.has_mark(Mark::InterruptLine(value))?;
        Ok(kept.then_some(Mark::InterruptLine(value)))
    }

    /// Whether the mark is still set.
    pub(super) fn has_mark(&mut self, mark: Mark) -> Step<bool> {
        Ok(match mark {
            Mark::FunctionMask => self.of_device(MSIX_CONTROL)?.function_mask(),
            Mark::CacheLine(value) => self.of_device(CACHE_LINE)?.dwords() == value,
            Mark::InterruptLine(value) => self.of_device(INTERRUPT_LINE)?.value() == value,
        })
    }
}
