//! Single commands, by hand: what a driver sees.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod rig;

use lanetwin_nvme::logic::host::{commands, point_prp, point_sgl};
use lanetwin_nvme::logic::{ControllerConfig, Effect, LbaFormat, MediaOperation};
use lanetwin_nvme::spec::admin::{IdentifyStructure, QueuePriority};
use lanetwin_nvme::spec::feature::{Feature, WriteProtectionState};
use lanetwin_nvme::spec::identify::{IdentifyController, IdentifyNamespace};
use lanetwin_nvme::spec::log::{
    ErrorEntry, EventResult, EventType, LogPage, NoticeEvent, SanitizeLog, SanitizeState, SmartEvent,
    SmartLog,
};
use lanetwin_nvme::spec::registers::{CC, CSTS, ControllerStatus, NSSR, RESET_WORD, ShutdownStatus};
use lanetwin_nvme::spec::{
    AdminOpcode, Command, CompletionEntry, ControllerId, CqId, Doorbell, IoOpcode, Nsid, SqId, Status,
};
use rig::{Host, Rig, Wanted, namespace, subsystem};

const ONE: ControllerId = ControllerId(1);
const TWO: ControllerId = ControllerId(2);

fn machine() -> (Rig, Host) {
    let controllers = vec![ControllerConfig::new(ONE), ControllerConfig::new(TWO)];
    let formats = [LbaFormat::B512, LbaFormat::B4096];
    let namespaces = vec![
        namespace(1, 1 << 20, &formats, &[1, 2]),
        namespace(2, 1 << 22, &[LbaFormat::B4096], &[1]),
        namespace(7, 1 << 20, &formats, &[2]),
    ];
    let mut rig = Rig::new(&subsystem(controllers, namespaces), 1);
    let host = rig.start(ONE, &Wanted::default());
    (rig, host)
}
fn with_buffer(mut command: Command, address: u64, bytes: u32) -> Command {
    assert_eq!(point_prp(&mut command, address, bytes, 4096, 0), None);
    command
}
fn log(rig: &mut Rig, host: &mut Host, page: LogPage, bytes: u32) -> Vec<u8> {
    let buffer = host.buffer;
    let command = with_buffer(commands::get_log_page(page, 0, bytes), buffer, bytes);
    assert_eq!(rig.admin(host, command), (Status::SUCCESS, 0));
    rig.memory.read(buffer, bytes as usize)
}
fn for_namespace(opcode: AdminOpcode, nsid: Nsid, dword10: u32, dword11: u32) -> Command {
    let mut command = commands::command(opcode.0, nsid);
    command.set_cdw10(dword10);
    command.set_cdw11(dword11);
    command
}

