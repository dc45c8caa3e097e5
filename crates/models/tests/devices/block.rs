//! Block devices: on PCIe with their driver, and the simple ones.

use crate::rig::*;
use lanetwin_kernel::Port;
use lanetwin_models::root_complex::RootComplex;
use lanetwin_pcie::spec::TlpKind::MWr;
use lanetwin_ports::{Attributes, Builder, Done, Message, Operation, Status, Transfer};
use lanetwin_units::{Instant, Span};

fn ask(operation: Operation, handle: u32, bytes: u32) -> Message {
    Message::Block(Transfer { operation, bytes, handle, unit: 0, address: u64::from(handle) * 4096 })
}

/// When each request was answered \[ns\], its handle and how it ended.
fn answers(log: &Log) -> Vec<(u64, u32, Status)> {
    let answer = |&(ps, _, message): &(u64, Port, Message)| match message {
        Message::BlockDone(Done { handle, status }) => (whole_ns(ps), handle, status),
        other => panic!("{other:?}"),
    };
    log.borrow().iter().map(answer).collect()
}

/// A driver, a root complex, a wire of 50 ns, an endpoint; everything promises 10 ns, memory takes 100 ns.
fn machine(
    driver: &[(&str, &str)],
    endpoint: &[(&str, &str)],
    root: &[(&str, &str)],
    script: &[(u64, Message)],
) -> (Vec<(u64, u32, Status)>, u64, u64) {
    let mut builder = Builder::new();
    let issue = ("issue", "10ns");
    let host = [&[issue, ("memory.dram", "100ns")], root].concat();
    let translates = root.contains(&("iommu", "true"));
    let root = add(&mut builder, "root-complex", &host);
    let driver = add(&mut builder, "block-driver", driver);
    let endpoint = add(&mut builder, "block-endpoint", &[&[issue], endpoint].concat());
    let promised = Span::from_ns(10);
    wire(
        &mut builder,
        Span::from_ns(50),
        ((root, Port(1)), promised, translates),
        ((endpoint, Port(0)), promised),
    );
    builder.join((driver, Port(1)), (root, Port(0)));
    let script = script.iter().map(|&(at, message)| (ns(at), message)).collect();
    let log = peer(&mut builder, (driver, Port(0)), script);
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    let traffic = kernel.component::<RootComplex>(root).unwrap().traffic(0);
    (answers(&log), traffic.write_bytes, traffic.completion_bytes)
}

const DRIVER: [(&str, &str); 2] = [("submit", "30ns"), ("complete", "40ns")];

#[test]
fn a_read_costs_submit_doorbell_medium_data_and_complete() {
    let (answers, written, read) =
        machine(&DRIVER, &[("latency", "500ns")], &[], &[(1000, ask(Operation::Read, 3, 4096))]);
    assert_eq!(answers, [(1000 + 30 + 60 + 500 + 60 + 40, 3, Status::Ok)]);
    assert_eq!((written, read), (4096 + 16, 0));
}

#[test]
fn a_write_fetches_its_data_first() {
    let (answers, written, read) =
        machine(&DRIVER, &[("latency", "500ns")], &[], &[(1000, ask(Operation::Write, 3, 4096))]);
    assert_eq!(answers, [(1000 + 30 + 60 + (10 + 50 + 100 + 50) + 500 + 60 + 40, 3, Status::Ok)]);
    assert_eq!((written, read), (16, 4096));
}

#[test]
fn the_null_device_takes_nothing_itself() {
    let free = [("submit", "0ns"), ("complete", "0ns")];
    let (answers, ..) = machine(&free, &[], &[], &[(0, ask(Operation::Read, 0, 512))]);
    assert_eq!(answers, [(60 + 60, 0, Status::Ok)]);
}

#[test]
fn requests_beyond_the_parallelism_wait() {
    let script = [0, 1, 2].map(|i| (0, ask(Operation::Read, i, 512)));
    let free = [("submit", "0ns"), ("complete", "0ns")];
    let (answers, ..) = machine(&free, &[("latency", "500ns"), ("parallelism", "2")], &[], &script);
    // the third begins when the first completion entry has departed, which is at 570 ns
    assert_eq!(answers, [(620, 0, Status::Ok), (620, 1, Status::Ok), (570 + 500 + 60, 2, Status::Ok)]);
}

#[test]
fn a_core_does_one_thing_at_a_time() {
    let script = [0, 1, 2, 3].map(|i| (0, ask(Operation::Read, i, 512)));
    let times = |cores| {
        let driver = [("submit", "100ns"), ("complete", "0ns"), ("cores", cores)];
        machine(&driver, &[], &[], &script).0.into_iter().map(|answer| answer.0).collect::<Vec<_>>()
    };
    // signals wait behind the submissions that came before them
    assert_eq!(times("1"), [400, 400, 420, 520]);
    assert_eq!(times("4"), [220; 4]);
}

