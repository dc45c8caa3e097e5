//! The object that a device model owns: it takes requests and returns their ends, both with times.

use crate::config::{BadDrive, DriveConfig, Encryption, Medium};
use crate::counters::{Buffered, Counters, Stocks};
use crate::cross_point;
use crate::ftl::Flash;
use crate::power::{Costs, Governor, Work};
use crate::request::{Done, Finish, Kind, Outcome, Request};
use crate::timers::NEVER;
use lanetwin_units::Instant;
use std::collections::VecDeque;

/// Order among requests that are handed over at the same time.
const fn turn(kind: Kind) -> u8 {
    match kind {
        Kind::Read => 0,
        Kind::Write => 1,
        Kind::Trim | Kind::Flush | Kind::WriteZeroes => 2,
    }
}

enum Core {
    Flash(Box<Flash>),
    CrossPoint(Box<cross_point::Machine>),
}

impl Core {
    /// Requests that have ended since the last call.
    #[inline]
    fn finished(&mut self) -> &mut Vec<Finish> {
        match self {
            Self::Flash(flash) => flash.finished(),
            Self::CrossPoint(medium) => medium.finished(),
        }
    }
    /// Work of the medium that costs energy.
    fn work(&self) -> Work {
        match self {
            Self::Flash(flash) => flash.work(),
            Self::CrossPoint(medium) => medium.work(),
        }
    }
}

/// A drive behind its controller.
pub struct Drive {
    core: Core,
    capacity: u64,
    encryption: Option<(Encryption, u64)>,
    costs: Costs,
    /// Keeps the drive within its power limit, if there is one.
    governor: Option<Governor>,
    /// Requests that wait for power, in the order of arrival; empty without a governor.
    held: VecDeque<Request>,
    /// Since when at least one has waited, if one does \[ps\].
    held_since: u64,
    /// Time for which requests have waited before that \[ps\].
    held_ps: u64,
    /// Requests that will be handed over, with their times, in the order of time.
    coming: VecDeque<(u64, Request)>,
    /// Whether any read has been requested so far, and whether anything else has.
    reads: bool,
    others: bool,
    /// Least time from the hand-over of a request other than a read to its end, among those requested so far \[ps\].
    least_of_others: u64,
    /// Ends still to come, by time and, at equal times, in the order in which they became known: time and token.
    later: VecDeque<(u64, u32)>,
    /// Ends whose time has come.
    ready: Vec<Done>,
    now: u64,
    host: Host,
}

/// Counters of the host's requests.
#[derive(Clone, Copy, Default)]
struct Host {
    reads: u64,
    writes: u64,
    bytes_read: u64,
    bytes_written: u64,
}

impl Drive {
    /// A drive. Equal configurations and seeds give equal drives.
    ///
    /// # Errors
    /// Every mistake in the configuration.
    pub fn new(config: &DriveConfig, seed: u64) -> Result<Self, Vec<BadDrive>> {
        let mistakes = config.mistakes();
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let core = match &config.medium {
            Medium::Nand(nand, ftl) => Core::Flash(Box::new(Flash::new(config, nand, ftl, seed))),
            Medium::CrossPoint(medium) => Core::CrossPoint(Box::new(cross_point::Machine::new(
                medium,
                &config.buffer,
                config.capacity.0,
                config.spread,
                seed,
            ))),
        };
        Ok(Self {
            core,
            capacity: config.capacity.0,
            encryption: config.encryption.map(|encryption| (encryption, 0)),
            costs: Costs::of(config),
            governor: config.energy.allowed_milliwatts().map(Governor::new),
            held: VecDeque::new(),
            held_since: 0,
            held_ps: 0,
            coming: VecDeque::new(),
            reads: false,
            others: false,
            least_of_others: NEVER,
            later: VecDeque::new(),
            ready: Vec::new(),
            now: 0,
            host: Host::default(),
        })
    }

    /// Takes a request.
    ///
    /// # Panics
    /// If `now` is before an earlier call's.
    pub fn submit(&mut self, now: Instant, request: Request) {
        self.run(now.as_ps());
        self.note_kind(&request);
        self.take(&request);
    }