#[test]
fn a_host_finds_what_is_attached() {
    let (mut rig, mut host) = machine();
    let found: Vec<_> =
        host.found.namespaces.iter().map(|found| (found.nsid.0, found.blocks, found.block_log2)).collect();
    assert_eq!(found, [(1, 2048, 9), (2, 1024, 12)]);
    assert_eq!((host.found.controller, host.found.longest_transfer), (1, Some(2 << 20)));

    let buffer = host.buffer;
    let mut identify = |structure, nsid| {
        let command = with_buffer(commands::identify(structure, nsid), buffer, 4096);
        let (status, _) = rig.admin(&mut host, command);
        (status, <[u8; 4096]>::try_from(rig.memory.read(buffer, 4096)).unwrap())
    };
    let told = IdentifyController::from_bytes(identify(IdentifyStructure::CONTROLLER, Nsid::NONE).1);
    assert_eq!((&told.model()[..10], told.vid(), told.namespaces()), (&b"Test Drive"[..], 0x144d, 7));
    assert!(
        told.multi_path().controllers() && told.admin_commands().format() && told.io_commands().compare()
    );
    let told = IdentifyNamespace::from_bytes(identify(IdentifyStructure::NAMESPACE, Nsid(2)).1);
    assert_eq!((told.size(), told.formats()[2], told.sharing().shared()), (1024, 12, true));
    // a namespace of the other controller is inactive: zeroes; the third does not exist, the eighth cannot
    assert_eq!(identify(IdentifyStructure::NAMESPACE, Nsid(7)), (Status::SUCCESS, [0; 4096]));
    assert_eq!(identify(IdentifyStructure::NAMESPACE, Nsid(8)).0, Status::INVALID_NAMESPACE_OR_FORMAT);
    let (_, list) = identify(IdentifyStructure::ALLOCATED_NAMESPACES, Nsid(1));
    assert_eq!(&list[..12], [2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
    let (_, list) = identify(IdentifyStructure::ATTACHED_CONTROLLERS, Nsid(1));
    assert_eq!(&list[..6], [2, 0, 1, 0, 2, 0]);
    assert_eq!(identify(IdentifyStructure(0x42), Nsid::NONE).0, Status::INVALID_FIELD);
}

#[test]
fn what_was_written_is_read_through_lists_of_both_kinds() {
    let (mut rig, mut host) = machine();
    let bytes = 40 * 4096_u32;
    let (data, back) = (rig.memory.allocate(1 << 18), rig.memory.allocate(1 << 18));
    let pattern: Vec<u8> = (0..bytes).map(|at| (at * 7 + at / 4096) as u8).collect();
    rig.memory.write(data + 512, &pattern);

    // 41 pages, and a list that begins near the end of its page
    let list = rig.memory.allocate(8192) + 4096 - 24;
    let mut write = commands::write(Nsid(2), 5, 40);
    let prp = point_prp(&mut write, data + 512, bytes, 4096, list).expect("that takes a list");
    for (at, entry) in prp.entries().enumerate() {
        rig.memory.write(list + 8 * at as u64, &entry.to_le_bytes());
    }
    assert_eq!(rig.io(&mut host, 0, write), Status::SUCCESS);

    let segment = rig.memory.allocate(4096);
    let pieces: Vec<_> = (0..40).rev().map(|page| (back + page * 4096, 4096)).collect();
    let mut read = commands::read(Nsid(2), 5, 40);
    for (at, descriptor) in point_sgl(&mut read, &pieces, segment).iter().enumerate() {
        rig.memory.write(segment + 16 * at as u64, &descriptor.raw().to_le_bytes());
    }
    assert_eq!(rig.io(&mut host, 0, read), Status::SUCCESS);
    let backwards: Vec<u8> =
        pieces.iter().flat_map(|&(at, bytes)| rig.memory.read(at, bytes as usize)).collect();
    assert!(backwards == pattern);

    // compare: the same, and something else
    let compare = with_buffer(commands::blocks(IoOpcode::COMPARE, Nsid(2), 5, 1), data + 512, 4096);
    assert_eq!(rig.io(&mut host, 0, compare), Status::SUCCESS);
    let compare = with_buffer(commands::blocks(IoOpcode::COMPARE, Nsid(2), 6, 1), data + 512, 4096);
    assert_eq!(rig.io(&mut host, 0, compare), Status::COMPARE_FAILURE);

    // deallocated blocks read as zeroes
    let ranges = rig.memory.allocate(4096);
    for (at, (slba, blocks)) in [(5_u64, 1_u32), (9, 2)].into_iter().enumerate() {
        rig.memory.write(ranges + 16 * at as u64 + 4, &blocks.to_le_bytes());
        rig.memory.write(ranges + 16 * at as u64 + 8, &slba.to_le_bytes());
    }
    assert_eq!(
        rig.io(&mut host, 0, with_buffer(commands::deallocate(Nsid(2), 2), ranges, 32)),
        Status::SUCCESS
    );
    let read = with_buffer(commands::read(Nsid(2), 10, 1), back, 4096);
    assert_eq!(rig.io(&mut host, 0, read), Status::SUCCESS);
    assert_eq!(rig.memory.read(back, 4096), [0; 4096]);
    rig.memory.write(ranges + 8, &u64::MAX.to_le_bytes());
    let beyond = with_buffer(commands::deallocate(Nsid(2), 2), ranges, 32);
    assert_eq!(rig.io(&mut host, 0, beyond), Status::LBA_OUT_OF_RANGE);
}

#[test]
fn a_wrong_command_has_its_status() {
    let (mut rig, mut host) = machine();
    let read = |nsid, slba, blocks| commands::read(Nsid(nsid), slba, blocks);
    let changed = |change: &dyn Fn(&mut Command)| {
        let mut command = read(1, 0, 8);
        command.set_prp1(0x1000);
        change(&mut command);
        command
    };
    let dword0 = |change: &dyn Fn(u32) -> u32| {
        changed(&|command| {
            let raw = change(command.dword0().raw());
            command.set_dword0(lanetwin_nvme::spec::CommandDword0::from_raw(raw));
        })
    };
    for (command, status) in [
        (read(1, 2048, 1), Status::LBA_OUT_OF_RANGE),
        (read(1, 2041, 8), Status::LBA_OUT_OF_RANGE),
        (read(1, u64::MAX, 8), Status::LBA_OUT_OF_RANGE),
        (read(7, 0, 1), Status::INVALID_NAMESPACE_OR_FORMAT),
        (read(0, 0, 1), Status::INVALID_NAMESPACE_OR_FORMAT),
        (read(0xffff_ffff, 0, 1), Status::INVALID_NAMESPACE_OR_FORMAT),
        (read(2, 0, 513), Status::INVALID_FIELD), // MDTS
        (changed(&|command| command.set_prp1(0x1002)), Status::PRP_OFFSET_INVALID),
        (
            changed(&|command| (command.set_prp1(0x1800), command.set_prp2(0x3004)).1),
            Status::PRP_OFFSET_INVALID,
        ),
        (dword0(&|raw| raw | 1 << 8), Status::INVALID_FIELD), // fused
        (dword0(&|raw| raw | 2 << 14), Status::INVALID_FIELD), // metadata SGL
        (dword0(&|raw| raw & !0xff | 0x7f), Status::INVALID_OPCODE),
        // an SGL of a length that is not the data's, of a type that is none, and of a segment that cannot be
        (dword0(&|raw| raw | 1 << 14), Status::DATA_SGL_LENGTH_INVALID),
    ] {
        assert_eq!(rig.io(&mut host, 0, command), status, "{command:?}");
    }
    let entries = log(&mut rig, &mut host, LogPage::ERROR, 128);
    let newest = ErrorEntry::from_bytes(entries[..64].try_into().unwrap());
    assert_eq!((newest.count(), newest.sq_number(), newest.opcode()), (13, 1, 2));
    assert_eq!(newest.status().status(), Status::DATA_SGL_LENGTH_INVALID.0);

    // a list whose second entry is not of a page
    let list = rig.memory.allocate(4096);
    rig.memory.write(list, &0x9000_u64.to_le_bytes());
    rig.memory.write(list + 8, &0x9001_u64.to_le_bytes());
    let mut command = read(1, 0, 24);
    point_prp(&mut command, 0x1000, 3 * 4096, 4096, list).unwrap();
    assert_eq!(rig.io(&mut host, 0, command), Status::PRP_OFFSET_INVALID);
    rig.media_status = Status::UNRECOVERED_READ_ERROR;
    assert_eq!(
        rig.io(&mut host, 0, with_buffer(read(1, 0, 8), 0x1000, 4096)),
        Status::UNRECOVERED_READ_ERROR
    );
}

#[test]
fn protected_and_failed_namespaces_refuse() {
    let (mut rig, mut host) = machine();
    let write = with_buffer(commands::write(Nsid(1), 0, 1), 0x1000, 512);
    let read = with_buffer(commands::read(Nsid(1), 0, 1), 0x1000, 512);
    let feature = u32::from(Feature::NAMESPACE_WRITE_PROTECTION.0);
    let protect = |state: WriteProtectionState| {
        for_namespace(AdminOpcode::SET_FEATURES, Nsid(1), feature, state.0.into())
    };
    assert_eq!(rig.io(&mut host, 0, write), Status::SUCCESS);
    assert_eq!(rig.admin(&mut host, protect(WriteProtectionState::PROTECTED)).0, Status::SUCCESS);
    assert_eq!(rig.io(&mut host, 0, write), Status::NAMESPACE_WRITE_PROTECTED);
    assert_eq!(rig.io(&mut host, 0, read), Status::SUCCESS);
    let get = for_namespace(AdminOpcode::GET_FEATURES, Nsid(1), feature, 0);
    assert_eq!(rig.admin(&mut host, get), (Status::SUCCESS, 1));
    let format = for_namespace(AdminOpcode::FORMAT_NVM, Nsid(1), 0, 0);
    assert_eq!(rig.admin(&mut host, format).0, Status::NAMESPACE_WRITE_PROTECTED);
    assert_eq!(rig.admin(&mut host, protect(WriteProtectionState::PERMANENT)).0, Status::SUCCESS);
    assert_eq!(rig.admin(&mut host, protect(WriteProtectionState::NONE)).0, Status::FEATURE_NOT_CHANGEABLE);
    rig.subsystem.set_failed(Nsid(1), true);
    assert_eq!(rig.io(&mut host, 0, read), Status::NAMESPACE_NOT_READY);
    rig.subsystem.set_failed(Nsid(1), false);
    assert_eq!(rig.io(&mut host, 0, read), Status::SUCCESS);
}

#[test]
fn smart_counts_what_was_done_and_what_the_owner_says() {
    let (mut rig, mut host) = machine();
    let buffer = rig.memory.allocate(1 << 16);
    for _ in 0..3 {
        let write = with_buffer(commands::write(Nsid(2), 0, 1), buffer, 4096);
        assert_eq!(rig.io(&mut host, 0, write), Status::SUCCESS);
    }
    let read = with_buffer(commands::read(Nsid(2), 0, 1), buffer, 4096);
    assert_eq!(rig.io(&mut host, 0, read), Status::SUCCESS);
    (rig.health.percentage_used, rig.health.available_spare_percent, rig.health.media_errors) = (12, 9, 5);
    let smart = SmartLog::from_bytes(log(&mut rig, &mut host, LogPage::SMART, 512).try_into().unwrap());
    assert_eq!((smart.host_writes(), smart.host_reads(), smart.data_units_written()), (3, 1, 1));
    assert_eq!((smart.percentage_used(), smart.media_errors(), smart.temperature()), (12, 5, 313));
    assert!(smart.critical_warning().spare() && !smart.critical_warning().temperature());
    // a part of a log, and one that begins behind it
    let part = with_buffer(commands::get_log_page(LogPage::SMART, 64, 16), buffer, 16);
    assert_eq!(rig.admin(&mut host, part).0, Status::SUCCESS);
    assert_eq!(rig.memory.read(buffer, 2), [1, 0]);
    let beyond = with_buffer(commands::get_log_page(LogPage::SMART, 516, 16), buffer, 16);
    assert_eq!(rig.admin(&mut host, beyond).0, Status::INVALID_FIELD);
    let unknown = with_buffer(commands::get_log_page(LogPage(0xc0), 0, 16), buffer, 16);
    assert_eq!(rig.admin(&mut host, unknown).0, Status::INVALID_LOG_PAGE);
}

/// Submits a request for an event, that has no answer yet.
fn request_event(rig: &mut Rig, host: &mut Host) {
    let command = commands::command(AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST.0, Nsid::NONE);
    let submitted = host.admin.submit(command, 7).unwrap();
    rig.memory.write(submitted.address, submitted.entry.as_bytes());
    rig.ring(host.id, submitted.ring);
    rig.run();
}
fn event(rig: &mut Rig, host: &mut Host) -> Option<EventResult> {
    let done = if rig.others.is_empty() {
        let done = host.admin.consume(rig.entry(&host.admin))?;
        rig.ring(host.id, done.ring);
        done
    } else {
        rig.others.remove(0)
    };
    assert_eq!((done.name, done.status), (7, Status::SUCCESS));
    Some(EventResult::from_raw(done.dw0))
}

#[test]
fn events_are_told_once_until_their_log_was_read() {
    let (mut rig, mut host) = machine();
    let configure = commands::set_features(Feature::EVENT_CONFIGURATION, 0x1ff);
    assert_eq!(rig.admin(&mut host, configure).0, Status::SUCCESS);
    for _ in 0..4 {
        request_event(&mut rig, &mut host);
    }
    let beyond = commands::command(AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST.0, Nsid::NONE);
    assert_eq!(rig.admin(&mut host, beyond).0, Status::EVENT_REQUEST_LIMIT_EXCEEDED);
    rig.subsystem.attach(rig.now, Nsid(7), ONE, true, &mut rig.effects);
    rig.absorb();
    let told = event(&mut rig, &mut host).unwrap();
    assert_eq!((told.kind(), told.information()), (EventType::NOTICE, NoticeEvent::NAMESPACE_CHANGED.0));
    rig.subsystem.attach(rig.now, Nsid(2), ONE, false, &mut rig.effects);
    rig.absorb();
    assert_eq!(event(&mut rig, &mut host), None, "masked until the log was read");
    assert_eq!(
        &log(&mut rig, &mut host, LogPage::CHANGED_NAMESPACES, 12),
        &[2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]
    );
    rig.subsystem.warn(rig.now, SmartEvent::TEMPERATURE, &mut rig.effects);
    rig.absorb();
    let (a, b) = (event(&mut rig, &mut host).unwrap(), event(&mut rig, &mut host).unwrap());
    assert_eq!((a.kind(), b.kind()), (EventType::NOTICE, EventType::SMART));
    // a doorbell that is none
    rig.ring(ONE, Some((Doorbell::SubmissionTail(SqId(9)), 1)));
    assert_eq!(event(&mut rig, &mut host).map(EventResult::kind), Some(EventType::ERROR));
    // the other controller was told nothing
    assert!(rig.completed.iter().all(|&(controller, ..)| controller == ONE));
}

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
    let read = with_buffer(commands::read(Nsid(1), 0, 1), 0x1000, 512);
    let submitted = host.queues[0].submit(read, 5).unwrap();
    rig.memory.write(submitted.address, submitted.entry.as_bytes());
    rig.hold_media = true;
    rig.ring(ONE, submitted.ring);
    rig.run();
    assert_eq!(rig.admin(&mut host, abort(1, submitted.cid.0.into())), (Status::SUCCESS, 0));
    rig.hold_media = false;
    rig.run();
    let entry = rig.entry(&host.queues[0]);
    let done = host.queues[0].consume(entry).unwrap();
    assert_eq!((done.name, done.status), (5, Status::ABORT_REQUESTED));
}

#[test]
fn a_format_changes_the_blocks_and_the_other_controller_is_told() {
    let (mut rig, mut host) = machine();
    let mut other = rig.start(TWO, &Wanted::default());
    let configure = commands::set_features(Feature::EVENT_CONFIGURATION, 0x100);
    assert_eq!(rig.admin(&mut other, configure).0, Status::SUCCESS);
    request_event(&mut rig, &mut other);
    let buffer = rig.memory.allocate(4096);
    rig.memory.write(buffer, &[9; 512]);
    assert_eq!(
        rig.io(&mut host, 0, with_buffer(commands::write(Nsid(1), 3, 1), buffer, 512)),
        Status::SUCCESS
    );
    let format = |index: u32| for_namespace(AdminOpcode::FORMAT_NVM, Nsid(1), index, 0);
    assert_eq!(rig.admin(&mut host, format(2)).0, Status::INVALID_FORMAT);

    // while it goes on, the namespace refuses
    rig.hold_media = true;
    let submitted = host.admin.submit(format(1), 0).unwrap();
    rig.memory.write(submitted.address, submitted.entry.as_bytes());
    rig.ring(ONE, submitted.ring);
    rig.run();
    let read = with_buffer(commands::read(Nsid(1), 3, 1), buffer, 512);
    assert_eq!(rig.io(&mut other, 0, read), Status::FORMAT_IN_PROGRESS);
    rig.hold_media = false;
    rig.run();
    let done = host.admin.consume(rig.entry(&host.admin)).unwrap();
    rig.ring(ONE, done.ring);
    assert_eq!(done.status, Status::SUCCESS);
    assert_eq!(event(&mut rig, &mut other).map(EventResult::kind), Some(EventType::NOTICE));
    assert_eq!(rig.subsystem.block_bytes(Nsid(1)), Some(4096));
    assert_eq!(rig.io(&mut host, 0, commands::read(Nsid(1), 256, 1)), Status::LBA_OUT_OF_RANGE);
    assert_eq!(
        rig.io(&mut host, 0, with_buffer(commands::read(Nsid(1), 0, 1), buffer, 4096)),
        Status::SUCCESS
    );
    assert_eq!(rig.memory.read(buffer, 512), [0; 512]);
}

#[test]
fn a_sanitize_goes_on_behind_its_command_and_over_a_reset() {
    let (mut rig, mut host) = machine();
    let mut other = rig.start(TWO, &Wanted::default());
    rig.hold_media = true;
    let sanitize = |action: u32| for_namespace(AdminOpcode::SANITIZE, Nsid::NONE, action, 0);
    assert_eq!(rig.admin(&mut host, sanitize(7)).0, Status::INVALID_FIELD);
    assert_eq!(rig.admin(&mut host, sanitize(2)).0, Status::SUCCESS);
    rig.subsystem.sanitize_progress(0x8000);
    let read = with_buffer(commands::read(Nsid(1), 0, 1), 0x1000, 512);
    assert_eq!(rig.io(&mut other, 0, read), Status::SANITIZE_IN_PROGRESS);
    assert_eq!(rig.admin(&mut other, sanitize(2)).0, Status::SANITIZE_IN_PROGRESS);
    let status = |rig: &mut Rig, host: &mut Host| {
        let log = log(rig, host, LogPage::SANITIZE_STATUS, 512);
        let log = SanitizeLog::from_bytes(log.try_into().unwrap());
        (log.status().state(), log.progress())
    };
    assert_eq!(status(&mut rig, &mut other), (SanitizeState::IN_PROGRESS, 0x8000));
    rig.subsystem.reset(rig.now, ONE, &mut rig.effects);
    rig.absorb();
    assert_eq!(status(&mut rig, &mut other).0, SanitizeState::IN_PROGRESS);
    request_event(&mut rig, &mut other);
    rig.hold_media = false;
    rig.run();
    assert_eq!(event(&mut rig, &mut other).map(EventResult::kind), Some(EventType::IO_COMMAND_SET));
    assert_eq!(status(&mut rig, &mut other), (SanitizeState::COMPLETED, 0xffff));
    assert_eq!(rig.io(&mut other, 0, read), Status::SUCCESS);

    // one that fails has to be acknowledged, or done again
    rig.media_status = Status::INTERNAL_ERROR;
    assert_eq!(rig.admin(&mut other, sanitize(2)).0, Status::SUCCESS);
    rig.run();
    assert_eq!(rig.io(&mut other, 0, read), Status::SANITIZE_FAILED);
    assert_eq!(rig.admin(&mut other, sanitize(1)).0, Status::SANITIZE_FAILED);
    rig.media_status = Status::SUCCESS;
    assert_eq!(rig.admin(&mut other, sanitize(2)).0, Status::SUCCESS);
    rig.run();
    assert_eq!(rig.io(&mut other, 0, read), Status::SUCCESS);
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
fn ready_goes_only_when_nothing_is_under_way() {
    let (mut rig, mut host) = machine();
    let status = |rig: &Rig| ControllerStatus::from_raw(rig.subsystem.read_register(ONE, CSTS));
    let read = with_buffer(commands::read(Nsid(1), 0, 1), 0x1000, 512);
    let submitted = host.queues[0].submit(read, 5).unwrap();
    rig.memory.write(submitted.address, submitted.entry.as_bytes());
    rig.hold_media = true;
    rig.ring(ONE, submitted.ring);
    rig.run();
    let configuration = rig.subsystem.read_register(ONE, CC);
    rig.write_register(ONE, CC, configuration & !1);
    assert!(status(&rig).ready());
    rig.hold_media = false;
    rig.run();
    assert!(!status(&rig).ready());
    assert_eq!(rig.memory.read(host.queues[0].next_completion(), 16), [0; 16], "no completion after a reset");
    let mut host = rig.start(ONE, &Wanted::default());
    assert_eq!(rig.io(&mut host, 0, read), Status::SUCCESS);

    // shutdown writes the cache out
    rig.hold_media = true;
    rig.write_register(ONE, CC, configuration | 1 << 14);
    assert_eq!(status(&rig).shutdown(), ShutdownStatus::OCCURRING);
    rig.hold_media = false;
    rig.run();
    assert_eq!(status(&rig).shutdown(), ShutdownStatus::COMPLETE);
    assert_eq!(rig.done.last().map(|request| request.operation), Some(MediaOperation::Flush));

    rig.write_register(ONE, NSSR, RESET_WORD);
    assert!(status(&rig).subsystem_reset() && !status(&rig).ready());
    // an admin queue of one entry is fatal
    rig.write_register(ONE, CC, configuration);
    assert!(status(&rig).fatal());
    let mut host = rig.start(ONE, &Wanted::default());
    assert_eq!(rig.io(&mut host, 0, read), Status::SUCCESS);
}

/// A start that waits for what a reset has left does not ask to be woken again and again.
#[test]
fn a_start_waits_for_what_is_under_way() {
    let late =
        ControllerConfig { ready_after: lanetwin_units::Span::from_us(5), ..ControllerConfig::new(ONE) };
    let namespaces = vec![namespace(1, 1 << 20, &[LbaFormat::B512], &[1])];
    let mut rig = Rig::new(&subsystem(vec![late], namespaces), 1);
    let mut host = rig.start(ONE, &Wanted::default());
    let read = with_buffer(commands::read(Nsid(1), 0, 1), 0x1000, 512);
    let submitted = host.queues[0].submit(read, 5).unwrap();
    rig.memory.write(submitted.address, submitted.entry.as_bytes());
    rig.hold_media = true;
    rig.ring(ONE, submitted.ring);
    rig.run();
    let configuration = rig.subsystem.read_register(ONE, CC);
    rig.subsystem.reset(rig.now, ONE, &mut rig.effects);
    for (offset, value) in [(0x24, 0x000f_000f), (0x28, 0x1000), (0x30, 0x2000), (CC, configuration)] {
        rig.write_register(ONE, offset, value);
    }
    rig.run();
    let status = |rig: &Rig| ControllerStatus::from_raw(rig.subsystem.read_register(ONE, CSTS));
    assert!(!status(&rig).ready() && rig.wakes.is_empty());
    rig.hold_media = false;
    rig.run();
    assert!(status(&rig).ready());
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
            let Effect::Fetch { token, address, bytes, .. } = effect else { continue };
            low += u32::from(address < end);
            rig.subsystem.fetched(rig.now, token, &vec![0; bytes as usize], &mut rig.effects);
        }
        // completions, at the end of memory as well, are not looked at
        rig.effects.retain(|effect| !matches!(effect, Effect::Complete { .. }));
        rig.absorb();
    }
    assert!(low > 0);
}

