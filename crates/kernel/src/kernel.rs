//! The kernel itself: components, the channels between them, and the loop.

use crate::component::{Component, ComponentId, Content, Port, Supply};
use crate::observe::{Observe, Recent, Tap};
use crate::queue::{Entry, Queue, TieRule};
use crate::random::{hash_name, mix};
use lanetwin_units::{Instant, Span, id};
use std::cmp::Ordering;

id! {
    /// A way into a kernel from outside, made by [`Builder::entry`].
    EntryId(u32) => "in";
}

/// The upper bits of a rank are its phase: deliveries come first, then wakes, then the wakes of foreseeing components.
/// A foreseeing component decides what it does with everything that was sent up to now, so it must come last.
const WAKE: u32 = 1 << 30;
const DECIDE: u32 = 1 << 31;
const OUTSIDE: ComponentId = ComponentId(u32::MAX);
const UNCONNECTED: u32 = u32::MAX;

struct Channel {
    from: (ComponentId, Port),
    to: (ComponentId, Port),
    foreseen: bool,
    sent: u64,
    name: u64,
}

struct Slot<M> {
    message: M,
    sequence: u64,
}

struct Slots<M> {
    slots: Vec<Slot<M>>,
    free: Vec<u32>,
}

impl<M: Copy> Slots<M> {
    #[inline]
    fn put(&mut self, message: M, sequence: u64) -> u32 {
        if let Some(i) = self.free.pop() {
            self.slots[i as usize] = Slot { message, sequence };
            i
        } else {
            self.slots.push(Slot { message, sequence });
            (self.slots.len() - 1) as u32
        }
    }
    #[inline]
    fn take(&mut self, i: u32) -> M {
        self.free.push(i);
        self.slots[i as usize].message
    }
}

impl<M> TieRule for Slots<M> {
    /// Messages of one channel that arrive together arrive in the order in which they were sent; wakes of one component
    /// that fall together happen in the order of their tokens.
    fn order(&self, rank: u32, a: u32, b: u32) -> Ordering {
        if rank >= WAKE {
            return a.cmp(&b);
        }
        self.slots[a as usize].sequence.cmp(&self.slots[b as usize].sequence)
    }
}

struct Foreseen<M> {
    at: Instant,
    channel: u32,
    message: M,
}

/// All that a component may touch through its [`Context`].
struct Core<M> {
    now: u64,
    /// The end of the current slice: nothing after it may be decided.
    limit: u64,
    queue: Queue,
    slots: Slots<M>,
    channels: Vec<Channel>,
    /// For each component the first of its rows in `outputs`.
    first_output: Vec<u32>,
    outputs: Vec<u32>,
    /// For each component the rank of its wakes: phase, and place in the order of paths.
    wake_rank: Vec<u32>,
    foreseen: Vec<Foreseen<M>>,
}

impl<M: Copy> Core<M> {
    #[inline]
    fn push(&mut self, entry: Entry) {
        self.queue.push(entry, &self.slots);
    }
    #[inline]
    fn send(&mut self, channel: u32, at: Instant, message: M) {
        let c = &mut self.channels[channel as usize];
        c.sent += 1;
        if c.foreseen {
            self.foreseen.push(Foreseen { at, channel, message });
            return;
        }
        let slot = self.slots.put(message, c.sent);
        self.push(Entry { time: at.as_ps(), key: u64::from(channel) << 32 | u64::from(slot) });
    }
    #[inline]
    fn next_event(&mut self) -> u64 {
        self.queue.peek_time(&self.slots)
    }
}

/// What a component can do while it handles an event.
pub struct Context<'a, M> {
    core: &'a mut Core<M>,
    me: u32,
}

