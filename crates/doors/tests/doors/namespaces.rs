//! Several drives of a machine as namespaces of one subsystem.

use crate::machine::plan;
use crate::nvme_tcp::{Served, io, to};
use lanetwin_doors::command::Command;
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::engine::Engine;
use lanetwin_doors::fabric::initiator::{Initiator, Wanted};
use lanetwin_doors::problem::Problem;
use lanetwin_nvme::logic::host::commands::{command, flush, identify, read, write};
use lanetwin_nvme::spec::admin::IdentifyStructure;
use lanetwin_nvme::spec::identify::IdentifyNamespace;
use lanetwin_nvme::spec::{AdminOpcode, Nsid, SqId, Status};
use lanetwin_nvmeof::logic::host::Transfer;
use lanetwin_units::{Instant, Span};

/// Two drives behind a switch: one of 512-byte blocks, one of two namespaces of 4 KiB blocks.
const MACHINE: &str = "
about: Two drives behind a switch.
machine:
  cpu: {model: root-complex}
  switch: {model: switch}
  small: {model: nvme-ssd, capacity: 1GiB, medium: cross-point, firmware.read-latency: 20us}
  large: {model: nvme-ssd, capacity: 8GiB, medium: cross-point, block: 4KiB, namespaces: 2, firmware.read-latency: 100us}
links:
  up: {from: cpu, to: switch, gen: 3, width: x4}
  a: {from: switch, to: small, gen: 3, width: x4}
  b: {from: switch, to: large, gen: 3, width: x4}
workloads:
  w: {block: {size: 4KiB, requests: 1000, depth: 1}, on: cpu, target: [small, large.ns1, large.ns2]}
";
const NQN: &str = "nqn.2026-01.org.lanetwin:small-large.ns1-large.ns2";

fn choice(drive: &str, others: &[&str]) -> Choice {
    let others = others.iter().map(|name| (*name).to_owned()).collect();
    Choice { drive: Some(drive.into()), others, ..Choice::default() }
}
fn all() -> Choice {
    choice("small", &["large.ns1", "large.ns2"])
}
fn identified(host: &mut Initiator, structure: IdentifyStructure, nsid: u32) -> (Status, Vec<u8>) {
    let whole = Transfer::FromController(4096);
    let (ending, data) = host.one(SqId::ADMIN, identify(structure, Nsid(nsid)), whole).expect("an answer");
    (ending.status, data)
}
/// The first 4 KiB of a namespace.
fn first_page(host: &mut Initiator, nsid: u32) -> (Status, Vec<u8>) {
    let blocks = if nsid == 1 { 8 } else { 1 };
    io(host, read(Nsid(nsid), 0, blocks), Transfer::FromController(4096))
}

#[test]
fn drives_are_namespaces_of_one_subsystem() {
    let served = Served::of(MACHINE.into(), all());
    let mut host = Initiator::connect(&Wanted::new(served.address, NQN)).expect("an association");
    let listed = |host: &mut Initiator, above| {
        let (status, list) = identified(host, IdentifyStructure::ACTIVE_NAMESPACES, above);
        assert!(status.is_success());
        let numbers = list.as_chunks::<4>().0.iter().map(|raw| u32::from_le_bytes(*raw));
        numbers.take_while(|number| *number > 0).collect::<Vec<_>>()
    };
    assert_eq!(
        (listed(&mut host, 0), listed(&mut host, 1), listed(&mut host, 3)),
        (vec![1, 2, 3], vec![2, 3], vec![])
    );
    let mut names = Vec::new();
    for (nsid, bytes, block) in [(1, 1_u64 << 30, 512), (2, 4 << 30, 4096), (3, 4 << 30, 4096)] {
        let (status, told) = identified(&mut host, IdentifyStructure::NAMESPACE, nsid);
        let told = IdentifyNamespace::from_bytes(told.try_into().expect("4 KiB"));
        assert_eq!((status, told.size()), (Status::SUCCESS, bytes / block));
        assert_eq!(u64::from(told.formats()[2]), u64::from(block.trailing_zeros()), "LBADS");
        names.push(told.nguid());
    }
    assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2]);
    assert_eq!(identified(&mut host, IdentifyStructure::NAMESPACE, 4).0, Status::INVALID_NAMESPACE_OR_FORMAT);

    for nsid in [1, 2, 3] {
        let wrote = write(Nsid(nsid), 0, if nsid == 1 { 8 } else { 1 });
        assert_eq!(io(&mut host, wrote, to(&[nsid as u8; 4096])).0, Status::SUCCESS);
    }
    assert_eq!(io(&mut host, flush(Nsid::ALL), Transfer::None).0, Status::SUCCESS);
    for nsid in [1, 2, 3] {
        assert_eq!(first_page(&mut host, nsid), (Status::SUCCESS, vec![nsid as u8; 4096]));
    }
    // the last block of the first drive, which none of the others ends with
    let last = (1 << 30) / 512 - 1;
    assert_eq!(io(&mut host, write(Nsid(1), last, 1), to(&[7; 512])).0, Status::SUCCESS);
    let beyond = io(&mut host, read(Nsid(1), last + 1, 1), Transfer::FromController(512)).0;
    assert_eq!(beyond, Status::LBA_OUT_OF_RANGE);
}

