//! The naive reference for flits of 256 B: every group of both directions, one after another.

use crate::{Handed, clean_bits};
use lanetwin_cxl::logic::{Activity, Class, Direction, FlitMode, Grid, LinkSpec, Release};
use lanetwin_cxl::spec::flit_256::Layout;
use lanetwin_units::{Generation, Instant, Ticks};

/// Bits of a flit.
pub const FLIT_BITS: u64 = 2048;

/// What a flit carries when it arrives: messages, with the groups that must be in for each, and credits.
#[derive(Clone, Default)]
struct Flit {
    done: Vec<(Option<Class>, u64, usize)>,
    credits: Vec<(Class, u64)>,
}

/// A flit of CXL.mem that is being sent.
#[derive(Default)]
struct Current {
    flit: Flit,
    used: u64,
    messages: u64,
    /// Nothing is in it as long as this is not known.
    well: Option<bool>,
}

/// One direction.
#[derive(Default)]
struct Side {
    /// Not sent: class, time from which on it may be, number.
    waiting: Vec<(Option<Class>, u64, usize)>,
    /// Chunks that must follow: whose, and whether it is the last.
    chunks: Vec<(usize, bool)>,
    /// Credits in hand; none where they are infinite.
    credits: [Option<u64>; 2],
    exhausted: [u64; 2],
    /// On their way to this transmitter.
    returning: Vec<(u64, Class, u64)>,
    /// To be returned by this transmitter: when each was free.
    owed: [Vec<u64>; 2],
    io_turn: bool,
    io_next: Option<u64>,
    io_period: u64,
    /// Messages sent: the number of the group since the beginning, the slot of its flit, the class.
    sent: Vec<(u64, usize, Class)>,
    current: Current,
    /// Whether the flit that is being sent is not one of new messages.
    other: bool,
    /// The number of draws of bits, and the bits that are left of the last.
    draws: u64,
    clean: Option<u64>,
    /// Everything sent and not arrived since the first error: the retry buffer, and the next to be sent.
    buffer: Vec<Flit>,
    read: usize,
    in_retry: bool,
    deaf: bool,
    resume: Option<u64>,
    activity: Activity,
}

pub struct Reference {
    seed: u64,
    spec: LinkSpec,
    halves: bool,
    grid: Grid,
    sides: [Side; 2],
    arrivals: Vec<(Direction, u64, usize)>,
}

impl Reference {
    pub fn new(seed: u64, spec: LinkSpec, traffic: &[Handed]) -> Self {
        let halves = spec.flits == FlitMode::Bytes256(Layout::LatencyOptimised);
        let bypass = spec.sync_header_bypass && spec.generation < Generation::Gen6;
        let grid = Grid::of_groups(spec.generation, spec.width, bypass, spec.skp);
        let mut sides = [Side::default(), Side::default()];
        for (d, side) in sides.iter_mut().enumerate() {
            let credits = [spec.credits[d].no_data, spec.credits[d].data];
            side.credits = credits.map(|n| (n != 0).then(|| u64::from(n)));
            if let Some(per_second) = Some(spec.io[d].bytes_per_second).filter(|n| *n > 0) {
                // So many bytes a flit at so many a second, to the nearest tick.
                let payload = if halves { 232 } else { 236 };
                let twice = 2 * payload * 1_000_000_000_000_u128 * 1024 / u128::from(per_second);
                side.io_period = twice.div_ceil(2) as u64;
                side.io_next = Some(side.io_period);
            }
        }
        let mut reference = Self { seed, spec, halves, grid, sides, arrivals: Vec::new() };
        for (number, handed) in traffic.iter().enumerate() {
            let at = Ticks::from(Instant::from_ps(handed.at)).0;
            let d = handed.direction.index();
            let ready = at + spec.transmit[d].as_ticks().0;
            reference.sides[d].waiting.push((handed.class, ready, number));
            if d == 1 && spec.credits[0].release == Release::Answered {
                match handed.class {
                    Some(Class::Data) => reference.owe(0, Class::NoData, at),
                    Some(Class::NoData) => reference.owe(0, Class::Data, at),
                    None => {}
                }
            }
        }
        for side in &mut reference.sides {
            side.waiting.sort_by_key(|(_, at, number)| (*at, *number));
        }
        reference
    }
    pub fn arrivals(&self) -> Vec<(Direction, u64, usize)> {
        let mut arrivals = self.arrivals.clone();
        arrivals.sort_unstable();
        arrivals
    }
    pub fn activities(&self) -> [Activity; 2] {
        [self.sides[0].activity, self.sides[1].activity]
    }
    pub fn run(&mut self, end_ps: u64) {
        let end = end_ps * 1024;
        let mut place = self.grid.first();
        let mut number = 0;
        while place.start < end {
            for d in 0..2 {
                self.group_time(d, number, place.start);
            }
            place = self.grid.after(place);
            number += 1;
        }
    }

