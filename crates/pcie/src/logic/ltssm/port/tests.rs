//! The machine is total: every input in every state, and no state without a way out.

use super::super::draw::Sequence;
use super::*;
use std::collections::{BTreeMap, BTreeSet};

const ABILITY: Ability = Ability { max: Generation::Gen5, lanes: Lanes(0b1111), l0s: true, bypass: false };

/// Every input, with the fields that any state looks at.
fn inputs() -> Vec<Input> {
    let mut inputs = vec![
        Input::Tick,
        Input::Reset(true),
        Input::Reset(false),
        Input::IdleExit,
        Input::IdleEntered,
        Input::Adapted,
        Input::Tuned,
        Input::RecoveryCause(RecoveryCause::Framing),
        Input::RecoveryCause(RecoveryCause::ReplayRollover),
        Input::RecoveryCause(RecoveryCause::InferredIdle),
    ];
    for lanes in [Lanes::NONE, Lanes(0b1111), Lanes(0b0011), Lanes(0b1000), Lanes(0b0110)] {
        inputs.push(Input::Receivers(lanes));
        inputs.push(Input::LogicalIdle(lanes));
    }
    let directives = [
        Directive::Retrain,
        Directive::TargetSpeed(Generation::Gen1),
        Directive::TargetSpeed(Generation::Gen5),
        Directive::PerformEqualization,
        Directive::Width(1),
        Directive::Width(3),
        Directive::Width(32),
        Directive::L0s,
        Directive::L1,
        Directive::L1_1,
        Directive::L1_2,
        Directive::L2,
        Directive::Wake,
    ];
    inputs.extend(directives.map(Input::Direct));
    for on in [false, true] {
        let switches = [
            Directive::Disable(on),
            Directive::HotReset(on),
            Directive::Compliance(on),
            Directive::Loopback(on),
        ];
        inputs.extend(switches.map(Input::Direct));
    }
    for kind in [SetKind::Ts1, SetKind::Ts2] {
        for (heard, link) in
            [(0b1111, 0b1111), (0b1111, 0), (0b0011, 0b1111), (0b0011, 0b0011), (0b0110, 0b0110)]
        {
            for numbered in [false, true] {
                for speed_change in [false, true] {
                    for control in [Control::None, Control::HotReset, Control::DisableLink, Control::Loopback]
                    {
                        for phase in [0, 1, 2, 3] {
                            let set = TrainingSet {
                                kind,
                                link: Lanes(link),
                                numbered,
                                offers: Generation::Gen5,
                                speed_change,
                                proposes: Generation::Gen4,
                                control,
                                phase,
                                equalize: speed_change,
                            };
                            // fields that are never together on a wire
                            if phase == 0
                                || (kind == SetKind::Ts1 && control == Control::None && !speed_change)
                            {
                                inputs.push(Input::Sets(Lanes(heard), set));
                            }
                        }
                    }
                }
            }
        }
    }
    inputs
}

/// Which states were seen to follow which.
type Edges = BTreeMap<State, BTreeSet<State>>;

/// Whether a healthy partner may cause it: all lanes, fields that go together.
fn is_usual(input: &Input) -> bool {
    let all = Lanes(0b1111);
    match input {
        Input::Sets(lanes, set) => *lanes == all && set.link == all && set.control == Control::None,
        Input::Receivers(lanes) | Input::LogicalIdle(lanes) => *lanes == all,
        Input::Direct(_) | Input::Reset(_) | Input::RecoveryCause(_) => false,
        Input::Tick | Input::IdleExit | Input::IdleEntered | Input::Adapted | Input::Tuned => true,
    }
}

/// Ports as they come about when they are told anything in any order, some of each state: from one of those that are
/// known to the next, states that are rare as often as the others.
fn ports(
    facing: Facing,
    inputs: &[Input],
    numbers: &Numbers,
    edges: &mut Edges,
) -> BTreeMap<State, Vec<(Port, Instant)>> {
    const EACH: usize = 150;
    let mut chance = Sequence::new(3, "port", "walk");
    let mut below = |n: usize| ((chance.unit() * n as f64) as usize).min(n - 1);
    let start = Instant::from_ps(1);
    let first = Port::new(facing, ABILITY).step(Input::Reset(false), start, numbers).0;
    let usual: Vec<Input> = inputs.iter().copied().filter(is_usual).collect();
    let directs = |input: &Input| matches!(input, Input::Direct(_));
    let directives: Vec<Input> = inputs.iter().copied().filter(directs).collect();
    let mut found = BTreeMap::from([(first.state(), vec![(first, start)])]);
    for _ in 0..250_000 {
        let state = *found.keys().nth(below(found.len())).unwrap();
        let some = &found[&state];
        let (port, now) = some[below(some.len())];
        // now and then as much time as the port waits for
        let waits = port.wake() < Instant::NEVER && below(3) == 0;
        let now = if waits { now.max(port.wake()) } else { now };
        let input = match below(12) {
            _ if waits && below(2) == 0 => Input::Tick,
            0 => inputs[below(inputs.len())],
            1 => directives[below(directives.len())],
            _ => usual[below(usual.len())],
        };
        let after = port.step(input, now, numbers).0;
        if after.state() != state && !matches!(input, Input::Reset(_)) {
            edges.entry(state).or_default().insert(after.state());
        }
        let some: &mut Vec<_> = found.entry(after.state()).or_default();
        if some.len() < EACH {
            some.push((after, now));
        } else {
            let place = below(EACH);
            some[place] = (after, now);
        }
    }
    found
}

