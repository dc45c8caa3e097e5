//! Through a switch, with a core and without: docs/link-model.md, sections 3 and 5.

use super::machine::{Column, Core, Machine, Node, Train};
use super::simulator::{Change, Departure, Simulator, TICKS_PER_PS, serialisation};
use super::waiting::Tlp;

/// A wire in a core: that of one column of a crossbar, or the one that all columns of a switch share.
pub struct Wire {
    free: u64,
    /// Whose it is, as places in the machine's list of columns.
    columns: Vec<usize>,
    /// Which of them is asked first.
    first: usize,
}

pub fn wires(machine: &Machine, columns: &[Column]) -> Vec<Wire> {
    let of_columns = |columns: Vec<usize>| Wire { free: 0, columns, first: 0 };
    (0..machine.switches.len())
        .flat_map(|switch| {
            let own = (0..columns.len()).filter(|&column| columns[column].switch == switch);
            match machine.switches[switch].core {
                None => Vec::new(),
                Some(Core::Crossbar { .. }) => own.map(|column| of_columns(vec![column])).collect(),
                Some(Core::SharedBus { .. } | Core::SharedMemory { .. }) => vec![of_columns(own.collect())],
            }
        })
        .collect()
}

/// A TLP on its way through a switch: from which egress to which, and how long it takes there.
struct Passage {
    a: usize,
    b: usize,
    ser_a: u64,
    ser_b: u64,
    /// What has to be in before it goes on.
    f: u64,
    latency: u64,
    cut_through: bool,
}

impl Simulator<'_> {
    /// The passage of a TLP that has left so many egresses, over the switch in front of the next.
    fn passage(&self, tlp: Tlp) -> Passage {
        let (a, b) = (self.on_path(tlp, tlp.hop - 1), self.on_path(tlp, tlp.hop));
        let Node::Switch(switch) = self.machine.receiver(a) else { unreachable!("only switches pass on") };
        let switch = &self.machine.switches[switch];
        let bytes = self.trains[tlp.train].2.wire_bytes;
        // A switch knows how fast its links were declared, not how they are just now.
        let ser_b = self.machine.direction(b).pace().serialisation(bytes);
        let ser_a = tlp.pace.serialisation(bytes);
        let f = if switch.cut_through { tlp.pace.serialisation(24).min(ser_a) } else { ser_a };
        let latency = switch.latency_between_ps(a / 2, b / 2) * TICKS_PER_PS;
        Passage { a, b, ser_a, ser_b, f, latency, cut_through: switch.cut_through }
    }

    /// The place of the column in front of an egress, if there is one.
    fn column_of(&self, egress: usize) -> Option<usize> {
        self.columns.iter().position(|column| column.egress == egress)
    }

    /// Section 3: a TLP has started on an egress that leads to this switch.
    pub fn pass_on(&mut self, switch: usize, tlp: Tlp, tick: u64) {
        let tlp = Tlp { hop: tlp.hop + 1, ..tlp };
        let Passage { a, b, ser_a, ser_b, f, latency, cut_through } = self.passage(tlp);
        let ports = self.machine.links_of(Node::Switch(switch));
        let ingress = ports.iter().position(|&link| link == a / 2).expect("it came in through a port");
        let input = 3 * ingress + self.trains[tlp.train].2.kind.class() as usize;
        let there = tick + self.machine.direction(a).propagation_ps * TICKS_PER_PS;
        let (at, eligible) = match self.column_of(b) {
            Some(column) => (self.egresses.len() + column, there + latency / 2 + f),
            None => {
                let x = if cut_through { f.max(ser_a.saturating_sub(ser_b)) } else { ser_a };
                (b, there + latency + x)
            }
        };
        self.foresee(eligible, Change::Eligible { at, input, tlps: vec![Tlp { eligible, ..tlp }] });
    }

    /// Section 3.2: whether a wire of a core is free, and for whom.
    pub fn decide_core(&mut self, wire: usize, now: u64) {
        let Wire { free, columns, first } = &self.wires[wire];
        if *free > now {
            return;
        }
        let n = columns.len();
        let chosen = (0..n).map(|step| (first + step) % n).find_map(|place| {
            let waiting = &self.waiting[self.egresses.len() + columns[place]];
            waiting.choose(now, None, &self.trains).map(|input| (place, columns[place], input))
        });
        if let Some((place, column, input)) = chosen {
            let taken = self.leave_column(column, input, now);
            self.wires[wire].free = now + taken;
            self.wires[wire].first = (place + 1) % n;
            self.foresee(now + taken, Change::WireFree);
        }
    }

    /// The first TLP of an input takes a column; says for how long.
    fn leave_column(&mut self, column: usize, input: usize, c: u64) -> u64 {
        let at = self.egresses.len() + column;
        let tlp = self.waiting[at].take(input, &self.trains);
        let (source, sequence, train) = self.trains[tlp.train];
        self.departures.push(Departure { egress: at, tick: c, source, sequence, index: tlp.index });

        let Column { switch, egress } = self.columns[column];
        let core = self.machine.core(self.columns[column]);
        let pace = self.machine.pace(self.columns[column]);
        let ser_column = serialisation(pace.generation, pace.lanes * core.speed_up(), train.wire_bytes);
        let Passage { a, b, ser_a, ser_b, f, latency, .. } = self.passage(tlp);
        assert_eq!((b, Node::Switch(switch)), (egress, self.machine.receiver(a)), "the way through a switch");
        let h = tlp.eligible;
        let x = ser_a.saturating_sub(f + ser_b);
        let eligible = (latency - latency / 2).max(TICKS_PER_PS) + c.max(h + x);
        self.foresee(eligible, Change::Eligible { at: b, input, tlps: vec![Tlp { eligible, ..tlp }] });
        if core.output().is_some() {
            let gone = (c + ser_column).max(h + ser_a - f);
            self.free_ingress(a, &train, gone);
        }
        ser_column
    }

    /// Section 5: a TLP has left the egress of a switch.
    pub fn has_left_switch(&mut self, egress: usize, tlp: Tlp, gone: u64) {
        let train = self.trains[tlp.train].2;
        let column = self.column_of(egress);
        match column.filter(|&column| self.machine.core(self.columns[column]).output().is_some()) {
            Some(column) => self.give_back(self.egresses.len() + column, &train, gone),
            None => self.free_ingress(self.on_path(tlp, tlp.hop - 1), &train, gone),
        }
    }

    /// A TLP has left the ingress buffer that it came into through this egress.
    fn free_ingress(&mut self, egress: usize, train: &Train, gone: u64) {
        let latency = self.machine.direction(egress).credit_latency_ps * TICKS_PER_PS;
        self.give_back(egress, train, gone + latency);
    }

    fn give_back(&mut self, at: usize, train: &Train, tick: u64) {
        let (class, payload_bytes) = (train.kind.class(), train.payload_bytes);
        self.foresee(tick, Change::Credits { at, class, payload_bytes, count: 1 });
    }
}
