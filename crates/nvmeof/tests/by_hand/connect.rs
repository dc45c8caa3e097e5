//! Connect, properties, Disconnect, and what is refused.

use crate::bench::{
    ADMIN, Bench, CONTROLLER, HOST, IO, NQN, Outcome, connect, connect_data, fabrics, read, response,
    with_data, write,
};
use lanetwin_nvme::logic::{ConnectFault, Connection, ControllerChoice, DataLocation, PropertySize};
use lanetwin_nvme::spec::pointer::SglDescriptor;
use lanetwin_nvme::spec::{Cid, Command, ControllerId, SqId, Status};
use lanetwin_nvmeof::logic::target::{ConnectionId, Effect, SubsystemId, TcpConfig};
use lanetwin_nvmeof::logic::tcp::Pdu;
use lanetwin_nvmeof::spec::fabrics::{ConnectAttributes, Disconnect, FabricsType, Property, name_field};
use lanetwin_nvmeof::spec::status::FabricsStatus;

#[test]
fn a_queue_is_asked_for_as_connect_says() {
    let mut bench = Bench::new(TcpConfig::default());
    bench.initialize(ADMIN, 0, 1);
    let mut asked = connect(0);
    asked.set_keep_alive_ms(5000);
    asked.set_attributes(ConnectAttributes::from_raw(4));
    let (_, effects) = bench.connect(ADMIN, asked, connect_data(7));
    let queue = Connection {
        queue: SqId::ADMIN,
        entries: 8,
        data_location: DataLocation::Messages,
        flow_control: false,
        port: 0,
    };
    let expected = Effect::Connect {
        connection: ADMIN,
        subsystem: SubsystemId(0),
        choice: ControllerChoice::One(ControllerId(7)),
        queue,
        keep_alive_ms: 5000,
    };
    assert_eq!(effects, [expected]);
    // the connection ends before the controller has answered: its queue is ended, too
    bench.answer(|target, effects| target.lost(ADMIN, effects));
    let (_, effects) = bench.answer(|target, effects| {
        target.connected(ADMIN, SubsystemId(0), Ok(ControllerId(7)), effects);
    });
    let ended =
        Effect::Disconnect { subsystem: SubsystemId(0), controller: ControllerId(7), queue: SqId::ADMIN };
    assert_eq!(effects, [ended]);
}

/// Status and dword 0 of a response.
fn told((units, effects): Outcome) -> (Status, u32) {
    assert_eq!(effects, []);
    (response(&units).status(), response(&units).dw0())
}

#[test]
fn a_connect_that_cannot_be_says_where_it_is_wrong() {
    let new = || {
        let mut bench = Bench::connected(TcpConfig::default(), 0, 1, true);
        bench.initialize(ConnectionId(3), 0, 1);
        bench
    };
    let third = ConnectionId(3);
    let data = |offset: u32| (FabricsStatus::INVALID_PARAMETERS.status(), offset | 1 << 16);
    let entry = |offset: u32| (FabricsStatus::INVALID_PARAMETERS.status(), offset);
    let good = || (connect(2), connect_data(CONTROLLER.0));
    let cases = [
        (
            {
                let mut it = good();
                it.0.set_format(1);
                it
            },
            (FabricsStatus::INCOMPATIBLE_FORMAT.status(), 0),
        ),
        (
            {
                let mut it = good();
                it.0.set_entries_less_1(0);
                it
            },
            entry(44),
        ),
        (
            {
                let mut it = good();
                it.0.set_queue(1);
                it
            },
            (Status::COMMAND_SEQUENCE_ERROR, 0),
        ),
        (
            {
                let mut it = good();
                it.1.set_controller(6);
                it
            },
            data(16),
        ),
        (
            {
                let mut it = good();
                it.1.set_subsystem(name_field("nqn.other"));
                it
            },
            data(256),
        ),
        (
            {
                let mut it = good();
                it.1.set_subsystem([b'x'; 256]);
                it
            },
            data(256),
        ),
        (
            {
                let mut it = good();
                it.1.set_host(name_field("nqn.other"));
                it
            },
            data(512),
        ),
        (
            {
                let mut it = good();
                it.1.set_host([0; 256]);
                it
            },
            data(512),
        ),
        (
            {
                let mut it = good();
                it.1.set_host_id([1; 16]);
                it
            },
            data(0),
        ),
        (
            {
                let mut it = (connect(0), connect_data(0xffff));
                it.1.set_subsystem(name_field("nqn.2026-01.test:two"));
                it
            },
            (FabricsStatus::INVALID_HOST.status(), 0),
        ),
    ];
    for ((connect, data), expected) in cases {
        let mut bench = new();
        assert_eq!(told(bench.connect(third, connect, data)), expected);
        // the connection may try again
        assert!(matches!(bench.connect(third, good().0, good().1).1[..], [Effect::Connect { .. }]));
    }
    let faults = [
        (ConnectFault::UnknownController, data(16)),
        (ConnectFault::Busy, (FabricsStatus::CONTROLLER_BUSY.status(), 0)),
        (ConnectFault::NotReady, (Status::COMMAND_SEQUENCE_ERROR, 0)),
        (ConnectFault::Queue, entry(42)),
        (ConnectFault::Size, entry(44)),
    ];
    for (fault, expected) in faults {
        let mut bench = new();
        bench.connect(third, good().0, good().1);
        let outcome = bench.answer(|target, effects| {
            target.connected(third, SubsystemId(0), Err(fault), effects);
        });
        assert_eq!(told(outcome), expected, "{fault}");
    }
}