    /// When so many groups of the flit that begins at `start` have arrived.
    fn arrival(&self, d: usize, start: u64, groups: u64) -> u64 {
        let lag = self.spec.flight + self.spec.receive[1 - d];
        let correction = if self.halves { 0 } else { self.spec.correction.as_ticks().0 };
        start + groups * self.grid.flit() + lag.as_ticks().0 + correction
    }
    /// A buffer of direction `d` is free at `at`.
    fn owe(&mut self, d: usize, class: Class, at: u64) {
        if self.sides[d].credits[class.index()].is_some() {
            let owed = &mut self.sides[1 - d].owed[class.index()];
            owed.push(at);
            owed.sort_unstable();
        }
    }

    fn group_time(&mut self, d: usize, number: u64, now: u64) {
        self.take_credits(d, now);
        let group = (number % 4) as usize;
        let start = now - group as u64 * self.grid.flit();
        if group == 0 {
            self.sides[d].other = self.other_flit(d, now);
        }
        if self.sides[d].other {
            return;
        }
        for slot in 4 * group..(4 * group + 4).min(15) {
            self.slot(d, number, slot, start, now);
        }
        if group == 3 {
            self.close(d, start, now);
        }
    }
    fn take_credits(&mut self, d: usize, now: u64) {
        let side = &mut self.sides[d];
        let mut here: Vec<_> = side.returning.iter().copied().filter(|(at, ..)| *at <= now).collect();
        side.returning.retain(|(at, ..)| *at > now);
        here.sort_by_key(|(at, ..)| *at);
        for (at, class, n) in here {
            let i = class.index();
            if side.credits[i] == Some(0)
                && let Some(head) = side.waiting.iter().find(|(c, ..)| *c == Some(class))
            {
                side.activity.stalled_ticks += at.saturating_sub(head.1.max(side.exhausted[i]));
            }
            side.credits[i] = side.credits[i].map(|had| had + n);
        }
    }
    /// Whether the flit that begins now is of the retry buffer or of CXL.io.
    fn other_flit(&mut self, d: usize, now: u64) -> bool {
        let memory = !self.sides[d].chunks.is_empty() || !self.sendable(d, now).is_empty();
        let side = &mut self.sides[d];
        if side.resume.is_some_and(|at| at <= now) {
            (side.resume, side.read, side.deaf) = (None, 0, false);
        }
        if side.in_retry && side.read < side.buffer.len() {
            side.activity.replayed_flits += 1;
            side.read += 1;
            self.after_sending(d, now);
            return true;
        }
        let message = side.waiting.iter().position(|(class, at, _)| class.is_none() && *at <= now);
        let io = message.is_some() || side.io_next.is_some_and(|at| at <= now);
        if !io || memory && !side.io_turn {
            return false;
        }
        side.io_turn = false;
        side.activity.io_flits += 1;
        let mut flit = Flit::default();
        if let Some(n) = message {
            let (_, _, number) = side.waiting.remove(n);
            side.activity.io_messages += 1;
            flit.done.push((None, 4, number));
        } else {
            side.io_next = side.io_next.map(|at| at + side.io_period);
        }
        let well = self.goes_well(d, now);
        self.finish(d, flit, well, now);
        true
    }
    /// What has come and has credits, oldest first.
    fn sendable(&self, d: usize, now: u64) -> Vec<(Class, usize)> {
        let side = &self.sides[d];
        let mut left = side.credits;
        let mut found = Vec::new();
        for (class, at, number) in &side.waiting {
            let Some(class) = class else { continue };
            if *at > now {
                break;
            }
            match &mut left[class.index()] {
                Some(0) => {}
                Some(n) => {
                    *n -= 1;
                    found.push((*class, *number));
                }
                None => found.push((*class, *number)),
            }
        }
        found
    }
    fn slot(&mut self, d: usize, group: u64, slot: usize, start: u64, now: u64) {
        let header = slot == 0 || self.halves && slot == 8;
        let messages = if header || self.sides[d].chunks.is_empty() {
            self.choose(d, (group, slot), header, now)
        } else {
            Vec::new()
        };
        let data = !header && !self.sides[d].chunks.is_empty();
        if messages.is_empty() && !data {
            return;
        }
        if self.sides[d].current.well.is_none() {
            self.sides[d].io_turn = true;
            let well = self.goes_well(d, start);
            self.sides[d].current.well = Some(well);
        }
        // The first 128 B, without slot 7, of which a part is behind them.
        let groups = if self.halves && slot <= 6 { 2 } else { 4 };
        self.sides[d].current.used += 1;
        if data {
            let (number, last) = self.sides[d].chunks.remove(0);
            self.sides[d].activity.data_slots += 1;
            if last {
                self.done(d, (Some(Class::Data), groups, number), start);
            }
            return;
        }
        self.sides[d].current.messages += 1;
        for (class, number) in messages {
            self.take(d, class, number, now);
            self.sides[d].sent.push((group, slot, class));
            if class == Class::NoData {
                self.done(d, (Some(class), groups, number), start);
            } else {
                self.sides[d].chunks.extend((0..4).map(|chunk| (number, chunk == 3)));
            }
        }
    }
    /// A message is complete. Its half of the flit can have arrived before the other half is sent.
    fn done(&mut self, d: usize, done: (Option<Class>, u64, usize), start: u64) {
        if self.sides[d].current.well == Some(true) {
            self.arrive(d, Flit { done: vec![done], credits: Vec::new() }, start);
        } else {
            self.sides[d].current.flit.done.push(done);
        }
    }
    /// The messages of a slot that is not data: all of one kind.
    fn choose(&self, d: usize, (group, slot): (u64, usize), header: bool, now: u64) -> Vec<(Class, usize)> {
        let side = &self.sides[d];
        let most = |class: Class| {
            let (in_slot, in_groups) = match (d, class) {
                (0, Class::NoData) => (1, 4),
                (0, Class::Data) => (1, 2),
                (_, Class::NoData) => (if header { 2 } else { 3 }, 6),
                (_, Class::Data) => (if header { 2 } else { 3 }, 3),
            };
            // Those of this group and the one before; the last group of a flit in halves begins to count with slot 7.
            let counts = |(g, s, c): &&(u64, usize, Class)| {
                *c == class
                    && (*g == group
                        || g + 1 == group
                        || self.halves && slot >= 12 && g + 2 == group && *s == 7)
            };
            let sent = side.sent.iter().filter(counts).count();
            let in_slot = match class {
                Class::Data if side.chunks.len() > 16 => 0,
                Class::Data if !self.spec.multi_data_headers => 1,
                _ => in_slot,
            };
            in_slot.min(in_groups - sent)
        };
        let all = self.sendable(d, now);
        let Some(first) = all.iter().find(|(class, _)| most(*class) > 0) else { return Vec::new() };
        all.iter().copied().filter(|(class, _)| *class == first.0).take(most(first.0)).collect()
    }
    fn take(&mut self, d: usize, class: Class, number: usize, now: u64) {
        let side = &mut self.sides[d];
        let n = side.waiting.iter().position(|(.., other)| *other == number).expect("it waits");
        let (_, at, _) = side.waiting.remove(n);
        side.activity.waited_ticks += u128::from(now - at);
        if class == Class::NoData {
            side.activity.no_data_messages += 1;
        } else {
            side.activity.data_messages += 1;
        }
        if let Some(credits) = &mut side.credits[class.index()] {
            *credits -= 1;
            if *credits == 0 {
                side.exhausted[class.index()] = now;
            }
        }
    }
    /// The last group of a flit.
    fn close(&mut self, d: usize, start: u64, now: u64) {
        let flush = self.spec.credit_flush.as_ticks().0;
        let forced = self.sides[d].owed.iter().flatten().any(|at| at + flush <= now);
        if self.sides[d].current.well.is_none() && forced {
            self.sides[d].io_turn = true;
            let well = self.goes_well(d, start);
            self.sides[d].current.well = Some(well);
        }
        let mut current = std::mem::take(&mut self.sides[d].current);
        let Some(well) = current.well else { return };
        current.flit.credits = self.credits(d, now);
        let counts = &mut self.sides[d].activity;
        if current.used == 0 {
            counts.credit_flits += 1;
        } else {
            counts.protocol_flits += 1;
            counts.message_slots += current.messages;
            counts.empty_slots += 15 - current.used;
        }
        self.finish(d, current.flit, well, start);
    }
    fn credits(&mut self, d: usize, now: u64) -> Vec<(Class, u64)> {
        let mut credits = Vec::new();
        for class in Class::ALL {
            let owed = &mut self.sides[d].owed[class.index()];
            let due = owed.iter().filter(|at| **at <= now).count();
            if let Some(n) = [16, 12, 8, 4, 1].into_iter().find(|n| *n <= due) {
                owed.drain(..n);
                credits.push((class, n as u64));
            }
        }
        credits
    }

