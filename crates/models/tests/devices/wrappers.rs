//! What stands before a disk: delay, drop, corrupt; each over a null disk.

use crate::rig::*;
use lanetwin_kernel::Port;
use lanetwin_ports::{Builder, Done, Message, Operation, Status, Transfer};
use lanetwin_units::Instant;

/// Asks a wrapped null disk `n` times, every 10 ns: nanoseconds from question to answer, and how it ended.
fn ask(wrapper: &str, replaced: &[(&str, &str)], seed: u64, n: u32) -> Vec<(u64, Status)> {
    let mut builder = Builder::new();
    let wrapper = add_at(&mut builder, "wrapper", wrapper, replaced, |site| site.seed = seed);
    let disk = add(&mut builder, "null-disk", &[]);
    builder.join((wrapper, Port(1)), (disk, Port(0)));
    let request = |handle: u32| {
        let request = Transfer { operation: Operation::Read, bytes: 4096, handle, unit: 0, address: 0 };
        (ns(u64::from(handle) * 10), Message::Block(request))
    };
    let log = peer(&mut builder, (wrapper, Port(0)), (0..n).map(request).collect());
    builder.seal().run_until(Instant::NEVER);
    let mut answers = vec![None; n as usize];
    for &(ps, _, message) in log.borrow().iter() {
        let Message::BlockDone(Done { handle, status }) = message else { panic!("{message:?}") };
        let since = ps - u64::from(handle) * 10_000;
        assert_eq!(answers[handle as usize].replace((since / 1000, status)), None, "answered twice");
    }
    answers.into_iter().map(|answer| answer.expect("answered")).collect()
}

#[test]
fn delay_delays_both_ways() {
    assert_eq!(ask("delay", &[("request", "3ns"), ("answer", "4ns")], 1, 5), [(7, Status::Ok); 5]);
    let jittered = ask("delay", &[("answer", "100ns"), ("jitter", "50ns")], 1, 1000);
    assert!(jittered.iter().all(|(ns, _)| (100..=150).contains(ns)));
    let mean = jittered.iter().map(|(ns, _)| ns).sum::<u64>() / 1000;
    assert!((122..128).contains(&mean), "{mean}");
}

#[test]
fn drop_loses_its_share_and_the_asker_learns_of_it_after_the_timeout() {
    let count = |probability, seed| {
        let answers = ask("drop", &[("probability", probability), ("timeout", "1us")], seed, 10_000);
        assert!(answers.iter().all(|answer| [(0, Status::Ok), (1000, Status::Aborted)].contains(answer)));
        answers.iter().filter(|answer| answer.1 == Status::Aborted).count()
    };
    assert_eq!([count("0%", 1), count("100%", 1)], [0, 10_000]);
    assert!((2_300..2_700).contains(&count("25%", 1)));
    assert_eq!(count("25%", 1), count("25%", 1));
    assert_ne!(count("25%", 1), count("25%", 2));
}

#[test]
fn corrupt_damages_its_share_in_no_time() {
    let answers = ask("corrupt", &[("probability", "25%")], 1, 10_000);
    assert!(answers.iter().all(|answer| answer.0 == 0 && answer.1 != Status::Aborted));
    let damaged = answers.iter().filter(|answer| answer.1 == Status::Corrupt).count();
    assert!((2_300..2_700).contains(&damaged), "{damaged}");
}
