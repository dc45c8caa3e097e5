//! Space that dies keep from the host, and the start of garbage collection.

use super::blocks::{NONE, State};
use super::layout::Site;
use super::pace::Pace;
use super::{Die, Flash, Owner};
use crate::config::UNIT;
use crate::nand::machine::{Op, Queue, Work};
use crate::random::Draws;
use lanetwin_units::mix;

/// Separate these random draws from others of the seed.
const PHASE: u64 = 0x0070_6861_7365;
const WAITS: u64 = 0x0077_6169_7473;
/// Least remaining time of an operation, about that of page reads \[ps\].
const SHORTEST: u64 = 50_000_000;

/// Phase of a die between two programs of the host.
struct Turn {
    /// Share of a program's space that still has to be freed.
    lacks: f64,
    /// Share of the current program that is still to be done.
    busy: f64,
}

/// The phase of a die at `round`, from 0 to 1, of its cycle, if a share `moved` of a block has to be moved. That is
/// also the share of its programs that are GC's, since a block frees for the host what need not be moved.
fn turn(round: f64, moved: f64, draws: &mut Draws) -> Turn {
    let own = 1.0 - moved;
    if round < own {
        return Turn { lacks: 1.0, busy: 1.0 - round / own };
    }
    let lacks = if moved > 0.0 { (1.0 - round) / moved } else { 0.0 };
    Turn { lacks, busy: draws.unit() }
}

impl Flash {
    /// Whether GC has to work on a die: to free space for the host's next program, or to have a block to write to
    /// itself.
    #[inline]
    pub(super) fn is_short(&self, die: u32) -> bool {
        let d = &self.dies[die as usize];
        !d.pace.has(self.layout.program, &self.blocks)
            || d.free.len() as u32 + d.pace.erasing < self.ftl.watermarks.urgent
    }

    /// Notes in its pool whether a die takes a program of the host, and returns it.
    pub(super) fn note_room(&mut self, die: u32) -> bool {
        let d = &self.dies[die as usize];
        let blocks = &self.blocks;
        let head = |head: &u32| *head != NONE && blocks.all[*head as usize].filled < blocks.room(*head);
        let streams = &d.heads[..self.ftl.streams as usize];
        let in_place = d.free.len() as u32 >= self.ftl.watermarks.urgent || streams.iter().any(head);
        let room = in_place && d.pace.admits(blocks)
            || !d.free_slc.is_empty()
            || d.heads.last().is_some_and(head)
            || self.may_borrow(die);
        let open =
            room && d.programs < self.deep && d.valid + u64::from(self.layout.program) <= self.most_valid;
        let pool = &mut self.pools[d.pool as usize];
        let bit = die - pool.first_die;
        let word = &mut pool.open[bit as usize / 64];
        *word = if open { *word | 1 << (bit % 64) } else { *word & !(1 << (bit % 64)) };
        open
    }

    /// Checks a die after a unit of a block has been invalidated: it may have space now, or a block worth collecting.
    #[inline]
    pub(super) fn recheck(&mut self, block: u32) {
        let die = self.layout.die_of(block);
        let pace = &mut self.dies[die as usize].pace;
        let gains = pace.is_drawn(block)
            || matches!(self.blocks.all[block as usize].state, State::Leaving | State::Erasing);
        if pace.take_wants() {
            self.waiting_for_garbage.push(die);
        }
        if gains {
            self.note_room(die);
        }
    }

    /// Collects on dies that had found no block to collect.
    pub(super) fn collect_again(&mut self, now: u64) {
        while let Some(die) = self.waiting_for_garbage.pop() {
            self.collect(now, die);
            self.note_room(die);
        }
    }