    /// Whether the flit that begins at `start` arrives well; it is sent for the first time.
    fn goes_well(&mut self, d: usize, start: u64) -> bool {
        if self.sides[d].in_retry {
            return false;
        }
        let well = !self.wrong(d);
        if !well {
            self.miss(d, start);
        }
        well
    }
    fn wrong(&mut self, d: usize) -> bool {
        if self.spec.bit_error_ratio == 0.0 {
            return false;
        }
        let side = &mut self.sides[d];
        let clean = side.clean.unwrap_or_else(|| {
            side.draws += 1;
            clean_bits(self.seed, Direction::ALL[d], side.draws, FLIT_BITS)
        });
        if clean >= FLIT_BITS {
            side.clean = Some(clean - FLIT_BITS);
            return false;
        }
        side.clean = None;
        side.activity.crc_errors += 1;
        true
    }
    /// The receiver misses the flit that began at `start`: the first flit back that begins after it was found says so.
    fn miss(&mut self, d: usize, start: u64) {
        let found = self.arrival(d, start, 4);
        let mut place = self.grid.first();
        while place.start < found {
            for _ in 0..4 {
                place = self.grid.after(place);
            }
        }
        self.sides[d].deaf = true;
        self.sides[d].in_retry = true;
        self.sides[d].resume = Some(self.arrival(1 - d, place.start, 4));
    }
    /// A new flit is complete.
    fn finish(&mut self, d: usize, flit: Flit, well: bool, start: u64) {
        if well {
            self.arrive(d, flit, start);
        } else {
            self.sides[d].buffer.push(flit);
            self.sides[d].read += 1;
        }
    }
    /// The flit before `read` has been sent again. Arrivals leave the buffer: it always begins with what the receiver
    /// waits for.
    fn after_sending(&mut self, d: usize, start: u64) {
        if self.sides[d].deaf {
            return;
        }
        if self.wrong(d) {
            self.miss(d, start);
            return;
        }
        let flit = self.sides[d].buffer.remove(0);
        self.sides[d].read -= 1;
        if self.sides[d].buffer.is_empty() {
            self.sides[d].in_retry = false;
        }
        self.arrive(d, flit, start);
    }
    fn arrive(&mut self, d: usize, flit: Flit, start: u64) {
        let whole = self.arrival(d, start, 4);
        for (class, n) in flit.credits {
            self.sides[1 - d].returning.push((whole, class, n));
        }
        for (class, groups, number) in flit.done {
            let at = self.arrival(d, start, groups);
            self.arrivals.push((Direction::ALL[d], at.div_ceil(1024), number));
            if let (Some(class), Release::After(drain)) = (class, self.spec.credits[d].release) {
                self.owe(d, class, at + drain.as_ticks().0);
            }
        }
    }
}
