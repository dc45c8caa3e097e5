//! What holds for every order of events: host and controller in memory, with a scheduler that resumes effects at
//! random.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod rig;

use lanetwin_nvme::logic::host::{RingPolicy, commands};
use lanetwin_nvme::logic::{ControllerConfig, Effect, HostEffect, LbaFormat};
use lanetwin_nvme::spec::admin::QueuePriority;
use lanetwin_nvme::spec::feature::{Arbitration, InterruptCoalescing};
use lanetwin_nvme::spec::{ControllerId, CqId, Nsid, SqId, Status};
use lanetwin_units::{Instant, Span};
use proptest::prelude::*;
use rig::load::{Load, drive, poll, submit};
use rig::{Host, Rig, Rng, Wanted, namespace, subsystem};

const ONE: ControllerId = ControllerId(1);
const TWO: ControllerId = ControllerId(2);

/// A controller with limits of all sizes.
fn any_controller() -> impl Strategy<Value = ControllerConfig> {
    (1_u32..20, 1_u32..20, 1_u16..6, 1_u16..4, any::<bool>(), 0_u8..3).prop_map(
        |(commands, per_queue, burst, fetches, chunks, stride)| ControllerConfig {
            commands_in_progress: commands,
            commands_per_queue: per_queue,
            fetch_burst: burst,
            fetches,
            chunk_bytes: chunks.then_some(4096),
            doorbell_stride: stride,
            io_queues: 8,
            vectors: 9,
            ready_after: Span::from_us(3),
            ..ControllerConfig::new(ONE)
        },
    )
}
fn any_ring() -> impl Strategy<Value = RingPolicy> {
    prop_oneof![Just(RingPolicy::Each), (2_u16..5).prop_map(RingPolicy::Every)]
}
fn any_priority() -> impl Strategy<Value = QueuePriority> {
    (0_u8..4).prop_map(QueuePriority)
}
fn any_wanted() -> impl Strategy<Value = Wanted> {
    let queues = prop::collection::vec((2_u32..20, any_priority()), 1..5);
    let weights = prop::option::of(any::<u32>().prop_map(|raw| Arbitration::from_raw(raw & 0xffff_ff07)));
    let coalescing = prop::option::of(
        (0_u32..5, 0_u32..3)
            .prop_map(|(threshold, time)| InterruptCoalescing::from_raw(threshold | time << 8)),
    );
    (queues, any_ring(), any::<bool>(), weights, coalescing, any::<bool>()).prop_map(
        |(queues, ring, interrupts, weighted, coalescing, shadow)| Wanted {
            queues,
            ring,
            interrupts,
            weighted,
            coalescing,
            shadow,
        },
    )
}

fn one(controller: ControllerConfig, seed: u64) -> Rig {
    let namespaces = vec![namespace(1, 64 * 4096, &[LbaFormat::B512], &[1])];
    Rig::new(&subsystem(vec![controller], namespaces), seed)
}

