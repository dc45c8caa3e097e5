//! A discovery controller: what it lists, for whom, and how hosts hear of changes.

use crate::bench::{ADMIN, Bench, HOST, NQN, connect, connect_data, fabrics, response, with_data};
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::spec::admin::IdentifyStructure;
use lanetwin_nvme::spec::feature::Feature;
use lanetwin_nvme::spec::identify::{ControllerType, IdentifyController};
use lanetwin_nvme::spec::log::LogPage;
use lanetwin_nvme::spec::pointer::SglDescriptor;
use lanetwin_nvme::spec::registers::{CC, CSTS};
use lanetwin_nvme::spec::{AdminOpcode, Command, CommandDword0, Nsid, Status};
use lanetwin_nvmeof::logic::host::discovery::{LogReader, Next, referrals};
use lanetwin_nvmeof::logic::target::{Effect, SubsystemId, TcpConfig};
use lanetwin_nvmeof::logic::tcp::Pdu;
use lanetwin_nvmeof::spec::discovery::{
    DISCOVERY_LOG, DISCOVERY_NQN, DiscoveryEntry, SubsystemType, TransportType,
};
use lanetwin_nvmeof::spec::fabrics::{FabricsType, Property, name_field, name_of};
use lanetwin_nvmeof::spec::status::FabricsStatus;
use lanetwin_units::{Instant, Span};

/// Connected to the discovery subsystem, with a Keep Alive Timeout of 1 s.
fn connected() -> Bench {
    let mut bench = Bench::new(TcpConfig::default());
    bench.initialize(ADMIN, 0, 1);
    let mut data = connect_data(0xffff);
    data.set_subsystem(name_field(DISCOVERY_NQN));
    let mut asked = connect(0);
    asked.set_keep_alive_ms(1000);
    let (units, effects) = bench.connect(ADMIN, asked, data);
    assert_eq!((response(&units).status(), response(&units).dw0(), effects.len()), (Status::SUCCESS, 1, 0));
    bench
}
/// Enabled, too.
fn enabled() -> Bench {
    let mut bench = connected();
    assert_eq!(response(&property(&mut bench, FabricsType::PROPERTY_SET, CC, 1)).status(), Status::SUCCESS);
    bench
}
fn property(bench: &mut Bench, kind: FabricsType, offset: u32, value: u64) -> Vec<Pdu> {
    let mut asked = Property::from_bytes(*fabrics(kind, 2).as_bytes());
    asked.set_offset(offset);
    asked.set_value(value);
    bench.capsule(ADMIN, Command::from_bytes(*asked.as_bytes()), vec![]).0
}
fn admin(bench: &mut Bench, mut command: Command, cid: u16, bytes: u32) -> Vec<Pdu> {
    command.set_dword0(CommandDword0::from_raw(command.dword0().raw() & 0xff | u32::from(cid) << 16));
    bench.capsule(ADMIN, with_data(command, SglDescriptor::by_transport(bytes)), vec![]).0
}
/// The data of a command that succeeds.
fn data(units: &[Pdu]) -> Vec<u8> {
    let [Pdu::DataToHost { data, last: true, .. }, Pdu::Response { entry }] = units else {
        panic!("{units:?}")
    };
    assert!(entry.status().is_success());
    data.bytes().expect("bytes").to_vec()
}
fn log(bench: &mut Bench) -> Vec<DiscoveryEntry> {
    let (mut reader, mut next) = LogReader::start();
    loop {
        next = match next {
            Next::Ask(command, bytes) => reader.take(&data(&admin(bench, command, 3, bytes))),
            Next::Read(entries) => return entries,
            Next::Bad => panic!("it is a log"),
        };
    }
}

#[test]
fn the_log_lists_what_this_host_may_use_by_every_port() {
    let mut bench = enabled();
    let mut referral = DiscoveryEntry::ZERO;
    referral.set_subsystem_type(SubsystemType::REFERRAL);
    referral.set_subsystem(name_field(DISCOVERY_NQN));
    bench.answer(|target, effects| target.refer(vec![referral], effects));
    let entries = log(&mut bench);
    assert_eq!(entries.len(), 3, "one subsystem by two ports, and a referral");
    let transports: Vec<_> = entries.iter().map(|entry| entry.transport()).collect();
    assert_eq!(transports[..2], [TransportType::TCP, TransportType::RDMA]);
    assert!(entries[..2].iter().all(|entry| name_of(&entry.subsystem()) == Some(NQN)));
    assert_eq!((entries[0].port(), entries[1].port(), &entries[0].service()[..5]), (1, 2, &b"4420 "[..]));
    assert_eq!(name_of(&entries[0].address()), Some("192.0.2.1"));
    assert_eq!(referrals(&entries).count(), 1);
    let admitted = Some(vec![HOST.to_owned()]);
    bench.answer(|target, effects| target.allow(SubsystemId(1), admitted, effects));
    assert_eq!(log(&mut bench).len(), 5);
}

