//! The naive reference: every flit time of both directions, one after another.

use crate::{Handed, clean_bits};
use lanetwin_cxl::logic::{Activity, Class, Direction, Grid, LinkSpec, Release};
use lanetwin_units::{Instant, Ticks};

/// What a flit carries when it arrives.
#[derive(Clone, Default)]
struct Flit {
    done: Vec<(Option<Class>, usize)>,
    credits: Vec<(Class, u64)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Control {
    Request,
    Acknowledge,
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
    /// Flit times before this one are taken.
    free_from: u64,
    /// The number of draws of bits, and the bits that are left of the last.
    draws: u64,
    clean: Option<u64>,
    controls: Vec<(u64, Control)>,
    /// Everything sent and not arrived since the first error: the retry buffer, and the next to be sent.
    buffer: Vec<Flit>,
    read: usize,
    deaf: bool,
    activity: Activity,
}

pub struct Reference {
    seed: u64,
    spec: LinkSpec,
    grid: Grid,
    sides: [Side; 2],
    arrivals: Vec<(Direction, u64, usize)>,
    in_retry: [bool; 2],
}

impl Reference {
    pub fn new(seed: u64, spec: LinkSpec, traffic: &[Handed]) -> Self {
        let grid = Grid::new(spec.generation, spec.width, spec.sync_header_bypass, spec.skp);
        let mut sides = [Side::default(), Side::default()];
        for (d, side) in sides.iter_mut().enumerate() {
            let credits = [spec.credits[d].no_data, spec.credits[d].data];
            side.credits = credits.map(|n| (n != 0).then(|| u64::from(n)));
            if let Some(per_second) = Some(spec.io[d].bytes_per_second).filter(|n| *n > 0) {
                // 64 B at so many bytes a second, to the nearest tick.
                let twice = 2 * 64 * 1_000_000_000_000_u128 * 1024 / u128::from(per_second);
                side.io_period = twice.div_ceil(2) as u64;
                side.io_next = Some(side.io_period);
            }
        }
        let mut reference = Self { seed, spec, grid, sides, arrivals: Vec::new(), in_retry: [false; 2] };
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
        while place.start < end {
            for d in 0..2 {
                self.flit_time(d, place.start);
            }
            place = self.grid.after(place);
        }
    }

    fn lag(&self, d: usize) -> u64 {
        self.grid.flit() + (self.spec.flight + self.spec.receive[1 - d]).as_ticks().0
    }
    /// A buffer of direction `d` is free at `at`.
    fn owe(&mut self, d: usize, class: Class, at: u64) {
        if self.sides[d].credits[class.index()].is_some() {
            let owed = &mut self.sides[1 - d].owed[class.index()];
            owed.push(at);
            owed.sort_unstable();
        }
    }

