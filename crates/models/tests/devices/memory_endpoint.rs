//! A device whose memory others read and write.

use crate::rig::*;
use lanetwin_kernel::Port;
use lanetwin_models::memory_endpoint::{MemoryEndpoint, Traffic};
use lanetwin_pcie::spec::TlpKind;
use lanetwin_ports::{Attributes, Builder, Message, Operation, Tlps, Transfer};

/// A request of a peer.
fn request(kind: TlpKind, handle: u32, address: u64, bytes: u16) -> Message {
    let attributes = Attributes::NONE;
    Message::Tlps(Tlps { kind, attributes, count: 1, bytes, from: ROOT, to: DEVICE, handle, address })
}

#[test]
fn a_read_is_answered_after_its_latency_cut_at_128_bytes_and_mps() {
    let mut builder = Builder::new();
    let device = add(&mut builder, "memory-endpoint", &[("memory.latency", "300ns")]);
    let script = vec![(ns(10), request(TlpKind::MRd, 7, 64, 512))];
    let log = peer(&mut builder, (device, Port(0)), script);
    let mut kernel = builder.seal();
    kernel.run_until(lanetwin_units::Instant::NEVER);
    // to the next multiple of the RCB of 128 B that is one of MPS, 256 B; then MPS; then the rest
    let completions: Vec<_> =
        tlps(&log).iter().map(|(at, t)| (*at, t.kind, t.count, t.bytes, t.address)).collect();
    let cpl = TlpKind::CplD;
    assert_eq!(completions, [(310, cpl, 1, 192, 64), (310, cpl, 1, 256, 256), (310, cpl, 1, 64, 512)]);
    let last: Vec<bool> = tlps(&log).iter().map(|(_, t)| t.attributes.has(Attributes::LAST)).collect();
    assert_eq!(last, [false, false, true]);
}

#[test]
fn reads_are_taken_up_one_after_another_and_never_before_their_issue() {
    let mut builder = Builder::new();
    let slow = [("memory.latency", "0ns"), ("completer.interval", "50ns"), ("issue", "20ns")];
    let device = add(&mut builder, "memory-endpoint", &slow);
    let read = |handle| (ns(0), request(TlpKind::MRd, handle, 0, 64));
    let log = peer(&mut builder, (device, Port(0)), vec![read(1), read(2), read(3)]);
    let mut kernel = builder.seal();
    kernel.run_until(lanetwin_units::Instant::NEVER);
    let times: Vec<(u64, u32)> = tlps(&log).iter().map(|(at, t)| (*at, t.handle)).collect();
    assert_eq!(times, [(20, 1), (70, 2), (120, 3)]);
}

#[test]
fn what_arrives_is_counted_and_messages_are_of_no_use() {
    let mut builder = Builder::new();
    let device = add(&mut builder, "memory-endpoint", &[]);
    let script = vec![
        (ns(0), request(TlpKind::MWr, 1, 0, 256)),
        (ns(1), request(TlpKind::MRd, 2, 0, 100)),
        (ns(2), request(TlpKind::Msg, 3, 0, 4)),
    ];
    peer(&mut builder, (device, Port(0)), script);
    let mut kernel = builder.seal();
    kernel.run_until(lanetwin_units::Instant::NEVER);
    let seen = Traffic {
        reads: 1,
        read_bytes: 100,
        completions: 1,
        completion_bytes: 100,
        writes: 1,
        write_bytes: 256,
        unexpected: 1,
        ..Traffic::default()
    };
    assert_eq!(kernel.component::<MemoryEndpoint>(device).unwrap().traffic(), seen);
}

#[test]
fn a_requester_sends_to_the_peer_that_it_was_given_and_else_to_the_root_port() {
    for (target, to) in
        [(None, ROOT), (Some(lanetwin_pcie::link::EndpointId(5)), lanetwin_pcie::link::EndpointId(5))]
    {
        for operation in [Operation::Read, Operation::Write] {
            let mut builder = Builder::new();
            let card = add_at(&mut builder, "card", "dma-requester", &[], |site| site.target = target);
            let log = peer(&mut builder, (card, Port(0)), Vec::new());
            let ask = Message::Dma(Transfer { operation, bytes: 64, handle: 0, address: 0, unit: 0 });
            peer(&mut builder, (card, Port(1)), vec![(ns(0), ask)]);
            let mut kernel = builder.seal();
            kernel.run_until(lanetwin_units::Instant::NEVER);
            assert_eq!(tlps(&log).iter().map(|(_, t)| t.to).collect::<Vec<_>>(), [to], "{operation:?}");
        }
    }
}
