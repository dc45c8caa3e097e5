//! DRAM is held to JEDEC by a checker of its own, to a reference that does the same tick by tick, and to arithmetic.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod checker;
mod figures;
mod reference;

use checker::Checker;
use lanetwin_media::dram::{
    Command, CommandKind, Config, Density, Done, Geometry, Machine, Mapping, Offer, Operation, Order,
    PagePolicy, Queues, Refresh, Request, Speed, Timings, Turn, Width, WriteAnswer,
};
use lanetwin_units::{Bytes, Instant, Span};
use proptest::prelude::*;
use reference::{Asked, Reference};

/// A configuration whose addresses are easily made: line, bus, group, bank, rank, row from the lowest bits on.
fn plain(speed: Speed, ranks: u32) -> Config {
    let mut config = Config::new(speed, 1, Bytes(0));
    config.geometry = Geometry { channels: 1, ranks, width: Width::X8, density: Density::Gb16 };
    let row = config.geometry.row_bytes(speed);
    config.mapping =
        Mapping { interleave: Bytes(row), order: Order::Columns, hash: false, hash_buses: false };
    config.capacity = Bytes((row * u64::from(config.geometry.buses(speed) * ranks * banks(&config))) << 10);
    config
}

/// Banks of a rank.
fn banks(config: &Config) -> u32 {
    config.geometry.groups(config.speed) * config.geometry.banks(config.speed)
}

/// The address of a line; a bank's highest bits are its group.
fn address(config: &Config, bus: u64, bank: u64, row: u64, line: u64) -> u64 {
    let (per_group, groups) =
        (u64::from(config.geometry.banks(config.speed)), u64::from(config.geometry.groups(config.speed)));
    let (rank, group, bank) = (bank / per_group / groups, bank / per_group % groups, bank % per_group);
    let row = (row * u64::from(config.geometry.ranks) + rank) * per_group + bank;
    let buses = u64::from(config.geometry.buses(config.speed));
    ((row * groups + group) * buses + bus) * config.geometry.row_bytes(config.speed) + line * 64
}

/// When all of them have been answered and written.
fn end(config: &Config, asked: &[(u32, Asked)]) -> Instant {
    config.timings().clock.instant(asked.last().map_or(0, |asked| asked.1.clock) + 40_000)
}

/// Offers requests at their clocks, looking in between as rarely as can be, or after every `look` picoseconds.
fn run(config: &Config, asked: &[(u32, Asked)], look: Option<u64>) -> (Vec<Command>, Vec<Done>, Machine) {
    let mut machine = Machine::new(config).unwrap();
    machine.record(true);
    let clock = config.timings().clock;
    let mut done = Vec::new();
    let mut due = Instant::ZERO;
    let mut advance = |machine: &mut Machine, until: Instant, done: &mut Vec<Done>| {
        loop {
            let next = match look {
                Some(step) => Some(due).filter(|due| *due <= until).inspect(|_| due += Span::from_ps(step)),
                None => machine.next().filter(|next| *next <= until),
            };
            let Some(at) = next else { break };
            let (told, bound) = (done.len(), machine.next());
            machine.advance(at, done);
            for answer in &done[told..] {
                assert!(
                    bound.is_some_and(|bound| answer.at >= bound),
                    "{answer:?} is earlier than {bound:?}"
                );
                assert!(look.is_some() || answer.at >= at, "{answer:?} is told late, at {at:?}");
            }
        }
    };
    for (bus, request) in asked {
        let now = clock.instant(request.clock);
        advance(&mut machine, now, &mut done);
        let at = address(config, (*bus).into(), request.bank.into(), request.row.into(), request.line.into());
        let operation = if request.write { Operation::Write } else { Operation::Read };
        let offer = machine.offer(now, Request { token: request.token, operation, address: at });
        assert_eq!(offer, Offer::Accepted);
    }
    let end = end(config, asked);
    advance(&mut machine, end, &mut done);
    machine.catch_up(end);
    machine.advance(end, &mut done);
    (machine.take_record(), done, machine)
}

