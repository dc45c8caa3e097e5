//! A simulated link as a machine that the runner can drive instead of hardware.

use super::numbers::POWER_OFF;
use lanetwin_pcie::logic::ltssm::failure::FailureCode;
use lanetwin_pcie::logic::ltssm::link::{Facing, SimulatedLink, Size};
use lanetwin_probe::{Address, Counters, Host, HostError, Width};
use lanetwin_units::{Instant, Span};

/// The port above the link.
pub const PORT: Address = Address { domain: 0, bus: 0, device: 1, function: 0 };
/// The device below the link.
pub const DEVICE: Address = Address { domain: 0, bus: 1, device: 0, function: 0 };

/// The machine of a simulated link.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The link.
    pub link: SimulatedLink,
}

impl Simulated {
    /// The end that an address names.
    fn facing(at: Address) -> Result<Facing, HostError> {
        match at {
            PORT => Ok(Facing::Downstream),
            DEVICE => Ok(Facing::Upstream),
            _ => Err(HostError::Gone(at)),
        }
    }
}

fn size(width: Width) -> Size {
    match width {
        Width::Byte => Size::Byte,
        Width::Word => Size::Word,
        Width::Dword => Size::Dword,
    }
}

impl Host for Simulated {
    fn read(&mut self, at: Address, offset: u16, width: Width) -> Result<u32, HostError> {
        Ok(self.link.read_config(Self::facing(at)?, offset, size(width)))
    }
    fn write(&mut self, at: Address, offset: u16, width: Width, value: u32) -> Result<(), HostError> {
        self.link.write_config(Self::facing(at)?, offset, size(width), value);
        Ok(())
    }
    fn size(&mut self, at: Address) -> Result<u16, HostError> {
        Self::facing(at).map(|_| 4096)
    }
    fn now(&self) -> Instant {
        self.link.now()
    }
    fn wait(&mut self, span: Span) {
        self.link.wait(span);
    }
    fn name(&self) -> String {
        "simulated".into()
    }
    fn power_cycle(&mut self, _device: Address) -> Result<(), HostError> {
        self.link.set_power(false);
        self.link.wait(ms(POWER_OFF.value));
        self.link.set_power(true);
        Ok(())
    }
    fn direct_width(&mut self, _port: Address, lanes: u8) -> Result<(), HostError> {
        let width = lanetwin_units::Width::from_lanes(u64::from(lanes));
        self.link.direct_width(width.ok_or(HostError::Unsupported("this width"))?);
        Ok(())
    }
    fn counters(&mut self, at: Address) -> Option<Counters> {
        let counts = self.link.aer_counts(Self::facing(at).ok()?);
        let correctable =
            counts.receiver + counts.bad_tlp + counts.bad_dllp + counts.rollover + counts.replay_timer;
        Some(Counters { correctable, ..Counters::default() })
    }
    fn state(&mut self, _port: Address) -> Option<String> {
        Some(self.link.state(Facing::Downstream).name().to_owned())
    }
    fn take_causes(&mut self, _port: Address) -> Vec<FailureCode> {
        self.link.take_codes().iter().collect()
    }
}

/// A whole number of milliseconds.
pub(super) fn ms(value: f64) -> Span {
    Span::from_us(value as u64 * 1000)
}
