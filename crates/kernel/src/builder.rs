//! The builder: components and connections become a kernel whose order is that of their names.

use crate::agenda::{Channel, Core, DECIDE, Messages, OUTSIDE, UNCONNECTED, Untold, WAKE};
use crate::component::{Component, ComponentId, Content, Port};
use crate::context::Context;
use crate::kernel::{EntryId, Kernel};
use crate::observe::{Observe, Recent};
use crate::queue::Queue;
use crate::random::{hash_name, mix};

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
        let (outputs_of, outputs) = outputs_of(&channels, components.len());
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
                messages: Messages::new(channels.len()),
                channels,
                outputs_of,
                outputs,
                wake_rank,
                foreseen: Vec::new(),
                untold: Untold::Something,
            },
            telling: Vec::new(),
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
            kernel.tell_foreseen(Untold::Something);
        }
        kernel.core.untold = Untold::Nothing;
        kernel
    }
}

/// For each component the channels of its output ports, one flat table.
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
