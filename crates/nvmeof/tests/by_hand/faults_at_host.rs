//! What a controller does wrong ends the connection with the Fatal Error Status of the specification.

use crate::bench::{HOST, NQN};
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::spec::{Cid, CompletionEntry, Nsid, SqId, Status};
use lanetwin_nvmeof::logic::host::{
    Failure, HostName, HostTransport, Io, Queue, QueueConfig, QueueEffect, RdmaHost, TcpHost, Transfer,
};
use lanetwin_nvmeof::logic::tcp::{Framing, Pdu, Reader, Side, Stream};
use lanetwin_nvmeof::spec::rdma::{AcceptPrivateData, RejectPrivateData, RejectStatus};
use lanetwin_nvmeof::spec::tcp::{DigestTypes, FatalError};

struct Bench {
    queue: Queue,
    reader: Reader,
}
fn config(transport: HostTransport, flow_control: bool) -> QueueConfig {
    QueueConfig {
        number: SqId(1),
        entries: 8,
        flow_control,
        host: HostName { nqn: HOST.into(), id: [9; 16] },
        subsystem: NQN.into(),
        controller: 5,
        keep_alive_ms: 0,
        transport,
        buffer: 0,
        capsule_data: 1024,
    }
}
fn ic_resp(version: u16, alignment: u8, digests: u8, most_data: u32) -> Pdu {
    Pdu::InitializeResponse { version, alignment, digests: DigestTypes::from_raw(digests), most_data }
}
fn entry(cid: u16, head: u16) -> CompletionEntry {
    let built = || CompletionEntry::ZERO.with_cid_number(cid)?.with_sq_head(head);
    built().expect("16 bits")
}

impl Bench {
    fn new(flow_control: bool) -> Self {
        let transport = HostTransport::Tcp(TcpHost::default());
        let mut bench = Self {
            queue: Queue::new(config(transport, flow_control)),
            reader: Reader::new(Side::Controller),
        };
        let mut effects = Vec::new();
        bench.queue.start(&mut effects);
        let (units, _) = bench.take(effects);
        assert!(matches!(units[..], [Pdu::InitializeRequest { version: 0, .. }]));
        bench
    }
    /// Live, with a write of 4 KiB (CID 0), and a read of 4 KiB (CID 1).
    fn live(flow_control: bool) -> Self {
        let mut bench = Self::new(flow_control);
        let (units, _) = bench.get(ic_resp(0, 0, 0, 4096));
        assert!(matches!(units[..], [Pdu::Command { .. }]), "Connect");
        let (_, effects) =
            bench.get(Pdu::Response { entry: entry(0, if flow_control { 1 } else { 0xffff }) });
        assert!(matches!(effects[..], [QueueEffect::Connected { .. }]));
        let write = (commands::write(Nsid(1), 0, 8), Transfer::ToController(vec![7; 4096].into()));
        let read = (commands::read(Nsid(1), 0, 8), Transfer::FromController(4096));
        for (name, (command, transfer)) in [write, read].into_iter().enumerate() {
            let io = Io { command, name: name as u64, transfer, address: 0 };
            let mut effects = Vec::new();
            assert_eq!(bench.queue.submit(io, &mut effects), Ok(Cid(name as u16)));
            bench.take(effects);
        }
        bench
    }
    fn take(&mut self, effects: Vec<QueueEffect>) -> (Vec<Pdu>, Vec<QueueEffect>) {
        let (mut units, mut others) = (Vec::new(), Vec::new());
        for effect in effects {
            let QueueEffect::Send { stream } = effect else {
                others.push(effect);
                continue;
            };
            self.reader.push(stream);
            while let Some(read) = self.reader.read() {
                units.push(read.expect("a data unit").pdu);
            }
        }
        (units, others)
    }
    fn get(&mut self, pdu: Pdu) -> (Vec<Pdu>, Vec<QueueEffect>) {
        let mut stream = Stream::new();
        pdu.write(Framing::default(), &mut stream);
        let mut effects = Vec::new();
        self.queue.receive(stream, &mut effects);
        self.take(effects)
    }
    /// The fault with which this ends the connection.
    fn fault(&mut self, pdu: Pdu) -> (FatalError, u32) {
        let (units, effects) = self.get(pdu);
        let Some(Pdu::Terminate { from_host: true, status, information, header }) = units.last() else {
            panic!("{units:?}")
        };
        assert!(!header.is_empty(), "it tells which data unit");
        let last = effects.last();
        assert_eq!(last, Some(&QueueEffect::Failed { why: Failure::Protocol(*status) }));
        assert_eq!(effects.first(), Some(&QueueEffect::Close));
        (*status, *information)
    }
}

