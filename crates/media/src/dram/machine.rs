//! A memory: one controller for each data bus.

use super::channel::Channel;
use super::clock::{Clock, NEVER};
use super::command::{BusUse, Command, Counters, Done, Offer, Request};
use super::config::{BadDram, Config};
use super::map::Map;
use lanetwin_units::{Instant, Span};

/// A memory: the controllers of all its data buses.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) map: Map,
    pub(super) clock: Clock,
    pub(super) channels: Vec<Channel>,
    /// For each channel a clock before which no outstanding answer can come; [`NEVER`] if none will come.
    answers: Vec<u64>,
    /// The least of these.
    soonest: u64,
    /// Least number of clocks from a command to an answer.
    least: u64,
    /// The last time passed in, and its edge.
    last_edge: (Instant, u64),
    /// Answers that have not been fetched.
    ready: Vec<Done>,
}

impl Machine {
    /// A memory whose rows are all closed.
    ///
    /// # Errors
    /// Every mistake in the configuration.
    pub fn new(config: &Config) -> Result<Self, Vec<BadDram>> {
        let mistakes = config.mistakes();
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let buses = config.geometry.buses(config.speed);
        let clock = config.timings().clock;
        let channels: Vec<Channel> = (0..buses).map(|bus| Channel::new(config, bus)).collect();
        Ok(Self {
            map: Map::new(config),
            clock,
            least: channels.iter().map(Channel::least_clocks).min().unwrap_or(0),
            channels,
            answers: vec![NEVER; buses as usize],
            soonest: NEVER,
            last_edge: (Instant::ZERO, clock.edge(Instant::ZERO)),
            ready: Vec::new(),
        })
    }

    /// Offers a request, at a time not before that of any earlier call.
    #[inline]
    pub fn offer(&mut self, now: Instant, request: Request) -> Offer {
        let Some(place) = self.map.place(request.address) else { return Offer::Beyond };
        let clock = self.edge(now);
        let bus = place.bus as usize;
        let direction = request.operation as usize;
        let offered = self.channels[bus].offer(clock, direction, request.token, place, &mut self.ready);
        let Some(soonest) = offered else { return Offer::Full };
        self.answers[bus] = self.answers[bus].min(soonest);
        self.soonest = self.soonest.min(soonest);
        Offer::Accepted
    }

    /// Latest time for the next call of [`Machine::advance`] so that no answer comes late. Returns `None` if no
    /// answer will come without further requests. It is never later than the next answer, but can be earlier than
    /// any.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        let next = if self.soonest == NEVER { Instant::NEVER } else { self.clock.instant(self.soonest) };
        let next = self.ready.iter().map(|done| done.at).fold(next, Instant::min);
        (next != Instant::NEVER).then_some(next)
    }

    /// Catches up where an answer could be due, and appends the known answers in the order of their times; no answer
    /// of a later call is due before [`Machine::next`].
    #[inline]
    pub fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        let edge = self.edge(now);
        // an edge at this instant is not before it, and is due
        if self.soonest < edge || self.soonest == edge && self.clock.instant(edge) == now {
            self.run_to(edge);
        }
        if !self.ready.is_empty() {
            self.hand_out(done);
        }
    }

    /// Appends the known answers in the order of their times.
    #[inline(never)]
    fn hand_out(&mut self, done: &mut Vec<Done>) {
        if !self.ready.is_sorted_by_key(|answer| answer.at) {
            self.ready.sort_by_key(|answer| answer.at);
        }
        if done.is_empty() {
            core::mem::swap(done, &mut self.ready);
        } else {
            done.append(&mut self.ready);
        }
    }

    /// Catches up to clock `edge` on all buses that may have to decide something before it, so that the next call is
    /// not soon.
    #[inline(never)]
    fn run_to(&mut self, edge: u64) {
        for (channel, answer) in self.channels.iter_mut().zip(&mut self.answers) {
            if *answer < edge + self.least {
                channel.run_before(edge, &mut self.ready);
                *answer = channel.next_answer();
            }
        }
        self.settle();
    }

    /// The first edge that is not before `now`; cached, because many requests come at the same time.
    #[inline]
    fn edge(&mut self, now: Instant) -> u64 {
        if self.last_edge.0 != now {
            self.last_edge = (now, self.clock.edge(now));
        }
        self.last_edge.1
    }

    #[inline]
    fn settle(&mut self) {
        self.soonest = self.answers.iter().copied().fold(NEVER, u64::min);
    }

    /// Decides every command before `now` on every bus, so that the counters are those at that time. It changes no
    /// answer.
    pub fn catch_up(&mut self, now: Instant) {
        for (bus, channel) in self.channels.iter_mut().enumerate() {
            channel.run_before(self.clock.edge(now), &mut self.ready);
            self.answers[bus] = channel.next_answer();
        }
        self.settle();
    }

    /// Counters up to the last command that has been decided on each bus, which depends on how far the machine has
    /// looked ahead.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.channels.iter().map(Channel::counters).sum()
    }

    /// Counters up to `now`, the latest time passed in. Undecided commands are decided on a copy, so that the query
    /// changes nothing; too slow for every request.
    #[must_use]
    pub fn counters_up_to(&self, now: Instant) -> Counters {
        let edge = self.clock.edge(now);
        self.channels.iter().map(|channel| channel.up_to(edge).counters()).sum()
    }

    /// Keeps the history that [`Machine::bus_use`] needs up to `before` the last request.
    pub fn keep_history(&mut self, before: Span) {
        let clocks = self.clock.at_least(before.as_ps());
        self.channels.iter_mut().for_each(|channel| channel.keep_history(clocks));
    }

    /// Use of all data buses together up to `now`, which may lie before the last request by at most
    /// the time given to [`Machine::keep_history`]. Commands up to then are decided on a copy; too slow for every
    /// request.
    #[must_use]
    pub fn bus_use(&self, now: Instant) -> BusUse {
        let edge = self.clock.edge(now);
        let each = self.channels.iter().map(|channel| channel.up_to(edge).bus_use(now));
        each.fold(BusUse::default(), BusUse::and)
    }
    /// Number of data buses.
    #[must_use]
    pub fn buses(&self) -> u64 {
        self.channels.len() as u64
    }

    /// Least time of an access: from the request to the last beat, in an open row of an idle bank.
    #[must_use]
    pub fn least_access(&self) -> Span {
        Span::from_ps(self.clock.instant(self.least).as_ps())
    }
    /// Whether writes wait for room in the queues, or could without further requests.
    #[inline]
    #[must_use]
    pub fn is_overfull(&self) -> bool {
        self.channels.iter().any(Channel::is_overfull)
    }

    /// Number of requests that have not been read or written, including queued writes that have been answered.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.channels.iter().map(Channel::waiting).sum()
    }

    /// Starts or stops recording commands.
    pub fn record(&mut self, on: bool) {
        self.channels.iter_mut().for_each(|channel| channel.record(on));
    }

    /// Takes the commands issued since recording began, bus by bus.
    pub fn take_record(&mut self) -> Vec<Command> {
        self.channels.iter_mut().flat_map(Channel::take_record).collect()
    }
}
