//! Single commands, by hand: what a driver sees.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod connected;
mod queues;
#[path = "../rig/mod.rs"]
mod rig;
mod states;
mod telemetry;
mod told;

use lanetwin_nvme::logic::host::{commands, point_prp, point_sgl};
use lanetwin_nvme::logic::{ControllerConfig, LbaFormat, MediaOperation};
use lanetwin_nvme::spec::admin::IdentifyStructure;
use lanetwin_nvme::spec::feature::{Feature, WriteProtectionState};
use lanetwin_nvme::spec::identify::{IdentifyController, IdentifyNamespace};
use lanetwin_nvme::spec::log::{ErrorEntry, EventResult, LogPage};
use lanetwin_nvme::spec::{AdminOpcode, Cid, Command, ControllerId, IoOpcode, Nsid, Status};
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

/// Begins to read the first block, called 5; the medium does not answer as long as it is held.
fn begin_slow_read(rig: &mut Rig, host: &mut Host) -> (Command, Cid) {
    let read = with_buffer(commands::read(Nsid(1), 0, 1), 0x1000, 512);
    let submitted = host.queues[0].submit(read, 5).unwrap();
    rig.memory.write(submitted.address, submitted.entry.as_bytes());
    rig.hold_media = true;
    rig.ring(host.id, submitted.ring);
    rig.run();
    (read, submitted.cid)
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
    // bits 15 to 1 are those of the completion: Do Not Retry, More, no delay, 0 and 0Fh
    assert_eq!(newest.status().raw(), 1 << 15 | 1 << 14 | 0x00f << 1);

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
    // something that passes can be tried again
    rig.media_status = Status::INTERNAL_ERROR;
    assert_eq!(rig.io(&mut host, 0, with_buffer(read(1, 0, 8), 0x1000, 4096)), Status::INTERNAL_ERROR);
    let entries = log(&mut rig, &mut host, LogPage::ERROR, 128);
    let logged = |from| ErrorEntry::from_bytes(entries[from..from + 64].try_into().unwrap()).status();
    assert_eq!((logged(0).status(), logged(0).more(), logged(0).do_not_retry()), (0x006, true, false));
    assert_eq!((logged(64).status(), logged(64).more(), logged(64).do_not_retry()), (0x281, true, true));
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
