//! A key-value store like Redis, with a client like memtier_benchmark.
//!
//! ```text
//!  request ─► bucket ─► entry ─► key ─┬► object ─► value ─► reply
//!             │ hash    └─ next ◄─────┘  each arrow a load that needs the one before it
//! ```
//!
//! A thread is an instance of the store with its own keys: commands of one instance run on one thread. It serves its
//! clients in turn; each has sent `pipeline` requests by then. The cost of a request besides memory is two assumed
//! times: [`KeyValue::exchange`] each time that a client is served (poll, read and write of its socket), and
//! [`KeyValue::command`] for each request (parse, dispatch, reply).
//!
//! **Counting.** An operation is a request. It begins when the thread reads it and ends with the last line of its
//! reply; time in a socket and the exchange are not included. In a closed loop, by Little's law, a client sees a
//! latency of clients × pipeline / throughput.
//!
//! **Simplified.** A SET writes the new value in place; a real allocator would give it a slot that was freed a moment
//! ago, with as many lines elsewhere. All keys exist. No rehashing, no eviction, no persistence. The processor
//! speculates past the comparison of keys, so that the object is loaded together with the key (assumed).

mod heap;
mod spec;
mod table;

use super::layout::{Layout, Part};
use super::walk::LINE;
use super::window::Window;
use crate::fio::Zipf;
use crate::memory::{Program, Step, Touch};
use heap::{Extent, Heap};
use lanetwin_kernel::Stream;
use lanetwin_units::Span;
use spec::BUFFER;
pub use spec::{BadKeyValue, KeyValue, Popularity, ValueSize};
use std::collections::VecDeque;
use table::Table;

/// A request without key and value \[B\]: the words of the protocol around them (assumed).
const REQUEST: u64 = 24;
/// A reply without a value \[B\].
const REPLY: u64 = 8;

/// The instances of a store. The spec has been checked. A store is alike at all times: the stretches of a window follow
/// one another.
pub(super) fn program(spec: &KeyValue, threads: u32, window: Window, seed: u64) -> Store {
    let left = match window {
        Window::Whole => None,
        Window::Stretches { count, steps } => Some(u64::from(count) * steps),
    };
    let mut layout = Layout::default();
    let instance = |thread| {
        let path = format!("kv/{thread}");
        let stream = |purpose| Stream::new(seed, &path, purpose);
        let table = Table::new(spec.keys, stream("hash").bits());
        Instance {
            heap: Heap::place(spec, table.buckets(), &mut layout),
            table,
            keys: Keys::new(spec, stream("keys")),
            kinds: stream("operations"),
            made: 0,
            left,
            steps: VecDeque::new(),
            request: 0,
            reply: 0,
            chain: Vec::new(),
        }
    };
    let instances = (0..threads).map(instance).collect();
    Store { spec: *spec, instances, layout }
}

/// The data structures of `threads` instances.
pub(super) fn parts(spec: &KeyValue, threads: u32) -> Vec<Part> {
    let mut layout = Layout::default();
    for _ in 0..threads {
        Heap::place(spec, Table::new(spec.keys, 0).buckets(), &mut layout);
    }
    layout.parts()
}

/// Draws keys.
#[derive(Debug)]
struct Keys {
    kind: Kind,
    keys: u64,
    stream: Stream,
}

#[derive(Debug)]
enum Kind {
    Even,
    Zipf(Zipf),
    Gauss { deviation: f64 },
}

impl Keys {
    fn new(spec: &KeyValue, stream: Stream) -> Self {
        let kind = match spec.popularity {
            Popularity::Even => Kind::Even,
            Popularity::Zipf { theta } => Kind::Zipf(Zipf::new(theta, spec.keys)),
            Popularity::Gauss { deviation } => Kind::Gauss { deviation: deviation * spec.keys as f64 },
        };
        Self { kind, keys: spec.keys, stream }
    }
    fn draw(&mut self) -> u64 {
        match &self.kind {
            Kind::Even => self.stream.below(self.keys),
            Kind::Zipf(zipf) => zipf.rank(&mut self.stream).min(self.keys - 1),
            Kind::Gauss { deviation } => {
                // drawn again until it is a key, as memtier does
                loop {
                    let radius = (-2.0 * libm::log(self.stream.unit())).sqrt();
                    let turn = libm::cos(std::f64::consts::TAU * self.stream.unit());
                    let at = self.keys as f64 / 2.0 + deviation * radius * turn;
                    if at >= 0.0 && at < self.keys as f64 {
                        return at as u64;
                    }
                }
            }
        }
    }
}

/// One instance and where it is.
#[derive(Debug)]
struct Instance {
    heap: Heap,
    table: Table,
    keys: Keys,
    kinds: Stream,
    made: u64,
    /// Steps left; `None` for no limit.
    left: Option<u64>,
    /// The remaining steps of the current operation.
    steps: VecDeque<Step>,
    /// Positions of requests and replies of the current client in their buffers \[B\].
    request: u64,
    reply: u64,
    chain: Vec<u64>,
}