#[test]
fn a_discovery_controller_is_one() {
    let mut bench = connected();
    let identify = commands::identify(IdentifyStructure::CONTROLLER, Nsid::NONE);
    let early = admin(&mut bench, identify, 3, 4096);
    assert_eq!(response(&early).status(), Status::COMMAND_SEQUENCE_ERROR);
    let status = |bench: &mut Bench| response(&property(bench, FabricsType::PROPERTY_GET, CSTS, 0)).dw0();
    assert_eq!(status(&mut bench), 0);
    property(&mut bench, FabricsType::PROPERTY_SET, CC, 1);
    assert_eq!(status(&mut bench), 1);
    let told = data(&admin(&mut bench, identify, 3, 4096));
    let told = IdentifyController::from_bytes(told.try_into().expect("4096 B"));
    assert_eq!((told.controller_type(), told.controller()), (ControllerType::DISCOVERY, 1));
    let refused = [
        (commands::get_log_page(LogPage::SMART, 0, 512), 512, Status::INVALID_LOG_PAGE),
        (commands::get_log_page(DISCOVERY_LOG, 1 << 20, 512), 512, Status::INVALID_FIELD),
        (commands::get_log_page(DISCOVERY_LOG, 0, 1024), 512, Status::DATA_SGL_LENGTH_INVALID),
        (commands::identify(IdentifyStructure::NAMESPACE, Nsid(1)), 4096, Status::INVALID_FIELD),
        (commands::set_features(Feature::NUMBER_OF_QUEUES, 0), 0, Status::INVALID_FIELD),
        (commands::command(AdminOpcode::FORMAT_NVM.0, Nsid(1)), 0, Status::INVALID_OPCODE),
    ];
    for (command, bytes, expected) in refused {
        assert_eq!(response(&admin(&mut bench, command, 4, bytes)).status(), expected);
    }
    assert_eq!(response(&property(&mut bench, FabricsType::PROPERTY_SET, CC, 1 | 1 << 14)).dw0(), 0);
    assert_eq!(status(&mut bench), 1 | 2 << 2, "shut down");
    // there are no I/O queues, and no controller that one could choose
    bench.initialize(crate::bench::IO, 0, 1);
    for (queue, controller, expected) in [(1, 1, 42), (0, 1, 16 | 1 << 16)] {
        let mut data = connect_data(controller);
        data.set_subsystem(name_field(DISCOVERY_NQN));
        let (units, _) = bench.connect(crate::bench::IO, connect(queue), data);
        let told = response(&units);
        assert_eq!((told.status(), told.dw0()), (FabricsStatus::INVALID_PARAMETERS.status(), expected));
    }
}

#[test]
fn hosts_that_ask_for_it_hear_once_of_a_change_until_they_have_read() {
    let mut bench = enabled();
    let request = commands::command(AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST.0, Nsid::NONE);
    assert_eq!(admin(&mut bench, request, 10, 0), []);
    let change = |bench: &mut Bench| bench.answer(|target, effects| target.refer(vec![], effects)).0;
    assert_eq!(change(&mut bench), [], "nobody has asked for it");
    let wanted = commands::set_features(Feature::EVENT_CONFIGURATION, 1 << 31);
    assert!(response(&admin(&mut bench, wanted, 11, 0)).status().is_success());
    let told = response(&change(&mut bench));
    assert_eq!((told.cid_number(), told.dw0()), (10, 0x70_f002));
    assert_eq!(admin(&mut bench, request, 12, 0), []);
    assert_eq!(change(&mut bench), [], "not before the log was read");
    let read = commands::get_log_page(DISCOVERY_LOG, 0, 1024);
    let units = admin(&mut bench, read, 13, 1024);
    // the change of meanwhile is told behind
    assert!(
        matches!(units[..], [Pdu::DataToHost { .. }, Pdu::Response { .. }, Pdu::Response { entry }] if entry.cid_number() == 12)
    );
    let many: Vec<_> = (20..25).map(|cid| admin(&mut bench, request, cid, 0)).collect();
    assert!(many[..4].iter().all(Vec::is_empty));
    assert_eq!(response(&many[4]).status(), Status::EVENT_REQUEST_LIMIT_EXCEEDED);
}

#[test]
fn a_host_that_is_silent_for_too_long_is_let_go() {
    let mut bench = enabled();
    assert_eq!(bench.target.next_wake(), Instant::ZERO + Span::from_us(1_000_000));
    let at = |ms: u64| Instant::ZERO + Span::from_us(1000 * ms);
    let (_, effects) = bench.answer(|target, effects| target.wake(at(999), effects));
    assert_eq!(effects, []);
    let (_, effects) = bench.answer(|target, effects| target.wake(at(1000), effects));
    assert_eq!(effects, [Effect::Close { connection: ADMIN }]);
    assert_eq!(bench.target.next_wake(), Instant::NEVER);
}