#[test]
fn an_answer_to_the_request_must_be_one() {
    let unsupported = |at| (FatalError::UNSUPPORTED_PARAMETER, at);
    let cases = [
        (ic_resp(1, 0, 0, 4096), unsupported(8)),
        (ic_resp(0, 32, 0, 4096), unsupported(10)),
        (ic_resp(0, 0, 1, 4096), unsupported(11)),
        (ic_resp(0, 0, 0, 4095), unsupported(12)),
        (Pdu::Response { entry: entry(0, 0) }, (FatalError::PDU_SEQUENCE, 0)),
    ];
    for (pdu, expected) in cases {
        assert_eq!(Bench::new(true).fault(pdu), expected);
    }
    let mut bench = Bench::live(true);
    assert_eq!(bench.fault(ic_resp(0, 0, 0, 4096)), (FatalError::PDU_SEQUENCE, 0));
}

#[test]
fn what_belongs_to_no_command_ends_the_connection() {
    let r2t = |cid, offset, length| Pdu::ReadyToTransfer { cid: Cid(cid), tag: 3, offset, length };
    let data = |cid, offset, (last, success), bytes: usize| Pdu::DataToHost {
        cid: Cid(cid),
        offset,
        last,
        success,
        data: vec![1; bytes].into(),
    };
    let (unknown, range) = ((FatalError::INVALID_HEADER_FIELD, 8), (FatalError::OUT_OF_RANGE, 0));
    let flags = (FatalError::INVALID_HEADER_FIELD, 1);
    let cases = [
        ("R2T of no command", r2t(5, 0, 512), unknown),
        ("R2T of a read", r2t(1, 0, 512), unknown),
        ("R2T beyond the data", r2t(0, 4000, 100), range),
        ("R2T whose end is beyond everything", r2t(0, u32::MAX, 2), range),
        ("R2T of nothing", r2t(0, 0, 0), range),
        ("data of no command", data(6, 0, (true, false), 512), unknown),
        ("data of a write", data(0, 0, (true, false), 512), unknown),
        ("data not from the start", data(1, 512, (true, false), 512), range),
        ("more data than asked for", data(1, 0, (true, false), 4100), range),
        ("success and not last", data(1, 0, (false, true), 4096), flags),
        ("success with flow control", data(1, 0, (true, true), 4096), flags),
        ("a response to nobody", Pdu::Response { entry: entry(6, 1) }, unknown),
    ];
    for (name, pdu, expected) in cases {
        assert_eq!(Bench::live(true).fault(pdu), expected, "{name}");
    }
}