    /// Takes a request ahead of time, as if by [`submit`](Self::submit) at `at`. Of requests with the same time reads
    /// come first, then writes, then all others; equal ones in the order of the calls. Returns the time by which
    /// [`advance`](Self::advance) must be called next, as far as requests given ahead are concerned.
    ///
    /// # Panics
    /// If `at` is before an earlier call's present.
    pub fn submit_at(&mut self, at: Instant, request: Request) -> Instant {
        let at = at.as_ps();
        assert!(at >= self.now, "a request cannot come in the past: {at} ps after {} ps", self.now);
        self.note_kind(&request);
        let turn_of = |(at, request): &(u64, Request)| (*at, turn(request.kind));
        let coming = (at, request);
        let mut place = self.coming.len();
        while place > 0 && turn_of(&self.coming[place - 1]) > turn_of(&coming) {
            place -= 1;
        }
        self.coming.insert(place, coming);
        Instant::from_ps(self.first_of_coming())
    }

    /// Outcome of a request that ends as soon as it is handed over. Returns `None` for others.
    fn ends_at_once(&self, request: &Request) -> Option<Outcome> {
        let in_range = request.first.checked_add(request.bytes).is_some_and(|end| end <= self.capacity);
        if request.kind == Kind::Flush || (in_range && request.bytes > 0) {
            return None;
        }
        Some(if in_range { Outcome::Success } else { Outcome::OutOfRange })
    }

    /// Notes how soon requests like this one can end.
    fn note_kind(&mut self, request: &Request) {
        let at_once = self.ends_at_once(request).is_some();
        if request.kind == Kind::Read && !at_once {
            self.reads = true;
            return;
        }
        self.others = true;
        let least = match &self.core {
            _ if at_once => 0,
            Core::Flash(flash) => flash.least(request.kind, false),
            Core::CrossPoint(medium) => medium.least(request.kind),
        };
        self.least_of_others = self.least_of_others.min(least);
    }

    /// Time before which no request given ahead can end \[ps\].
    #[inline]
    fn first_of_coming(&self) -> u64 {
        let Some((at, _)) = self.coming.front() else { return NEVER };
        let least_of_reads = match &self.core {
            _ if !self.reads => NEVER,
            Core::Flash(flash) => flash.least(Kind::Read, !self.others),
            Core::CrossPoint(medium) => medium.least(Kind::Read),
        };
        at.saturating_add(least_of_reads.min(self.least_of_others))
    }

    /// Hands over a request at the present time.
    fn take(&mut self, request: &Request) {
        if let Some(outcome) = self.ends_at_once(request) {
            self.ready.push(Done { token: request.token, outcome });
            return;
        }
        if self.lacks_power() {
            if self.held.is_empty() {
                self.held_since = self.now;
            }
            self.held.push_back(*request);
        } else {
            self.hand_over(request);
        }
        self.reap();
    }

    /// Whether a new request has to wait for power, or for another that does.
    fn lacks_power(&mut self) -> bool {
        if self.governor.is_none() {
            return false;
        }
        self.pay();
        !self.held.is_empty() || !self.governor.as_ref().is_some_and(Governor::lets_pass)
    }

    /// Charges the governor for the work done up to now.
    fn pay(&mut self) {
        let spent = self.work().picojoules(&self.costs);
        self.governor.iter_mut().for_each(|governor| governor.pay(self.now, spent));
    }

    /// Time at which requests that wait for power are next considered \[ps\].
    #[inline]
    fn first_of_held(&self) -> u64 {
        match &self.governor {
            Some(governor) if !self.held.is_empty() => governor.paid_back_at(),
            _ => NEVER,
        }
    }

    /// Releases requests that have waited for power, while there is some.
    fn let_pass(&mut self) {
        self.pay();
        while self.governor.as_ref().is_some_and(Governor::lets_pass) {
            let Some(request) = self.held.pop_front() else { break };
            if self.held.is_empty() {
                self.held_ps += self.now - self.held_since;
            }
            self.hand_over(&request);
            self.pay();
        }
        self.reap();
    }

    /// All work done so far that costs energy.
    fn work(&self) -> Work {
        Work { host_bytes: self.host.bytes_read + self.host.bytes_written, ..self.core.work() }
    }

