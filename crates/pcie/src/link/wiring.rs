//! Wires declared links: egresses, routes, inputs, return rings.

mod check;
mod lookahead;

use super::columns::Bus;
use super::declare::{BuildError, FabricBuilder};
use super::egress::{Down, Egress, Hop, Ingress, Sink};
use super::fabric::Fabric;
use super::sentinels::{NO_BUS, NO_EGRESS};
use super::spec::{
    Arbitration, Attach, CLASSES, Core, Credits, Direction, Drain, EndpointId, Forwarding, OutputBuffer,
    SwitchId,
};
use super::turns::Turns;
use lanetwin_units::{LinkRate, Span, TICKS_PER_PS, Ticks};
use std::collections::VecDeque;

/// Both ends of an egress.
#[derive(Clone, Copy)]
struct Ends {
    from: Attach,
    to: Attach,
}

/// A column of a switch, and the egress of the port behind it.
#[derive(Clone, Copy)]
struct Column {
    switch: SwitchId,
    port: usize,
}

/// Egresses while a fabric is built: those of links first, then columns.
pub(super) struct Wiring {
    parts: FabricBuilder,
    /// Ends of the egresses of links.
    ends: Vec<Ends>,
    columns: Vec<Column>,
    buses: Vec<Bus>,
    egresses: Vec<Egress>,
    /// For each endpoint the egress to which its device hands in.
    out: Vec<u16>,
}

impl FabricBuilder {
    /// Wires all links.
    ///
    /// # Errors
    /// If the declarations contradict each other: see [`BuildError`].
    pub fn build<U: Copy>(self) -> Result<Fabric<U>, BuildError> {
        Ok(Wiring::new(self)?.finish())
    }
}

impl Wiring {
    pub(super) fn new(parts: FabricBuilder) -> Result<Self, BuildError> {
        let ends: Vec<Ends> = parts
            .links
            .iter()
            .flat_map(|&(a, b, ..)| [Ends { from: a, to: b }, Ends { from: b, to: a }])
            .collect();
        let egresses =
            parts.links.iter().flat_map(|(.., there, back)| [there, back].map(Egress::new)).collect();
        let mut wiring =
            Self { parts, ends, columns: Vec::new(), buses: Vec::new(), egresses, out: Vec::new() };
        wiring.check()?;
        wiring.out = wiring.outs()?;
        wiring.add_columns();
        Ok(wiring)
    }

    fn outs(&self) -> Result<Vec<u16>, BuildError> {
        let out = |id: EndpointId| {
            let mut own = (0..self.ends.len()).filter(|&e| self.ends[e].from == Attach::Endpoint(id));
            match (own.next(), own.next()) {
                (Some(e), None) => Ok(e as u16),
                _ => Err(BuildError::EndpointLinks(id)),
            }
        };
        (0..self.parts.endpoints.len()).map(|i| out(EndpointId(i as u16))).collect()
    }

    /// Adds the columns of the switches that have a core.
    fn add_columns(&mut self) {
        for i in 0..self.parts.switches.len() {
            let switch = SwitchId(i as u16);
            let Some(core) = self.parts.switches[i].core else { continue };
            let ports = self.leaving(switch);
            let (speed_up, output, shared) = match core {
                Core::Crossbar { speed_up, output } => (speed_up, Some(output), false),
                Core::SharedBus { speed_up, output } => (speed_up, Some(output), true),
                Core::SharedMemory { speed_up } => (speed_up, None, true),
            };
            let bus = if shared && !ports.is_empty() { self.buses.len() as u16 } else { NO_BUS };
            let fastest = ports.iter().map(|&port| self.direction(port).rate).max();
            let first = self.egresses.len();
            for &port in &ports {
                let own = self.direction(port);
                let rate = fastest.filter(|_| shared).unwrap_or(own.rate).times(speed_up.into());
                let mut column = Egress::new(&column(rate, own.payload_max, output));
                column.bus = bus;
                self.egresses.push(column);
                self.columns.push(Column { switch, port });
            }
            if bus != NO_BUS {
                self.buses.push(Bus::new(first..self.egresses.len()));
            }
        }
    }

    /// Wires all links.
    pub(super) fn finish<U: Copy>(mut self) -> Fabric<U> {
        for e in 0..self.ends.len() {
            self.egresses[e].opposite = (e ^ 1) as u16;
        }
        self.join_inputs();
        self.add_message_inputs();
        self.receive();
        self.route();
        self.take_turns();
        self.take_down();
        self.look_ahead();
        for (e, egress) in self.egresses.iter_mut().enumerate() {
            egress.number = e as u16;
            egress.direct = egress.is_direct();
        }
        Fabric::new(self.egresses, self.ends.len(), self.buses, self.out, self.parts.strictly_ordered)
    }

