//! The builder: turns components and connections into a kernel, which orders events by their names.

use crate::agenda::{Channel, Core, DECIDE, Messages, Pending, UNCONNECTED, WAKE};
use crate::component::{Component, Content};
use crate::context::Context;
use crate::ids::{ComponentId, Port};
use crate::kernel::Kernel;
use crate::observe::{Observe, Recent};
use crate::outside::{EntryId, ExitId, OUTSIDE, Outside, Side};
use crate::queue::Queue;
use crate::random::{hash_name, mix};
use crate::trail::{OF_NOBODY, Trail, Trails};

/// A machine under construction.
pub struct Builder<M> {
    components: Vec<Box<dyn Component<M>>>,
    paths: Vec<String>,
    foresees: Vec<bool>,
    wires: Vec<(Side, Side)>,
    /// The indices in `wires` of the entries and exits.
    entries: Vec<usize>,
    exits: Vec<usize>,
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
        Self {
            components: Vec::new(),
            paths: Vec::new(),
            foresees: Vec::new(),
            wires: Vec::new(),
            entries: Vec::new(),
            exits: Vec::new(),
        }
    }
    /// Adds a component. Its path identifies it in output, in the digest and in the order of events at one instant.
    ///
    /// # Panics
    /// If another component has the path.
    pub fn add(&mut self, path: impl Into<String>, component: Box<dyn Component<M>>) -> ComponentId {
        let path = path.into();
        assert!(!self.paths.contains(&path), "two components are called {path}");
        self.paths.push(path);
        self.components.push(component);
        self.foresees.push(false);
        ComponentId((self.components.len() - 1) as u32)
    }
    /// Adds a component that is told of messages when they are sent ([`Component::expect`]) instead of when they
    /// arrive.
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
    /// Connects an output port to an input port, in this direction only.
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
    /// Makes an entry: a way in from outside to this port.
    pub fn entry(&mut self, to: (ComponentId, Port)) -> EntryId {
        let others = self.entries.iter().filter(|wire| self.wires[**wire].1 == to).count();
        self.entries.push(self.wires.len());
        self.wires.push(((OUTSIDE, Port(others as u16)), to));
        EntryId((self.entries.len() - 1) as u32)
    }
    /// Makes an exit: a way out of this port. [`Kernel::take_out`] returns the messages sent there.
    ///
    /// # Panics
    /// If the port is connected already.
    pub fn exit(&mut self, from: (ComponentId, Port)) -> ExitId {
        self.exits.push(self.wires.len());
        self.connect(from, (OUTSIDE, Port(0)));
        ExitId((self.exits.len() - 1) as u32)
    }
    /// Makes an entry and an exit at this port, as [`Builder::join`] does between two ports.
    ///
    /// # Panics
    /// If the port is connected already.
    pub fn open(&mut self, port: (ComponentId, Port)) -> (EntryId, ExitId) {
        (self.entry(port), self.exit(port))
    }
    /// Ends construction and starts every component. The kernel is at time zero.
    #[must_use]
    pub fn seal(self) -> Kernel<M> {
        self.seal_observing(Observe::default())
    }
    /// As [`Builder::seal`], with a choice of what the kernel records of messages.
    #[must_use]
    pub fn seal_observing(self, observe: Observe) -> Kernel<M> {
        let Self { components, paths, foresees, wires, entries, exits } = self;
        let path = |id: ComponentId| if id == OUTSIDE { "" } else { paths[id.index()].as_str() };
        // A channel's number is its rank: it follows from names, never from the order of construction.
        let mut order: Vec<usize> = (0..wires.len()).collect();
        order.sort_by_key(|wire| {
            let (from, to) = wires[*wire];
            (path(to.0), to.1, path(from.0), from.1)
        });
        let channel = |(from, to): (Side, Side)| Channel {
            from,
            to,
            foreseen: foresees.get(to.0.index()).is_some_and(|foresees| *foresees),
            sent: 0,
            name: mix(hash_name(path(from.0)) ^ u64::from(from.1.0))
                ^ mix(hash_name(path(to.0))).wrapping_add(u64::from(to.1.0)),
        };
        let channels: Vec<Channel> = order.iter().map(|wire| channel(wires[*wire])).collect();
        let mut channel_of = vec![0; wires.len()];
        (0..).zip(&order).for_each(|(channel, wire)| channel_of[*wire] = channel);
        let of = |wires: Vec<usize>| wires.into_iter().map(|wire| channel_of[wire]).collect::<Vec<u32>>();
        let outside = Outside::new(of(entries), of(exits));
        let (outputs_of, outputs) = outputs_of(&channels, components.len());
        let (by_path, wake_rank) = ranks(&paths, &foresees);
        let trails = Trails::new(bases(&components));
        let mut kernel = Kernel {
            components,
            paths,
            by_path,
            core: Core {
                now: 0,
                limit: 0,
                queue: Queue::new(),
                messages: Messages::new(channels.len()),
                channels,
                outputs_of,
                outputs,
                wake_rank,
                foreseen: Vec::new(),
                pending: Pending::Something,
                trails,
            },
            telling: Vec::new(),
            outside,
            undecided_from: 0,
            observe,
            digest: 0,
            recent: Recent::new(observe.recent),
            tap: None,
            events: 0,
            last_event: u64::MAX,
            handling: 0,
        };
        start(&mut kernel);
        kernel
    }
}

/// Starts all components, in the order of construction.
fn start<M: Copy + Content>(kernel: &mut Kernel<M>) {
    for i in 0..kernel.components.len() {
        kernel.handling = i as u32;
        kernel.core.trails.now = Trail::NONE;
        kernel.components[i].start(&mut Context { core: &mut kernel.core, me: i as u32 });
        kernel.deliver_foreseen(Pending::Something);
    }
    kernel.core.pending = Pending::Nothing;
}

/// The components in the order of their paths, and the rank of the wakes of each.
fn ranks(paths: &[String], foresees: &[bool]) -> (Vec<u32>, Vec<u32>) {
    let mut by_path: Vec<u32> = (0..paths.len() as u32).collect();
    by_path.sort_by_key(|&i| &paths[i as usize]);
    let mut wake_rank = vec![0; paths.len()];
    for (place, &i) in by_path.iter().enumerate() {
        let phase = if foresees[i as usize] { DECIDE } else { WAKE };
        wake_rank[i as usize] = phase | place as u32;
    }
    (by_path, wake_rank)
}

/// For each component the number of its first stage among the stages of all components.
fn bases<M>(components: &[Box<dyn Component<M>>]) -> Vec<u32> {
    let next = |base: &mut u32, stages: usize| {
        let own = *base;
        *base += stages as u32;
        Some(own)
    };
    components.iter().map(|component| component.stages().len()).scan(OF_NOBODY, next).collect()
}

/// For each component the channels at its output ports, in one flat table.
fn outputs_of(channels: &[Channel], components: usize) -> (Vec<(u32, u32)>, Vec<u32>) {
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); components];
    for (i, c) in channels.iter().enumerate().filter(|(_, c)| c.from.0 != OUTSIDE) {
        let (row, port) = (&mut rows[c.from.0.index()], c.from.1.index());
        row.resize(row.len().max(port + 1), UNCONNECTED);
        row[port] = i as u32;
    }
    let mut places = Vec::new();
    let mut flat = Vec::new();
    for row in rows {
        let first = flat.len() as u32;
        flat.extend(row);
        places.push((first, flat.len() as u32));
    }
    (places, flat)
}
