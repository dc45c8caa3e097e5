//! Queues: created, deleted, shared, at the end of memory; what can be aborted in them.

use super::{ONE, begin_slow_read, for_namespace, machine, request_event};
use crate::rig::Rig;
use lanetwin_nvme::logic::host::{commands, point_prp};
use lanetwin_nvme::logic::{Effect, HostEffect, Place};
use lanetwin_nvme::spec::admin::QueuePriority;
use lanetwin_nvme::spec::feature::Feature;
use lanetwin_nvme::spec::{AdminOpcode, Command, CompletionEntry, CqId, Doorbell, Nsid, SqId, Status};

#[test]
fn abort_finds_what_can_be_stopped() {
    let (mut rig, mut host) = machine();
    request_event(&mut rig, &mut host);
    let abort = |sqid: u32, cid: u32| for_namespace(AdminOpcode::ABORT, Nsid::NONE, sqid | cid << 16, 0);
    let aborted = host.admin.outstanding().next().unwrap().0;
    assert_eq!(rig.admin(&mut host, abort(0, aborted.0.into())), (Status::SUCCESS, 0));
    assert_eq!(host.admin.in_flight(), 0, "its completion has come");
    assert_eq!(rig.admin(&mut host, abort(1, 3)), (Status::SUCCESS, 1));
    // a read whose medium is slow is stopped before its data go to the host
    let (_, cid) = begin_slow_read(&mut rig, &mut host);
    assert_eq!(rig.admin(&mut host, abort(1, cid.0.into())), (Status::SUCCESS, 0));
    rig.hold_media = false;
    rig.run();
    let entry = rig.entry(&host.queues[0]);
    let done = host.queues[0].consume(entry).unwrap();
    assert_eq!((done.name, done.status), (5, Status::ABORT_REQUESTED));
}

#[test]
fn queues_are_created_and_deleted_by_the_rules() {
    let (mut rig, mut host) = machine();
    let (sq, cq) = (rig.memory.allocate(1 << 16), rig.memory.allocate(1 << 16));
    let create_cq = |id, entries, vector| commands::create_cq(CqId(id), entries, cq, vector);
    let create_sq =
        |id, entries, into| commands::create_sq(SqId(id), entries, sq, CqId(into), QueuePriority::MEDIUM);
    let changed = |mut command: Command, dword11: u32, prp1: u64| {
        command.set_cdw11(dword11);
        command.set_prp1(prp1);
        command
    };
    for (command, status) in [
        (create_cq(1, 4, None), Status::INVALID_QUEUE_IDENTIFIER), // it exists
        (create_cq(0, 4, None), Status::INVALID_QUEUE_IDENTIFIER),
        (create_cq(129, 4, None), Status::INVALID_QUEUE_IDENTIFIER),
        (create_cq(2, 1025, None), Status::INVALID_QUEUE_SIZE),
        (create_cq(2, 4, Some(129)), Status::INVALID_INTERRUPT_VECTOR),
        (changed(create_cq(2, 4, None), 0, cq), Status::INVALID_FIELD),
        (changed(create_cq(2, 4, None), 1, cq + 64), Status::PRP_OFFSET_INVALID),
        (create_cq(2, 4, None), Status::SUCCESS),
        (create_sq(2, 4, 3), Status::COMPLETION_QUEUE_INVALID),
        (create_sq(2, 4, 0), Status::INVALID_QUEUE_IDENTIFIER),
        (create_sq(2, 4, 2), Status::SUCCESS),
        (create_sq(2, 4, 2), Status::INVALID_QUEUE_IDENTIFIER),
        (commands::delete_cq(CqId(2)), Status::INVALID_QUEUE_DELETION),
        (commands::delete_sq(SqId(0)), Status::INVALID_QUEUE_IDENTIFIER),
        (commands::delete_sq(SqId(2)), Status::SUCCESS),
        (commands::delete_sq(SqId(2)), Status::INVALID_QUEUE_IDENTIFIER),
        (commands::delete_cq(CqId(2)), Status::SUCCESS),
        (commands::set_features(Feature::NUMBER_OF_QUEUES, 0), Status::COMMAND_SEQUENCE_ERROR),
        (commands::set_features(Feature(0x55), 0), Status::INVALID_FIELD),
        (commands::command(0x99, Nsid::NONE), Status::INVALID_OPCODE),
    ] {
        assert_eq!(rig.admin(&mut host, command).0, status, "{command:?}");
    }
    let get = |feature| commands::get_features(feature);
    assert_eq!(rig.admin(&mut host, get(Feature::NUMBER_OF_QUEUES)), (Status::SUCCESS, 127 | 127 << 16));
    assert_eq!(
        rig.admin(&mut host, commands::set_features(Feature::ARBITRATION, 0x0403_0203)).0,
        Status::SUCCESS
    );
    assert_eq!(rig.admin(&mut host, get(Feature::ARBITRATION)), (Status::SUCCESS, 0x0403_0203));
}

