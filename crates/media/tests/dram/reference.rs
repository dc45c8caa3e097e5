//! The same policy, tick by tick: at every clock, every request is asked what it needs, and the checker whether that is
//! allowed.

use crate::checker::Checker;
use lanetwin_media::dram::{
    Command, CommandKind, Config, PagePolicy, Refresh, Timings, Turn, WriteAnswer, lateness,
};
use std::collections::VecDeque;

/// A request at its place.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub clock: u64,
    pub write: bool,
    pub token: u32,
    pub bank: u8,
    pub row: u32,
    pub line: u32,
}

/// A rank's refresh.
struct Round {
    /// When its share of the interval begins, and how long that is.
    first: u64,
    share: u64,
    due: u64,
    number: u64,
    /// The banks kept free; 0 before it is due.
    banks: u64,
}

/// A closed row that its bank remembers, how long it stays open, and when it was used.
#[derive(Clone, Copy)]
struct Habit {
    left: Option<u32>,
    patience: u64,
    used: u64,
    passed: u32,
}

pub struct Reference {
    config: Config,
    t: Timings,
    bus: u32,
    checker: Checker,
    queues: [Vec<Asked>; 2],
    overflow: [VecDeque<Asked>; 2],
    writing: bool,
    leave: usize,
    reads_ended: u64,
    rounds: Vec<Round>,
    habits: Vec<Habit>,
    /// Banks whose open rows are still used for the direction before, and when that ends.
    trail: u64,
    trail_end: u64,
    pub answers: Vec<(u32, u64)>,
}

impl Reference {
    pub fn new(config: &Config, bus: u32) -> Self {
        let t = config.timings();
        let g = &config.geometry;
        let interval = if config.refresh == Refresh::SameBank { t.refi_sb } else { t.refi };
        let all = u64::from(g.ranks * g.buses(config.speed));
        let share = interval / all.max(2);
        let round = |rank: u32| {
            let first = interval * u64::from(bus * g.ranks + rank) / all;
            Round { first, share, due: first + lateness(bus, rank, 0, share), number: 0, banks: 0 }
        };
        let patience = match config.page {
            PagePolicy::Adaptive(time) => t.clock.at_least(time.as_ps()).max(8),
            _ => 0,
        };
        Self {
            t,
            bus,
            checker: Checker::new(config),
            queues: [Vec::new(), Vec::new()],
            overflow: [VecDeque::new(), VecDeque::new()],
            writing: false,
            leave: 0,
            reads_ended: 0,
            rounds: (0..g.ranks).map(round).collect(),
            habits: vec![Habit { left: None, patience, used: 0, passed: 0 }; 64],
            trail: 0,
            trail_end: 0,
            answers: Vec::new(),
            config: config.clone(),
        }
    }

    /// Runs from clock 0 to `end`; the requests are in the order of time.
    pub fn run(mut self, asked: &[Asked], end: u64) -> (Vec<Command>, Vec<(u32, u64)>) {
        let mut next = asked.iter().peekable();
        for now in 0..end {
            while let Some(request) = next.next_if(|request| request.clock == now) {
                let d = usize::from(request.write);
                let places = [self.config.queues.reads, self.config.queues.writes][d] as usize;
                if self.queues[d].len() < places && self.overflow[d].is_empty() {
                    self.enter(*request, now, now);
                } else {
                    self.overflow[d].push_back(*request);
                }
            }
            self.turn(now);
            if self.trail_end <= now {
                self.trail = 0;
            }
            if now > 0 {
                let _ = self.refresh(now)
                    || self.access(now)
                    || self.trail(now)
                    || self.row(now)
                    || self.close_idle(now);
            }
            self.turn(now);
        }
        self.answers.sort_by_key(|answer| (answer.1, answer.0));
        (self.checker.history().to_vec(), self.answers)
    }

    fn enter(&mut self, request: Asked, now: u64, answer: u64) {
        let same = |w: &Asked| (w.bank, w.row, w.line) == (request.bank, request.row, request.line);
        if self.queues[1].iter().any(same) {
            let takes = match (request.write, self.config.answer) {
                (false, _) => self.t.cl + self.t.burst,
                (true, WriteAnswer::Queued) => 0,
                (true, WriteAnswer::Written) => self.t.cwl + self.t.burst,
            };
            self.answers.push((request.token, answer + takes));
            return;
        }
        self.queues[usize::from(request.write)].push(Asked { clock: now, ..request });
        if request.write {
            if self.queues[1].len() >= self.config.queues.high as usize {
                self.leave = self.config.queues.low as usize;
            }
            if self.config.answer == WriteAnswer::Queued {
                self.answers.push((request.token, answer));
            }
        }
    }

    fn clocks(&self, span: lanetwin_units::Span) -> u64 {
        self.t.clock.at_least(span.as_ps())
    }

