//! R2Ts, C2HData, SQHD, and what RDMA does instead.

use crate::bench::{ADMIN, Bench, CONTROLLER, HOST, IO, NQN, RDMA, fabrics, read, response, token, write};
use lanetwin_nvme::logic::{Direction, HostEffect, Place};
use lanetwin_nvme::spec::pointer::SglDescriptor;
use lanetwin_nvme::spec::{Cid, Command, Status};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::target::{ConnectionId, Effect, SubsystemId, TcpConfig};
use lanetwin_nvmeof::logic::tcp::Pdu;
use lanetwin_nvmeof::spec::fabrics::FabricsType;
use lanetwin_nvmeof::spec::rdma::{RejectStatus, RequestPrivateData};
use lanetwin_units::Instant;

#[test]
fn no_more_r2ts_are_outstanding_than_the_host_takes() {
    let tcp = TcpConfig { r2t_bytes: Some(1024), ..TcpConfig::default() };
    let mut bench = Bench::connected(tcp, 0, 2, true);
    bench.capsule(IO, write(7, 4096), vec![]);
    let (units, _) = bench.wants(7, 0, 4096);
    let r2t = |unit: &Pdu| match *unit {
        Pdu::ReadyToTransfer { cid: Cid(7), tag, offset, length: 1024 } => (tag, offset),
        ref other => panic!("{other:?}"),
    };
    let first: Vec<_> = units.iter().map(r2t).collect();
    assert_eq!(first.iter().map(|&(_, offset)| offset).collect::<Vec<_>>(), [0, 1024]);
    let data = |bench: &mut Bench, (tag, offset): (u16, u32), byte| {
        let data = vec![byte; 1024].into();
        bench.send(IO, Pdu::DataToController { cid: Cid(7), tag, offset, last: true, data })
    };
    // the second is answered first: another one may be outstanding now
    let (units, _) = data(&mut bench, first[1], 2);
    let third = r2t(&units[0]);
    assert_eq!((units.len(), third.1), (1, 2048));
    let (units, _) = data(&mut bench, first[0], 1);
    let fourth = r2t(&units[0]);
    data(&mut bench, fourth, 4);
    let (units, effects) = data(&mut bench, third, 3);
    assert_eq!(units, []);
    let [Effect::Bring { for_controller: false, data: Data::Bytes(all), .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    let expected: Vec<u8> = (1..=4).flat_map(|byte| [byte; 1024]).collect();
    assert_eq!(all, &expected, "in the order of offsets");
}

#[test]
fn data_go_to_the_host_in_order_and_the_last_with_the_response() {
    let last = |units: &[Pdu]| match units {
        [Pdu::DataToHost { last, success, offset, .. }, ..] => (*last, *success, *offset, units.len()),
        other => panic!("{other:?}"),
    };
    for (flow_control, expected) in [(true, (true, false, 2048, 2)), (false, (true, true, 2048, 1))] {
        let mut bench = Bench::connected(TcpConfig::default(), 0, 1, flow_control);
        bench.capsule(IO, read(7, 4096), vec![]);
        let (units, effects) = bench.gives(7, 2048, vec![2; 2048]);
        assert_eq!(units, [], "the first half is not here");
        assert_eq!(effects, [Effect::Done { subsystem: SubsystemId(0), token: token(2048) }]);
        let (units, _) = bench.gives(7, 0, vec![1; 2048]);
        assert_eq!(last(&units), (false, false, 0, 1));
        let (units, _) = bench.completes(1, 7, 1, Status::SUCCESS);
        assert_eq!(last(&units), expected);
    }
    // a command that fails tells so, and keeps its data
    let mut bench = Bench::connected(TcpConfig::default(), 0, 1, false);
    bench.capsule(IO, read(7, 512), vec![]);
    bench.gives(7, 0, vec![1; 512]);
    let (units, _) = bench.completes(1, 7, 1, Status::UNRECOVERED_READ_ERROR);
    assert_eq!(response(&units).status(), Status::UNRECOVERED_READ_ERROR);
}

#[test]
fn the_head_counts_what_no_controller_sees() {
    let mut bench = Bench::connected(TcpConfig::default(), 0, 1, true);
    // Connect was one; an unknown Fabrics command is another
    let (units, _) = bench.capsule(IO, fabrics(FabricsType(0x77), 3), vec![]);
    assert_eq!((response(&units).status(), response(&units).sq_head()), (Status::INVALID_OPCODE, 2));
    bench.capsule(IO, read(7, 512), vec![]);
    let (units, _) = bench.completes(1, 7, 1, Status::SUCCESS);
    assert_eq!((response(&units).sq_head(), response(&units).sq_number()), (3, 1));
    // eight entries: the controller is at 7, two capsules never reached it
    bench.capsule(IO, read(8, 512), vec![]);
    let (units, _) = bench.completes(1, 8, 7, Status::SUCCESS);
    assert_eq!(response(&units).sq_head(), 1);
}

#[test]
fn an_identifier_in_use_is_answered_and_changes_nothing() {
    let mut bench = Bench::connected(TcpConfig::default(), 0, 1, true);
    bench.capsule(IO, read(7, 512), vec![]);
    let (units, effects) = bench.capsule(IO, write(7, 512), vec![]);
    assert_eq!((response(&units).status(), effects.len()), (Status::COMMAND_ID_CONFLICT, 0));
    bench.gives(7, 0, vec![1; 512]);
    let (units, _) = bench.completes(1, 7, 1, Status::SUCCESS);
    assert!(matches!(units[..], [Pdu::DataToHost { .. }, Pdu::Response { .. }]));
    // what a controller refuses ends the command, or the connection
    bench.capsule(IO, read(9, 512), vec![]);
    let refuse = |why| {
        move |target: &mut lanetwin_nvmeof::logic::target::Target, effects: &mut Vec<Effect>| {
            target.refused(IO, Cid(9), why, effects);
        }
    };
    let (units, _) = bench.answer(refuse(lanetwin_nvme::logic::Refused::NotReady));
    assert_eq!(response(&units).status(), Status::COMMAND_SEQUENCE_ERROR);
    let (_, effects) = bench.answer(refuse(lanetwin_nvme::logic::Refused::Full));
    assert_eq!(effects[0], Effect::Close { connection: IO });
}

#[test]
fn what_is_asked_for_of_a_lost_connection_has_failed() {
    let mut bench = Bench::connected(TcpConfig::default(), 0, 1, true);
    bench.capsule(IO, write(7, 4096), vec![]);
    bench.wants(7, 0, 4096);
    let (_, effects) = bench.answer(|target, effects| target.lost(IO, effects));
    assert_eq!(effects[0], Effect::Failed { subsystem: SubsystemId(0), token: token(0) });
    let (_, effects) = bench.wants(7, 512, 512);
    assert_eq!(effects, [Effect::Failed { subsystem: SubsystemId(0), token: token(512) }]);
    // and so has what is asked for of no command, or not brought before its command ends
    let mut bench = Bench::connected(TcpConfig::default(), 0, 1, true);
    let (_, effects) = bench.wants(7, 512, 512);
    assert_eq!(effects, [Effect::Failed { subsystem: SubsystemId(0), token: token(512) }]);
    bench.capsule(IO, write(7, 4096), vec![]);
    bench.wants(7, 0, 4096);
    let (_, effects) = bench.completes(1, 7, 1, Status::ABORT_REQUESTED);
    assert_eq!(effects, [Effect::Failed { subsystem: SubsystemId(0), token: token(0) }]);
    bench.answer(|target, effects| target.lost(IO, effects));
    assert_eq!(bench.completes(1, 7, 1, Status::SUCCESS), (vec![], vec![]));
    let expired = HostEffect::KeepAliveExpired { controller: CONTROLLER };
    let (_, effects) = bench.perform(0, expired, vec![]);
    assert_eq!(effects[0], Effect::Close { connection: ADMIN }, "{HOST} is let go of {NQN}");
}

/// A request with these fields of private data: RECFMT, HRQSIZE, HSQSIZE.
fn request(format: u16, receive: u16, send_less_1: u16) -> Vec<u8> {
    let mut private = RequestPrivateData::ZERO;
    private.set_format(format);
    private.set_receive_entries(receive);
    private.set_send_entries_less_1(send_less_1);
    private.as_bytes().to_vec()
}

#[test]
fn private_data_that_are_wrong_are_rejected_with_their_status() {
    let judged = |private: Vec<u8>| {
        let mut bench = Bench::new(TcpConfig::default());
        let (_, effects) = bench.answer(|target, effects| target.request(ADMIN, RDMA, &private, effects));
        match effects[..] {
            [Effect::Accept { private, .. }] => Ok(private.receive_entries()),
            [Effect::Reject { private, .. }] => Err(private.status()),
            ref other => panic!("{other:?}"),
        }
    };
    assert_eq!(judged(request(0, 32, 31)), Ok(32));
    assert_eq!(judged(request(0, 32, 4095)), Ok(1024), "as much as the target has");
    assert_eq!(judged(vec![0; 31]), Err(RejectStatus::INVALID_LENGTH));
    assert_eq!(judged(request(1, 32, 31)), Err(RejectStatus::INVALID_FORMAT));
    assert_eq!(judged(request(0, 32, 0)), Err(RejectStatus::INVALID_SEND_QUEUE));
    assert_eq!(judged(request(0, 0, 31)), Err(RejectStatus::INVALID_RECEIVE_QUEUE));
}

/// A queue by RDMA, connected by an RDMA READ of the data of Connect.
#[test]
fn by_rdma_connect_is_read_and_commands_are_keyed() {
    let mut bench = Bench::new(TcpConfig::default());
    bench.answer(|target, effects| target.request(ADMIN, RDMA, &request(0, 32, 31), effects));
    let keyed = |address: u64, bytes: u32, key: u32| {
        let raw = u128::from(address) | u128::from(bytes) << 64 | u128::from(key) << 88 | 0x4f << 120;
        SglDescriptor::from_raw(raw)
    };
    let command = crate::bench::with_data(
        Command::from_bytes(*crate::bench::connect(0).as_bytes()),
        keyed(0x1000, 1024, 0x77),
    );
    let send = |command, data: Data| {
        move |target: &mut lanetwin_nvmeof::logic::target::Target, effects: &mut Vec<Effect>| {
            target.capsule(Instant::ZERO, ADMIN, (command, data), effects);
        }
    };
    let (_, effects) = bench.answer(send(command, Data::NONE));
    let [Effect::RdmaRead { operation, address: 0x1000, key: 0x77, bytes: 1024, .. }] = effects[..] else {
        panic!("{effects:?}")
    };
    let data = Data::from(crate::bench::connect_data(0xffff).as_bytes().to_vec());
    let (_, effects) = bench.answer(|target, effects| {
        target.read_done(Instant::ZERO, ADMIN, operation, data, effects);
    });
    assert!(matches!(effects[..], [Effect::Connect { .. }]));
    let (_, effects) = bench.answer(|target, effects| {
        target.connected(ADMIN, SubsystemId(0), Ok(CONTROLLER), effects);
    });
    let [Effect::SendCapsule { entry, invalidate: Some(0x77), .. }] = effects[..] else {
        panic!("{effects:?}")
    };
    assert!(entry.status().is_success());
    // a read: its data are written behind the key, part by part
    let command = crate::bench::with_data(read(3, 1024), keyed(0x8000, 1024, 0x99));
    assert!(matches!(bench.answer(send(command, Data::NONE)).1[..], [Effect::Submit { .. }]));
    let transfer = HostEffect::Transfer {
        token: token(1),
        direction: Direction::ToHost,
        bytes: 512,
        at: Place::Keyed { address: 0x8200, key: 0x99 },
    };
    let command = lanetwin_nvme::logic::subsystem::CommandInfo {
        controller: CONTROLLER,
        sqid: lanetwin_nvme::spec::SqId::ADMIN,
        cid: Cid(3),
        opcode: 2,
    };
    let asked = lanetwin_nvmeof::logic::target::Asked {
        effect: transfer,
        command: Some(command),
        data: Data::Length(512),
    };
    let (_, effects) = bench.answer(|target, effects| {
        target.perform(Instant::ZERO, SubsystemId(0), asked, effects);
    });
    let expected = [
        Effect::RdmaWrite { connection: ADMIN, address: 0x8200, key: 0x99, data: Data::Length(512) },
        Effect::Done { subsystem: SubsystemId(0), token: token(1) },
    ];
    assert_eq!(effects, expected);
    // a capsule that is longer than the buffers that were posted
    let long = Data::Length(4100);
    let (_, effects) = bench.answer(send(read(4, 512), long));
    assert_eq!(effects[0], Effect::Close { connection: ConnectionId(1) });
}