    /// Passes a request to the medium at the present time.
    fn hand_over(&mut self, request: &Request) {
        let now = self.now;
        let mut earliest = now;
        match request.kind {
            Kind::Read => {
                self.host.reads += 1;
                self.host.bytes_read += request.bytes;
            }
            Kind::Write => {
                self.host.writes += 1;
                self.host.bytes_written += request.bytes;
                earliest = self.encrypt(now, request.bytes);
            }
            Kind::Trim | Kind::Flush | Kind::WriteZeroes => {}
        }
        match &mut self.core {
            Core::Flash(flash) => flash.submit(now, request, earliest),
            Core::CrossPoint(medium) => medium.submit(now, request, earliest),
        }
    }

    /// Time by which [`advance`](Self::advance) must be called next: not later than the next end of a request,
    /// perhaps earlier. Internal events before that are caught up with. Returns `None` if nothing will happen without
    /// another request.
    #[must_use]
    pub fn next_event(&self) -> Option<Instant> {
        if !self.ready.is_empty() {
            return Some(Instant::from_ps(self.now));
        }
        let medium = match &self.core {
            Core::Flash(flash) => flash.soonest(),
            Core::CrossPoint(medium) => medium.soonest(),
        };
        let later = self.later.front().map_or(NEVER, |(at, _)| *at);
        let next = medium.min(later).min(self.first_of_coming()).min(self.first_of_held());
        (next != NEVER).then_some(Instant::from_ps(next))
    }

