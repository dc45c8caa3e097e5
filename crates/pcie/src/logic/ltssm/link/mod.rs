//! Two ports and what is between them, simulated: a link that trains, fails, sleeps and answers configuration requests.
//!
//! Whoever drives it sees what software sees of real hardware: registers of both ends, and time that passes.

mod config;

pub use config::{Adaptation, BadLink, Device, LinkConfig, PortConfig, Retimer, Traffic, Wiring};

use super::failure::FailureCodes;
use super::state::State;
use lanetwin_units::{Instant, Span, Width};

/// A port of a link, by where it looks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Facing {
    /// The port above: of a root complex or a switch.
    Downstream = 0,
    /// The port below: of a device.
    Upstream = 1,
}

/// How much a configuration request reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Size {
    /// One byte.
    Byte = 1,
    /// Two bytes, at an even offset.
    Word = 2,
    /// Four bytes, at a multiple of four.
    Dword = 4,
}

/// Correctable errors that a port has counted, by the bit of AER's status that each of them sets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct AerCounts {
    /// Receiver errors.
    pub receiver: u64,
    /// TLPs with a bad LCRC.
    pub bad_tlp: u64,
    /// DLLPs with a bad CRC.
    pub bad_dllp: u64,
    /// Replays that were the last one allowed.
    pub rollover: u64,
    /// Replay timers that ran out.
    pub replay_timer: u64,
}

/// A change of state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Transition {
    /// When.
    pub at: Instant,
    /// Of which port.
    pub port: Facing,
    /// From.
    pub from: State,
    /// To.
    pub to: State,
    /// The rate at which the port is after it \[number of the generation\].
    pub generation: u8,
}

/// A simulated link.
#[derive(Clone, Debug)]
pub struct SimulatedLink {
    config: LinkConfig,
    seed: u64,
    now: Instant,
}

impl SimulatedLink {
    /// A link that has just been powered on: nothing has trained yet.
    ///
    /// # Errors
    /// If the configuration contradicts itself.
    pub fn new(config: LinkConfig, seed: u64) -> Result<Self, BadLink> {
        Ok(Self { config, seed, now: Instant::ZERO })
    }
    /// The virtual time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }
    /// Lets time pass.
    pub fn wait(&mut self, span: Span) {
        self.now += span;
    }
    /// Reads configuration space; takes the time of a request.
    ///
    /// All ones if nobody answers, and 0x0001 in the place of the vendor from a device that is not ready yet, as a root
    /// complex with RRS Software Visibility says it.
    pub fn read_config(&mut self, at: Facing, offset: u16, size: Size) -> u32 {
        let _ = (at, offset, self.seed);
        u32::MAX >> (32 - 8 * size as u32)
    }
    /// Writes configuration space; takes the time of a request. What nobody answers is lost.
    pub fn write_config(&mut self, at: Facing, offset: u16, size: Size, value: u32) {
        let _ = (at, offset, size, value);
    }
    /// Switches the power of the whole machine, ports and device: what a power distribution unit does.
    pub fn set_power(&mut self, on: bool) {
        let _ = on;
    }
    /// Directs the link to a width, as a vendor's own register does; a dynamic change through Recovery and Configuration.
    pub fn direct_width(&mut self, width: Width) {
        let _ = width;
    }
    /// The correctable errors that a port has counted since power came on (Linux: `aer_dev_correctable`).
    #[must_use]
    pub fn aer_counts(&self, at: Facing) -> AerCounts {
        let _ = at;
        AerCounts::default()
    }
    /// The state of a port, which software of a real machine does not see.
    #[must_use]
    pub fn state(&self, at: Facing) -> State {
        let _ = at;
        State::DetectQuiet
    }
    /// What went wrong inside since this was last asked: which timeouts, which fall back. Software of a real machine does not
    /// see it.
    pub fn take_codes(&mut self) -> FailureCodes {
        FailureCodes::NONE
    }
    /// The changes of state since this was last asked, the newest thousand of them.
    pub fn take_transitions(&mut self) -> Vec<Transition> {
        Vec::new()
    }
    /// How the link was configured.
    #[must_use]
    pub const fn config(&self) -> &LinkConfig {
        &self.config
    }
}
