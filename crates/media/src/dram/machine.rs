//! A memory: its controllers, one for each data bus.

use super::channel::Channel;
use super::clock::{Clock, NEVER};
use super::command::{Command, Counters, Done, Offer, Request, sum};
use super::config::{BadDram, Config};
use super::map::Map;
use lanetwin_units::{Instant, Span};

/// A memory: the controllers of all its data buses.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) map: Map,
    pub(super) clock: Clock,
    pub(super) channels: Vec<Channel>,
    /// No answer of a channel that has not been given can be earlier than this clock; [`NEVER`] if none will come.
    answers: Vec<u64>,
    /// The least of these.
    soonest: u64,
    /// From a command to an answer, at the least \[clocks\].
    least: u64,
    /// The last time that was told, and its edge.
    last_edge: (Instant, u64),
    /// Answers that nobody has fetched.
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

    /// Asks for something, at a time that is not before that of any call before.
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

    /// When [`Machine::advance`] has to be called at the latest so that no answer comes late; none if no answer will
    /// come without further requests. It is never later than the next answer, and can be earlier than any.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        let next = if self.soonest == NEVER { Instant::NEVER } else { self.clock.instant(self.soonest) };
        let next = self.ready.iter().map(|done| done.at).fold(next, Instant::min);
        (next != Instant::NEVER).then_some(next)
    }

    /// Catches up where an answer could be due, and appends the answers that are known, in the order of their times;
    /// none of a later call is due before [`Machine::next`].
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

    /// Appends the answers that are known, in the order of their times.
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

    /// Catches up to clock `edge` on all buses where there may be something to decide before it, so that the next time
    /// is not soon.
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

    /// The first edge that is not before `now`. Many requests come at one time.
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

    /// Decides every command before `now` on every bus: the counters are then those of that time. It changes no answer.
    pub fn catch_up(&mut self, now: Instant) {
        for (bus, channel) in self.channels.iter_mut().enumerate() {
            channel.run_before(self.clock.edge(now), &mut self.ready);
            self.answers[bus] = channel.next_answer();
        }
        self.settle();
    }

    /// What it has done, up to the last command that has been decided on each bus: that depends on how far the machine
    /// has looked ahead.
    #[must_use]
    pub fn counters(&self) -> Counters {
        sum(self.channels.iter().map(Channel::counters))
    }

    /// What it has done before `now`, the latest time that it has been told, however far it has looked. What is not
    /// decided yet is decided on a copy, so that nothing depends on whether somebody has asked: not for every request.
    #[must_use]
    pub fn counters_up_to(&self, now: Instant) -> Counters {
        let edge = self.clock.edge(now);
        sum(self.channels.iter().map(|channel| channel.up_to(edge).counters()))
    }

    /// Keeps what has to be known for [`Machine::busy`] up to `before` the last request.
    pub fn keep_history(&mut self, before: Span) {
        let clocks = self.clock.at_least(before.as_ps());
        self.channels.iter_mut().for_each(|channel| channel.keep_history(clocks));
    }

    /// For how long each data bus has carried data up to `now` \[ps\], which is not longer before the last request than
    /// [`Machine::keep_history`] says. It decides what happens up to then on a copy: not for every request.
    #[must_use]
    pub fn busy(&self, now: Instant) -> Vec<u64> {
        let edge = self.clock.edge(now);
        self.channels.iter().map(|channel| channel.up_to(edge).busy_ps(now)).collect()
    }

    /// How long an access takes at the least: from the request to the last beat, in an open row of an idle bank.
    #[must_use]
    pub fn least_access(&self) -> Span {
        Span::from_ps(self.clock.instant(self.least).as_ps())
    }
    /// Whether writes wait for room in the queues, or could without the memory having been asked for anything more.
    #[inline]
    #[must_use]
    pub fn is_overfull(&self) -> bool {
        self.channels.iter().any(Channel::is_overfull)
    }

    /// Requests that have neither been read nor written, queued writes that are answered included.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.channels.iter().map(Channel::waiting).sum()
    }

    /// Records commands from now on, or stops.
    pub fn record(&mut self, on: bool) {
        self.channels.iter_mut().for_each(|channel| channel.record(on));
    }

    /// The commands issued since recording began, bus by bus; forgets them.
    pub fn take_record(&mut self) -> Vec<Command> {
        self.channels.iter_mut().flat_map(Channel::take_record).collect()
    }
}