    /// Sets the reserve of each die, after blocks have been assigned.
    ///
    /// Free blocks, open ones and the one being collected are drawn independently, so that dies have more or less
    /// space than they would keep. A die at work is given its actual space as reserve, less the part of a program for
    /// which space has been freed: so dies continue as they were, and out of step.
    pub(super) fn set_reserves(&mut self, seed: u64) {
        for die in 0..self.layout.dies {
            self.dies[die as usize].pace.reserve = self.reserve;
            if self.ftl.initial.is_steady_state() {
                self.draw_phase(die);
                let d = &mut self.dies[die as usize];
                let earned = mix(seed ^ mix(PHASE ^ u64::from(die))) % u64::from(self.layout.program);
                d.pace.reserve = d.pace.space(&self.blocks).saturating_sub(earned);
            }
            self.note_room(die);
        }
    }

    /// Bytes that GC has to free until it pauses on every die; 0 for a drive that has never had to collect.
    pub(super) fn owed(&self) -> u64 {
        let rests = |pace: &Pace| pace.reserve + u64::from(self.layout.program);
        let owed = |die: &Die| rests(&die.pace).saturating_sub(die.pace.space(&self.blocks));
        if self.collects || self.ftl.initial.is_steady_state() {
            self.dies.iter().map(owed).sum::<u64>() * UNIT
        } else {
            0
        }
    }

    /// Dies with their reserve take programs as they come. If writes have long come faster than GC frees space, no
    /// die has its reserve: each alternates between a program of the host and the moves that free space for the next
    /// one, and all are in different phases.
    pub fn await_collection(&mut self, now: u64) {
        if self.owed() == 0 {
            return;
        }
        let mut draws = Draws::new(mix(self.seed ^ mix(WAITS ^ self.stamp)));
        for die in 0..self.layout.dies {
            let round = draws.unit();
            let pace = &self.dies[die as usize].pace;
            if self.ftl.slc.is_some() {
                // programs go to the cache, and GC has turns of its own
                if pace.has(0, &self.blocks) {
                    let lacks = (round * f64::from(self.layout.program)).ceil();
                    self.await_program(now, die, lacks as u64);
                }
                continue;
            }
            let Turn { lacks, busy } = turn(round, pace.moved(), &mut draws);
            self.put_busy(now, die, (busy * self.times.program(0) as f64) as u64);
            self.await_program(now, die, (lacks * f64::from(self.layout.program)).ceil() as u64);
        }
    }

    /// Makes a die free `lacks` units, at least one, before it takes the next program of the host.
    fn await_program(&mut self, now: u64, die: u32, lacks: u64) {
        let pace = &self.dies[die as usize].pace;
        self.dies[die as usize].pace.reserve = pace.space(&self.blocks) + lacks.max(1);
        self.note_room(die);
        self.collect(now, die);
    }

    /// Keeps a die busy for the rest of an operation \[ps\].
    fn put_busy(&mut self, now: u64, die: u32, array: u64) {
        let Site { server, die: inner, plane } = self.layout.site(die, 0);
        let op = Op {
            owner: Owner::Nobody.pack(),
            server,
            work: Work::Erase,
            die: inner,
            plane,
            page: 0,
            bus_in: self.times.erase_in(self.layout.planes as usize),
            transfers: 1,
            array: array.max(SHORTEST),
            bus_out: 0,
            when_loaded: None,
            heard_after: 0,
        };
        self.machine.put(now, op, Queue::Writes);
    }

    /// Takes the emptiest block of a drawn die as the one being collected. It had been chosen at the level at which
    /// greedy GC takes blocks, which is that of the second emptiest.
    fn draw_phase(&mut self, die: u32) {
        let (mut victim, mut chosen) = ((u32::MAX, NONE), u32::MAX);
        for number in self.blocks.of_die(die) {
            let b = &self.blocks.all[number as usize];
            if b.state == State::Closed && !b.slc {
                if b.valid < victim.0 {
                    (chosen, victim) = (victim.0, (b.valid, number));
                } else {
                    chosen = chosen.min(b.valid);
                }
            }
        }
        if chosen < u32::MAX {
            let room = self.blocks.room(victim.1);
            let pace = &mut self.dies[die as usize].pace;
            pace.drawn = victim.1;
            pace.leave(victim.1, room, chosen);
        }
    }
}