#[test]
fn writes_go_through_a_cache_that_is_off() {
    let (mut rig, mut host) = machine();
    let mut write = with_buffer(commands::write(Nsid(1), 0, 1), 0x1000, 512);
    let forced = |rig: &mut Rig, host: &mut Host, write| {
        assert_eq!(rig.io(host, 0, write), Status::SUCCESS);
        rig.done.last().map(|request| request.operation)
            == Some(MediaOperation::Write { force_unit_access: true })
    };
    assert!(!forced(&mut rig, &mut host, write));
    write.set_cdw12(write.cdw12() | 1 << 30);
    assert!(forced(&mut rig, &mut host, write));
    write.set_cdw12(write.cdw12() & !(1 << 30));
    let off = commands::set_features(Feature::VOLATILE_WRITE_CACHE, 0);
    assert_eq!(rig.admin(&mut host, off).0, Status::SUCCESS);
    assert!(forced(&mut rig, &mut host, write));
}

#[test]
fn a_host_that_is_not_heard_of_is_given_up() {
    let (mut rig, mut host) = machine();
    let status = |rig: &Rig| ControllerStatus::from_raw(rig.subsystem.read_register(ONE, CSTS));
    assert_eq!(
        rig.admin(&mut host, commands::set_features(Feature::KEEP_ALIVE_TIMER, 10)).0,
        Status::SUCCESS
    );
    let began = rig.now;
    let keep_alive = commands::command(AdminOpcode::KEEP_ALIVE.0, Nsid::NONE);
    rig.now = began + lanetwin_units::Span::from_us(9_000);
    assert_eq!(rig.admin(&mut host, keep_alive).0, Status::SUCCESS);
    rig.step();
    assert!(!status(&rig).fatal(), "the timer began again");
    rig.run();
    assert!(status(&rig).fatal());
    assert!(rig.now.since(began).as_ps() >= 19_000_000_000);
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
    let list = rig.pending.iter().position(|effect| matches!(effect, Effect::Fetch { address: 0x7000, .. }));
    let Effect::Fetch { token, bytes, .. } = rig.pending.swap_remove(list.unwrap()) else { unreachable!() };
    assert_eq!(bytes, 31 * 8);
    rig.subsystem.fetched_contiguous(rig.now, token, &mut rig.effects);
    rig.absorb();
    while !rig.pending.iter().any(|effect| matches!(effect, Effect::Transfer { .. })) {
        assert!(rig.step());
    }
    let Effect::Transfer { first, segments, .. } = rig.pending[0] else { panic!("{:?}", rig.pending) };
    assert_eq!((first.address, first.bytes, segments), (buffer, 32 * 4096, 1));
}