    fn turn(&mut self, now: u64) {
        let q = self.config.queues;
        let [reads, writes] = [self.queues[0].len(), self.queues[1].len()];
        let oldest = self.queues[1].iter().map(|w| w.clock).min();
        let aged = oldest.is_some_and(|clock| clock + self.clocks(q.age) <= now);
        let before = self.writing;
        let open = self.wishes().into_iter().filter(|wish| wish.0 == CommandKind::Read);
        let open = open.fold(0, |banks, wish| banks | 1 << wish.1.bank);
        if self.writing {
            self.writing = !(writes == 0 || reads > 0 && writes <= self.leave);
        } else if writes > 0 {
            let full = writes >= q.high as usize;
            let idle = reads == 0 && self.reads_ended + self.clocks(q.idle) <= now;
            if full || aged || idle {
                self.writing = true;
                self.leave = match () {
                    () if full => q.low as usize,
                    () if aged => 0,
                    () => usize::MAX,
                };
            }
        }
        if self.writing != before {
            self.trail = 0;
            if self.config.turn == Turn::Prepared {
                self.begin_trail(open, now);
            }
        }
    }

    fn command(&self, clock: u64, kind: CommandKind, banks: u64, row: u32) -> Command {
        Command { clock, bus: self.bus, kind, banks, row }
    }

    fn blocked(&self) -> u64 {
        self.rounds.iter().map(|round| round.banks).sum()
    }

    fn refresh(&mut self, now: u64) -> bool {
        if self.config.refresh == Refresh::None {
            return false;
        }
        let one_clock = self.checker.history().last().is_none_or(|last| last.clock < now);
        for rank in 0..self.rounds.len() {
            if self.rounds[rank].due > now || !one_clock {
                continue;
            }
            let g = &self.config.geometry;
            let (banks, groups) = (g.banks(self.config.speed), g.groups(self.config.speed));
            let all = (0..banks * groups).map(|bank| 1_u64 << (rank as u32 * banks * groups + bank));
            let chosen = all.enumerate().filter(|(bank, _)| {
                let turn = self.rounds[rank].number % u64::from(banks);
                self.config.refresh == Refresh::AllBank || *bank as u64 % u64::from(banks) == turn
            });
            let mask = chosen.map(|(_, bit)| bit).sum();
            self.rounds[rank].banks = mask;
            self.trail &= !mask;
            let open = (0..64).filter(|b| mask >> b & 1 == 1 && self.checker.row(*b).is_some());
            let open: u64 = open.map(|bank| 1 << bank).sum();
            let kind = if open == 0 { CommandKind::Refresh } else { CommandKind::PrechargeAll };
            if self.checker.allows(&self.command(now, kind, mask, 0)).is_ok() {
                self.checker.note(self.command(now, kind, mask, 0));
                if open == 0 {
                    let same = self.config.refresh == Refresh::SameBank;
                    let round = &mut self.rounds[rank];
                    round.first += if same { self.t.refi_sb } else { self.t.refi };
                    round.number += 1;
                    round.due = round.first + lateness(self.bus, rank as u32, round.number, round.share);
                    round.banks = 0;
                }
                return true;
            }
        }
        false
    }

    /// What the bank of each request being served wants, and for which request: oldest first.
    fn wishes(&self) -> Vec<(CommandKind, Asked)> {
        let queue = &self.queues[usize::from(self.writing)];
        let mut seen = 0_u64;
        let mut wishes = Vec::new();
        for head in queue {
            if (seen | self.blocked() | self.trail) >> head.bank & 1 == 1 {
                continue;
            }
            seen |= 1 << head.bank;
            let Some(open) = self.checker.row(head.bank) else {
                wishes.push((CommandKind::Activate, *head));
                continue;
            };
            let hit = queue.iter().find(|r| r.bank == head.bank && r.row == open);
            let passes = self.habits[usize::from(head.bank)].passed < self.config.queues.passes;
            match hit.filter(|hit| hit.row == head.row || passes) {
                Some(hit) => wishes.push((CommandKind::Read, *hit)),
                None => wishes.push((CommandKind::Precharge, *head)),
            }
        }
        // requests of a queue are in the order of arrival; a hit that passes is not at its head
        let place = |wish: &(CommandKind, Asked)| queue.iter().position(|r| r.token == wish.1.token);
        wishes.sort_by_key(place);
        wishes
    }

    fn access(&mut self, now: u64) -> bool {
        let d = usize::from(self.writing);
        for (_, request) in self.wishes().into_iter().filter(|wish| wish.0 == CommandKind::Read) {
            if self.transfer(now, d, request) {
                self.fill(now, d);
                return true;
            }
        }
        false
    }

    /// Reads or writes for a request, if that is allowed.
    fn transfer(&mut self, now: u64, d: usize, request: Asked) -> bool {
        let others = self.queues[d].iter().filter(|r| r.token != request.token);
        let more = others.into_iter().any(|r| r.bank == request.bank && r.row == request.row);
        let kind = match (d, self.config.page == PagePolicy::Closed && !more) {
            (0, false) => CommandKind::Read,
            (0, true) => CommandKind::ReadClose,
            (_, false) => CommandKind::Write,
            (_, true) => CommandKind::WriteClose,
        };
        let command = self.command(now, kind, 1 << request.bank, request.row);
        if self.checker.allows(&command).is_err() {
            return false;
        }
        self.checker.note(command);
        let head = self.queues[d].iter().find(|r| r.bank == request.bank).expect("it is in its queue").token;
        let habit = &mut self.habits[usize::from(request.bank)];
        habit.used = now;
        habit.passed += u32::from(head != request.token);
        self.queues[d].retain(|r| r.token != request.token);
        let end = now + self.t.burst + if d == 1 { self.t.cwl } else { self.t.cl };
        if d == 0 || self.config.answer == WriteAnswer::Written {
            self.answers.push((request.token, end));
        }
        if d == 0 && self.queues[0].is_empty() {
            self.reads_ended = now;
        }
        true
    }

