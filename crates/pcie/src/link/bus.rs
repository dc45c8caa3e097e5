//! Buses: columns of a switch that share one wire and decide together.
//!
//! ```text
//!   column 0  ──┐
//!   column 1  ──┼── one wire: one TLP at a time, the columns in turn
//!   column 2  ──┘
//! ```
//!
//! Each column has its own inputs, arbitration and credits of its output; the wire, the turn and the wake belong to
//! the bus.

use super::choice::Choice;
use super::columns::Bus;
use super::egress::Egress;
use super::fabric::Domain;
use super::pump::View;
use super::run::Bounds;
use super::sentinels::NEVER;
use super::sentinels::NO_BUS;
use super::spec::Environment;
use lanetwin_units::{Instant, TICKS_PER_PS, Ticks};
use std::ops::Range;

/// The decision of a column at a tick.
struct Grant {
    column: usize,
    input: usize,
    /// No other input of this column holds a TLP before this tick, …
    until: u64,
    /// … except for TLPs behind those that were eligible up to this one.
    behind: u64,
}

impl<U: Copy> Domain<U> {
    /// Lets a bus decide at a wake that it asked for, like [`super::Fabric::pump`] for a single wire.
    #[inline(never)]
    pub(super) fn pump_bus(
        &mut self,
        bus: usize,
        current: &mut Box<Egress>,
        now: Instant,
        env: &mut impl Environment<U>,
    ) {
        let columns = self.buses[bus].columns.clone();
        let leader = columns.start;
        let wake = self.egresses[leader].wake;
        if Ticks(wake).as_ps_floor() != now {
            return; // an earlier wake has done this one's work
        }
        self.egresses[leader].wake = NEVER;
        columns.clone().for_each(|c| self.egresses[c].starved = 0);
        let step = Ticks::from(now).0 + TICKS_PER_PS;
        let View { soonest, end, .. } = self.view(step, env);
        self.soonest = soonest;
        let mut t = wake.max(self.egresses[leader].link_free);
        // Waiting TLPs upstream may have changed since the last wake.
        self.buses[bus].seen.0.fill(u128::MAX);
        loop {
            let mut holders = columns.clone().filter(|&c| self.egresses[c].occupied != 0);
            let Some(first) = holders.next() else { return };
            let alone = holders.next().is_none();
            t = t.max(columns.clone().map(|c| self.egresses[c].earliest()).min().unwrap_or(NEVER));
            let distance = self.bus_distance(bus, None);
            let mut horizon = self.bus_horizon(&columns, distance, step).min(end);
            if t >= horizon {
                self.ask_wake(leader, t, env);
                return;
            }
            if self.note_bus_demand(&columns, t, step) {
                horizon = self.bus_horizon(&columns, distance, step).min(end);
                if t >= horizon {
                    self.ask_wake(leader, t, env);
                    return;
                }
            }
            if alone
                && !self.tlp_by_tlp
                && self.egresses[first].merges()
                && self.with(current, first, |own, domain| domain.send_merged(own, t, horizon, env))
            {
                t = self.release_bus(bus, first);
                continue;
            }
            match self.grant(bus, t) {
                Err(NEVER) => return,
                Err(later) => t = later,
                Ok(Grant { column, input, until, behind }) => {
                    let echo = self.echo(&self.egresses[column], input, t).saturating_add(distance);
                    let until = if alone { until.min(horizon).min(echo) } else { t };
                    let bounds = Bounds { until: until.max(t + 1), behind };
                    self.with(current, column, |own, domain| domain.send(own, input, t, bounds, env));
                    t = self.release_bus(bus, column);
                }
            }
        }
    }

    /// Notes which columns need credits at `t`. Returns whether any does.
    #[inline]
    fn note_bus_demand(&mut self, columns: &Range<usize>, t: u64, step: u64) -> bool {
        let soonest = self.soonest;
        let note = |wanted, egress: &mut Egress| egress.note_credit_demand(t, soonest, step) | wanted;
        self.egresses[columns.clone()].iter_mut().map(|egress| &mut **egress).fold(false, note)
    }

    /// Moves a column into `current` for the duration of a call.
    fn with<T>(
        &mut self,
        current: &mut Box<Egress>,
        column: usize,
        what: impl FnOnce(&mut Egress, &mut Self) -> T,
    ) -> T {
        std::mem::swap(&mut self.egresses[column], current);
        let result = what(current, self);
        std::mem::swap(&mut self.egresses[column], current);
        result
    }

    /// The least delay from any event to a new TLP in front of any of the columns. `own` is the column in `current`,
    /// if there is one.
    fn bus_distance(&mut self, bus: usize, own: Option<&Egress>) -> u64 {
        if self.tlp_by_tlp {
            return 0;
        }
        let at = |c: usize| own.filter(|own| usize::from(own.number) == c).unwrap_or(&self.egresses[c]);
        let Bus { columns, seen, .. } = &self.buses[bus];
        if columns.clone().zip(&seen.0).all(|(c, seen)| at(c).occupied == *seen) {
            return seen.1;
        }
        let least = columns.clone().map(|c| self.distance(at(c))).min().unwrap_or(0);
        let occupied = columns.clone().map(|c| at(c).occupied).collect();
        self.buses[bus].seen = (occupied, least);
        least
    }

    /// Like [`Self::distance`] for an egress in `current`; for a column together with those that share its wire.
    #[inline]
    pub(super) fn distance_on_wire(&mut self, own: &Egress) -> u64 {
        if own.bus == NO_BUS {
            return self.distance(own);
        }
        self.bus_distance(usize::from(own.bus), Some(own))
    }

    /// The tick before which no unknown event can affect any of the columns.
    fn bus_horizon(&self, columns: &Range<usize>, distance: u64, step: u64) -> u64 {
        let of = |c: usize| self.egresses[c].horizon(self.soonest, distance, step);
        columns.clone().map(of).min().unwrap_or(step)
    }

    /// After a column has sent: occupies the wire for all columns and passes the turn to the next one. Returns when
    /// the wire is free.
    fn release_bus(&mut self, bus: usize, column: usize) -> u64 {
        let free = self.egresses[column].link_free;
        for c in self.buses[bus].columns.clone() {
            let column = &mut self.egresses[c];
            (column.link_free, column.idle_from) = (free, free);
        }
        self.buses[bus].turn = self.buses[bus].after(column);
        free
    }

    /// The first column in turn that can send at `t`; otherwise the tick at which one may.
    fn grant(&mut self, bus: usize, t: u64) -> Result<Grant, u64> {
        let (columns, turn) = (self.buses[bus].columns.clone(), self.buses[bus].turn);
        let mut later = NEVER;
        for column in (turn..columns.end).chain(columns.start..turn) {
            if self.egresses[column].occupied == 0 {
                continue;
            }
            match self.egresses[column].choose(t) {
                Choice::Wait(known) => later = later.min(known),
                Choice::Send { input, contended, until, behind } => {
                    return Ok(Grant { column, input, until: if contended { t } else { until }, behind });
                }
            }
        }
        Err(later)
    }
}
