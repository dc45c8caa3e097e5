//! Single commands: what is on the drive afterwards.

use crate::machine::{NAMESPACE_BYTES, ONE, controller, cross_point, drive, flash};
use crate::rig::{Rig, WAYS, Way};
use lanetwin_nvme::logic::ControllerConfig;
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::spec::admin::IdentifyStructure;
use lanetwin_nvme::spec::identify::IdentifyController;
use lanetwin_nvme::spec::log::{LogPage, TelemetryHeader};
use lanetwin_nvme::spec::{AdminOpcode, Command, IoOpcode, Nsid, Status};
use lanetwin_ssd::{ByteStore, SparseMemory, Ssd, SsdConfig, SsdFault, StoreFault};
use lanetwin_units::Bytes;

const BLOCK: usize = 512;
const NSID: Nsid = Nsid(1);

fn with_bytes(config: &SsdConfig) -> Ssd {
    Ssd::new(config, 1).unwrap().with_bytes(Box::new(SparseMemory::new()))
}
fn rig(way: Way) -> Rig {
    // commands are cut, so that parts have to find their bytes
    let controller = ControllerConfig { chunk_bytes: Some(4096), ..controller() };
    Rig::new(with_bytes(&drive(controller, flash())), way)
}
fn pattern(bytes: usize, seed: u8) -> Vec<u8> {
    (0..bytes).map(|at| (at / 251) as u8 ^ (at as u8).wrapping_mul(seed | 1)).collect()
}
fn write(rig: &mut Rig, slba: u64, data: &[u8]) -> Status {
    let blocks = (data.len() / BLOCK) as u32;
    rig.ask(1, commands::write(NSID, slba, blocks), data, 0).status
}
fn read(rig: &mut Rig, nsid: Nsid, slba: u64, blocks: u32) -> Vec<u8> {
    let answer = rig.ask(2, commands::read(nsid, slba, blocks), &[], blocks as usize * BLOCK);
    assert_eq!(answer.status, Status::SUCCESS);
    answer.data
}
fn compare(rig: &mut Rig, slba: u64, data: &[u8]) -> Status {
    let command = commands::blocks(IoOpcode::COMPARE, NSID, slba, (data.len() / BLOCK) as u32);
    rig.ask(2, command, data, 0).status
}
fn admin(opcode: AdminOpcode, nsid: Nsid, dword10: u32) -> Command {
    let mut command = commands::command(opcode.0, nsid);
    command.set_cdw10(dword10);
    command
}
/// One range of a Dataset Management.
fn range(slba: u64, blocks: u32) -> Vec<u8> {
    [&0_u32.to_le_bytes()[..], &blocks.to_le_bytes()[..], &slba.to_le_bytes()[..]].concat()
}

#[test]
fn what_was_written_is_read_back_and_compares() {
    for way in WAYS {
        let mut rig = rig(way);
        let data = pattern(24 * BLOCK, 7);
        assert_eq!(read(&mut rig, NSID, 0, 32), [0; 32 * BLOCK], "{way:?}");
        assert_eq!(write(&mut rig, 5, &data), Status::SUCCESS);
        assert_eq!(write(&mut rig, 100, &data[..BLOCK]), Status::SUCCESS);
        assert_eq!(read(&mut rig, NSID, 5, 24), data, "{way:?}");
        assert_eq!(read(&mut rig, NSID, 6, 3), data[BLOCK..4 * BLOCK]);
        assert_eq!(read(&mut rig, NSID, 100, 1), data[..BLOCK]);
        assert_eq!(read(&mut rig, Nsid(2), 5, 24), [0; 24 * BLOCK], "namespaces are apart");
        assert_eq!(compare(&mut rig, 5, &data), Status::SUCCESS);
        let mut other = data.clone();
        *other.last_mut().unwrap() ^= 1;
        assert_eq!(compare(&mut rig, 5, &other), Status::COMPARE_FAILURE, "{way:?}");
    }
}

#[test]
fn zeroes_are_read_where_they_were_written_or_nothing_is_left() {
    for way in WAYS {
        let mut rig = rig(way);
        assert_eq!(write(&mut rig, 0, &pattern(64 * BLOCK, 3)), Status::SUCCESS);
        let zeroes = commands::blocks(IoOpcode::WRITE_ZEROES, NSID, 3, 9);
        assert_eq!(rig.ask(1, zeroes, &[], 0).status, Status::SUCCESS);
        let ranges = [range(20, 2), range(40, 16)].concat();
        assert_eq!(rig.ask(1, commands::deallocate(NSID, 2), &ranges, 0).status, Status::SUCCESS);
        let mut expected = pattern(64 * BLOCK, 3);
        for gone in [3..12, 20..22, 40..56] {
            expected[gone.start * BLOCK..gone.end * BLOCK].fill(0);
        }
        assert!(read(&mut rig, NSID, 0, 64) == expected, "{way:?}");
        assert_eq!(rig.ask(1, commands::flush(NSID), &[], 0).status, Status::SUCCESS);
    }
}