#[test]
fn the_data_of_connect_are_where_its_descriptor_says() {
    let sent = |descriptor, data: Vec<u8>| {
        let mut bench = Bench::new(TcpConfig::default());
        bench.initialize(ADMIN, 0, 1);
        let command = with_data(Command::from_bytes(*connect(0).as_bytes()), descriptor);
        bench.capsule(ADMIN, command, data)
    };
    let bytes = connect_data(0xffff).as_bytes().to_vec();
    assert_eq!(
        told(sent(SglDescriptor::in_capsule(0, 1000), bytes.clone())).0,
        Status::DATA_SGL_LENGTH_INVALID
    );
    assert_eq!(told(sent(SglDescriptor::in_capsule(4, 1024), bytes.clone())).0, Status::SGL_OFFSET_INVALID);
    assert_eq!(told(sent(SglDescriptor::block(0, 1024), bytes)).0, Status::SGL_DESCRIPTOR_TYPE_INVALID);
    let (units, _) = sent(SglDescriptor::by_transport(1024), vec![]);
    assert!(matches!(units[..], [Pdu::ReadyToTransfer { offset: 0, length: 1024, .. }]));
}

#[test]
fn properties_are_of_the_admin_queue() {
    let mut bench = Bench::connected(TcpConfig::default(), 0, 1, true);
    let get = Command::from_bytes({
        let mut property = Property::from_bytes(*fabrics(FabricsType::PROPERTY_GET, 4).as_bytes());
        property.set_attributes(lanetwin_nvmeof::spec::fabrics::PropertyAttributes::from_raw(1));
        *property.as_bytes()
    });
    let (_, effects) = bench.capsule(ADMIN, get, vec![]);
    let expected = Effect::GetProperty {
        connection: ADMIN,
        subsystem: SubsystemId(0),
        controller: CONTROLLER,
        cid: Cid(4),
        offset: 0,
        size: PropertySize::Eight,
    };
    assert_eq!(effects, [expected]);
    let (units, _) =
        bench.answer(|target, effects| target.property(ADMIN, Cid(4), Ok(0x1_0000_0002), effects));
    assert_eq!((response(&units).dw0(), response(&units).dw1()), (2, 1));
    assert_eq!(told(bench.capsule(IO, get, vec![])).0, Status::INVALID_OPCODE);
    // authentication is not there
    for kind in [FabricsType::AUTHENTICATION_SEND, FabricsType::AUTHENTICATION_RECEIVE] {
        assert_eq!(told(bench.capsule(ADMIN, fabrics(kind, 5), vec![])).0, Status::INVALID_OPCODE);
    }
    // and nothing goes before Connect, or twice
    bench.initialize(ConnectionId(3), 0, 1);
    let early = bench.capsule(ConnectionId(3), read(1, 512), vec![]);
    assert_eq!(told(early).0, Status::COMMAND_SEQUENCE_ERROR);
    assert_eq!(told(bench.capsule(ConnectionId(3), get, vec![])).0, Status::COMMAND_SEQUENCE_ERROR);
    assert_eq!(told(bench.connect(IO, connect(1), connect_data(5))).0, Status::COMMAND_SEQUENCE_ERROR);
}

#[test]
fn disconnect_ends_the_queue_that_it_comes_by() {
    let mut bench = Bench::connected(TcpConfig::default(), 0, 1, true);
    let disconnect = |format| {
        let mut command = Disconnect::from_bytes(*fabrics(FabricsType::DISCONNECT, 6).as_bytes());
        command.set_format(format);
        Command::from_bytes(*command.as_bytes())
    };
    assert_eq!(
        told(bench.capsule(ADMIN, disconnect(0), vec![])).0,
        FabricsStatus::INVALID_QUEUE_TYPE.status()
    );
    assert_eq!(told(bench.capsule(IO, disconnect(1), vec![])).0, FabricsStatus::INCOMPATIBLE_FORMAT.status());
    bench.capsule(IO, write(7, 4096), vec![]);
    let (units, effects) = bench.capsule(IO, disconnect(0), vec![]);
    assert_eq!(response(&units).status(), Status::SUCCESS);
    let ended = Effect::Disconnect { subsystem: SubsystemId(0), controller: CONTROLLER, queue: SqId(1) };
    assert_eq!(effects, [ended]);
    assert_eq!(told(bench.capsule(IO, read(8, 512), vec![])).0, Status::COMMAND_SEQUENCE_ERROR);
    // its number is free
    let (_, effects) = bench.connect(IO, connect(1), connect_data(CONTROLLER.0));
    assert!(matches!(effects[..], [Effect::Connect { .. }]), "{HOST} connects to {NQN} again");
}
