//! Switches with cores, weights, latencies of pairs, and outages: worlds worked out by hand, for whoever simulates
//! them. The wires are Gen1 x1 unless it is said: a byte takes 4 ns, a write of 100 B 400 ns, a header 96 ns. Around a
//! switch, egress `2n` leads from endpoint `n` to it and egress `2n + 1` back; the columns come behind.

use super::by_hand::{INFINITE, NS, bare, direct, star, writes};
use super::machine::{
    BitErrors, Core, Credits, Direction, DllpMode, Kind, Machine, Outage, OutputBuffer, Pace, Switch,
};
use super::machine::{Drain, Train};
use super::simulator::{Departure, Outcome, TICKS_PER_PS, run};
use super::waiting::phases;
use super::world::{Recital, Script, World};

/// A world, and what happens in it.
pub struct Case {
    pub name: &'static str,
    pub machine: Machine,
    /// What each endpoint hands in, and when \[ps\].
    pub parts: Vec<Vec<(u64, Train)>>,
    /// When TLPs leave an egress or a column \[ps\], first to last.
    pub left_ps: Vec<(usize, Vec<u64>)>,
    /// Of which source and which of its trains the TLPs are that leave an egress or a column, first to last.
    pub order: Vec<(usize, Vec<(usize, u32)>)>,
}

impl Case {
    fn new(name: &'static str, machine: Machine, parts: Vec<Vec<(u64, Train)>>) -> Self {
        Self { name, machine, parts, left_ps: Vec::new(), order: Vec::new() }
    }
    fn left_ns(mut self, egress: usize, ns: &[u64]) -> Self {
        self.left_ps.push((egress, ns.iter().map(|ns| ns * NS).collect()));
        self
    }
    fn left_ps(mut self, egress: usize, ps: &[u64]) -> Self {
        self.left_ps.push((egress, ps.to_vec()));
        self
    }
    fn order(mut self, egress: usize, order: &[(usize, u32)]) -> Self {
        self.order.push((egress, order.to_vec()));
        self
    }
    /// The devices.
    pub fn world(&self) -> World {
        let mut scripts: Vec<Box<dyn Script>> = Vec::new();
        for part in &self.parts {
            scripts.push(Box::new(Recital(part.clone())));
        }
        scripts.resize_with(self.machine.endpoints.len(), || Box::new(Recital(Vec::new())));
        World::new(scripts)
    }
    /// # Panics
    /// If anything else happened.
    pub fn check(&self, who: &str, outcome: &Outcome) {
        let on = |egress: usize| {
            let mut on: Vec<&Departure> = outcome.departures.iter().filter(|d| d.egress == egress).collect();
            on.sort_unstable();
            on
        };
        for (egress, expected) in &self.left_ps {
            let expected: Vec<u64> = expected.iter().map(|ps| ps * TICKS_PER_PS).collect();
            let ticks: Vec<u64> = on(*egress).iter().map(|departure| departure.tick).collect();
            assert_eq!(ticks, expected, "{who}: {}: egress {egress}", self.name);
        }
        for (egress, expected) in &self.order {
            let order: Vec<_> = on(*egress).iter().map(|d| (d.source, d.sequence)).collect();
            assert_eq!(&order, expected, "{who}: {}: egress {egress}", self.name);
        }
    }
}

/// 30 ns before the core and 30 ns behind it.
const LATENCY_PS: u64 = 60 * NS;

fn crossbar(speed_up: u64, tlps: u64) -> Core {
    Core::Crossbar { speed_up, output: OutputBuffer { tlps, data: 5 * tlps } }
}

fn shared_bus(speed_up: u64) -> Core {
    Core::SharedBus { speed_up, output: OutputBuffer { tlps: 9, data: 99 } }
}

fn switch(core: Option<Core>, cut_through: bool) -> Switch {
    Switch { core, ..Switch::plain(LATENCY_PS, cut_through) }
}

/// Posted TLPs have so many header credits.
fn posted(header: u64) -> [Credits; 3] {
    [Credits { header: Some(header), data: None }, INFINITE, INFINITE]
}

pub fn cases() -> Vec<Case> {
    let mut all = blocked_outputs();
    all.extend(buses());
    all.extend(memories());
    all.extend(weights());
    all.extend(latencies());
    all.extend(faster_egresses());
    all.extend(outages());
    all
}