/// Few tries from Recovery.Idle, so that they end.
fn numbers() -> Numbers {
    let few =
        super::super::numbers::BUILT_IN.replacen("idle-to-rlock: {value: 255", "idle-to-rlock: {value: 2", 1);
    Numbers::read(&few).unwrap()
}

#[test]
fn every_input_means_something_in_every_state_and_leads_where_the_table_says() {
    let (inputs, numbers) = (inputs(), numbers());
    let mut edges = Edges::new();
    for facing in Facing::BOTH {
        for (state, some) in ports(facing, &inputs, &numbers, &mut edges) {
            for (port, now) in some {
                let later = port.wake().min(now + Span::from_us(200_000)).max(now);
                for (input, at) in inputs.iter().flat_map(|input| [(input, now), (input, later)]) {
                    let (after, effects) = port.step(*input, at, &numbers);
                    let to = after.state();
                    if to != state && !matches!(input, Input::Reset(_)) {
                        edges.entry(state).or_default().insert(to);
                        assert_eq!(after.entered(), at, "{state} to {to}");
                    }
                    // a link that goes down was up, and what goes down is down
                    assert!(
                        !effects.link_down || (port.is_link_up() && !after.is_link_up()),
                        "{state} to {to}"
                    );
                    assert!(!effects.link_up || (after.is_link_up() && to == State::L0), "{state} to {to}");
                    assert!(to != State::L0 || after.is_link_up());
                    let silent = after.pattern() == Pattern::ElectricalIdle;
                    assert!(!silent || !to.is_training() || to == State::RecoverySpeed, "{to} is silent");
                }
            }
        }
    }
    for state in State::ALL {
        let told: BTreeSet<State> = state.follows().iter().copied().collect();
        assert_eq!(edges.get(state).cloned().unwrap_or_default(), told, "after {state}");
        assert!(!told.is_empty(), "{state} has no way out");
    }
}

/// Left alone with the clock, a port leaves a state with a limit at the limit, and never asks for the time in vain.
#[test]
fn limits_are_kept_and_the_clock_always_moves_something() {
    let (inputs, numbers) = (inputs(), numbers());
    for facing in Facing::BOTH {
        for (state, some) in ports(facing, &inputs, &numbers, &mut Edges::new()) {
            for (port, now) in some {
                if port.held_in_reset {
                    continue;
                }
                let (mut port, mut now, entered) = (port, now, port.entered());
                for _ in 0..60 {
                    let wake = port.wake();
                    if wake == Instant::NEVER || port.entered() != entered || port.state() != state {
                        break;
                    }
                    now = now.max(wake);
                    port = port.step(Input::Tick, now, &numbers).0;
                    assert!(
                        port.wake() > now || port.entered() == now,
                        "{state} asks for the time again and again"
                    );
                }
                if let Some(limit) = numbers.limit(state) {
                    let limit = limit[facing as usize];
                    let left = port.entered() > entered || port.state() != state;
                    assert!(left, "{state} does not end by itself");
                    assert!(now <= entered + limit, "{state} ends late");
                }
            }
        }
    }
}

/// A partner that says what is expected leads to L0 at 2.5 GT/s; one that falls silent leads to Detect.
#[test]
fn nobody_is_waited_for_forever() {
    let numbers = Numbers::built_in();
    for facing in Facing::BOTH {
        let inputs = inputs();
        for (state, some) in ports(facing, &inputs, &numbers, &mut Edges::new()) {
            let asleep =
                matches!(state, State::L0 | State::L0s | State::L1 | State::L1_1 | State::L1_2 | State::L2);
            let wanted = matches!(
                state,
                State::Disabled | State::HotReset | State::PollingCompliance | State::LoopbackActive
            );
            if asleep || wanted {
                continue;
            }
            for (port, now) in some {
                if port.held_in_reset {
                    continue;
                }
                let (mut port, mut now) = (port.step(Input::IdleEntered, now, &numbers).0, now);
                let mut seen = BTreeSet::new();
                for _ in 0..2_000 {
                    seen.insert(port.state());
                    if port.wake() == Instant::NEVER {
                        break;
                    }
                    now = now.max(port.wake());
                    port = port.step(Input::Tick, now, &numbers).0;
                }
                let ends = [
                    State::L0,
                    State::DetectQuiet,
                    State::DetectActive,
                    State::Disabled,
                    State::HotReset,
                    State::PollingCompliance,
                ];
                assert!(ends.iter().any(|end| seen.contains(end)), "{state} waits: {seen:?}");
            }
        }
    }
}