    /// Does everything up to and including `now`, and appends the requests that have ended, in the order of their
    /// ends. If it is called at every [`next_event`](Self::next_event), every end is reported at its time.
    ///
    /// # Panics
    /// If `now` is before an earlier call's.
    pub fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        self.run(now.as_ps());
        done.append(&mut self.ready);
    }

    fn run(&mut self, now: u64) {
        assert!(now >= self.now, "time runs backwards: {now} ps after {} ps", self.now);
        loop {
            let held = self.first_of_held();
            let coming = self.coming.front().map_or(NEVER, |(at, _)| *at);
            if held.min(coming) > now {
                break;
            }
            self.reach(held.min(coming));
            // waiting requests came earlier
            if held <= coming {
                self.let_pass();
            } else if let Some((_, request)) = self.coming.pop_front() {
                self.take(&request);
            }
        }
        self.reach(now);
    }

    /// Lets the medium work up to `now`, before which nothing is handed over.
    #[inline]
    fn reach(&mut self, now: u64) {
        self.now = now;
        match &mut self.core {
            Core::Flash(flash) => flash.run(now),
            Core::CrossPoint(medium) => medium.run(now),
        }
        self.reap();
    }

    /// Collects the requests that have ended; usually there are none.
    #[inline]
    fn reap(&mut self) {
        if !self.core.finished().is_empty() || self.later.front().is_some_and(|(at, _)| *at <= self.now) {
            self.reap_some();
        }
    }

    #[inline(never)]
    fn reap_some(&mut self) {
        if !self.core.finished().is_empty() {
            let mut finished = core::mem::take(self.core.finished());
            finished.drain(..).for_each(|finish| self.finish(finish));
            *self.core.finished() = finished;
        }
        while let Some((_, token)) = self.later.front().copied().filter(|(at, _)| *at <= self.now) {
            self.later.pop_front();
            self.ready.push(Done { token, outcome: Outcome::Success });
        }
    }

    fn finish(&mut self, finish: Finish) {
        // reads pass the encryption in the order of their ends
        let at = if finish.kind == Kind::Read { self.encrypt(finish.at, finish.bytes) } else { finish.at };
        if at <= self.now && self.later.is_empty() {
            self.ready.push(Done { token: finish.token, outcome: Outcome::Success });
            return;
        }
        let mut place = self.later.len();
        while place > 0 && self.later[place - 1].0 > at {
            place -= 1;
        }
        self.later.insert(place, (at, finish.token));
    }

    /// Time at which data that arrive now have passed the encryption.
    fn encrypt(&mut self, now: u64, bytes: u64) -> u64 {
        let Some((encryption, free)) = &mut self.encryption else { return now };
        let time = u128::from(bytes) * 1_000_000_000_000 / u128::from(encryption.bytes_per_second);
        *free = now.max(*free) + time as u64;
        *free + encryption.latency.as_ps()
    }

    /// Counters up to the time of the last call.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut counters = match &self.core {
            Core::Flash(flash) => flash.counters(self.now),
            Core::CrossPoint(medium) => medium.counters(self.now),
        };
        counters.host_reads = self.host.reads;
        counters.host_writes = self.host.writes;
        counters.host_bytes_read = self.host.bytes_read;
        counters.host_bytes_written = self.host.bytes_written;
        counters.work_nanojoules = (self.work().picojoules(&self.costs) / 1000) as u64;
        counters.held_ps = self.held_ps + if self.held.is_empty() { 0 } else { self.now - self.held_since };
        counters.idle_nanojoules =
            (u128::from(self.now) * u128::from(self.costs.idle_milliwatts()) / 1_000_000) as u64;
        counters
    }

    /// Reserves as of the time of the last call.
    #[must_use]
    pub fn stocks(&self) -> Stocks {
        let stocks = match &self.core {
            Core::Flash(flash) => flash.stocks(),
            Core::CrossPoint(_) => Stocks::default(),
        };
        let spent = self.work().picojoules(&self.costs);
        let saved = |governor: &Governor| governor.saved(self.now, spent);
        Stocks { saved_power: self.governor.as_ref().map(saved), ..stocks }
    }

    /// State of the write buffer.
    #[must_use]
    pub fn buffered(&self) -> Buffered {
        let buffered = match &self.core {
            Core::Flash(flash) => flash.buffered(self.now),
            Core::CrossPoint(medium) => medium.buffered(),
        };
        Buffered { passed: self.host.bytes_written, unpaid: self.unpaid(), ..buffered }
    }

    /// Time that a program on every die would keep requests waiting for power \[ps\], since programs are charged when
    /// they are given to their dies. 0 if there is power left, or if most dies do not program.
    fn unpaid(&self) -> u64 {
        let (Some(governor), Core::Flash(flash)) = (&self.governor, &self.core) else { return 0 };
        let is_spent = governor.saved(self.now, self.work().picojoules(&self.costs)) <= 1;
        let programs = flash.program_of_each().filter(|_| is_spent);
        programs.map_or(0, |work| governor.pays_in(work.picojoules(&self.costs)))
    }

    /// Empties the write buffer, as it will be if the medium programs faster than writes come.
    pub fn empty_buffer(&mut self) {
        if let Core::Flash(flash) = &mut self.core {
            flash.empty_buffer();
        }
    }

    /// Puts dies in the state in which writes come faster than GC frees space: they take the next program one after
    /// the other.
    pub fn await_collection(&mut self) {
        if let Core::Flash(flash) = &mut self.core {
            flash.await_collection(self.now);
        }
    }

    /// Fills the write buffer with more of what is being written, as it will be if writes continue to come faster
    /// than the medium programs.
    pub fn fill_buffer(&mut self) {
        if let Core::Flash(flash) = &mut self.core {
            flash.fill_buffer();
        }
    }

    /// Busy time of each channel and each die up to the time of the last call \[ps\]. Dies are in the order of
    /// channels, then chips.
    #[must_use]
    pub fn busy(&self) -> (Vec<u64>, Vec<u64>) {
        match &self.core {
            Core::Flash(flash) => flash.busy(self.now),
            Core::CrossPoint(medium) => medium.busy(self.now),
        }
    }

    /// Catches up with internal events up to `now`, before [`next_event`](Self::next_event), so that
    /// [counters](Self::counters) and [busy times](Self::busy) are those at `now`. It changes nothing else, and has
    /// no effect if `now` is before an earlier call's.
    pub fn catch_up(&mut self, now: Instant) {
        if now.as_ps() > self.now {
            self.run(now.as_ps());
        }
    }

    /// Valid units of each full block, in the order of blocks; empty for a medium without blocks.
    #[must_use]
    pub fn occupancy(&self) -> Vec<u32> {
        match &self.core {
            Core::Flash(flash) => flash.occupancy(),
            Core::CrossPoint(_) => Vec::new(),
        }
    }
}