/// Endpoint 1 has one posted credit at the switch and writes to endpoint 0, which takes 10 us for a write and has room
/// for one, then to endpoint 2.
fn blocked_output(core: Option<Core>, to_blocked: u32) -> (Machine, Vec<Vec<(u64, Train)>>) {
    let mut machine = star(3, switch(core, false), &bare());
    machine.links[1].directions[0].credits = posted(1);
    machine.links[0].directions[1].credits = posted(1);
    machine.endpoints[0].drain =
        Drain::ByLinks { drain_ps: 10_000 * NS, ingest_ps: 0, ingest_bytes_per_second: None };
    (machine, vec![vec![], vec![(0, writes(to_blocked, 0)), (0, writes(1, 2))]])
}

fn blocked_outputs() -> Vec<Case> {
    // Without a core the first has left the switch at 60 + 400 + 400 = 860; the second, eligible at 860 + 460, waits
    // for the credit: 860 + 10 000. It is gone at 11 260, and only then the third may come in.
    let (machine, parts) = blocked_output(None, 2);
    let without = Case::new("a blocked output keeps the ingress buffer without a core", machine, parts)
        .left_ns(2, &[0, 860, 11_260])
        .left_ns(1, &[460, 10_860])
        .left_ns(5, &[11_720]);

    // Speed-up 4: 100 ns on a column. The first is at its column at 0 + 30 + 400, its ingress buffer is free at 530, it
    // is at the egress at 430 + 30 and gone at 860. The second: 530, column 960, free at 1060, egress 990; it waits for
    // 10 860. The third: 1060, column 1490.
    let (machine, parts) = blocked_output(Some(crossbar(4, 2)), 2);
    let with = Case::new("a blocked output frees the ingress buffer behind a crossbar", machine, parts)
        .left_ns(2, &[0, 530, 1_060])
        .left_ns(6, &[430, 960])
        .left_ns(8, &[1_490])
        .left_ns(1, &[460, 10_860])
        .left_ns(5, &[1_520]);

    // A buffer for one, and three for it. The first leaves the egress at 860, before the second comes to the column
    // at 960. The second leaves it at 10 860 + 400; so long the third, at the column since 1060 + 430, waits. Its
    // ingress buffer is free at 11 360, when what goes to endpoint 2 leaves: column at + 430, egress at + 30. The
    // third has its credit 10 us after 11 260.
    let (machine, parts) = blocked_output(Some(crossbar(4, 1)), 3);
    let full = Case::new("a full output buffer holds up the ingress buffer", machine, parts)
        .left_ns(2, &[0, 530, 1_060, 11_360])
        .left_ns(6, &[430, 960, 11_260])
        .left_ns(8, &[11_790])
        .left_ns(1, &[460, 10_860, 21_260])
        .left_ns(5, &[11_820]);
    // 11 data credits of 5 for each TLP are a buffer for two, whatever the number of headers.
    let core = Core::Crossbar { speed_up: 4, output: OutputBuffer { tlps: 99, data: 11 } };
    let (machine, parts) = blocked_output(Some(core), 4);
    // The third, at its column at 1060 + 430, finds the second alone there; the fourth, 1590 + 430, waits until the
    // second has left.
    let data = Case::new("an output buffer is as large as its data credits", machine, parts)
        .left_ns(2, &[0, 530, 1_060, 1_590, 11_360])
        .left_ns(6, &[430, 960, 1_490, 11_260]);
    vec![without, with, full, data]
}