    fn direction(&self, e: usize) -> &Direction {
        let (.., there, back) = &self.parts.links[e / 2];
        if e.is_multiple_of(2) { there } else { back }
    }

    /// The egresses of this switch, in the order of its ports.
    fn leaving(&self, switch: SwitchId) -> Vec<usize> {
        (0..self.ends.len()).filter(|&e| self.ends[e].from == Attach::Switch(switch)).collect()
    }

    /// The column in front of this egress, if there is one.
    fn column_of(&self, port: usize) -> Option<usize> {
        let place = self.columns.iter().position(|column| column.port == port)?;
        Some(self.ends.len() + place)
    }

    /// The column with this index, if it is that of a column.
    fn as_column(&self, e: usize) -> Option<Column> {
        e.checked_sub(self.ends.len()).map(|place| self.columns[place])
    }

    /// The weight of the ingress port to which this egress belongs.
    fn weight(&self, switch: SwitchId, port: usize) -> u32 {
        let said = self
            .parts
            .weights
            .iter()
            .rfind(|weight| weight.switch == switch && weight.link.index() == port / 2);
        said.map_or(1, |weight| weight.weight)
    }

    /// The latency between two ports of a switch, each identified by its egress: to the core, and from there
    /// \[ticks\].
    fn latency(&self, switch: SwitchId, from: usize, to: usize) -> (u64, u64) {
        let said = self.parts.latencies.iter().rfind(|pair| {
            pair.switch == switch && pair.from.index() == from / 2 && pair.to.index() == to / 2
        });
        let all = ticks(said.map_or(self.parts.switches[switch.index()].latency, |pair| pair.latency));
        // TLPs that leave a column are not behind it in the same picosecond, so that the order of their decisions
        // does not matter.
        let has_core = self.parts.switches[switch.index()].core.is_some();
        (all / 2, (all - all / 2).max(if has_core { TICKS_PER_PS } else { 0 }))
    }

    /// Gives every egress its inputs, and every lender its return rings.
    fn join_inputs(&mut self) {
        for e in 0..self.egresses.len() {
            let (switch, port) = match (self.as_column(e), self.ends.get(e)) {
                (Some(column), _) => (column.switch, column.port),
                (None, Some(&Ends { from: Attach::Switch(switch), .. })) => (switch, e),
                _ => {
                    self.egresses[e].add_ingress(Ingress::of_device());
                    continue;
                }
            };
            let own_column = if self.as_column(e).is_none() { self.column_of(e) } else { None };
            let has_room = matches!(
                self.parts.switches[switch.index()].core,
                Some(Core::Crossbar { .. } | Core::SharedBus { .. })
            );
            let output_ring = own_column.filter(|_| has_room).map(|c| (c, self.egresses[c].add_releaser()));
            for other in self.leaving(switch) {
                let came = other ^ 1;
                let is_memory_column = self.as_column(e).is_some() && !has_room;
                let (lender, ring) = match output_ring {
                    _ if is_memory_column => (NO_EGRESS, 0),
                    Some((column, ring)) => (column as u16, ring),
                    None => (came as u16, self.egresses[came].add_releaser()),
                };
                let (to_core, from_core) = self.latency(switch, other, port);
                let has_core = self.parts.switches[switch.index()].core.is_some();
                let inward = if has_core { to_core } else { to_core + from_core };
                self.egresses[e].add_ingress(Ingress {
                    upstream: own_column.unwrap_or(came) as u16,
                    lender,
                    ring,
                    inward,
                    onward: from_core,
                    near: 0,
                    far: 0,
                });
            }
        }
    }

    fn add_message_inputs(&mut self) {
        let on_links = if self.parts.messages.is_some() { self.ends.len() } else { 0 };
        self.egresses[..on_links].iter_mut().for_each(Egress::add_message_input);
    }

    /// Sets how each receiver frees its buffer.
    fn receive(&mut self) {
        for e in 0..self.egresses.len() {
            if let Some(column) = self.as_column(e) {
                let spec = self.parts.switches[column.switch.index()];
                self.egresses[e].sink = Sink::Output { egress: column.port as u16 };
                self.egresses[e].cut_through = spec.forwarding == Forwarding::CutThrough;
                continue;
            }
            match self.ends[e].to {
                Attach::Switch(switch) => {
                    let spec = self.parts.switches[switch.index()];
                    self.egresses[e].sink = Sink::Switch { core: spec.core.is_some() };
                    self.egresses[e].cut_through = spec.forwarding == Forwarding::CutThrough;
                }
                Attach::Endpoint(endpoint) => {
                    self.egresses[e].add_releaser();
                    self.egresses[e].sink = match self.parts.endpoints[endpoint.index()].drain {
                        Drain::ByDevice => Sink::Device,
                        Drain::ByLink { latency, per_tlp, payload_rate } => Sink::Line {
                            latency: ticks(latency),
                            per_tlp: ticks(per_tlp),
                            payload: payload_rate,
                            free: 0,
                        },
                    };
                }
            }
        }
    }