    fn flit_time(&mut self, d: usize, now: u64) {
        if now < self.sides[d].free_from {
            return;
        }
        self.take_credits(d, now);
        if self.sides[d].chunks.len() < 4 && self.control(d, now) {
            return;
        }
        let side = &self.sides[d];
        let io_message = side.waiting.iter().any(|(class, at, _)| class.is_none() && *at <= now);
        let io = io_message || side.io_next.is_some_and(|at| at <= now);
        let replay = self.in_retry[d] && side.read < side.buffer.len();
        let memory = replay || !side.chunks.is_empty() || !self.sendable(d, now).is_empty();
        if io && (side.io_turn || !memory) {
            self.sides[d].io_turn = false;
            self.io_flit(d, now, io_message);
            return;
        }
        let side = &mut self.sides[d];
        if replay {
            side.io_turn = true;
            side.activity.replayed_flits += 1;
            side.read += 1;
            self.after_sending(d, now);
        } else if memory {
            side.io_turn = true;
            self.memory_flit(d, now);
        } else {
            let flush = self.spec.credit_flush.as_ticks().0;
            if side.owed.iter().flatten().any(|at| at + flush <= now) {
                side.io_turn = true;
                side.activity.credit_flits += 1;
                let credits = self.header_credits(d, now);
                self.new_flit(d, Flit { done: Vec::new(), credits }, now);
            }
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
    /// Six control flits at once, if some are due.
    fn control(&mut self, d: usize, now: u64) -> bool {
        let side = &mut self.sides[d];
        side.controls.sort_by_key(|(at, _)| *at);
        if side.controls.first().is_none_or(|(at, _)| *at > now) {
            return false;
        }
        let (_, what) = side.controls.remove(0);
        let mut place = self.grid.find(now);
        for _ in 0..5 {
            place = self.grid.after(place);
        }
        side.free_from = place.start + 1;
        side.activity.retry_flits += 6;
        if what == Control::Request {
            let at = place.start + self.lag(d);
            self.sides[1 - d].controls.push((at, Control::Acknowledge));
        } else {
            side.read = 0;
            side.deaf = false;
        }
        true
    }
    fn io_flit(&mut self, d: usize, now: u64, message: bool) {
        self.sides[d].activity.io_flits += 1;
        if self.wrong(d) {
            return;
        }
        let at = now + self.lag(d);
        let side = &mut self.sides[d];
        if message {
            let n = side.waiting.iter().position(|(class, ..)| class.is_none()).expect("one waits");
            let (_, _, number) = side.waiting.remove(n);
            side.activity.io_messages += 1;
            self.arrivals.push((Direction::ALL[d], at.div_ceil(1024), number));
        } else {
            side.io_next = side.io_next.map(|at| at + side.io_period);
        }
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
    fn memory_flit(&mut self, d: usize, now: u64) {
        let mut flit = Flit::default();
        let rollover = self.sides[d].chunks.len();
        if rollover > 3 {
            self.sides[d].activity.all_data_flits += 1;
            (0..4).for_each(|_| self.chunk(d, &mut flit));
            self.new_flit(d, flit, now);
            return;
        }
        self.sides[d].activity.protocol_flits += 1;
        flit.credits = self.header_credits(d, now);
        let (mut no_data, mut with_data) = (0, 0);
        for slot in 0..4 {
            if slot > 0 && !self.sides[d].chunks.is_empty() {
                self.chunk(d, &mut flit);
                continue;
            }
            let messages = self.choose(d, now, slot, no_data, with_data);
            let counts = &mut self.sides[d].activity;
            if messages.is_empty() {
                counts.empty_slots += 1;
            } else {
                counts.message_slots += 1;
            }
            for (class, number) in messages {
                self.take(d, class, number, now);
                if class == Class::NoData {
                    no_data += 1;
                    flit.done.push((Some(class), number));
                } else {
                    with_data += 1;
                    self.sides[d].chunks.extend((0..4).map(|chunk| (number, chunk == 3)));
                }
            }
        }
        self.new_flit(d, flit, now);
    }
    /// The messages of a slot that is not data.
    fn choose(
        &self,
        d: usize,
        now: u64,
        slot: usize,
        no_data: usize,
        with_data: usize,
    ) -> Vec<(Class, usize)> {
        let all = self.sendable(d, now);
        let of = |class| all.iter().copied().filter(move |(c, _)| *c == class);
        if d == 0 {
            // The oldest of those that still may: two Req, one RwD.
            let may = |class| if class == Class::NoData { no_data < 2 } else { with_data < 1 };
            return all.into_iter().filter(|(class, _)| may(*class)).take(1).collect();
        }
        let several = |n: usize| if self.spec.multi_data_headers { n } else { 1 };
        let ndrs: Vec<_> = of(Class::NoData).take(2 - no_data).collect();
        let drss: Vec<_> = of(Class::Data).collect();
        let place = |message| all.iter().position(|other| *other == message);
        if slot == 0 {
            // The two oldest, whatever they are; a second header of data only where there may be several.
            let Some(first) = all.first() else { return Vec::new() };
            let second = all[1..].iter().find(|other| {
                first.0 == Class::NoData || other.0 == Class::NoData || self.spec.multi_data_headers
            });
            return std::iter::once(*first).chain(second.copied()).collect();
        }
        // Several headers of data if an NDR is not among the three oldest; else one, with the NDRs.
        if drss.is_empty() {
            return ndrs;
        }
        if ndrs.is_empty() {
            return drss.into_iter().take(several(3)).collect();
        }
        let before = drss.iter().filter(|drs| place(**drs) < place(ndrs[0])).count();
        if before >= 3 && several(3) == 3 {
            return drss.into_iter().take(3).collect();
        }
        drss.into_iter().take(1).chain(ndrs).collect()
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
    fn chunk(&mut self, d: usize, flit: &mut Flit) {
        let side = &mut self.sides[d];
        let (number, last) = side.chunks.remove(0);
        side.activity.data_slots += 1;
        if last {
            flit.done.push((Some(Class::Data), number));
        }
    }
    /// The largest power of two up to 64 of what is owed, for each class.
    fn header_credits(&mut self, d: usize, now: u64) -> Vec<(Class, u64)> {
        let mut credits = Vec::new();
        for class in Class::ALL {
            let owed = &mut self.sides[d].owed[class.index()];
            let due = owed.iter().filter(|at| **at <= now).count();
            if let Some(n) = [64, 32, 16, 8, 4, 2, 1].into_iter().find(|n| *n <= due) {
                owed.drain(..n);
                credits.push((class, n as u64));
            }
        }
        credits
    }

    /// Whether the flit sent now has a bit error.
    fn wrong(&mut self, d: usize) -> bool {
        if self.spec.bit_error_ratio == 0.0 {
            return false;
        }
        let side = &mut self.sides[d];
        let clean = side.clean.unwrap_or_else(|| {
            side.draws += 1;
            clean_bits(self.seed, Direction::ALL[d], side.draws, 544)
        });
        if clean >= 544 {
            side.clean = Some(clean - 544);
            return false;
        }
        side.clean = None;
        side.activity.crc_errors += 1;
        true
    }
    fn new_flit(&mut self, d: usize, flit: Flit, now: u64) {
        self.sides[d].buffer.push(flit);
        self.sides[d].read += 1;
        self.after_sending(d, now);
    }
    /// The flit before `read` is on its way. Arrivals leave the buffer: it always begins with what the receiver waits
    /// for.
    fn after_sending(&mut self, d: usize, now: u64) {
        if self.sides[d].deaf {
            return;
        }
        let at = now + self.lag(d);
        if self.wrong(d) {
            self.sides[d].deaf = true;
            self.in_retry[d] = true;
            self.sides[1 - d].controls.push((at, Control::Request));
            return;
        }
        let flit = self.sides[d].buffer.remove(0);
        self.sides[d].read -= 1;
        if self.sides[d].buffer.is_empty() {
            self.in_retry[d] = false;
        }
        for (class, n) in flit.credits {
            self.sides[1 - d].returning.push((at, class, n));
        }
        for (class, number) in flit.done {
            self.arrivals.push((Direction::ALL[d], at.div_ceil(1024), number));
            if let (Some(class), Release::After(drain)) = (class, self.spec.credits[d].release) {
                self.owe(d, class, at + drain.as_ticks().0);
            }
        }
    }
}
