//! The Telemetry logs: what is in them, when they change, and the event.

use super::{ONE, TWO, event, log, machine, request_event, with_buffer};
use crate::rig::{Host, Rig, Wanted};
use lanetwin_nvme::logic::Telemetry;
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::spec::admin::{IdentifyStructure, LogDword10};
use lanetwin_nvme::spec::feature::Feature;
use lanetwin_nvme::spec::identify::IdentifyController;
use lanetwin_nvme::spec::log::{EventType, LogPage, NoticeEvent, TelemetryHeader};
use lanetwin_nvme::spec::{Nsid, Status};

const BLOCK: usize = 512;
/// Telemetry Log Notices, in the configuration of events (Base 2.0 §5.27.1.8).
const TELEMETRY_NOTICES: u32 = 1 << 10;

fn header(bytes: &[u8]) -> TelemetryHeader {
    TelemetryHeader::from_bytes(bytes[..BLOCK].try_into().unwrap())
}
fn read(
    (rig, host): (&mut Rig, &mut Host),
    page: LogPage,
    (offset, bytes): (u64, u32),
    change: impl Fn(LogDword10) -> LogDword10,
) -> (Status, Vec<u8>) {
    let buffer = host.buffer;
    let mut command = with_buffer(commands::get_log_page(page, offset, bytes), buffer, bytes);
    command.set_cdw10(change(LogDword10::from_raw(command.cdw10())).raw());
    let (status, _) = rig.admin(host, command);
    (status, rig.memory.read(buffer, bytes as usize))
}
fn create(dword: LogDword10) -> LogDword10 {
    dword.with_parameter(1).unwrap()
}
fn retain(dword: LogDword10) -> LogDword10 {
    dword.with_retain_event(true).unwrap()
}
fn text(reason: &[u8]) -> String {
    String::from_utf8(reason.to_vec()).unwrap().trim_end_matches('\0').into()
}
/// A read of the second namespace that the medium cannot do.
fn fail_to_read(rig: &mut Rig, host: &mut Host, block: u64) {
    rig.media_status = Status::UNRECOVERED_READ_ERROR;
    let failing = with_buffer(commands::read(Nsid(2), block, 1), host.buffer, 4096);
    assert_eq!(rig.io(host, 0, failing), Status::UNRECOVERED_READ_ERROR);
    rig.media_status = Status::SUCCESS;
    rig.run();
}

#[test]
fn a_host_creates_a_log_that_stays_as_it_is_while_it_is_read() {
    let (mut rig, mut host) = machine();
    let identify =
        with_buffer(commands::identify(IdentifyStructure::CONTROLLER, Nsid::NONE), host.buffer, 4096);
    assert_eq!(rig.admin(&mut host, identify).0, Status::SUCCESS);
    let told = IdentifyController::from_bytes(rig.memory.read(host.buffer, 4096).try_into().unwrap());
    assert!(told.log_attributes().telemetry() && !told.log_attributes().telemetry_area_4());
    let pages = log(&mut rig, &mut host, LogPage::SUPPORTED, 1024);
    assert_eq!((pages[7 * 4], pages[8 * 4], pages[9 * 4]), (1, 1, 0));

    // there is a header before there is anything else
    let empty = header(&log(&mut rig, &mut host, LogPage::TELEMETRY_HOST, 512));
    assert_eq!((empty.log(), empty.last_1(), empty.last_3(), empty.host_generation()), (7, 0, 0, 0));

    rig.state = Telemetry { areas: [vec![1; 600], vec![2; BLOCK], vec![3; 10]] };
    let (status, first) = read((&mut rig, &mut host), LogPage::TELEMETRY_HOST, (0, 512), create);
    let told = header(&first);
    assert_eq!(status, Status::SUCCESS);
    assert_eq!([told.last_1(), told.last_2(), told.last_3()], [2, 3, 4]);
    assert_eq!((told.last_4(), told.oui(), told.host_generation()), (0, [0; 3], 1));
    assert_eq!((told.available(), told.generation()), (0, 0));
    assert_eq!(text(&told.reason()), "asked by the host");
    // byte by byte: identifier, last blocks, generation (Base 2.0 §5.16.1.8)
    assert_eq!((first[0], &first[1..8], &first[8..14]), (7, &[0; 7][..], &[2, 0, 3, 0, 4, 0][..]));
    assert_eq!(first[381], 1);

    // the drive goes on, and the log does not
    rig.state = Telemetry { areas: [vec![9; 600], Vec::new(), Vec::new()] };
    let (_, whole) = read((&mut rig, &mut host), LogPage::TELEMETRY_HOST, (0, 5 * 512), |dword| dword);
    assert_eq!(whole[..BLOCK], first);
    assert_eq!((whole[BLOCK + 599], whole[BLOCK + 600], whole[3 * BLOCK], whole[4 * BLOCK]), (1, 0, 2, 3));
    for block in 0..5 {
        let at = block * BLOCK;
        let piece = read((&mut rig, &mut host), LogPage::TELEMETRY_HOST, (at as u64, 512), |dword| dword);
        assert_eq!(piece, (Status::SUCCESS, whole[at..at + BLOCK].to_vec()), "block {block}");
    }
    let behind = read((&mut rig, &mut host), LogPage::TELEMETRY_HOST, (6 * 512, 512), |dword| dword);
    assert_eq!(behind.0, Status::INVALID_FIELD, "it begins behind the log");
    let crooked = read((&mut rig, &mut host), LogPage::TELEMETRY_HOST, (256, 512), |dword| dword);
    assert_eq!(crooked.0, Status::INVALID_FIELD, "it begins within a block");

    // a reset changes nothing; the next creation does
    rig.subsystem.reset(rig.now, ONE, &mut rig.effects);
    rig.absorb();
    let mut host = rig.start(ONE, &Wanted::default());
    assert_eq!(log(&mut rig, &mut host, LogPage::TELEMETRY_HOST, 5 * 512), whole);
    let (_, anew) = read((&mut rig, &mut host), LogPage::TELEMETRY_HOST, (0, 2 * 512), create);
    assert_eq!((header(&anew).host_generation(), header(&anew).last_3(), anew[BLOCK]), (2, 2, 9));
    // another controller has captured nothing
    let mut other = rig.start(TWO, &Wanted::default());
    assert_eq!(header(&log(&mut rig, &mut other, LogPage::TELEMETRY_HOST, 512)).host_generation(), 0);
}