    /// Computes the next egress for every destination, breadth first from there.
    fn route(&mut self) {
        for endpoint in 0..self.parts.endpoints.len() {
            let target = Attach::Endpoint(EndpointId(endpoint as u16));
            let mut next = vec![NO_EGRESS; self.parts.switches.len()];
            let mut queue = VecDeque::from([target]);
            while let Some(node) = queue.pop_front() {
                for e in 0..self.ends.len() {
                    if self.ends[e].to != node {
                        continue;
                    }
                    if let Attach::Switch(switch) = self.ends[e].from
                        && next[switch.index()] == NO_EGRESS
                    {
                        next[switch.index()] = e as u16;
                        queue.push_back(self.ends[e].from);
                    }
                }
            }
            for e in 0..self.ends.len() {
                let hop = match self.ends[e].to {
                    Attach::Switch(switch) if next[switch.index()] != NO_EGRESS => {
                        self.hop(e, switch, usize::from(next[switch.index()]))
                    }
                    _ => Hop::NONE,
                };
                self.egresses[e].hops.push(hop);
            }
        }
        for e in self.ends.len()..self.egresses.len() {
            let Sink::Output { egress } = self.egresses[e].sink else { continue };
            let hop = Hop { egress, input: 0, ring: 0, latency: 0 };
            self.egresses[e].hops = vec![hop; self.parts.endpoints.len()];
        }
    }

    /// The hop from egress `e` into a switch and on to its egress `next`: the inputs there, or at its column, for the
    /// port through which `e` comes in.
    fn hop(&self, e: usize, switch: SwitchId, next: usize) -> Hop {
        let place = self.leaving(switch).iter().position(|&other| other == e ^ 1);
        let place = place.expect("a switch joins all its ports");
        let (to_core, from_core) = self.latency(switch, e ^ 1, next);
        let column = self.column_of(next);
        // The ring belongs to the egress that returns the credits: the column, or the one behind a shared memory.
        let column_ingress = column.map(|c| self.egresses[c].ingress[place]);
        let ingress = column_ingress
            .filter(|ingress| ingress.lender != NO_EGRESS)
            .unwrap_or(self.egresses[next].ingress[place]);
        Hop {
            egress: column.unwrap_or(next) as u16,
            input: (place * CLASSES) as u16,
            ring: ingress.ring,
            latency: if column.is_some() { to_core } else { to_core + from_core },
        }
    }

    /// Sets the tables of weighted arbitration.
    fn take_turns(&mut self) {
        for e in 0..self.egresses.len() {
            let switch = match (self.as_column(e), self.ends.get(e)) {
                (Some(column), _) => column.switch,
                (None, Some(&Ends { from: Attach::Switch(switch), .. })) => switch,
                _ => continue,
            };
            if self.parts.switches[switch.index()].arbitration == Arbitration::Weighted {
                let ports = self.leaving(switch);
                let mut weights: Vec<u32> = ports.iter().map(|&port| self.weight(switch, port)).collect();
                weights.extend(self.egresses[e].message_input.map(|_| 1));
                self.egresses[e].turns = Some(Box::new(Turns::new(&weights)));
            }
        }
    }

    fn take_down(&mut self) {
        for outage in &self.parts.outages {
            let (from, until) = (Ticks::from(outage.from).0, Ticks::from(outage.until).0);
            for e in [2 * outage.link.index(), 2 * outage.link.index() + 1] {
                let egress = &mut self.egresses[e];
                let pace = outage.then.map_or(0, |pace| egress.paces.number(pace));
                egress.overhead.add_outage(Down { from, until, pace });
            }
        }
    }
}

/// A column: a wire inside a switch, in front of the buffer of an output.
fn column(rate: LinkRate, payload_max: u16, output: Option<OutputBuffer>) -> Direction {
    let credits = output.map_or(Credits::INFINITE, |OutputBuffer { tlps, data }| Credits {
        header: [Some(tlps); CLASSES],
        data: [Some(data); CLASSES],
        latency: Span::ZERO,
    });
    Direction { payload_max, credits, ..Direction::bare(rate) }
}

fn ticks(span: Span) -> u64 {
    span.as_ticks().0
}