fn buses() -> Vec<Case> {
    // Endpoint 2 writes to 0, endpoint 3 to 1, two each, all at once. At 430 two are there for outputs of their own.
    let case = |name, core| {
        let parts = vec![vec![], vec![], vec![(0, writes(2, 0))], vec![(0, writes(2, 1))]];
        Case::new(name, star(4, switch(Some(core), false), &bare()), parts)
    };
    // A crossbar takes both; the next are there at 830.
    let crossbar = case("columns of a crossbar do not wait for each other", crossbar(1, 9))
        .left_ns(8, &[430, 830])
        .left_ns(9, &[430, 830])
        .left_ns(1, &[460, 860])
        .left_ns(3, &[460, 860]);
    // The bus takes 400 ns for each: first that of port 0, then, at 830, the first column behind it that has something,
    // so port 1 again comes before the second for port 0.
    let bus = case("two ingresses contend for a shared bus", shared_bus(1))
        .left_ns(8, &[430, 1_230])
        .left_ns(9, &[830, 1_630])
        .left_ns(1, &[460, 1_260])
        .left_ns(3, &[860, 1_660]);
    // Five times the x4 of endpoint 1, which is the fastest link: 20 ns for each.
    let mut fast = case("a bus is so many times as fast as the fastest link", shared_bus(5));
    for direction in &mut fast.machine.links[1].directions {
        direction.lanes = 4;
    }
    let fast =
        fast.left_ns(8, &[430, 830]).left_ns(9, &[450, 850]).left_ns(1, &[460, 860]).left_ns(3, &[480, 880]);
    vec![crossbar, bus, fast]
}

fn memories() -> Vec<Case> {
    // One credit at the switch, 140 ns for it to come back.
    let case = |name, core| {
        let mut machine = star(3, switch(core, false), &bare());
        let into = &mut machine.links[1].directions[0];
        (into.credits, into.credit_latency_ps) = (posted(1), 140 * NS);
        Case::new(name, machine, vec![vec![], vec![(0, writes(3, 0))]])
    };
    // At the egress at 460, gone at 860, usable at 1000.
    let memory = case(
        "a credit comes back when the TLP has left the shared memory",
        Some(Core::SharedMemory { speed_up: 2 }),
    )
    .left_ns(2, &[0, 1_000, 2_000])
    .left_ns(6, &[430, 1_430, 2_430])
    .left_ns(1, &[460, 1_460, 2_460]);
    // As without a core.
    let without = case("a credit comes back when the TLP has left the switch", None)
        .left_ns(2, &[0, 1_000, 2_000])
        .left_ns(1, &[460, 1_460, 2_460]);
    // Off the bus at 430 + 200, usable at 770.
    let bus = case("a credit comes back when the TLP has left the bus", Some(shared_bus(2)))
        .left_ns(2, &[0, 770, 1_540])
        .left_ns(6, &[430, 1_200, 1_970])
        .left_ns(1, &[460, 1_230, 2_000]);
    vec![memory, without, bus]
}

fn weights() -> Vec<Case> {
    let weighted = |core, weights: [(usize, u64); 2]| Switch {
        weights: Some(weights.into_iter().collect()),
        ..switch(core, false)
    };
    // The port of endpoint 0 has a phase too, in which it has nothing to send: 0, 1, 2, 1, 1. If both others always
    // have something, they get 1, 2, 1, 1 for ever.
    let three_to_one = |core, spacing: u64| {
        let machine = star(3, weighted(core, [(1, 3), (2, 1)]), &bare());
        let parts = vec![vec![], vec![(0, writes(12, 0))], vec![(0, writes(4, 0))]];
        let ns: Vec<u64> = (0..16).map(|n| 460 + spacing * n).collect();
        Case::new("weights of 3 and 1 are phases 0, 1, 0, 0", machine, parts)
            .left_ns(1, &ns)
            .order(1, &[(1, 0), (2, 0), (1, 0), (1, 0)].repeat(4))
    };
    let mut all = vec![
        three_to_one(None, 400),
        three_to_one(Some(Core::SharedMemory { speed_up: 1 }), 400),
        three_to_one(Some(shared_bus(3)), 400),
        // With room for one behind the crossbar the next is let in when the one before has left, and is there 30 ns
        // later.
        three_to_one(Some(crossbar(2, 1)), 430),
    ];
    // Two classes of endpoint 1, which nothing keeps in order, against endpoint 2, all with the same weight. They come
    // in in turns, P at 460, C at 860, P at 1260 …, and leave in turns, although P would be there for each.
    let machine = star(3, weighted(None, [(1, 1), (2, 1)]), &bare());
    let relaxed = Train { kind: Kind::Completion, relaxed: true, ..writes(3, 0) };
    let parts = vec![vec![], vec![(0, writes(3, 0)), (0, relaxed)], vec![(0, writes(6, 0))]];
    let classes = Case::new("the classes of an ingress take turns", machine, parts)
        .order(1, &[(1, 0), (2, 0), (1, 1), (2, 0)].repeat(3));
    all.push(classes);
    all
}

