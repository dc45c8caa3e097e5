//! A naive switch: every frame by itself, an event for everything that happens to it, lists that are searched.

use lanetwin_fabric::ethernet::logic::Train;
use lanetwin_fabric::ethernet::logic::switch::{Mode, SwitchSpec};
use lanetwin_fabric::ethernet::spec::Rate;
use std::collections::BTreeSet;

/// A frame that starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    pub at: u64,
    pub port: u16,
    pub train: Train,
}

/// What happens, in the order in which it does at one instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The room of a frame is free.
    Freed(usize),
    /// The first bit of a frame arrives at a port.
    Arrives(u16, usize),
    /// A wire may be able to take a frame.
    Looks(usize),
}

struct Waiting {
    frame: usize,
    from: u64,
    ingress: u16,
}

struct Naive<'a> {
    spec: &'a SwitchSpec,
    frames: Vec<(u16, Train)>,
    events: BTreeSet<(u64, What)>,
    waiting: Vec<Vec<Waiting>>,
    wire_free: Vec<u64>,
    /// Who holds how much room in which queue: (port, priority, room), by frame.
    held: Vec<Option<(usize, u8, u64)>>,
    out: Vec<Frame>,
}

/// Every frame that leaves, by port and time.
pub fn departures(spec: &SwitchSpec, trains: &[Vec<(u64, Train)>]) -> Vec<Frame> {
    let ports = spec.ports.len();
    let mut naive = Naive {
        spec,
        frames: Vec::new(),
        events: BTreeSet::new(),
        waiting: (0..ports).map(|_| Vec::new()).collect(),
        wire_free: vec![0; ports],
        held: Vec::new(),
        out: Vec::new(),
    };
    for (port, trains) in (0..).zip(trains) {
        for (first, train) in trains {
            for i in 0..train.count {
                let at = first + u64::from(i) * u64::from(train.spacing_ps);
                let [number, a, b] = train.words;
                let words = [number + u32::from(i), a, b];
                naive.events.insert((at, What::Arrives(port, naive.frames.len())));
                naive.frames.push((port, Train { count: 1, spacing_ps: 0, words, ..*train }));
                naive.held.push(None);
            }
        }
    }
    while let Some((now, what)) = naive.events.pop_first() {
        match what {
            What::Freed(frame) => naive.held[frame] = None,
            What::Arrives(port, frame) => naive.arrives(now, port, frame),
            What::Looks(port) => naive.looks(now, port),
        }
    }
    naive.out.sort_by_key(|frame| (frame.port, frame.at));
    naive.out
}

impl Naive<'_> {
    fn rate(&self, port: usize) -> Rate {
        self.spec.ports[port].expect("every port of the test has a rate")
    }

    fn arrives(&mut self, now: u64, ingress: u16, frame: usize) {
        let mut train = self.frames[frame].1;
        let to = train.to.index();
        if to >= self.spec.ports.len() || to == usize::from(ingress) {
            return;
        }
        let buffer = &self.spec.buffer;
        let cell = u64::from(buffer.cell);
        let room = u64::from(train.bytes).div_ceil(cell) * cell;
        let priority = train.class.priority();
        let held = self.held.iter().flatten();
        let used: u64 = held.clone().map(|(_, _, room)| room).sum();
        let queue: u64 =
            held.filter(|(port, of, _)| (*port, *of) == (to, priority)).map(|(_, _, room)| room).sum();
        let free = buffer.bytes.saturating_sub(used);
        let (part, of) = buffer.alpha;
        if room > free || queue * u64::from(of) >= free * u64::from(part) {
            return;
        }
        if train.class.is_ecn_capable() && buffer.mark_above.is_some_and(|least| queue >= least) {
            train.class = train.class.marked();
        }
        self.frames[frame].1 = train;
        self.held[frame] = Some((to, priority, room));
        let whole = self.spec.mode == Mode::StoreAndForward || self.rate(to) > self.rate(ingress.into());
        let body = (8 + u64::from(train.bytes)) * 8000 / self.rate(ingress.into()).gbps();
        let from = now + self.spec.latency_ps + if whole { body } else { 0 };
        self.waiting[to].push(Waiting { frame, from, ingress });
        self.events.insert((from, What::Looks(to)));
    }

    fn looks(&mut self, now: u64, port: usize) {
        if now < self.wire_free[port] {
            return;
        }
        let can = self.waiting[port].iter().enumerate().filter(|(_, waiting)| waiting.from <= now);
        let first = can.min_by_key(|(_, waiting)| {
            let priority = self.frames[waiting.frame].1.class.priority();
            (7 - priority, waiting.from, waiting.ingress)
        });
        let Some((place, _)) = first else { return };
        let Waiting { frame, .. } = self.waiting[port].remove(place);
        let train = self.frames[frame].1;
        self.out.push(Frame { at: now, port: port as u16, train });
        let byte = 8000 / self.rate(port).gbps();
        self.wire_free[port] = now + (8 + u64::from(train.bytes) + 12) * byte;
        self.events.insert((now + (8 + u64::from(train.bytes)) * byte, What::Freed(frame)));
        self.events.insert((self.wire_free[port], What::Looks(port)));
    }
}
