//! Translation in the root complex: buffers are held while pages are walked, and order is kept.

use crate::rig::*;
use lanetwin_kernel::Port;
use lanetwin_models::find;
use lanetwin_pcie::spec::TlpKind::{MRd, MWr};
use lanetwin_ports::{Attributes, Builder, Message};
use lanetwin_units::Instant;

const SLOT: Port = Port(1);
const IOMMU: [(&str, &str); 8] = [
    ("issue", "10ns"),
    ("memory.warm", "1MiB"),
    ("memory.llc-hit", "100ns"),
    ("port.drain", "20ns"),
    ("iommu", "true"),
    ("iotlb.entries", "2"),
    ("iommu.walk", "300ns"),
    ("iommu.walkers", "1"),
];

/// What comes back: nanoseconds and, for a completion, its handle; for a freed buffer the kind of its TLP.
fn answers(script: &[(u64, Message)]) -> Vec<(u64, String)> {
    let mut builder = Builder::new();
    let root = add(&mut builder, "root-complex", &IOMMU);
    let log =
        peer(&mut builder, (root, SLOT), script.iter().map(|&(at, message)| (ns(at), message)).collect());
    builder.seal().run_until(Instant::NEVER);
    let name = |message: &Message| match message {
        Message::Tlps(tlps) => format!("read {}", tlps.handle),
        Message::Release(release) => format!("{:?} {}×{} free", release.kind, release.count, release.bytes),
        other => format!("{other:?}"),
    };
    log.borrow().iter().map(|(ps, _, message)| (whole_ns(*ps), name(message))).collect()
}

fn expect(script: &[(u64, Message)], expected: &[(u64, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(at, what)| (*at, (*what).to_owned())).collect();
    assert_eq!(answers(script), expected);
}

#[test]
fn a_write_is_held_until_its_page_is_walked() {
    let script = [(0, upstream(MWr, 1, 0, 64)), (1000, upstream(MWr, 2, 64, 64))];
    expect(&script, &[(320, "MWr 1×64 free"), (1020, "MWr 1×64 free")]);
}

#[test]
fn a_read_waits_for_its_walk_and_its_buffer_too() {
    let script = [(0, upstream(MRd, 1, 0, 64)), (1000, upstream(MRd, 2, 64, 64))];
    expect(&script, &[(320, "MRd 1×0 free"), (400, "read 1"), (1020, "MRd 1×0 free"), (1100, "read 2")]);
}

/// The write misses, the read behind it would hit: it must not return before the write is in effect.
#[test]
fn a_read_does_not_overtake_an_earlier_write() {
    let script =
        [(0, upstream(MRd, 1, 0, 64)), (1000, upstream(MWr, 2, 0x8000, 64)), (1001, upstream(MRd, 3, 0, 64))];
    expect(
        &script,
        &[
            (320, "MRd 1×0 free"),
            (400, "read 1"),
            (1320, "MWr 1×64 free"),
            (1320, "MRd 1×0 free"),
            (1400, "read 3"),
        ],
    );
}

/// A write is in effect in its turn; one that hits waits for one before it that is walked, not for a read.
#[test]
fn writes_take_effect_in_order_and_pass_reads() {
    let script = [
        (0, upstream(MWr, 1, 0, 64)),
        (1000, upstream(MRd, 2, 0x8000, 64)),
        (1001, upstream(MWr, 3, 0, 64)),
        (2000, upstream(MWr, 4, 0x10_000, 64)),
        (2001, upstream(MWr, 5, 0x10_000, 64)),
        (2002, upstream(MWr, 6, 0x8000, 64)),
    ];
    expect(
        &script,
        &[
            (320, "MWr 1×64 free"),
            (1021, "MWr 1×64 free"),
            (1320, "MRd 1×0 free"),
            (1400, "read 2"),
            (2320, "MWr 1×64 free"),
            (2320, "MWr 1×64 free"),
            // page 0x8 has been replaced by 0x10: one walker, one walk after the other
            (2620, "MWr 1×64 free"),
        ],
    );
}

/// The second write hits another page than the first, which is being walked: it is in effect no earlier.
#[test]
fn a_write_that_hits_waits_for_one_that_is_walked() {
    let script = [
        (0, upstream(MWr, 1, 0, 64)),
        (1000, upstream(MWr, 2, 0x8000, 64)),
        (1001, upstream(MWr, 3, 0, 64)),
        (1002, upstream(MRd, 4, 0, 64)),
    ];
    expect(
        &script,
        &[
            (320, "MWr 1×64 free"),
            (1320, "MWr 1×64 free"),
            (1320, "MWr 1×64 free"),
            (1320, "MRd 1×0 free"),
            (1400, "read 4"),
        ],
    );
}

#[test]
fn a_signal_is_seen_when_its_write_is_in_effect() {
    let mut signal = upstream(MWr, 7, 0, 16);
    if let Message::Tlps(tlps) = &mut signal {
        tlps.attributes = Attributes::SIGNAL;
    }
    let mut builder = Builder::new();
    let root = add(&mut builder, "root-complex", &IOMMU);
    peer(&mut builder, (root, SLOT), vec![(ns(0), signal)]);
    let cpu = peer(&mut builder, (root, Port(0)), Vec::new());
    builder.seal().run_until(Instant::NEVER);
    assert_eq!(*cpu.borrow(), [(300_000, Port(0), Message::Signal { handle: 7, from: DEVICE })]);
}

/// TLPs leave the buffer one after another: 5 ns each and 64 B at 1 GB/s, posted and others each in their own line.
#[test]
fn the_buffer_empties_at_the_pace_of_the_receiver() {
    let pace = [("port.ingest", "5ns"), ("port.ingest-rate", "1GB/s"), ("iommu.walk", "0ns")];
    let mut builder = Builder::new();
    let root = add(&mut builder, "root-complex", &[&IOMMU[..], &pace].concat());
    let burst =
        [upstream(MWr, 1, 0, 64), upstream(MWr, 2, 0, 64), upstream(MRd, 3, 0, 64), upstream(MWr, 4, 0, 64)];
    let log = peer(&mut builder, (root, SLOT), burst.map(|tlp| (ns(0), tlp)).to_vec());
    builder.seal().run_until(Instant::NEVER);
    let freed = |&(ps, _, message): &(u64, Port, Message)| match message {
        Message::Release(release) => Some((whole_ns(ps), release.kind)),
        _ => None,
    };
    let freed: Vec<_> = log.borrow().iter().filter_map(freed).collect();
    assert_eq!(freed, [(20 + 5, MRd), (20 + 69, MWr), (20 + 2 * 69, MWr), (20 + 3 * 69, MWr)]);
}

#[test]
fn only_a_root_complex_with_an_iommu_drains_by_itself() {
    let model = find("root-complex").unwrap();
    assert!((model.drains_itself)(&params(model, &IOMMU)));
    assert!(!(model.drains_itself)(&params(model, &[])));
}