    /// Whoever waits before the queue takes the free place.
    fn fill(&mut self, now: u64, d: usize) {
        let places = [self.config.queues.reads, self.config.queues.writes][d] as usize;
        while self.queues[d].len() < places
            && let Some(next) = self.overflow[d].pop_front()
        {
            self.enter(next, now, now + 1);
        }
    }

    fn row(&mut self, now: u64) -> bool {
        for (kind, request) in self.wishes().into_iter().filter(|wish| wish.0 != CommandKind::Read) {
            let row = if kind == CommandKind::Activate { request.row } else { 0 };
            let command = self.command(now, kind, 1 << request.bank, row);
            if self.checker.allows(&command).is_err() {
                continue;
            }
            self.row_command(command, request.bank);
            return true;
        }
        false
    }

    fn row_command(&mut self, command: Command, bank: u8) {
        self.checker.note(command);
        let first = self.first_patience();
        let habit = &mut self.habits[usize::from(bank)];
        if command.kind == CommandKind::Activate {
            if habit.left == Some(command.row) {
                habit.patience = (habit.patience * 2).min(first * 8);
            }
            *habit = Habit { left: None, used: command.clock, passed: 0, ..*habit };
        } else {
            habit.patience = (habit.patience / 2).max(first / 8);
        }
    }

    /// The direction has changed: how long open rows are still used for the one before.
    fn begin_trail(&mut self, open: u64, now: u64) {
        let t = self.t;
        let one_clock = self.checker.history().last().map_or(now, |last| now.max(last.clock + 1));
        let mut first = one_clock + t.rp + t.rcd;
        self.trail = open;
        for (kind, request) in self.wishes() {
            let (kind, more) = match kind {
                CommandKind::Activate => (kind, t.rcd),
                CommandKind::Precharge => (kind, t.rp + t.rcd),
                _ if self.writing => (CommandKind::Write, 0),
                _ => (CommandKind::Read, 0),
            };
            let at = |clock: &u64| {
                self.checker.allows(&self.command(*clock, kind, 1 << request.bank, request.row))
            };
            let soonest = (now..first).find(|clock| at(clock).is_ok());
            first = soonest.map_or(first, |at| first.min(at + more));
        }
        let gap = if self.writing { t.cl + t.burst + t.rtw - t.cwl } else { t.cwl + t.burst + t.wtr_l };
        self.trail_end = (first + 1).saturating_sub(gap);
        if self.trail_end <= now {
            self.trail = 0;
        }
    }

    /// Goes on with the direction before where rows are open for it.
    fn trail(&mut self, now: u64) -> bool {
        let other = usize::from(!self.writing);
        for request in self.queues[other].clone() {
            let bank = request.bank;
            if self.trail >> bank & 1 == 0 || self.trailing(bank).is_none_or(|hit| hit.token != request.token)
            {
                continue;
            }
            if self.transfer(now, other, request) {
                if self.trailing(bank).is_none() {
                    self.trail &= !(1 << bank);
                }
                self.fill(now, other);
                return true;
            }
        }
        false
    }

    /// What a bank reads or writes next for the direction before.
    fn trailing(&self, bank: u8) -> Option<Asked> {
        let queue = &self.queues[usize::from(!self.writing)];
        let open = self.checker.row(bank)?;
        let head = queue.iter().find(|r| r.bank == bank)?;
        let hit = queue.iter().find(|r| r.bank == bank && r.row == open)?;
        let passes = self.habits[usize::from(bank)].passed < self.config.queues.passes;
        (hit.token == head.token || passes).then_some(*hit)
    }

    fn first_patience(&self) -> u64 {
        match self.config.page {
            PagePolicy::Adaptive(time) => self.clocks(time).max(8),
            _ => 0,
        }
    }

    fn close_idle(&mut self, now: u64) -> bool {
        if !matches!(self.config.page, PagePolicy::Adaptive(_)) {
            return false;
        }
        let mut wanted = self.blocked() | self.trail;
        let served = usize::from(self.writing);
        self.queues[served].iter().for_each(|request| wanted |= 1 << request.bank);
        for bank in 0..64_u8 {
            let Habit { patience, used, .. } = self.habits[usize::from(bank)];
            let Some(row) = self.checker.row(bank) else { continue };
            let command = self.command(now, CommandKind::Precharge, 1 << bank, 0);
            if wanted >> bank & 1 == 0 && used + patience <= now && self.checker.allows(&command).is_ok() {
                self.checker.note(command);
                self.habits[usize::from(bank)].left = Some(row);
                return true;
            }
        }
        false
    }
}