fn any_config() -> impl Strategy<Value = Config> {
    let speed = prop::sample::select(Speed::ALL.to_vec());
    let page = prop_oneof![
        Just(PagePolicy::Open),
        Just(PagePolicy::Closed),
        (20_u64..400).prop_map(|ns| PagePolicy::Adaptive(Span::from_ns(ns))),
    ];
    let width = prop::sample::select(vec![Width::X4, Width::X8, Width::X16]);
    let places = || prop_oneof![4 => 1_u32..10, 1 => 10_u32..=48];
    let queues = (places(), places(), 0_u64..200, 100_u64..3000, 0_u32..4);
    (speed, 0_u32..2, width, page, queues, 0..3, any::<[bool; 2]>(), any::<prop::sample::Index>()).prop_map(
        |(
            speed,
            ranks,
            width,
            page,
            (reads, writes, idle, age, passes),
            refresh,
            [queued, prepared],
            high,
        )| {
            let mut config = plain(speed, 1);
            config.geometry.width = width;
            config.geometry.ranks = 1 << ranks;
            let high = 1 + high.index(writes as usize) as u32;
            config.page = page;
            config.queues = Queues {
                reads,
                writes,
                high,
                low: high / 2,
                idle: Span::from_ns(idle),
                age: Span::from_ns(age),
                passes,
                waiting: 1 << 20,
            };
            config.refresh = match refresh {
                0 => Refresh::None,
                1 if speed.is_ddr5() => Refresh::SameBank,
                _ => Refresh::AllBank,
            };
            config.turn = if prepared { Turn::Prepared } else { Turn::Eager };
            config.answer = if queued { WriteAnswer::Queued } else { WriteAnswer::Written };
            let row = config.geometry.row_bytes(speed);
            config.mapping.interleave = Bytes(row);
            config.capacity = Bytes(
                (row * u64::from(config.geometry.buses(speed) * config.geometry.ranks * banks(&config)))
                    << 10,
            );
            config
        },
    )
}

/// Requests for a few banks and rows, in bursts and with pauses.
fn any_load(most: usize) -> impl Strategy<Value = Vec<(u64, u32, bool, u8, u32, u32)>> {
    let gap = prop_oneof![4 => Just(0_u64), 4 => 0_u64..20, 2 => 0_u64..300, 1 => 0_u64..6000];
    let bank = prop_oneof![0_u8..64, 0_u8..6];
    prop::collection::vec((gap, 0_u32..2, any::<bool>(), bank, 0_u32..3, 0_u32..4), 1..most)
}

/// The requests at their places, in the order of time.
fn placed(config: &Config, load: Vec<(u64, u32, bool, u8, u32, u32)>) -> Vec<(u32, Asked)> {
    let all = banks(config) * config.geometry.ranks;
    let buses = config.geometry.buses(config.speed);
    let mut clock = 5;
    let place = |(token, (gap, bus, write, bank, row, line)): (usize, (u64, u32, bool, u8, u32, u32))| {
        clock += gap;
        let bank = bank % all as u8;
        (bus % buses, Asked { clock, write, token: token as u32, bank, row, line })
    };
    load.into_iter().enumerate().map(place).collect()
}

fn of_bus(commands: &[Command], bus: u32) -> Vec<Command> {
    commands.iter().filter(|command| command.bus == bus).copied().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, ..ProptestConfig::default() })]

    #[test]
    fn no_command_breaks_a_rule_of_jedec(config in any_config(), load in any_load(120)) {
        let asked = placed(&config, load);
        let (commands, done, machine) = run(&config, &asked, None);
        (0..2).for_each(|bus| Checker::replay(&config, &of_bus(&commands, bus)));
        // every request is answered once, and everything has been written
        let mut tokens: Vec<u32> = done.iter().map(|done| done.token).collect();
        tokens.sort_unstable();
        prop_assert_eq!(tokens, (0..asked.len() as u32).collect::<Vec<_>>());
        prop_assert_eq!(machine.waiting(), 0);
        let c = machine.counters_up_to(end(&config, &asked));
        let moved = c.accesses[0] + c.accesses[1] + c.forwarded + c.merged;
        prop_assert_eq!(moved, asked.len() as u64);
        prop_assert_eq!(c.rows.iter().sum::<u64>(), c.accesses.iter().sum::<u64>());
    }
}