fn latencies() -> Vec<Case> {
    let case = |name, core| {
        let pair_latencies_ps = [((1, 2), 80 * NS), ((2, 1), 0)].into_iter().collect();
        let switch = Switch { pair_latencies_ps, ..switch(core, false) };
        let parts = vec![vec![], vec![(0, writes(1, 0)), (0, writes(1, 2))], vec![(0, writes(1, 1))]];
        Case::new(name, star(3, switch, &bare()), parts)
    };
    // From 1 to 0 60 ns, from 1 to 2 80 ns, from 2 to 1 nothing: 400 + 60, 800 + 80, 400.
    let without = case("a pair of ports has a latency of its own", None)
        .left_ns(1, &[460])
        .left_ns(5, &[880])
        .left_ns(3, &[400]);
    // Half of it before the column, half behind; where there is none, a TLP is at the egress a picosecond after its
    // start on the column.
    let with = case("a core splits the latency of a pair", Some(crossbar(1, 1)))
        .left_ns(6, &[430])
        .left_ns(8, &[840])
        .left_ns(7, &[400])
        .left_ns(1, &[460])
        .left_ns(5, &[880])
        .left_ps(3, &[400 * NS + 1]);
    vec![without, with]
}

fn faster_egresses() -> Vec<Case> {
    // The link of endpoint 0 is x4: 100 ns at the egress, and on its column at speed-up 1. Cut-through: a header is at
    // the column at 96 + 30 = 126 and x is 400 - 96 - 100 = 204. The output has room for one, each source for one at
    // the switch.
    let mut machine = star(3, switch(Some(crossbar(1, 1)), true), &bare());
    for direction in &mut machine.links[0].directions {
        direction.lanes = 4;
    }
    for link in [1, 2] {
        machine.links[link].directions[0].credits = posted(1);
    }
    let parts = vec![vec![], vec![(0, writes(2, 0))], vec![(0, writes(2, 0))]];
    let case = Case::new("a faster egress waits for the wire, or for the column", machine, parts)
        // The first of 1: column at 126, all in at 430, which is when its credit is back (126 + 100 is earlier). Egress
        // at 30 + 126 + 204. The first of 2 waits for the room until 360 + 100: the column is taken until 560, when its
        // credit is back. Egress at 460 + 30: 126 + 204 is long over.
        .left_ns(2, &[0, 430])
        .left_ns(4, &[0, 560])
        // The second of 1: at the column at 430 + 126; room at 490 + 100; egress at 30 + max(590, 556 + 204) = 790. The
        // second of 2: at the column at 686; room at 890; egress at 920.
        .left_ns(6, &[126, 460, 590, 890])
        .left_ns(1, &[360, 490, 790, 920])
        .order(1, &[(1, 0), (2, 0), (1, 0), (2, 0)]);
    vec![case]
}

