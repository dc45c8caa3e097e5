//! Buses: columns of a switch that share one wire, and decide together.
//!
//! ```text
//!   column 0  ──┐
//!   column 1  ──┼── one wire: one TLP at a time, the columns in turn
//!   column 2  ──┘
//! ```
//!
//! Each column keeps its inputs, its arbitration and the credits of its output; the wire, its turn and its wake are the bus'.

use super::Fabric;
use super::choice::Choice;
use super::egress::NEVER;
use super::spec::Environment;
use lanetwin_units::{Instant, TICKS_PER_PS, Ticks};
use std::ops::Range;

/// Of an egress that is on no bus.
pub(super) const NO_BUS: u16 = u16::MAX;

/// The columns of one switch, which share a wire.
#[derive(Clone, Debug)]
pub(super) struct Bus {
    /// Their egresses; the first keeps the wake of all.
    pub columns: Range<usize>,
    /// The column that is asked first.
    turn: usize,
}

impl Bus {
    pub fn new(columns: Range<usize>) -> Self {
        Self { turn: columns.start, columns }
    }
    fn after(&self, column: usize) -> usize {
        if column + 1 == self.columns.end { self.columns.start } else { column + 1 }
    }
}

/// What a column can do at a tick.
struct Grant {
    column: usize,
    input: usize,
    /// Nobody else on the bus holds anything before this tick.
    until: u64,
}

impl<U: Copy> Fabric<U> {
    /// Lets a bus decide, at the wake it asked for: as [`Fabric::pump`] for a single wire.
    #[inline(never)]
    pub(super) fn pump_bus(&mut self, bus: usize, now: Instant, env: &mut impl Environment<U>) {
        let columns = self.buses[bus].columns.clone();
        let leader = columns.start;
        let wake = self.egresses[leader].wake;
        if Ticks(wake).as_ps_floor() != now {
            return; // an earlier wake has done this one's work
        }
        self.egresses[leader].wake = NEVER;
        columns.clone().for_each(|c| self.egresses[c].starved = 0);
        let step = Ticks::from(now).0 + TICKS_PER_PS;
        let (known, end) = self.view(step, env);
        self.soonest = known;
        let mut t = wake.max(self.egresses[leader].link_free);
        while columns.clone().any(|c| self.egresses[c].occupied != 0) {
            t = t.max(columns.clone().map(|c| self.egresses[c].earliest()).min().unwrap_or(NEVER));
            let mut horizon = self.bus_horizon(&columns, step).min(end);
            if t >= horizon {
                self.ask_wake(leader, t, env);
                return;
            }
            let wanted = columns.clone().fold(false, |wanted, c| self.foresee_want(c, t, step) | wanted);
            if wanted {
                horizon = self.bus_horizon(&columns, step).min(end);
                if t >= horizon {
                    self.ask_wake(leader, t, env);
                    return;
                }
            }
            match self.grant(bus, t) {
                Err(NEVER) => return,
                Err(later) => t = later,
                Ok(grant) => t = self.take_bus(bus, &grant, t, horizon, env),
            }
        }
    }

    /// The tick before which nothing that is still unknown can matter to any of the columns.
    fn bus_horizon(&self, columns: &Range<usize>, step: u64) -> u64 {
        let of = |c: usize| {
            let distance = if self.tlp_by_tlp { 0 } else { self.distance(c) };
            self.egresses[c].horizon(self.soonest, distance, step)
        };
        columns.clone().map(of).min().unwrap_or(step)
    }

    /// The first column in turn that can send at `t`; or the tick at which one may.
    fn grant(&mut self, bus: usize, t: u64) -> Result<Grant, u64> {
        let Bus { columns, turn } = self.buses[bus].clone();
        let holders = columns.clone().filter(|&c| self.egresses[c].occupied != 0).count();
        let mut later = NEVER;
        for column in (turn..columns.end).chain(columns.start..turn) {
            if self.egresses[column].occupied == 0 {
                continue;
            }
            match self.egresses[column].choose(t) {
                Choice::Wait(known) => later = later.min(known),
                Choice::Send { input, contended, until } => {
                    let alone = holders == 1 && !contended;
                    return Ok(Grant { column, input, until: if alone { until } else { t } });
                }
            }
        }
        Err(later)
    }

    /// A column sends from `t` on; returns when the wire is free.
    fn take_bus(
        &mut self,
        bus: usize,
        grant: &Grant,
        t: u64,
        horizon: u64,
        env: &mut impl Environment<U>,
    ) -> u64 {
        let columns = self.buses[bus].columns.clone();
        let &Grant { column, input, until } = grant;
        let distance = columns.clone().map(|c| self.distance(c)).min().unwrap_or(0);
        let echo = self.echo(column, input, t).saturating_add(distance);
        self.send(column, input, t, until.min(horizon).min(echo).max(t + 1), env);
        let free = self.egresses[column].link_free;
        for column in columns {
            let column = &mut self.egresses[column];
            (column.link_free, column.idle_from) = (free, free);
        }
        self.buses[bus].turn = self.buses[bus].after(column);
        free
    }
}