/// The machine makes the commands of the reference, and gives its answers.
fn agree(config: &Config, load: Vec<(u64, u32, bool, u8, u32, u32)>) {
    let asked = placed(config, load);
    let (commands, done, _) = run(config, &asked, None);
    let clock = config.timings().clock;
    let end = asked.last().map_or(0, |asked| asked.1.clock) + 6_000;
    for bus in 0..config.geometry.buses(config.speed) {
        let of_it: Vec<Asked> = asked.iter().filter(|asked| asked.0 == bus).map(|asked| asked.1).collect();
        let (expected, answers) = Reference::new(config, bus).run(&of_it, end);
        let mut made = of_bus(&commands, bus);
        made.retain(|command| command.clock < end);
        let differ = made.iter().zip(&expected).position(|(a, b)| a != b);
        let differ = differ.unwrap_or(made.len().min(expected.len()));
        let before = &made[differ.saturating_sub(6)..differ];
        assert_eq!(made.get(differ), expected.get(differ), "command {differ} of bus {bus}, after {before:?}");
        for (token, at) in answers {
            let told = done.iter().find(|done| done.token == token).unwrap();
            assert_eq!(told.at, clock.instant(at), "request {token}");
        }
    }
}

/// Reads get their turn, find that no open row can be used for writes meanwhile, and lose it again one clock later.
#[test]
fn a_turn_can_be_taken_back_at_once() {
    let mut config = plain(Speed::Ddr4_2666, 1);
    config.geometry.width = Width::X4;
    config.page = PagePolicy::Closed;
    let (idle, age) = (Span::ZERO, Span::from_ns(100));
    config.queues = Queues { reads: 2, writes: 3, high: 2, low: 1, idle, age, passes: 0, waiting: 9 };
    (config.turn, config.refresh, config.answer) = (Turn::Prepared, Refresh::None, WriteAnswer::Written);
    config.mapping.interleave = Bytes(config.geometry.row_bytes(config.speed));
    let asked = [(0, false, 0), (0, false, 3), (0, true, 3), (4, true, 4), (5, false, 0), (1, false, 0)];
    let last = [(14, false, 0), (0, true, 0)];
    let load = asked.into_iter().chain(last).map(|(gap, write, bank)| (gap, 0, write, bank, 0, 0));
    agree(&config, load.collect());
}