fn outages() -> Vec<Case> {
    let down = |machine: &mut Machine, ns: &[(u64, u64)]| {
        let outage = |&(down, up): &(u64, u64)| Outage { down_ps: down * NS, up_ps: up * NS, then: None };
        machine.links[0].outages = ns.iter().map(outage).collect();
    };
    let skp = |period_ns: u64| Direction {
        skp_period_ticks: period_ns * NS * TICKS_PER_PS,
        skp_ticks: Some(16 * NS * TICKS_PER_PS),
        ..bare()
    };
    let five = vec![vec![(0, writes(5, 1))]];
    // SKP 1, due at 600, is sent at 800; SKP 2, due at 1200, at 1216; SKP 3, due at 1800, at 2032.
    let up = Case::new("a link that is up", direct(&skp(600)), five.clone())
        .left_ns(0, &[0, 400, 816, 1_232, 1_632]);

    // The second is on the wire at 500 and ends at 800; the link is up at 2000, in two outages. SKPs 1 to 3, due at
    // 600, 1200 and 1800, are not sent. SKP 4, due at 2400, is.
    let mut machine = direct(&skp(600));
    down(&mut machine, &[(500, 1_700), (1_700, 2_000)]);
    let outage = Case::new("what is on the wire ends, SKPs of an outage are omitted", machine, five.clone())
        .left_ns(0, &[0, 400, 2_000, 2_416, 2_816]);

    // SKP 4 is due when the link is up.
    let mut machine = direct(&skp(500));
    down(&mut machine, &[(500, 2_000)]);
    let due = Case::new("a SKP that is due when a link is up is sent", machine, five)
        .left_ns(0, &[0, 400, 2_016, 2_416, 2_832]);

    // The first bit is corrupted: again at 400 + 100, until 900. The outage finds no wire free, and omits no SKP: three
    // at 900.
    let errors = Some(BitErrors::Listed([1, 1_000_000].into()));
    let mut machine = direct(&Direction { nak_latency_ps: 100 * NS, errors, ..skp(300) });
    down(&mut machine, &[(300, 600)]);
    let replays = Case::new("replays go on in an outage", machine, vec![vec![(0, writes(2, 1))]])
        .left_ns(0, &[500, 948]);

    // Each write causes an ACK: two in epoch 0, paid on the other direction with SKP 2, at 2000.
    let lump = |name, outage| {
        let direction = Direction { tlps_per_ack: 1, skp_ticks: None, ..skp(1_000) };
        let mut machine = direct(&direction);
        machine.links[0].dllp = DllpMode::Lump;
        down(&mut machine, outage);
        Case::new(name, machine, vec![vec![(2_000 * NS, writes(1, 1))], vec![(0, writes(2, 0))]])
    };
    vec![
        up,
        outage,
        due,
        replays,
        slower(),
        slower_while_busy(),
        lump("DLLPs are paid with their SKP", &[]).left_ns(0, &[2_064]),
        lump("DLLPs are omitted with their SKP", &[(1_900, 2_100)]).left_ns(0, &[2_100]),
        lump("DLLPs are paid when the link is up", &[(1_900, 2_000)]).left_ns(0, &[2_064]),
    ]
}

/// Gen2 x1 has 2 ns for a byte, 200 for a write; from the outage on it is as the others.
fn halved(down_ns: u64, up_ns: u64, direction: &Direction) -> Machine {
    let mut machine = direct(&Direction { generation: 2, ..direction.clone() });
    let then = Some(Pace { generation: 1, lanes: 1, skp_ticks: 32 * NS * TICKS_PER_PS });
    machine.links[0].outages = vec![
        Outage { down_ps: down_ns * NS, up_ps: up_ns * NS, then },
        Outage { down_ps: 4_000 * NS, up_ps: 5_500 * NS, then: None },
    ];
    machine
}

/// With SKPs of 16 ns each 600, of 32 from the first outage on: those due at 2400, 3000 and 3600 are sent when the wire
/// is free. The second outage brings the pace back that was declared, and ends after the SKP due at 5400.
fn slower() -> Case {
    let skp = Direction {
        skp_period_ticks: 600 * NS * TICKS_PER_PS,
        skp_ticks: Some(16 * NS * TICKS_PER_PS),
        ..bare()
    };
    Case::new("a link comes back at half its rate", halved(300, 2_000, &skp), vec![vec![(0, writes(9, 1))]])
        .left_ns(0, &[0, 200, 2_000, 2_432, 2_832, 3_264, 3_696, 5_500, 5_700])
}

/// What is on the wire ends as it began: its first attempt fails at once, the second is on the wire from 300 to 500,
/// beyond the end of the outage.
fn slower_while_busy() -> Case {
    let errors = Some(BitErrors::Listed([1, 1_000_000].into()));
    let direction = Direction { nak_latency_ps: 100 * NS, errors, ..bare() };
    Case::new("nobody saw the link go down", halved(250, 400, &direction), vec![vec![(0, writes(3, 1))]])
        .left_ns(0, &[300, 500, 900])
}

#[test]
fn the_reference_does_what_was_worked_out() {
    for case in cases() {
        case.check("reference", &run(&case.machine, case.world()));
    }
}

#[test]
fn rounds_of_a_table_leave_out_who_has_had_enough() {
    assert_eq!(phases(&[3, 1]), [0, 1, 0, 0]);
    assert_eq!(phases(&[1, 4, 2]), [0, 1, 2, 1, 2, 1, 1]);
    assert_eq!(phases(&[1; 3]), [0, 1, 2]);
}