#[test]
fn what_no_doorbell_can_say_is_refused() {
    let request = Transfer { operation: Operation::Read, bytes: 512, handle: 0, unit: 0, address: 0 };
    let script = [
        (0, Message::Block(Transfer { bytes: 0, handle: 1, ..request })),
        (0, Message::Block(Transfer { address: 100, handle: 2, ..request })),
        (0, Message::Block(Transfer { bytes: (1 << 24) + 1, handle: 3, ..request })),
    ];
    let (answers, ..) = machine(&DRIVER, &[], &[], &script);
    assert_eq!(answers, [(30, 1, Status::Aborted), (60, 2, Status::Aborted), (90, 3, Status::Aborted)]);
}

/// Large and small, reads and writes, with and without translation: each is answered once, and the bytes are all there.
#[test]
fn every_request_is_answered_once() {
    let sizes = [1, 511, 512, 4096, 5000, 131_072];
    let request = |i: u32| {
        let operation = if i.is_multiple_of(3) { Operation::Write } else { Operation::Read };
        (u64::from(i) * 7, ask(operation, i, sizes[i as usize % sizes.len()]))
    };
    let script: Vec<_> = (0..300).map(request).collect();
    let moved = |operation| {
        let bytes = |(_, message): &(u64, Message)| match message {
            Message::Block(request) if request.operation == operation => u64::from(request.bytes),
            _ => 0,
        };
        script.iter().map(bytes).sum::<u64>()
    };
    for root in [&[("iommu", "false")][..], &[("iommu", "true"), ("iotlb.entries", "4")]] {
        let (answers, written, read) = machine(&DRIVER, &[("parallelism", "16")], root, &script);
        let mut handles: Vec<_> = answers.iter().map(|answer| answer.1).collect();
        handles.sort_unstable();
        assert_eq!(handles, (0..300).collect::<Vec<_>>());
        assert!(answers.iter().all(|answer| answer.2 == Status::Ok));
        assert_eq!((written, read), (moved(Operation::Read) + 300 * 16, moved(Operation::Write)));
    }
}

#[test]
fn a_driver_believes_only_its_device_and_only_once() {
    let mut builder = Builder::new();
    let driver = add(&mut builder, "block-driver", &[("submit", "0ns"), ("complete", "0ns")]);
    let log = peer(&mut builder, (driver, Port(0)), vec![(ns(0), ask(Operation::Read, 5, 512))]);
    let signal = |at, handle, from| (ns(at), Message::Signal { handle, from });
    let signals =
        vec![signal(10, 5, ROOT), signal(20, 6, DEVICE), signal(30, 5, DEVICE), signal(40, 5, DEVICE)];
    let cpu = peer(&mut builder, (driver, Port(1)), signals);
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    assert_eq!(answers(&log), [(30, 5, Status::Ok)]);
    assert_eq!(cpu.borrow().len(), 1, "one doorbell");
    kernel.inspect("block-driver/unexpected", &mut |_, value| assert_eq!(value, "3"));
}

#[test]
fn a_name_that_is_in_use_is_not_taken_again() {
    let mut builder = Builder::new();
    let endpoint = add(&mut builder, "block-endpoint", &[("latency", "100ns"), ("parallelism", "1")]);
    let doorbell = |at, handle| (ns(at), upstream(MWr, handle, 0, 4));
    // 1 is being worked on and 2 waits; both are rung again
    let log = peer(
        &mut builder,
        (endpoint, Port(0)),
        vec![
            doorbell(0, 1),
            doorbell(1, 2),
            doorbell(2, 1),
            doorbell(3, 2),
            (ns(500), Message::Departed { handle: 1 }),
        ],
    );
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    let signals = tlps(&log).into_iter().filter(|(_, tlps)| tlps.attributes.has(Attributes::SIGNAL));
    let signals: Vec<_> = signals.map(|(at, tlps)| (at, tlps.handle)).collect();
    assert_eq!(signals, [(120, 1), (620, 2)]);
    kernel.inspect("block-endpoint/unexpected", &mut |_, value| assert_eq!(value, "2"));
}

#[test]
fn a_fixed_latency_disk_obeys_littles_law() {
    let mut builder = Builder::new();
    let disk = [("read.latency", "80us"), ("write.latency", "20us"), ("parallelism", "4")];
    let disk = add(&mut builder, "fixed-latency-disk", &disk);
    let script: Vec<_> = (0..1000).map(|i| (ns(0), ask(Operation::Read, i, 512))).collect();
    let log = peer(&mut builder, (disk, Port(0)), script);
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    assert_eq!(answers(&log).len(), 1000);
    assert_eq!(kernel.now(), ns(1000 / 4 * 80_000));
}

#[test]
fn a_fixed_latency_disk_tells_reads_from_writes_and_a_null_disk_does_not() {
    let run = |name, replaced: &[_]| {
        let mut builder = Builder::new();
        let disk = add(&mut builder, name, replaced);
        let script = vec![(ns(5), ask(Operation::Read, 0, 1)), (ns(6), ask(Operation::Write, 1, 1))];
        let log = peer(&mut builder, (disk, Port(0)), script);
        builder.seal().run_until(Instant::NEVER);
        answers(&log).into_iter().map(|answer| (answer.0, answer.1)).collect::<Vec<_>>()
    };
    assert_eq!(
        run("fixed-latency-disk", &[("read.latency", "80ns"), ("write.latency", "20ns")]),
        [(26, 1), (85, 0)]
    );
    assert_eq!(run("null-disk", &[]), [(5, 0), (6, 1)]);
}