/// A read ends writing that was begun for want of reads at the clock at which the oldest write has waited for too long:
/// writes go on, one clock later.
#[test]
fn a_turn_can_be_taken_back_within_a_clock() {
    let mut config = plain(Speed::Ddr5_4800, 1);
    config.geometry.width = Width::X16;
    config.page = PagePolicy::Open;
    let (idle, age) = (Span::from_ns(72), Span::from_ns(208));
    config.queues = Queues { reads: 2, writes: 6, high: 5, low: 2, idle, age, passes: 0, waiting: 9 };
    (config.turn, config.refresh, config.answer) = (Turn::Eager, Refresh::None, WriteAnswer::Written);
    config.mapping.interleave = Bytes(config.geometry.row_bytes(config.speed));
    let asked = [(0, true, 8), (0, true, 6), (76, false, 5), (0, true, 0), (161, true, 14), (12, false, 9)];
    let load = asked.into_iter().chain([(251, false, 10)]);
    agree(&config, load.map(|(gap, write, bank)| (gap, 1, write, bank, 0, 0)).collect());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_machine_does_what_the_reference_does_tick_by_tick(config in any_config(), load in any_load(60)) {
        agree(&config, load);
    }

    #[test]
    fn counters_of_an_instant_are_those_of_the_commands_before_it(
        config in any_config(), load in any_load(80), looks in any::<u64>()
    ) {
        let asked = placed(&config, load);
        let mut machine = Machine::new(&config).unwrap();
        machine.record(true);
        let (clock, mut done, mut seen) = (config.timings().clock, Vec::new(), Vec::new());
        for (n, (bus, request)) in asked.iter().enumerate() {
            let now = clock.instant(request.clock);
            if looks >> (n % 64) & 1 == 1 {
                machine.advance(now, &mut done);
            }
            let at = address(&config, (*bus).into(), request.bank.into(), request.row.into(), request.line.into());
            let operation = if request.write { Operation::Write } else { Operation::Read };
            machine.offer(now, Request { token: request.token, operation, address: at });
            seen.push((now, machine.counters_up_to(now)));
        }
        let end = end(&config, &asked);
        machine.catch_up(end);
        let made = machine.take_record();
        for (at, counters) in seen {
            let of = |kinds: &[CommandKind]| {
                let before = made.iter().filter(|command| command.clock < clock.edge(at));
                before.filter(|command| kinds.contains(&command.kind)).count() as u64
            };
            use CommandKind::{Activate, Precharge, PrechargeAll, Read, ReadClose, Refresh, Write, WriteClose};
            prop_assert_eq!(counters.activates, of(&[Activate]));
            prop_assert_eq!(counters.precharges, of(&[Precharge, PrechargeAll, ReadClose, WriteClose]));
            prop_assert_eq!(counters.refreshes, of(&[Refresh]));
            prop_assert_eq!(counters.accesses, [of(&[Read, ReadClose]), of(&[Write, WriteClose])]);
            prop_assert_eq!(counters.rows.iter().sum::<u64>(), of(&[Read, ReadClose, Write, WriteClose]));
        }
    }

    /// Every read from the array has the steps that the commands of its bank say; one that was answered from the write
    /// queue has none.
    #[test]
    fn the_steps_of_a_read_are_those_of_its_commands(config in any_config(), load in any_load(80)) {
        use CommandKind::{Activate, Precharge, PrechargeAll, Read, ReadClose, Write};
        let asked = placed(&config, load);
        let (commands, done, machine) = run(&config, &asked, None);
        let (t, clock) = (config.timings(), config.timings().clock);
        let mut told = 0;
        for answer in &done {
            let (bus, request) = asked.iter().find(|(_, asked)| asked.token == answer.token).expect("it was asked");
            let offered = clock.instant(request.clock);
            let bank = 1 << request.bank;
            let own = |command: &&Command| command.bus == *bus && command.banks & bank != 0;
            let own = || commands.iter().filter(own);
            let ends = |c: &&Command| clock.instant(c.clock + t.cl + t.burst) == answer.at;
            let read = own().find(|c| matches!(c.kind, Read | ReadClose) && c.row == request.row && ends(c));
            let Some(steps) = machine.read_steps(answer, offered) else {
                prop_assert!(request.write || read.is_none() || machine.counters().forwarded > 0);
                continue;
            };
            told += 1;
            let column = read.expect("the array was read").clock;
            let opens = own().filter(|c| c.kind == Activate && c.clock < column);
            let activated = opens.map(|c| clock.instant(c.clock)).max().filter(|at| *at >= offered);
            // a precharge of all banks is none of one that is closed
            let left_open = |before: u64| {
                let of = own().filter(|c| c.clock < before).max_by_key(|c| c.clock);
                of.is_some_and(|c| matches!(c.kind, Activate | Read | Write))
            };
            let closes = own().filter(|c| matches!(c.kind, Precharge | PrechargeAll) && left_open(c.clock));
            let precharged = activated.and_then(|activated| {
                let last = closes.map(|c| c.clock).filter(|at| clock.instant(*at) < activated).max();
                last.filter(|at| clock.instant(*at) >= offered)
            });
            prop_assert_eq!(steps.column, clock.instant(column));
            prop_assert_eq!(steps.burst, clock.instant(column + t.cl));
            prop_assert_eq!(steps.activated, activated);
            prop_assert_eq!(steps.precharged, precharged.map(|at| clock.instant(at)));
        }
        prop_assert_eq!(told, machine.counters().accesses[0]);
    }

    #[test]
    fn looking_often_changes_nothing(config in any_config(), load in any_load(80), step in 100_u64..20_000) {
        let asked = placed(&config, load);
        let (rare, often) = (run(&config, &asked, None), run(&config, &asked, Some(step)));
        prop_assert_eq!(rare.0, often.0);
        let sorted = |mut done: Vec<Done>| {
            done.sort_by_key(|done| (done.at, done.token));
            done
        };
        prop_assert_eq!(sorted(rare.1), sorted(often.1));
        prop_assert_eq!(rare.2.counters_up_to(end(&config, &asked)), often.2.counters_up_to(end(&config, &asked)));
    }
}