impl<M: Copy> Context<'_, M> {
    /// The current time.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from_ps(self.core.now)
    }
    /// Sends `message` out of `port`; it arrives `delay` later.
    ///
    /// # Panics
    /// If nothing is connected to `port`.
    #[inline]
    pub fn send(&mut self, port: Port, delay: Span, message: M) {
        let at = Instant::from_ps(self.core.now + delay.as_ps());
        self.send_at(port, at, message);
    }
    /// Sends `message` out of `port`; it arrives at `at`, which is not in the past.
    ///
    /// # Panics
    /// If nothing is connected to `port`.
    #[inline]
    pub fn send_at(&mut self, port: Port, at: Instant, message: M) {
        debug_assert!(at.as_ps() >= self.core.now, "a message cannot arrive in the past");
        let first = self.core.first_output[self.me as usize] as usize;
        let last = self.core.first_output[self.me as usize + 1] as usize;
        let channel = self.core.outputs[first..last].get(port.index()).copied().unwrap_or(UNCONNECTED);
        assert!(channel != UNCONNECTED, "nothing is connected to {port:?}");
        self.core.send(channel, at, message);
    }
    /// Whether something is connected to `port`.
    #[must_use]
    pub fn is_connected(&self, port: Port) -> bool {
        let first = self.core.first_output[self.me as usize] as usize;
        let last = self.core.first_output[self.me as usize + 1] as usize;
        self.core.outputs[first..last].get(port.index()).is_some_and(|&c| c != UNCONNECTED)
    }
    /// Asks for [`Component::wake`] at `at`, after all messages of that instant.
    #[inline]
    pub fn wake_at(&mut self, at: Instant, token: u32) {
        debug_assert!(at.as_ps() >= self.core.now, "a wake cannot be in the past");
        let rank = self.core.wake_rank[self.me as usize];
        self.core.push(Entry { time: at.as_ps(), key: u64::from(rank) << 32 | u64::from(token) });
    }
    /// The earliest instant at which anything that is not yet known can happen: the next event, or the first moment at
    /// which the outside may inject.
    #[inline]
    #[must_use]
    pub fn next_unknown(&mut self) -> Instant {
        let limit = self.core.limit.saturating_add(1);
        Instant::from_ps(self.core.next_event().min(limit))
    }
    /// The last instant of the current slice: nothing after it may be decided.
    #[inline]
    #[must_use]
    pub fn limit(&self) -> Instant {
        Instant::from_ps(self.core.limit)
    }
}

/// A machine under construction.
pub struct Builder<M> {
    components: Vec<Box<dyn Component<M>>>,
    paths: Vec<String>,
    foresees: Vec<bool>,
    wires: Vec<((ComponentId, Port), (ComponentId, Port))>,
}

impl<M: Copy + Content> Default for Builder<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Copy + Content> Builder<M> {
    /// A machine without components.
    #[must_use]
    pub fn new() -> Self {
        Self { components: Vec::new(), paths: Vec::new(), foresees: Vec::new(), wires: Vec::new() }
    }
    /// Adds a component. Its path names it for people, for the digest and for the order of equal times.
    ///
    /// # Panics
    /// If the path is taken.
    pub fn add(&mut self, path: impl Into<String>, component: Box<dyn Component<M>>) -> ComponentId {
        let path = path.into();
        assert!(!self.paths.contains(&path), "two components are called {path}");
        self.paths.push(path);
        self.components.push(component);
        self.foresees.push(false);
        ComponentId((self.components.len() - 1) as u32)
    }
    /// Adds a component that is told of messages when they are sent ([`Component::expect`]), not when they arrive.
    ///
    /// # Panics
    /// If the path is taken.
    pub fn add_foreseeing(
        &mut self,
        path: impl Into<String>,
        component: Box<dyn Component<M>>,
    ) -> ComponentId {
        let id = self.add(path, component);
        self.foresees[id.index()] = true;
        id
    }
    /// Lets messages sent out of one port arrive at another.
    ///
    /// # Panics
    /// If the output is connected already.
    pub fn connect(&mut self, from: (ComponentId, Port), to: (ComponentId, Port)) {
        assert!(self.wires.iter().all(|w| w.0 != from), "{from:?} is connected already");
        self.wires.push((from, to));
    }
    /// Connects two ports in both directions.
    ///
    /// # Panics
    /// If one of them is connected already.
    pub fn join(&mut self, a: (ComponentId, Port), b: (ComponentId, Port)) {
        self.connect(a, b);
        self.connect(b, a);
    }
    /// Opens a way in from outside to this port.
    pub fn entry(&mut self, to: (ComponentId, Port)) -> EntryId {
        let from = (OUTSIDE, Port(self.wires.len() as u16));
        self.wires.push((from, to));
        EntryId(from.1.0.into())
    }
    /// Ends construction. The kernel stands at time zero, with every component started.
    #[must_use]
    pub fn seal(self) -> Kernel<M> {
        self.seal_observing(Observe::default())
    }
    /// As [`Builder::seal`], with a choice of what is kept of the messages.
    #[must_use]
    pub fn seal_observing(self, observe: Observe) -> Kernel<M> {
        let Self { components, paths, foresees, mut wires } = self;
        let path = |id: ComponentId| if id == OUTSIDE { "" } else { paths[id.index()].as_str() };
        // A channel's number is its rank: the order of names, never the order of construction.
        wires.sort_by(|a, b| {
            (path(a.1.0), a.1.1, path(a.0.0), a.0.1).cmp(&(path(b.1.0), b.1.1, path(b.0.0), b.0.1))
        });
        let channels: Vec<Channel> = wires
            .iter()
            .map(|&(from, to)| Channel {
                from,
                to,
                foreseen: foresees[to.0.index()],
                sent: 0,
                name: mix(hash_name(path(from.0)) ^ u64::from(from.1.0))
                    ^ mix(hash_name(path(to.0))).wrapping_add(u64::from(to.1.0)),
            })
            .collect();
        let (first_output, outputs) = outputs_of(&channels, components.len());
        let mut by_path: Vec<u32> = (0..components.len() as u32).collect();
        by_path.sort_by_key(|&i| &paths[i as usize]);
        let mut wake_rank = vec![0; components.len()];
        for (place, &i) in by_path.iter().enumerate() {
            let phase = if foresees[i as usize] { DECIDE } else { WAKE };
            wake_rank[i as usize] = phase | place as u32;
        }
        let mut kernel = Kernel {
            components,
            paths,
            by_path,
            core: Core {
                now: 0,
                limit: 0,
                queue: Queue::new(),
                slots: Slots { slots: Vec::new(), free: Vec::new() },
                channels,
                first_output,
                outputs,
                wake_rank,
                foreseen: Vec::new(),
            },
            observe,
            digest: 0,
            recent: Recent::new(observe.recent),
            tap: None,
            events: 0,
            last_event: u64::MAX,
            handling: 0,
        };
        for i in 0..kernel.components.len() {
            kernel.handling = i as u32;
            kernel.components[i].start(&mut Context { core: &mut kernel.core, me: i as u32 });
            kernel.tell_foreseen();
        }
        kernel
    }
}