#[test]
fn data_go_in_units_that_the_controller_takes_and_success_stands_for_a_response() {
    let mut bench = Bench::live(false);
    let (units, _) = bench.get(Pdu::ReadyToTransfer { cid: Cid(0), tag: 3, offset: 0, length: 4096 });
    let [Pdu::DataToController { cid: Cid(0), tag: 3, offset: 0, last: true, data }] = &units[..] else {
        panic!("{units:?}")
    };
    assert_eq!(data.len(), 4096);
    let data = |offset, last, success| Pdu::DataToHost {
        cid: Cid(1),
        offset,
        last,
        success,
        data: vec![1; 2048].into(),
    };
    let (_, effects) = bench.get(data(0, false, false));
    assert!(matches!(effects[..], [QueueEffect::Deliver { name: 1, offset: 0, .. }]));
    let (_, effects) = bench.get(data(2048, true, true));
    let [QueueEffect::Deliver { offset: 2048, .. }, QueueEffect::Completed { name: 1, ending }] =
        &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!(ending.status, Status::SUCCESS);
    // a read that succeeds without its data has not
    let mut bench = Bench::live(true);
    let (_, effects) = bench.get(Pdu::Response { entry: entry(1, 2) });
    let [QueueEffect::Completed { name: 1, ending }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(ending.status, Status::DATA_TRANSFER_ERROR);
}

#[test]
fn a_controller_that_terminates_is_told_to_the_owner() {
    let mut bench = Bench::live(true);
    let terminate =
        Pdu::Terminate { from_host: false, status: FatalError::OUT_OF_RANGE, information: 0, header: vec![] };
    let (_, effects) = bench.get(terminate);
    let expected = [
        QueueEffect::Close,
        QueueEffect::Unanswered { name: 0 },
        QueueEffect::Unanswered { name: 1 },
        QueueEffect::Failed { why: Failure::Terminated(FatalError::OUT_OF_RANGE) },
    ];
    assert_eq!(effects, expected);
}

#[test]
fn flow_control_holds_capsules_back_until_the_head_moves() {
    let mut bench = Bench::live(true);
    let submit = |bench: &mut Bench| {
        let io = Io { command: commands::flush(Nsid(1)), name: 9, transfer: Transfer::None, address: 0 };
        bench.queue.submit(io, &mut Vec::new()).is_ok()
    };
    // seven of eight entries; two are taken
    assert_eq!((0..5).filter(|_| submit(&mut bench)).count(), 5);
    assert!(!submit(&mut bench) && bench.queue.room() == 0);
    // a response that does not move the head frees an identifier and no entry
    bench.get(Pdu::Response { entry: entry(2, 1) });
    assert_eq!((bench.queue.room(), bench.queue.in_flight()), (0, 6));
    bench.get(Pdu::Response { entry: entry(3, 4) });
    assert_eq!((bench.queue.room(), bench.queue.in_flight()), (2, 5));
}

#[test]
fn a_rejected_connection_and_a_key_of_somebody_else_are_told() {
    let transport = HostTransport::Rdma(RdmaHost { remote_invalidate: true });
    let start = || {
        let (mut queue, mut effects) = (Queue::new(config(transport, true)), Vec::new());
        queue.start(&mut effects);
        let [QueueEffect::Request { private }] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!((private.queue(), private.receive_entries(), private.send_entries_less_1()), (1, 8, 7));
        queue
    };
    let mut reject = RejectPrivateData::ZERO;
    reject.set_status(RejectStatus::NO_RESOURCES);
    let (mut queue, mut effects) = (start(), Vec::new());
    queue.rejected(reject.as_bytes(), &mut effects);
    assert_eq!(effects, [QueueEffect::Failed { why: Failure::Rejected(RejectStatus::NO_RESOURCES) }]);

    let mut accept = AcceptPrivateData::ZERO;
    accept.set_receive_entries(8);
    let (mut queue, mut effects) = (start(), Vec::new());
    queue.accepted(accept.as_bytes(), &mut effects);
    queue.sent(Cid(0), &mut effects);
    queue.capsule(entry(0, 1), None, &mut effects);
    assert!(queue.is_live());
    let read = Io {
        command: commands::read(Nsid(1), 0, 8),
        name: 4,
        transfer: Transfer::FromController(4096),
        address: 0x7000,
    };
    effects.clear();
    queue.submit(read, &mut effects).expect("room");
    let [QueueEffect::Register { key, address: 0x7000, bytes: 4096, .. }, QueueEffect::SendCapsule { .. }] =
        effects[..]
    else {
        panic!("{effects:?}")
    };
    // its response is here before the SEND is complete, and invalidates another key
    queue.capsule(entry(0, 2), Some(key + 1), &mut effects);
    assert_eq!(effects.last(), Some(&QueueEffect::Failed { why: Failure::Protocol(FatalError(1)) }));
}

/// What ends a command by RDMA, in the order in which it comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    Sent,
    Response,
    Invalidated,
}

#[test]
fn a_command_by_rdma_ends_with_the_last_of_send_response_and_invalidation() {
    use Last::{Invalidated, Response, Sent};
    let order = |remote: bool, order: &[Last]| {
        let transport = HostTransport::Rdma(RdmaHost { remote_invalidate: remote });
        let (mut queue, mut effects) = (Queue::new(config(transport, true)), Vec::new());
        queue.start(&mut effects);
        let mut accept = AcceptPrivateData::ZERO;
        accept.set_receive_entries(8);
        queue.accepted(accept.as_bytes(), &mut effects);
        queue.sent(Cid(0), &mut effects);
        queue.capsule(entry(0, 1), None, &mut effects);
        let (command, transfer) = (commands::read(Nsid(1), 0, 8), Transfer::FromController(4096));
        queue.submit(Io { command, name: 4, transfer, address: 0x7000 }, &mut effects).expect("room");
        let key = effects.iter().rev().find_map(|effect| match effect {
            QueueEffect::Register { key, .. } => Some(*key),
            _ => None,
        });
        let key = key.expect("its memory is registered");
        let mut ended = Vec::new();
        for &step in order {
            effects.clear();
            match step {
                Sent => queue.sent(Cid(0), &mut effects),
                Response => queue.capsule(entry(0, 2), remote.then_some(key), &mut effects),
                Invalidated => queue.invalidated(key, &mut effects),
            }
            let asks = effects.contains(&QueueEffect::Invalidate { key });
            assert_eq!(asks, step == Response && !remote, "a key that the target left is invalidated");
            let done = |effect: &QueueEffect| matches!(effect, QueueEffect::Completed { name: 4, .. });
            ended.push(effects.iter().filter(|effect| done(effect)).count());
        }
        ended
    };
    assert_eq!(order(true, &[Sent, Response]), [0, 1]);
    assert_eq!(order(true, &[Response, Sent]), [0, 1]);
    assert_eq!(order(false, &[Sent, Response, Invalidated]), [0, 0, 1]);
    assert_eq!(order(false, &[Response, Invalidated, Sent]), [0, 0, 1]);
    assert_eq!(order(false, &[Response, Sent, Invalidated]), [0, 0, 1]);
}