/// The instances of a store.
#[derive(Debug)]
pub(super) struct Store {
    spec: KeyValue,
    instances: Vec<Instance>,
    layout: Layout,
}

impl Program for Store {
    fn threads(&self) -> u32 {
        self.instances.len() as u32
    }
    fn footprint(&self) -> u64 {
        self.layout.end()
    }
    fn next(&mut self, thread: u32) -> Option<Step> {
        let instance = &mut self.instances[thread as usize];
        if instance.steps.is_empty() {
            if self.spec.operations.is_some_and(|operations| instance.made >= operations) {
                return None;
            }
            instance.operate(&self.spec);
        }
        if let Some(left) = &mut instance.left {
            *left = left.checked_sub(1)?;
        }
        instance.steps.pop_front()
    }
}

impl Instance {
    /// Writes the steps of the next operation.
    fn operate(&mut self, spec: &KeyValue) {
        let is_new = self.made.is_multiple_of(u64::from(spec.pipeline));
        let client = (self.made / u64::from(spec.pipeline) % u64::from(spec.clients)) as u32;
        self.made += 1;
        if is_new {
            (self.request, self.reply) = (0, 0);
        }
        let key = self.keys.draw();
        let sets = self.kinds.below(u64::from(spec.sets) + u64::from(spec.gets)) < u64::from(spec.sets);
        let value_bytes = self.heap.value_bytes(key);
        let asked = REQUEST + spec.key_bytes + if sets { value_bytes } else { 0 };
        let request = buffered(self.heap.buffer(client, false), &mut self.request, asked);
        self.touch(request, Touch::Load, false);
        if is_new && let Some(first) = self.steps.front_mut() {
            first.think = spec.exchange;
        }
        self.find(key, spec.command);
        let value = self.heap.value(key);
        if sets {
            self.write(key, value);
        } else {
            self.read(key, value);
        }
        let answered = REPLY + if sets { 0 } else { value_bytes };
        let reply = buffered(self.heap.buffer(client, true), &mut self.reply, answered);
        self.touch(reply, Touch::Store, false);
        if let Some(last) = self.steps.back_mut() {
            (last.ends, last.sets) = (true, sets);
        }
    }
    /// From the hash to the key: the bucket, then entries and keys along the chain.
    fn find(&mut self, key: u64, command: Span) {
        let bucket = self.heap.bucket(self.table.bucket(key));
        self.steps.push_back(Step { think: command, ..step(bucket / LINE, Touch::Load, false) });
        let mut chain = std::mem::take(&mut self.chain);
        self.table.before(key, &mut chain);
        for key in chain.iter().chain([&key]) {
            self.touch(self.heap.entry(*key), Touch::Load, true);
            self.touch(self.heap.key(*key), Touch::Load, true);
        }
        self.chain = chain;
    }
    /// The time of the last access is in the object: a GET writes, too (Redis: `lookupKey`).
    fn read(&mut self, key: u64, value: Extent) {
        let head = self.heap.object(key).unwrap_or(value.first) / LINE;
        self.steps.push_back(step(head, Touch::Load, false));
        self.steps.push_back(step(head, Touch::Store, false));
        if self.heap.object(key).is_some() {
            self.touch(value, Touch::Load, true);
        } else {
            let rest = (value.first / LINE + 1) * LINE;
            let bytes = (value.first + value.bytes).saturating_sub(rest);
            self.touch(Extent { first: rest, bytes }, Touch::Load, false);
        }
    }
    fn write(&mut self, key: u64, value: Extent) {
        if let Some(object) = self.heap.object(key) {
            self.steps.push_back(step(object / LINE, Touch::Load, false));
            self.steps.push_back(step(object / LINE, Touch::Store, false));
        }
        self.touch(value, Touch::Store, false);
    }
    /// Each line of a stretch; `depends` is about the first: the others follow it.
    fn touch(&mut self, extent: Extent, touch: Touch, depends: bool) {
        if extent.bytes == 0 {
            return;
        }
        let lines = extent.first / LINE..=(extent.first + extent.bytes - 1) / LINE;
        self.steps.extend(lines.enumerate().map(|(index, line)| step(line, touch, depends && index == 0)));
    }
}

const fn step(line: u64, touch: Touch, depends: bool) -> Step {
    Step { think: Span::ZERO, address: line * LINE, touch, depends, ends: false, sets: false }
}

/// The next `bytes` of a buffer; starts over where they do not fit.
const fn buffered(buffer: u64, used: &mut u64, bytes: u64) -> Extent {
    if *used + bytes > BUFFER {
        *used = 0;
    }
    let extent = Extent { first: buffer + *used, bytes };
    *used += bytes;
    extent
}

#[cfg(test)]
mod tests;