/// Every completion of an interrupting queue is signalled, in time, and not before it has to be.
fn check_interrupts(rig: &Rig, host: &Host, wanted: &Wanted) {
    let coalescing = wanted.coalescing.unwrap_or_default();
    let time = Span::from_us(100) * u64::from(coalescing.time());
    let threshold = if time == Span::ZERO { 1 } else { u32::from(coalescing.threshold_less_1()) + 1 };
    for vector in 1..=host.queues.len() as u16 {
        let (mut waiting, mut since) = (0, Instant::ZERO);
        for signal in rig.signals.iter().filter(|signal| signal.vector == vector) {
            if signal.interrupt {
                assert!(wanted.interrupts, "a queue that is polled has no interrupts");
                let due = waiting == threshold || signal.at.since(since) >= time;
                assert!(waiting > 0 && due, "{waiting} of {threshold} after {:?}", signal.at.since(since));
                assert!(signal.at.since(since) <= time, "{:?} after the first", signal.at.since(since));
                waiting = 0;
            } else if wanted.interrupts {
                assert!(waiting < threshold, "more than the threshold wait");
                assert!(waiting == 0 || signal.at.since(since) <= time, "longer than the time");
                since = if waiting == 0 { signal.at } else { since };
                waiting += 1;
            }
        }
        assert_eq!(waiting, 0, "the last ones are signalled");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Every command has one answer, the right one, and data are where they belong; nothing is left over.
    #[test]
    fn every_command_is_answered_once(
        controller in any_controller(), wanted in any_wanted(), slow in 0_u64..4, seed in any::<u64>(),
    ) {
        let stride = controller.doorbell_stride;
        let wanted = Wanted { shadow: wanted.shadow && stride == 0, ..wanted };
        let mut rig = one(controller, seed);
        let mut host = rig.start(ONE, &wanted);
        rig.slow = slow;
        let mut load = Load::new(Nsid(1), 512, 512, 40, true);
        drive(&mut rig, &mut host, &mut load, 150);
        rig.run();
        load.check_media(&rig);
        prop_assert!(host.queues.iter().all(|pair| pair.in_flight() == 0 && pair.unexpected() == 0));
        prop_assert_eq!(rig.completed.iter().filter(|(_, queue, _)| *queue != CqId::ADMIN).count(), 150);
        check_interrupts(&rig, &host, &wanted);
    }

    /// A deletion ends when everything that was fetched is answered; what was not fetched has not happened.
    #[test]
    fn nothing_is_lost_when_a_queue_is_deleted(
        controller in any_controller(), entries in 4_u32..40, before in 0_usize..60, seed in any::<u64>(),
    ) {
        let mut rig = one(controller, seed);
        let wanted = Wanted { queues: vec![(entries, QueuePriority::HIGH), (8, QueuePriority::LOW)], ..Wanted::default() };
        let mut host = rig.start(ONE, &wanted);
        let mut load = Load::new(Nsid(1), 512, 512, 8, false); // a command is one part
        let mut submitted = 0;
        while submitted < entries - 1 {
            let Some(name) = load.draw(&mut rig) else { rig.step(); continue };
            prop_assert!(submit(&mut rig, &mut host, 0, &load, name));
            submitted += 1;
        }
        for _ in 0..before {
            rig.step();
        }
        prop_assert_eq!(rig.admin(&mut host, commands::delete_sq(SqId(1))).0, Status::SUCCESS);
        let fetched: u32 = rig.fetched.iter().filter(|(queue, _)| *queue == SqId(1)).map(|(_, count)| count).sum();
        let answers = |rig: &Rig| rig.completed.iter().filter(|(_, queue, _)| *queue == CqId(1)).count() as u32;
        prop_assert_eq!(answers(&rig), fetched);
        rig.run();
        prop_assert_eq!(answers(&rig), fetched, "nothing comes behind the deletion");
        let mut aborted = 0;
        loop {
            let entry = rig.entry(&host.queues[0]);
            let Some(done) = host.queues[0].consume(entry) else { break };
            let expected = [Status::SUCCESS, Status::ABORTED_SQ_DELETION];
            prop_assert!(expected.contains(&done.status));
            aborted += u32::from(done.status == Status::ABORTED_SQ_DELETION);
            // a write that was aborted has not reached the medium
            let task = &load.tasks[done.name as usize];
            if let Some(tag) = task.writes {
                let written = rig.media.get(&task.blocks[0]).is_some_and(|block| block[0] == tag);
                prop_assert_eq!(written, done.status.is_success());
            }
        }
        prop_assert!(aborted <= fetched);
        prop_assert_eq!(host.queues[0].in_flight(), entries - 1 - fetched);
        for (_, name) in host.queues[0].outstanding() {
            let task = &load.tasks[name as usize];
            let tag = task.writes.unwrap_or(0);
            let written = rig.media.get(&task.blocks[0]).is_some_and(|block| block[0] == tag);
            prop_assert!(!written, "it was never fetched");
        }
        // the other queue works, and the number can be used again
        prop_assert_eq!(rig.admin(&mut host, commands::delete_cq(CqId(1))).0, Status::SUCCESS);
        prop_assert_eq!(rig.io(&mut host, 1, commands::flush(Nsid(1))), Status::SUCCESS);
    }

    /// A host that loses a controller at any moment repeats on the other what has no answer. Every command has one
    /// answer, reads give what was written last, and no write of the lost controller comes behind a later one.
    #[test]
    fn nothing_is_lost_or_doubled_when_a_controller_is_lost(
        controller in any_controller(), seed in any::<u64>(), hear_the_last in any::<bool>(),
    ) {
        let config = subsystem(
            vec![controller.clone(), ControllerConfig { id: TWO, ..controller }],
            vec![namespace(1, 64 * 4096, &[LbaFormat::B512], &[1, 2])],
        );
        let mut rig = Rig::new(&config, seed);
        rig.slow = 2;
        let wanted = Wanted { queues: vec![(9, QueuePriority::HIGH), (5, QueuePriority::LOW)], ..Wanted::default() };
        let mut paths = [Some(rig.start(ONE, &wanted)), Some(rig.start(TWO, &wanted))];
        // few blocks, so that they are written again and again
        let mut load = Load::new(Nsid(1), 24, 512, 3, false);
        let mut rng = Rng::new(seed ^ 0x5555);
        let (mut losses, mut repeat) = (0, Vec::new());
        let mut idle = 0;
        while load.tasks.len() < 300 || load.unanswered() > 0 {
            idle += 1;
            prop_assert!(idle < 400_000, "{} unanswered", load.unanswered());
            let (at, queue) = (rng.below(2) as usize, rng.below(2) as usize);
            match rng.below(40) {
                0 if paths.iter().all(Option::is_some) && losses < 12 => {
                    losses += 1;
                    let mut lost = paths[at].take().unwrap();
                    rig.down = Some(lost.id);
                    rig.subsystem.reset(rig.now, lost.id, &mut rig.effects);
                    rig.absorb();
                    for queue in 0..2 {
                        // what was answered before the loss may have been seen, or not
                        while hear_the_last && poll(&mut rig, &mut lost, queue, &mut load) {}
                        repeat.extend(lost.queues[queue].outstanding().map(|(_, name)| name as usize));
                    }
                }
                1 if paths[at].is_none() && rng.one_in(8) => {
                    rig.down = None;
                    paths[at] = Some(rig.start([ONE, TWO][at], &wanted));
                }
                2..14 => {
                    let Some(host) = &mut paths[at] else { continue };
                    if host.queues[queue].room() == 0 {
                        continue;
                    }
                    let name = match repeat.pop() {
                        Some(name) => Some(name),
                        None if load.tasks.len() < 300 => load.draw(&mut rig),
                        None => None,
                    };
                    if let Some(name) = name {
                        prop_assert!(submit(&mut rig, host, queue, &load, name));
                    }
                }
                14..22 => {
                    let Some(host) = &mut paths[at] else { continue };
                    poll(&mut rig, host, queue, &mut load);
                }
                _ => drop(rig.step()),
            }
        }
        rig.run();
        load.check_media(&rig);
        prop_assert!(losses > 0);
    }

    /// With all queues full, what is fetched follows the weights to within a round.
    #[test]
    fn weighted_shares_are_kept_under_load(
        weights in prop::array::uniform3(0_u8..8), burst in 0_u8..4, fetch_burst in 1_u16..5, seed in any::<u64>(),
    ) {
        let arbitration = Arbitration::from_raw(
            u32::from(burst) | u32::from(weights[2]) << 8 | u32::from(weights[1]) << 16 | u32::from(weights[0]) << 24,
        );
        let controller = ControllerConfig {
            commands_in_progress: 6, fetch_burst, fetches: 1, io_queues: 8, vectors: 9, ..ControllerConfig::new(ONE)
        };
        let mut rig = one(controller, seed);
        let classes = [QueuePriority::HIGH, QueuePriority::MEDIUM, QueuePriority::LOW];
        let queues = classes.iter().map(|&class| (256, class)).collect();
        let wanted = Wanted { queues, weighted: Some(arbitration), ring: RingPolicy::OnRequest, ..Wanted::default() };
        let mut host = rig.start(ONE, &wanted);
        for queue in 0..3 {
            for _ in 0..255 {
                let submitted = host.queues[queue].submit(commands::flush(Nsid(1)), 0).unwrap();
                rig.memory.write(submitted.address, submitted.entry.as_bytes());
            }
        }
        // nothing is fetched before all have rung
        rig.hold_media = true;
        for queue in 0..3 {
            let ring = host.queues[queue].flush_tail();
            rig.ring(ONE, ring);
        }
        rig.hold_media = false;
        let weight = weights.map(|weight| u32::from(weight) + 1);
        let round: u32 = weight.iter().sum();
        let mut counts = [0_u32; 3];
        let mut seen = 0;
        while counts.iter().all(|&count| count < 240) {
            prop_assert!(rig.step());
            for &(queue, count) in &rig.fetched[seen..] {
                if queue.0 > 0 {
                    counts[usize::from(queue.0) - 1] += count;
                }
            }
            seen = rig.fetched.len();
            let total: u32 = counts.iter().sum();
            for class in 0..3 {
                let share = i64::from(total) * i64::from(weight[class]) / i64::from(round);
                // a whole round, and what the first to ring got alone
                let slack = i64::from(round) + 6;
                prop_assert!((i64::from(counts[class]) - share).abs() <= slack, "{counts:?} {weight:?}");
            }
        }
    }
}

/// Shadow doorbells save most rings of a queue that is kept busy.
#[test]
fn a_busy_queue_with_shadow_doorbells_rarely_rings() {
    let rung = |shadow: bool| {
        let mut rig = one(ControllerConfig::new(ONE), 7);
        let wanted = Wanted { queues: vec![(64, QueuePriority::HIGH)], shadow, ..Wanted::default() };
        let mut host = rig.start(ONE, &wanted);
        let mut load = Load::new(Nsid(1), 512, 512, 4, false);
        drive(&mut rig, &mut host, &mut load, 400);
        load.check_media(&rig);
        host.rung
    };
    let (with, without) = (rung(true), rung(false));
    assert_eq!(without, 800, "a tail and a head for each command");
    assert!(with * 3 < without, "{with} of {without}");
}

/// A completion queue that its host does not empty holds completions back, and loses none.
#[test]
fn a_full_completion_queue_holds_back() {
    let mut rig = one(ControllerConfig::new(ONE), 3);
    let wanted =
        Wanted { queues: vec![(32, QueuePriority::HIGH)], ring: RingPolicy::OnRequest, ..Wanted::default() };
    let mut host = rig.start(ONE, &wanted);
    let mut load = Load::new(Nsid(1), 512, 512, 2, false);
    let mut rounds = 0;
    while load.tasks.len() < 31 || load.unanswered() > 0 {
        while load.tasks.len() < 31 {
            let Some(name) = load.draw(&mut rig) else { break };
            assert!(submit(&mut rig, &mut host, 0, &load, name));
        }
        let ring = host.queues[0].flush_tail();
        rig.ring(ONE, ring);
        rig.run();
        // all but one entry of the queue are taken: take them without saying so
        let mut taken = 0;
        while poll(&mut rig, &mut host, 0, &mut load) {
            taken += 1;
        }
        assert!(taken <= 31);
        rounds += 1;
        assert!(rounds < 50);
    }
    // thirty-one more, while the host's head was never rung for: nothing comes
    let before = rig.completed.len();
    let held = host.queues[0].flush_head();
    for _ in 0..31 {
        let submitted = host.queues[0].submit(commands::flush(Nsid(1)), 0).unwrap();
        rig.memory.write(submitted.address, submitted.entry.as_bytes());
    }
    let ring = host.queues[0].flush_tail();
    rig.ring(ONE, ring);
    rig.run();
    assert_eq!(rig.completed.len(), before, "the queue is full as far as the controller knows");
    rig.ring(ONE, held);
    rig.run();
    assert_eq!(rig.completed.len(), before + 31);
    assert!(!rig.pending.iter().any(|effect| matches!(effect, Effect::Host(HostEffect::Fetch { .. }))));
}