/// For each component the channels of its output ports, one flat table.
fn outputs_of(channels: &[Channel], components: usize) -> (Vec<u32>, Vec<u32>) {
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); components];
    for (i, c) in channels.iter().enumerate().filter(|(_, c)| c.from.0 != OUTSIDE) {
        let (row, port) = (&mut rows[c.from.0.index()], c.from.1.index());
        row.resize(row.len().max(port + 1), UNCONNECTED);
        row[port] = i as u32;
    }
    let mut first = vec![0];
    let mut flat = Vec::new();
    for row in rows {
        flat.extend(row);
        first.push(flat.len() as u32);
    }
    (first, flat)
}

/// A machine that runs.
pub struct Kernel<M> {
    components: Vec<Box<dyn Component<M>>>,
    paths: Vec<String>,
    /// Components in the order of their paths: from the rank of a wake to its component.
    by_path: Vec<u32>,
    core: Core<M>,
    observe: Observe,
    digest: u64,
    recent: Recent<M>,
    tap: Option<Box<dyn Tap<M>>>,
    events: u64,
    last_event: u64,
    /// The component whose turn it is, for the report of a panic.
    handling: u32,
}

impl<M: Copy + Content> Kernel<M> {
    /// The time of the last event.
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from_ps(self.core.now)
    }
    /// How many events have been handled.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }
    /// Handles no event after this many, whatever is asked: stops a run one event before something goes wrong.
    pub fn stop_after(&mut self, events: u64) {
        self.last_event = events;
    }
    /// The path of the component that handles, or last handled, an event.
    #[must_use]
    pub fn handling(&self) -> &str {
        &self.paths[self.handling as usize]
    }
    /// The time of the next event, if there is one.
    pub fn next_event(&mut self) -> Option<Instant> {
        let time = self.core.next_event();
        (time != u64::MAX).then(|| Instant::from_ps(time))
    }
    /// Lets `message` arrive at `at` through `entry`.
    ///
    /// # Panics
    /// If `at` has been reached already: [`Kernel::run_until`] has decided everything up to its limit.
    pub fn inject(&mut self, at: Instant, entry: EntryId, message: M) {
        assert!(self.events == 0 || at.as_ps() > self.core.limit, "{at:?} has passed already");
        let wanted = (OUTSIDE, Port(entry.0 as u16));
        let channel =
            self.core.channels.iter().position(|c| c.from == wanted).expect("an entry of this kernel");
        self.core.send(channel as u32, at, message);
        self.tell_foreseen();
    }
    /// Handles everything up to and including `limit`, and decides nothing after it. A kernel that is stopped
    /// ([`Kernel::stop_after`]) stays at its last event.
    pub fn run_until(&mut self, limit: Instant) {
        self.core.limit = self.core.limit.max(limit.as_ps());
        while self.events < self.last_event && self.step_within(limit.as_ps()) {}
        if limit != Instant::NEVER && self.events < self.last_event {
            self.core.now = self.core.now.max(limit.as_ps());
        }
    }
    /// Handles the next event, if there is one; decides nothing after it.
    pub fn step(&mut self) -> bool {
        let next = self.core.next_event();
        if next == u64::MAX {
            return false;
        }
        self.core.limit = self.core.limit.max(next);
        self.step_within(next)
    }

    #[inline]
    fn step_within(&mut self, limit: u64) -> bool {
        let next = self.core.next_event();
        if next > limit || next == u64::MAX {
            return false;
        }
        let Some(entry) = self.core.queue.pop(&self.core.slots) else { return false };
        self.events += 1;
        self.core.now = entry.time;
        if entry.rank() < WAKE {
            self.deliver(entry);
        } else {
            let i = self.by_path[(entry.rank() & (WAKE - 1)) as usize];
            self.handling = i;
            let context = &mut Context { core: &mut self.core, me: i };
            self.components[i as usize].wake(entry.argument(), context);
        }
        if !self.core.foreseen.is_empty() {
            self.tell_foreseen();
        }
        true
    }

    #[inline]
    fn deliver(&mut self, entry: Entry) {
        let message = self.core.slots.take(entry.argument());
        let channel = entry.rank();
        self.note(Instant::from_ps(entry.time), channel, &message);
        let (to, port) = self.core.channels[channel as usize].to;
        self.handling = to.0;
        let context = &mut Context { core: &mut self.core, me: to.0 };
        self.components[to.index()].receive(port, message, context);
    }

    /// Tells foreseeing components of the messages on their way to them.
    fn tell_foreseen(&mut self) {
        let mut i = 0;
        while i < self.core.foreseen.len() {
            let Foreseen { at, channel, message } = self.core.foreseen[i];
            self.note(at, channel, &message);
            let (to, port) = self.core.channels[channel as usize].to;
            self.handling = to.0;
            let context = &mut Context { core: &mut self.core, me: to.0 };
            self.components[to.index()].expect(at, port, message, context);
            i += 1;
        }
        self.core.foreseen.clear();
    }

    #[inline]
    fn note(&mut self, at: Instant, channel: u32, message: &M) {
        if self.observe.digest {
            let name = self.core.channels[channel as usize].name;
            self.digest =
                self.digest.wrapping_add(mix(name ^ mix(at.as_ps()).wrapping_add(message.content())));
        }
        self.recent.keep(at, channel, *message);
        if let Some(tap) = &mut self.tap {
            let c = &self.core.channels[channel as usize];
            let path = |id: ComponentId| if id == OUTSIDE { "" } else { self.paths[id.index()].as_str() };
            tap.see(at, path(c.from.0), path(c.to.0), message);
        }
    }

    /// What has happened so far, as 64 bits: every delivery with its time, and what each component adds of its own.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.components.iter().zip(&self.paths).fold(self.digest, |sum, (component, path)| {
            sum.wrapping_add(mix(hash_name(path) ^ mix(component.digest())))
        })
    }
    /// Shows every message to `tap` from now on.
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
    /// Shows what was used so far of every component's finite supplies, as (path, name, supply), in the order of paths.
    pub fn supplies(&self, see: &mut dyn FnMut(&str, &str, Supply)) {
        let now = self.now();
        for &i in &self.by_path {
            let path = &self.paths[i as usize];
            self.components[i as usize].supplies(now, &mut |name, supply| see(path, name, supply));
        }
    }
    /// The component that was added as `id`, as its own type.
    pub fn component<T: 'static>(&mut self, id: ComponentId) -> Option<&mut T> {
        self.components[id.index()].as_any()?.downcast_mut()
    }
}