#[test]
fn what_is_out_of_range_does_nothing() {
    for way in WAYS {
        let mut rig = rig(way);
        let last = NAMESPACE_BYTES / BLOCK as u64 - 1;
        let data = pattern(2 * BLOCK, 9);
        assert_eq!(write(&mut rig, last, &data), Status::LBA_OUT_OF_RANGE);
        assert_eq!(write(&mut rig, u64::MAX, &data), Status::LBA_OUT_OF_RANGE);
        let over = range(last, 2);
        assert_eq!(rig.ask(1, commands::deallocate(NSID, 1), &over, 0).status, Status::LBA_OUT_OF_RANGE);
        assert_eq!(read(&mut rig, NSID, last, 1), [0; BLOCK]);
        assert_eq!(read(&mut rig, Nsid(2), 0, 1), [0; BLOCK], "the namespace behind it");
        assert_eq!(
            rig.ask(1, commands::read(Nsid(3), 0, 1), &[], BLOCK).status,
            Status::INVALID_NAMESPACE_OR_FORMAT
        );
    }
}

#[test]
fn a_format_clears_one_namespace_and_a_sanitize_all() {
    for way in WAYS {
        let mut rig = rig(way);
        let data = pattern(16 * BLOCK, 5);
        assert_eq!(write(&mut rig, 8, &data), Status::SUCCESS);
        let second = commands::write(Nsid(2), 8, 16);
        assert_eq!(rig.ask(1, second, &data, 0).status, Status::SUCCESS);
        // to blocks of 4 KiB
        assert_eq!(rig.admin(admin(AdminOpcode::FORMAT_NVM, NSID, 1), &[], 0).status, Status::SUCCESS);
        assert_eq!(rig.ssd.block_bytes(NSID), Some(4096));
        let answer = rig.ask(1, commands::read(NSID, 1, 2), &[], 8192);
        assert_eq!((answer.status, &answer.data[..]), (Status::SUCCESS, &[0; 8192][..]), "{way:?}");
        assert_eq!(read(&mut rig, Nsid(2), 8, 16), data);
        // a block is where a block of its size is
        let block = pattern(4096, 11);
        assert_eq!(rig.ask(1, commands::write(NSID, 255, 1), &block, 0).status, Status::SUCCESS);
        assert_eq!(rig.ask(1, commands::read(NSID, 255, 1), &[], 4096).data, block);
        assert_eq!(rig.ask(1, commands::read(NSID, 256, 1), &[], 4096).status, Status::LBA_OUT_OF_RANGE);
        let sanitize = admin(AdminOpcode::SANITIZE, Nsid::NONE, 4);
        assert_eq!(rig.admin(sanitize, &[], 0).status, Status::SUCCESS);
        while rig.step(lanetwin_units::Instant::NEVER) {}
        assert_eq!(read(&mut rig, Nsid(2), 8, 16), [0; 16 * BLOCK]);
    }
}

#[test]
fn what_the_controller_makes_arrives() {
    for way in WAYS {
        let mut rig = rig(way);
        let identify = commands::identify(IdentifyStructure::CONTROLLER, Nsid::NONE);
        let answer = rig.admin(identify, &[], 4096);
        assert_eq!(answer.status, Status::SUCCESS, "{way:?}");
        let told = IdentifyController::from_bytes(answer.data.try_into().unwrap());
        assert_eq!(told.controller(), ONE.0);
        let log = rig.admin(commands::get_log_page(LogPage::SMART, 0, 512), &[], 512);
        assert_eq!((log.status, log.data.len()), (Status::SUCCESS, 512));
    }
}

#[test]
fn a_drive_that_predicts_has_no_bytes() {
    let mut rig = Rig::new(Ssd::new(&drive(controller(), cross_point()), 1).unwrap(), Way::Door);
    assert_eq!(write(&mut rig, 0, &pattern(BLOCK, 1)), Status::SUCCESS);
    assert_eq!(compare(&mut rig, 0, &pattern(BLOCK, 2)), Status::SUCCESS, "everything is equal");
}

/// A store that cannot do anything.
struct Broken;

impl ByteStore for Broken {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), StoreFault> {
        Err(StoreFault)
    }
    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), StoreFault> {
        Err(StoreFault)
    }
    fn deallocate(&mut self, _: u64, _: u64) -> Result<(), StoreFault> {
        Err(StoreFault)
    }
}