/// Linux takes namespaces with one NGUID, of subsystems with one NQN, for paths to the same bytes.
#[test]
fn drives_of_one_name_at_two_ports_are_two_drives() {
    let servers = [(); 2].map(|()| Served::of(MACHINE.into(), all()));
    let [one, other] = servers.each_ref().map(|served| {
        let mut host = Initiator::connect(&Wanted::new(served.address, NQN)).expect("an association");
        let told = identified(&mut host, IdentifyStructure::NAMESPACE, 1).1;
        let told = IdentifyNamespace::from_bytes(told.try_into().expect("4 KiB"));
        let serial = String::from_utf8_lossy(&host.identity()[4..24]).trim_end().to_owned();
        assert_eq!(serial, format!("small-large.ns-{}", served.address.port()));
        (told.size(), told.nguid())
    });
    assert!(one.0 == other.0 && one.1 != other.1);
}

#[test]
fn what_is_done_to_one_namespace_is_not_done_to_others() {
    let served = Served::of(MACHINE.into(), all());
    let mut host = Initiator::connect(&Wanted::new(served.address, NQN)).expect("an association");
    for nsid in [1, 2, 3] {
        let wrote = write(Nsid(nsid), 0, if nsid == 1 { 8 } else { 1 });
        assert_eq!(io(&mut host, wrote, to(&[nsid as u8; 4096])).0, Status::SUCCESS);
    }
    let fault = |namespace| {
        let what = r#"{"fault":"media-error","first":0,"bytes":4096}"#;
        served.control(&format!(r#"{{"control":"fault","what":{what},"namespace":{namespace}}}"#))
    };
    assert_eq!(fault(2).trim(), "{}");
    for nowhere in [0, 4] {
        assert!(fault(nowhere).contains("there is no namespace"));
    }
    let of = |host: &mut Initiator| [1, 2, 3].map(|nsid| first_page(host, nsid).0);
    let unreadable = Status::UNRECOVERED_READ_ERROR;
    assert_eq!(of(&mut host), [Status::SUCCESS, unreadable, Status::SUCCESS]);
    let format = command(AdminOpcode::FORMAT_NVM.0, Nsid(2));
    // the format that it has: number 0
    let (ending, _) = host.one(SqId::ADMIN, format, Transfer::None).expect("an answer");
    assert_eq!(ending.status, Status::SUCCESS);
    let firsts = [1, 2, 3].map(|nsid| first_page(&mut host, nsid).1[0]);
    assert_eq!(firsts, [1, 0, 3]);
    let format = command(AdminOpcode::FORMAT_NVM.0, Nsid::ALL);
    let (ending, _) = host.one(SqId::ADMIN, format, Transfer::None).expect("an answer");
    assert_eq!(ending.status, Status::SUCCESS);
    assert_eq!([1, 2, 3].map(|nsid| first_page(&mut host, nsid).1[0]), [0, 0, 0]);
}

fn engine(choice: &Choice) -> Engine {
    Engine::of(&Drive::choose(&plan(MACHINE), choice).expect("a drive"), Vec::new())
}
/// How long a read of one of the drives takes, with nothing else in progress.
fn latency(engine: &mut Engine, from: Instant, unit: u16) -> Span {
    engine.ask(from, 0, Command { unit, ..Command::read(0, 1 << 16) });
    let (_, replies) = engine.next_replies(from).expect("an answer");
    assert!(replies.len() == 1 && replies[0].ended.is_well());
    replies[0].latency
}
/// How long reads of 64 KiB took from the first to the last answer, so many of each drive at once.
fn took(choice: &Choice, each: u64) -> Span {
    let mut engine = engine(choice).started();
    for number in 0..each {
        for unit in 0..engine.drive().pairs().count() as u16 {
            engine.ask(Instant::ZERO, number, Command { unit, ..Command::read(number << 16, 1 << 16) });
        }
    }
    let mut now = Instant::ZERO;
    while let Some((at, replies)) = engine.next_replies(now) {
        assert!(replies.iter().all(|reply| reply.ended.is_well()));
        now = at;
    }
    now.since(Instant::ZERO)
}

/// One machine has all of them: a read is answered as if the drive was alone, and many share what all go through.
#[test]
fn drives_take_their_own_time_and_share_what_is_common() {
    let (small, large) = (choice("small", &[]), choice("large.ns1", &[]));
    let mut both = engine(&choice("small", &["large.ns1"]));
    let mut alone = [&small, &large].map(engine);
    // long after all have started, at the same times of both machines
    for step in 10..50 {
        let (from, unit) = (Instant::ZERO + Span::from_us(10_000) * step, step % 2);
        assert_eq!(latency(&mut both, from, unit as u16), latency(&mut alone[unit as usize], from, 0));
    }
    assert!(took(&large, 1) > took(&small, 1) + Span::from_us(70), "each has its own firmware");
    let (alone, together) = (took(&small, 64), took(&choice("small", &["large.ns1"]), 64));
    assert!(together * 2 > alone * 3, "{alone:?} alone, {together:?} with another behind the same link");
}

#[test]
fn a_drive_is_served_once() {
    let chosen = |first, others: &[&str]| Drive::choose(&plan(MACHINE), &choice(first, others)).map(|_| ());
    assert_eq!(chosen("small", &["large.ns2", "large.ns1"]), Ok(()));
    for (first, others) in [
        ("small", &["small"][..]),
        ("large.ns1", &["small", "large.ns1"]),
        ("small", &["large.ns1", "large.ns1"]),
    ] {
        assert!(matches!(chosen(first, others), Err(Problem::NotTogether { .. })), "{first} {others:?}");
    }
    assert!(matches!(chosen("small", &["none"]), Err(Problem::NoDrive { .. })));
}
