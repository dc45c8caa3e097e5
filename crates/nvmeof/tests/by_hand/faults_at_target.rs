//! What a host does wrong ends its connection with the Fatal Error Status of the specification, and its queue with it.

use crate::bench::{ADMIN, Bench, CONTROLLER, IO, ic_req, read, token, write};
use lanetwin_nvme::spec::{Cid, SqId};
use lanetwin_nvmeof::logic::target::{Effect, SubsystemId, TcpConfig};
use lanetwin_nvmeof::logic::tcp::{Pdu, Stream};
use lanetwin_nvmeof::spec::tcp::FatalError;

/// The terminate request, and what else was done.
fn terminated((units, effects): (Vec<Pdu>, Vec<Effect>)) -> (FatalError, u32, Vec<u8>, Vec<Effect>) {
    match units.into_iter().last() {
        Some(Pdu::Terminate { from_host: false, status, information, header }) => {
            (status, information, header, effects)
        }
        other => panic!("{other:?} is no terminate request"),
    }
}

#[test]
fn a_connection_begins_with_one_request_that_can_be_met() {
    let first = |pdu: Pdu| {
        let mut bench = Bench::new(TcpConfig::default());
        bench.target.accept(ADMIN, 0);
        let (status, information, header, effects) = terminated(bench.send(ADMIN, pdu));
        assert_eq!(effects, [Effect::Close { connection: ADMIN }]);
        assert!(!header.is_empty(), "it tells which data unit");
        (status, information)
    };
    let early = Pdu::Command { command: read(1, 512), data: vec![].into() };
    assert_eq!(first(early), (FatalError::PDU_SEQUENCE, 0));
    assert_eq!(first(ic_req(1, 0, 0, 0)), (FatalError::UNSUPPORTED_PARAMETER, 8));
    assert_eq!(first(ic_req(0, 32, 0, 0)), (FatalError::UNSUPPORTED_PARAMETER, 10));
    let mut bench = Bench::new(TcpConfig::default());
    bench.initialize(ADMIN, 3, 1);
    let (status, ..) = terminated(bench.send(ADMIN, ic_req(0, 0, 0, 0)));
    assert_eq!(status, FatalError::PDU_SEQUENCE);
}

/// An I/O queue with a write of 4 KiB for which an R2T of 2 KiB is outstanding; the tag that it has.
fn with_r2t(digests: u8) -> (Bench, u16) {
    let tcp = TcpConfig { r2t_bytes: Some(2048), most_data: 4096, ..TcpConfig::default() };
    let mut bench = Bench::connected(tcp, digests, 1, true);
    let (_, effects) = bench.capsule(IO, write(7, 4096), vec![]);
    assert!(matches!(effects[..], [Effect::Submit { .. }]));
    let (units, _) = bench.wants(7, 0, 4096);
    let [Pdu::ReadyToTransfer { cid: Cid(7), tag, offset: 0, length: 2048 }] = units[..] else {
        panic!("{units:?}")
    };
    (bench, tag)
}

#[test]
fn data_that_were_not_asked_for_end_the_connection() {
    let data = |cid, tag, offset, last, bytes: usize| Pdu::DataToController {
        cid: Cid(cid),
        tag,
        offset,
        last,
        data: vec![1; bytes].into(),
    };
    let field = |at| (FatalError::INVALID_HEADER_FIELD, at);
    let range = (FatalError::OUT_OF_RANGE, 0);
    let (_, tag) = with_r2t(0);
    let cases = [
        ("no such R2T", data(7, tag + 1, 0, true, 2048), field(10)),
        ("of another command", data(8, tag, 0, true, 2048), field(8)),
        ("from another offset", data(7, tag, 512, false, 512), range),
        ("beyond the R2T", data(7, tag, 0, true, 2052), range),
        ("last and not all", data(7, tag, 0, true, 1024), field(1)),
        ("all and not last", data(7, tag, 0, false, 2048), field(1)),
        ("longer than MAXH2CDATA", data(7, tag, 0, true, 4100), (FatalError::LIMIT_EXCEEDED, 0)),
    ];
    for (name, pdu, expected) in cases {
        for digests in [0, 3] {
            let (mut bench, _) = with_r2t(digests);
            let (status, information, header, effects) = terminated(bench.send(IO, pdu.clone()));
            assert_eq!((status, information), expected, "{name}");
            assert_eq!(header[0], 6, "{name}: the header of H2CData");
            let subsystem = SubsystemId(0);
            let expected = [
                Effect::Close { connection: IO },
                Effect::Failed { subsystem, token: token(0) },
                Effect::Disconnect { subsystem, controller: CONTROLLER, queue: SqId(1) },
            ];
            assert_eq!(effects, expected, "{name}");
            assert_eq!(bench.send(IO, pdu.clone()), (vec![], vec![]), "nothing more is heard");
        }
    }
}

#[test]
fn a_wrong_header_digest_ends_the_connection_and_a_wrong_data_digest_the_command() {
    let (mut bench, tag) = with_r2t(3);
    let pdu = Pdu::DataToController { cid: Cid(7), tag, offset: 0, last: true, data: vec![1; 2048].into() };
    let mut stream = Stream::new();
    pdu.write(bench.framing, &mut stream);
    let bytes = stream.to_bytes().expect("bytes");
    let mut header = bytes.clone();
    header[13] ^= 1;
    let (status, ..) = terminated(bench.bytes(IO, Stream::from(header)));
    assert_eq!(status, FatalError::HEADER_DIGEST);

    let (mut bench, _) = with_r2t(3);
    let mut data = bytes;
    data[100] ^= 1;
    let (units, effects) = bench.bytes(IO, Stream::from(data));
    // the rest is asked for: the host must not be left with data that nobody wants
    let [Pdu::ReadyToTransfer { tag, offset: 2048, length: 2048, .. }] = units[..] else {
        panic!("{units:?}")
    };
    assert_eq!(effects, []);
    let rest =
        Pdu::DataToController { cid: Cid(7), tag, offset: 2048, last: true, data: vec![1; 2048].into() };
    let (_, effects) = bench.send(IO, rest);
    assert_eq!(effects, [Effect::Failed { subsystem: SubsystemId(0), token: token(0) }]);
    let failed = lanetwin_nvme::spec::Status::DATA_TRANSFER_ERROR;
    let (units, _) = bench.completes(1, 7, 1, failed);
    let told = crate::bench::response(&units);
    assert_eq!(told.status(), lanetwin_nvme::spec::Status::TRANSIENT_TRANSPORT_ERROR);
    assert!(!told.do_not_retry(), "the host tries again");
}

#[test]
fn a_host_that_terminates_is_let_go_without_an_answer() {
    let (mut bench, _) = with_r2t(0);
    let terminate =
        Pdu::Terminate { from_host: true, status: FatalError(6), information: 0, header: vec![9; 24] };
    let (units, effects) = bench.send(ADMIN, terminate);
    assert_eq!(units, []);
    // the admin queue takes the I/O queue with it
    let closed: Vec<_> =
        effects.iter().filter(|effect| matches!(effect, Effect::Close { .. })).cloned().collect();
    assert_eq!(closed, [Effect::Close { connection: ADMIN }, Effect::Close { connection: IO }]);
    let ended = |queue| Effect::Disconnect { subsystem: SubsystemId(0), controller: CONTROLLER, queue };
    assert!(effects.contains(&ended(SqId::ADMIN)) && effects.contains(&ended(SqId(1))));
}