#[test]
fn submission_queues_may_share_a_completion_queue() {
    let (mut rig, mut host) = machine();
    let cq = rig.memory.allocate(4096);
    assert_eq!(rig.admin(&mut host, commands::create_cq(CqId(2), 8, cq, None)).0, Status::SUCCESS);
    for id in [2, 3] {
        let sq = rig.memory.allocate(4096);
        let create = commands::create_sq(SqId(id), 8, sq, CqId(2), QueuePriority::LOW);
        assert_eq!(rig.admin(&mut host, create).0, Status::SUCCESS);
        for entry in 0..4 {
            rig.memory.write(sq + 64 * entry, commands::flush(Nsid(1)).as_bytes());
        }
    }
    for id in [2, 3] {
        rig.ring(ONE, Some((Doorbell::SubmissionTail(SqId(id)), 4)));
    }
    rig.run();
    // seven of the eight have room; the last one comes when the host has taken one
    let entry = |rig: &Rig, at: u64| {
        CompletionEntry::from_bytes(rig.memory.read(cq + 16 * at, 16).try_into().unwrap())
    };
    assert!((0..7).all(|at| entry(&rig, at).phase()) && !entry(&rig, 7).phase());
    rig.ring(ONE, Some((Doorbell::CompletionHead(CqId(2)), 1)));
    assert!(entry(&rig, 7).phase());
    for id in [2, 3] {
        assert_eq!((0..8).filter(|&at| entry(&rig, at).sqid() == SqId(id)).count(), 4);
    }
    assert_eq!(rig.admin(&mut host, commands::delete_sq(SqId(2))).0, Status::SUCCESS);
    assert_eq!(rig.admin(&mut host, commands::delete_cq(CqId(2))).0, Status::INVALID_QUEUE_DELETION);
    assert_eq!(rig.admin(&mut host, commands::delete_sq(SqId(3))).0, Status::SUCCESS);
    assert_eq!(rig.admin(&mut host, commands::delete_cq(CqId(2))).0, Status::SUCCESS);
}

/// A queue at the end of the address space goes round like an address does.
#[test]
fn queues_may_lie_at_the_end_of_memory() {
    let (mut rig, mut host) = machine();
    let end = !0xfff_u64;
    let create = commands::create_cq(CqId(2), 1024, end, None);
    assert_eq!(rig.admin(&mut host, create).0, Status::SUCCESS);
    let create = commands::create_sq(SqId(2), 1024, end, CqId(2), QueuePriority::LOW);
    assert_eq!(rig.admin(&mut host, create).0, Status::SUCCESS);
    rig.ring(ONE, Some((Doorbell::SubmissionTail(SqId(2)), 1000)));
    let mut low = 0;
    while !rig.pending.is_empty() {
        for effect in std::mem::take(&mut rig.pending) {
            let Effect::Host(HostEffect::Fetch { token, at: Place::Memory { address }, bytes, .. }) = effect
            else {
                continue;
            };
            low += u32::from(address < end);
            rig.subsystem.fetched(rig.now, token, &vec![0; bytes as usize], &mut rig.effects);
        }
        // completions, at the end of memory as well, are not looked at
        rig.effects.retain(|effect| !matches!(effect, Effect::Host(HostEffect::Complete { .. })));
        rig.absorb();
    }
    assert!(low > 0);
}

#[test]
fn a_contiguous_list_needs_no_content() {
    let (mut rig, mut host) = machine();
    let mut read = commands::read(Nsid(2), 0, 32);
    let buffer = rig.memory.allocate(32 * 4096);
    point_prp(&mut read, buffer, 32 * 4096, 4096, 0x7000).unwrap();
    let submitted = host.queues[0].submit(read, 0).unwrap();
    rig.memory.write(submitted.address, submitted.entry.as_bytes());
    rig.ring(ONE, submitted.ring);
    rig.step();
    let list = rig.pending.iter().position(|effect| {
        matches!(effect, Effect::Host(HostEffect::Fetch { at: Place::Memory { address: 0x7000 }, .. }))
    });
    let Effect::Host(HostEffect::Fetch { token, bytes, .. }) = rig.pending.swap_remove(list.unwrap()) else {
        unreachable!()
    };
    assert_eq!(bytes, 31 * 8);
    rig.subsystem.fetched_contiguous(rig.now, token, &mut rig.effects);
    rig.absorb();
    while !rig.pending.iter().any(|effect| matches!(effect, Effect::Host(HostEffect::Transfer { .. }))) {
        assert!(rig.step());
    }
    let Effect::Host(HostEffect::Transfer { at, bytes, .. }) = rig.pending[0] else {
        panic!("{:?}", rig.pending)
    };
    assert_eq!((at, bytes), (Place::Memory { address: buffer }, 32 * 4096));
}