#[test]
fn a_medium_that_fails_is_captured_once_until_that_was_read() {
    let (mut rig, mut host) = machine();
    rig.state = Telemetry { areas: [vec![5; BLOCK], Vec::new(), Vec::new()] };
    let configure = commands::set_features(Feature::EVENT_CONFIGURATION, TELEMETRY_NOTICES);
    assert_eq!(rig.admin(&mut host, configure).0, Status::SUCCESS);
    request_event(&mut rig, &mut host);
    let nothing = header(&log(&mut rig, &mut host, LogPage::TELEMETRY_CONTROLLER, 512));
    assert_eq!((nothing.log(), nothing.available(), nothing.generation(), nothing.last_1()), (8, 0, 0, 0));

    fail_to_read(&mut rig, &mut host, 77);
    let told = event(&mut rig, &mut host).unwrap();
    assert_eq!((told.kind(), told.information()), (EventType::NOTICE, NoticeEvent::TELEMETRY_CHANGED.0));
    assert_eq!(told.log(), LogPage::TELEMETRY_CONTROLLER);
    rig.state = Telemetry { areas: [vec![6; BLOCK], Vec::new(), Vec::new()] };
    fail_to_read(&mut rig, &mut host, 78);

    let page = LogPage::TELEMETRY_CONTROLLER;
    let (_, saved) = read((&mut rig, &mut host), page, (0, 1024), retain);
    let told = header(&saved);
    assert_eq!((told.available(), told.generation(), told.last_1(), told.last_3()), (1, 1, 1, 1));
    assert_eq!((told.host_generation(), saved[BLOCK]), (0, 5), "the first failure was kept");
    assert_eq!(text(&told.reason()), "Unrecovered Read Error: namespace 2, block 77, controller 1");
    // the log that hosts create tells that there is one, and its generation
    let (_, created) = read((&mut rig, &mut host), LogPage::TELEMETRY_HOST, (0, 512), create);
    assert_eq!((header(&created).available(), header(&created).generation()), (1, 1));
    // a reset takes nothing of it
    rig.subsystem.reset(rig.now, ONE, &mut rig.effects);
    rig.absorb();
    let mut host = rig.start(ONE, &Wanted::default());
    assert_eq!(read((&mut rig, &mut host), page, (0, 1024), retain).1, saved);
    // who reads it without retaining the event has it, and releases it
    assert_eq!(read((&mut rig, &mut host), page, (0, 1024), |dword| dword).1, saved);
    let (_, after) = read((&mut rig, &mut host), page, (0, 512), retain);
    assert_eq!((header(&after).available(), header(&after).generation(), header(&after).last_1()), (0, 1, 0));
    fail_to_read(&mut rig, &mut host, 79);
    let (_, second) = read((&mut rig, &mut host), page, (0, 1024), retain);
    assert_eq!((header(&second).generation(), second[BLOCK]), (2, 6));
}

#[test]
fn who_has_not_asked_for_the_event_is_not_told() {
    let (mut rig, mut host) = machine();
    request_event(&mut rig, &mut host);
    fail_to_read(&mut rig, &mut host, 1);
    assert_eq!(event(&mut rig, &mut host), None);
    // an error of the host is none of the medium
    let beyond = with_buffer(commands::read(Nsid(2), 1 << 40, 1), host.buffer, 4096);
    assert_eq!(rig.io(&mut host, 0, beyond), Status::LBA_OUT_OF_RANGE);
    let told = header(&log(&mut rig, &mut host, LogPage::TELEMETRY_CONTROLLER, 512));
    assert_eq!(told.generation(), 1);
}
