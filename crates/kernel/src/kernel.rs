//! The kernel: components, and the loop that delivers events to them.

use crate::agenda::{Core, Foreseen, Pending, TieOrder, WAKE};
use crate::component::{Component, Content, role_of};
use crate::context::Context;
use crate::ids::ComponentId;
use crate::observe::{Observe, Recent, Tap};
use crate::outside::{Emitted, EntryId, OUTSIDE, Outside};
use crate::queue::Entry;
use crate::random::{hash_name, mix, mix_product};
use crate::report::Report;
use crate::trail::Trail;
use lanetwin_units::Instant;

/// Constant that is mixed into time and channel of a delivery for the digest.
const DELIVERY: u64 = mix(0);

/// A sealed machine, ready to run.
pub struct Kernel<M> {
    pub(crate) components: Vec<Box<dyn Component<M>>>,
    pub(crate) paths: Vec<String>,
    /// Components in the order of their paths: maps the rank of a wake to its component.
    pub(crate) by_path: Vec<u32>,
    pub(crate) core: Core<M>,
    /// Messages that foreseeing components are being told of; otherwise empty, and kept for its capacity.
    pub(crate) telling: Vec<Foreseen<M>>,
    pub(crate) outside: Outside<M>,
    /// The first instant about which nothing has been decided.
    pub(crate) undecided_from: u64,
    pub(crate) observe: Observe,
    pub(crate) digest: u64,
    pub(crate) recent: Recent<M>,
    pub(crate) tap: Option<Box<dyn Tap<M>>>,
    pub(crate) events: u64,
    pub(crate) last_event: u64,
    /// The component that handles the current event, for the report of a panic.
    pub(crate) handling: u32,
}