#[test]
fn a_store_that_fails_is_a_medium_that_fails() {
    let ssd = Ssd::new(&drive(controller(), flash()), 1).unwrap().with_bytes(Box::new(Broken));
    let mut rig = Rig::new(ssd, Way::Messages);
    let data = pattern(BLOCK, 1);
    assert_eq!(write(&mut rig, 0, &data), Status::WRITE_FAULT);
    assert_eq!(compare(&mut rig, 0, &data), Status::UNRECOVERED_READ_ERROR);
    let read = rig.ask(1, commands::read(NSID, 0, 1), &[], BLOCK);
    assert_eq!(read.status, Status::UNRECOVERED_READ_ERROR);
    let trim = rig.ask(1, commands::deallocate(NSID, 1), &range(0, 1), 0);
    assert_eq!(trim.status, Status::WRITE_FAULT);
}

#[test]
fn a_drive_that_cannot_be_says_why() {
    let config = |change: &dyn Fn(&mut SsdConfig)| {
        let mut config = drive(controller(), flash());
        change(&mut config);
        Ssd::new(&config, 1).err()
    };
    assert_eq!(config(&|_| {}), None);
    assert_eq!(config(&|config| config.firmware.engines = 0), Some(SsdFault::NoEngine));
    let large = config(&|config| config.subsystem.namespaces[1].bytes = 64 << 20);
    assert_eq!(large, Some(SsdFault::Namespaces { bytes: (64 << 20) + NAMESPACE_BYTES, capacity: 64 << 20 }));
    let no_medium = config(&|config| config.medium.capacity = Bytes(0));
    assert!(matches!(no_medium, Some(SsdFault::Medium(_))));
    let no_queue = config(&|config| config.subsystem.controllers[0].io_queues = 0);
    assert!(matches!(no_queue, Some(SsdFault::Subsystem(_))));
}

#[test]
fn telemetry_tells_what_the_drive_has_done() {
    let mut rig = rig(Way::Door);
    assert_eq!(write(&mut rig, 0, &pattern(64 * BLOCK, 3)), Status::SUCCESS);
    assert_eq!(read(&mut rig, NSID, 8, 16).len(), 16 * BLOCK);
    let mut create = commands::get_log_page(LogPage::TELEMETRY_HOST, 0, 8192);
    create.set_cdw10(create.cdw10() | 1 << 8);
    let answer = rig.admin(create, &[], 8192);
    assert_eq!(answer.status, Status::SUCCESS);
    let (header, blocks) = answer.data.split_first_chunk::<512>().unwrap();
    let header = TelemetryHeader::from_bytes(*header);
    let last = [header.last_1(), header.last_2(), header.last_3()];
    assert!(last[0] > 0 && last[0] < last[1] && last[1] < last[2], "{last:?}");
    assert!(last[1] <= 7, "a page has the header and areas 1 and 2: {last:?}");
    let area = |from: u16, to: u16| {
        String::from_utf8(blocks[usize::from(from) * 512..usize::from(to) * 512].to_vec()).unwrap()
    };
    let drive = area(0, last[0]);
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key} = ")).map(str::to_owned));
        line.unwrap_or_else(|| panic!("no {key} in {text}")).parse::<f64>().unwrap()
    };
    assert!(drive.starts_with("[drive]\nlayout = 1\n"), "{drive}");
    let counters = rig.ssd.latest_counters();
    assert_eq!(value(&drive, "host_bytes_written"), 64.0 * BLOCK as f64);
    assert_eq!(value(&drive, "host_bytes_read"), 16.0 * BLOCK as f64);
    assert_eq!(value(&drive, "commands_in_progress"), 1.0, "this one");
    assert!(value(&drive, "time_ps") > 0.0 && value(&drive, "energy_of_work_nj") > 0.0);
    let medium = area(last[0], last[1]);
    assert!(medium.starts_with("[medium]\n"));
    assert_eq!(value(&medium, "page_reads"), counters.page_reads as f64);
    let busy = area(last[1], last[2]);
    let dies = busy.split("[dies]\n").nth(1).unwrap();
    let sum: f64 = dies.lines().filter_map(|line| line.split(" = ").nth(1)?.parse::<f64>().ok()).sum();
    assert_eq!(sum, value(&medium, "dies_busy_ps"), "each die, and all of them");
    assert!(!blocks[..usize::from(last[2]) * 512].contains(&0), "one text, without gaps");
}

#[test]
fn a_store_that_fails_is_captured() {
    let ssd = Ssd::new(&drive(controller(), flash()), 1).unwrap().with_bytes(Box::new(Broken));
    let mut rig = Rig::new(ssd, Way::Door);
    assert_eq!(write(&mut rig, 3, &pattern(BLOCK, 1)), Status::WRITE_FAULT);
    let answer = rig.admin(commands::get_log_page(LogPage::TELEMETRY_CONTROLLER, 0, 1024), &[], 1024);
    let header = TelemetryHeader::from_bytes(*answer.data.first_chunk::<512>().unwrap());
    assert_eq!((header.available(), header.generation()), (1, 1));
    assert!(header.reason().starts_with(b"Write Fault: namespace 1, block 3,"));
    assert!(answer.data[512..].starts_with(b"[drive]\n"));
}
