//! Where the time of one read went, by the commands that were recorded meanwhile.
//!
//! ```text
//!  offered        PRE            ACT             RD             first beat      last beat: answered
//!     ├── queue ───┼── precharge ──┼── activate ──┼── CAS latency ──┼── burst ──┤
//! ```

use super::command::{Command, CommandKind};
use super::machine::Machine;
use lanetwin_units::Instant;

/// When a read was where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadSteps {
    /// When the row that was in its way was closed; none if none was, or that was before the read came.
    pub precharged: Option<Instant>,
    /// When its row was opened; none if that was before the read came.
    pub activated: Option<Instant>,
    /// When its read command was issued.
    pub column: Instant,
    /// When its first beat was on the bus.
    pub burst: Instant,
}

impl Machine {
    /// How the read of a line that was offered at `offered` came to its last beat at `done`, by the commands that were
    /// recorded since. None if no command says: the line came out of the write queue, or is beyond the capacity.
    #[must_use]
    pub fn read_steps(
        &self,
        record: &[Command],
        address: u64,
        offered: Instant,
        done: Instant,
    ) -> Option<ReadSteps> {
        let place = self.map.place(address)?;
        let (latency, burst) = self.channels[place.bus as usize].read_clocks();
        let at = |clock: u64| self.clock.instant(clock);
        let bank = 1 << place.bank;
        let own = |command: &&Command| command.bus == place.bus && command.banks & bank != 0;
        let reads = |kind| matches!(kind, CommandKind::Read | CommandKind::ReadClose);
        let its = |c: &&Command| reads(c.kind) && c.row == place.row && at(c.clock + latency + burst) == done;
        let read = record.iter().filter(own).find(its)?;
        let before = |c: &&Command| c.clock < read.clock && at(c.clock) >= offered;
        let last = |kinds: &[CommandKind], until: u64| {
            let of = record.iter().filter(own).filter(before);
            of.filter(|c| kinds.contains(&c.kind) && c.clock < until).map(|c| c.clock).max()
        };
        let activated = last(&[CommandKind::Activate], read.clock);
        let closes = [CommandKind::Precharge, CommandKind::PrechargeAll];
        let precharged = activated.and_then(|activated| last(&closes, activated));
        Some(ReadSteps {
            precharged: precharged.map(at),
            activated: activated.map(at),
            column: at(read.clock),
            burst: at(read.clock + latency),
        })
    }
}