impl<M: Copy + Content> Kernel<M> {
    /// The time of the last event.
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from_ps(self.core.now)
    }
    /// Number of events handled.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }
    /// Sets the event number at which the run stops, whatever is requested: one event before a panic, for example.
    pub fn stop_after(&mut self, events: u64) {
        self.last_event = events;
    }
    /// The path of the component that handles the current event, or handled the last one.
    #[must_use]
    pub fn handling(&self) -> &str {
        &self.paths[self.handling as usize]
    }
    /// The time of the next event, if there is one.
    pub fn next_event(&mut self) -> Option<Instant> {
        let time = self.core.next_event();
        (time != u64::MAX).then(|| Instant::from_ps(time))
    }
    /// Makes `message` arrive at `at` through `entry`. The cost does not depend on the number of components.
    ///
    /// # Panics
    /// If `at` has been decided already: [`Kernel::run_until`] has decided everything up to its limit.
    pub fn inject(&mut self, at: Instant, entry: EntryId, message: M) {
        assert!(at.as_ps() >= self.undecided_from, "{at:?} has passed already");
        // a request from outside begins when a component begins it
        self.core.trails.now = Trail::NONE;
        self.core.send(self.outside.channel(entry), at, message, TieOrder::Normal);
        self.deliver_foreseen(Pending::Nothing);
    }
    /// Drains the messages that have left through exits, in the order of time and, at one instant, of delivery. Nothing
    /// else empties the outbox.
    pub fn take_out(&mut self) -> std::vec::Drain<'_, Emitted<M>> {
        self.outside.outbox.drain(..)
    }
    /// Handles all events up to and including `limit`, and decides nothing after it. A kernel that is stopped
    /// ([`Kernel::stop_after`]) stays at its last event.
    pub fn run_until(&mut self, limit: Instant) {
        self.decide_up_to(limit.as_ps());
        while self.events < self.last_event && self.step_within(limit.as_ps()) {}
        if limit != Instant::NEVER && self.events < self.last_event {
            self.core.now = self.core.now.max(limit.as_ps());
        }
    }
    /// Handles all events up to and including `limit`, but returns as soon as a message leaves, without handling more
    /// of the same instant. The caller may then [inject](Kernel::inject) an answer that arrives at that very instant,
    /// as a component in its place could. Returns whether there are messages to take out.
    pub fn run_until_something_leaves(&mut self, limit: Instant) -> bool {
        while self.outside.outbox.is_empty() {
            let next = self.core.next_event();
            if next > limit.as_ps() || next == u64::MAX || self.events >= self.last_event {
                self.run_until(limit);
                return !self.outside.outbox.is_empty();
            }
            self.core.limit = self.core.limit.max(next);
            self.undecided_from = self.undecided_from.max(next);
            self.step_within(next);
        }
        true
    }
    /// Handles the next event, if there is one; decides nothing after it.
    pub fn step(&mut self) -> bool {
        let next = self.core.next_event();
        if next == u64::MAX {
            return false;
        }
        self.decide_up_to(next);
        self.step_within(next)
    }
    fn decide_up_to(&mut self, limit: u64) {
        self.core.limit = self.core.limit.max(limit);
        self.undecided_from = self.core.limit.saturating_add(1);
    }

    #[inline]
    fn step_within(&mut self, limit: u64) -> bool {
        let Some(entry) = self.core.queue.pop_until(limit, &self.core.messages) else { return false };
        self.events += 1;
        self.core.now = entry.time;
        if entry.rank() < WAKE {
            self.deliver(entry);
        } else {
            let i = self.by_path[(entry.rank() & (WAKE - 1)) as usize];
            self.handling = i;
            self.core.trails.now = Trail::NONE;
            let context = &mut Context { core: &mut self.core, me: i };
            self.components[i as usize].wake(entry.argument(), context);
        }
        if !self.core.foreseen.is_empty() {
            self.deliver_foreseen(Pending::Nothing);
        }
        true
    }

    #[inline]
    fn deliver(&mut self, entry: Entry) {
        let message = self.core.take(entry);
        let channel = entry.rank();
        self.note(Instant::from_ps(entry.time), channel, &message);
        let (to, port) = self.core.channels[channel as usize].to;
        let Some(component) = self.components.get_mut(to.index()) else {
            return self.outside.keep(Instant::from_ps(entry.time), channel, message);
        };
        self.handling = to.0;
        let context = &mut Context { core: &mut self.core, me: to.0 };
        component.receive(port, message, context);
    }

    /// Tells foreseeing components of the messages on their way to them; `after` says what is to be told after them.
    #[inline(always)]
    pub(crate) fn deliver_foreseen(&mut self, after: Pending) {
        while !self.core.foreseen.is_empty() {
            // a component may send more while it is told, and is shown the message in place: a copy would have to wait
            // for the write of it just now
            let mut telling = std::mem::replace(&mut self.core.foreseen, std::mem::take(&mut self.telling));
            for (i, Foreseen { at, channel, message, trail }) in telling.iter().enumerate() {
                self.note(*at, *channel, message);
                let (to, port) = self.core.channels[*channel as usize].to;
                self.handling = to.0;
                let next = telling.get(i + 1).or_else(|| self.core.foreseen.first());
                self.core.pending = match next {
                    None => after,
                    Some(next) if self.core.channels[next.channel as usize].to.0 == to => Pending::ForSame,
                    Some(_) => Pending::Something,
                };
                self.core.trails.now = *trail;
                let context = &mut Context { core: &mut self.core, me: to.0 };
                self.components[to.index()].expect(*at, port, message, context);
            }
            telling.clear();
            self.telling = telling;
        }
    }

    #[inline(always)]
    fn note(&mut self, at: Instant, channel: u32, message: &M) {
        if self.observe.digest {
            let name = self.core.channels[channel as usize].name;
            let delivery = mix_product(mix_product(name ^ at.as_ps(), DELIVERY), message.content());
            self.digest = self.digest.wrapping_add(delivery);
        }
        self.recent.keep(at, channel, *message);
        if self.tap.is_some() {
            self.show(at, channel, message);
        }
    }

    #[cold]
    #[inline(never)]
    fn show(&mut self, at: Instant, channel: u32, message: &M) {
        if let Some(tap) = &mut self.tap {
            let c = &self.core.channels[channel as usize];
            let path = |id: ComponentId| if id == OUTSIDE { "" } else { self.paths[id.index()].as_str() };
            tap.see(at, path(c.from.0), path(c.to.0), message);
        }
    }

    /// The run so far as 64 bits: every delivery with its time, and the digests of the components.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.components.iter().zip(&self.paths).fold(self.digest, |sum, (component, path)| {
            sum.wrapping_add(mix(hash_name(path) ^ mix(component.digest_up_to(self.now()))))
        })
    }
    /// Sets the tap that sees every message from now on.
    pub fn set_tap(&mut self, tap: Option<Box<dyn Tap<M>>>) {
        self.tap = tap;
    }
    /// The last messages, oldest first: time, path from, path to, message.
    pub fn recent(&self) -> impl Iterator<Item = (Instant, &str, &str, &M)> {
        self.recent.iter().map(|(at, channel, message)| {
            let c = &self.core.channels[*channel as usize];
            let path = |id: ComponentId| if id == OUTSIDE { "" } else { self.paths[id.index()].as_str() };
            (*at, path(c.from.0), path(c.to.0), message)
        })
    }
    /// Shows the state of every component whose path begins with `prefix`, as (path/name, value).
    pub fn inspect(&self, prefix: &str, see: &mut dyn FnMut(&str, String)) {
        for &i in &self.by_path {
            let path = &self.paths[i as usize];
            if path.starts_with(prefix) || prefix.starts_with(path.as_str()) {
                self.components[i as usize].inspect(&mut |name, value| {
                    let full = format!("{path}/{name}");
                    if full.starts_with(prefix) {
                        see(&full, value);
                    }
                });
            }
        }
    }
    /// The stages that requests can be in ([`Context::account`]), with their components and names. The first ones have
    /// no component: unmarked time, and time whose marks are lost.
    #[must_use]
    pub fn stage_names(&self) -> Vec<(Option<ComponentId>, String)> {
        let of_nobody = ["unmarked", "not followed"].map(|name| (None, name.to_owned()));
        let of_all = (0..).zip(&self.components).flat_map(|(i, component)| {
            component.stages().into_iter().map(move |name| (Some(ComponentId(i)), name))
        });
        of_nobody.into_iter().chain(of_all).collect()
    }
    /// The path of a component.
    #[must_use]
    pub fn path(&self, component: ComponentId) -> &str {
        &self.paths[component.index()]
    }
    /// The current report of every component, with its path, in the order of paths.
    pub fn report(&mut self) -> Vec<(ComponentId, &str, Report)> {
        let now = self.now();
        let mut reports = Vec::with_capacity(self.by_path.len());
        for &i in &self.by_path {
            let mut report = Report::default();
            self.components[i as usize].report(now, &mut report);
            reports.push((ComponentId(i), self.paths[i as usize].as_str(), report));
        }
        reports
    }
    /// The component that was added as `id`, as a trait object; `None` if it does not declare the trait.
    pub fn role<T: ?Sized + 'static>(&mut self, id: ComponentId) -> Option<&mut T> {
        role_of(&mut *self.components[id.index()])
    }
    /// The components that declare a trait, in the order of paths.
    pub fn with_role<T: ?Sized + 'static>(&mut self) -> Vec<ComponentId> {
        let Self { by_path, components, .. } = self;
        let has = |i: &&u32| role_of::<M, T>(&mut *components[**i as usize]).is_some();
        by_path.iter().filter(has).map(|i| ComponentId(*i)).collect()
    }
    /// The component that was added as `id`, as its own type.
    pub fn component<T: 'static>(&mut self, id: ComponentId) -> Option<&mut T> {
        self.components[id.index()].as_any()?.downcast_mut()
    }
}
