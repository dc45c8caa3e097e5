//! A drive at two ports: two paths to one namespace, how each of them is reached, and a port that fails.

use crate::machine::machine;
use crate::nvme_tcp::{Served, io, to};
use lanetwin_doors::drive::Choice;
use lanetwin_doors::fabric::initiator::{Initiator, Trouble, Wanted};
use lanetwin_nvme::logic::host::commands::{command, get_log_page, read, set_features, write};
use lanetwin_nvme::spec::ana::{ANA_CHANGED, ANA_LOG, AnaState};
use lanetwin_nvme::spec::feature::Feature;
use lanetwin_nvme::spec::identify::IdentifyController;
use lanetwin_nvme::spec::log::{EventResult, EventType};
use lanetwin_nvme::spec::{AdminOpcode, Nsid, SqId, Status};
use lanetwin_nvmeof::logic::host::Transfer;
use lanetwin_nvmeof::logic::host::ana::AnaLog;
use std::net::SocketAddr;
use std::time::Duration;

const NQN: &str = "nqn.2026-01.org.lanetwin:ssd";
const ONE: Nsid = Nsid(1);
/// The name of the request for an event.
const EVENT: u64 = 1 << 40;

fn two_ports() -> (Served, SocketAddr, SocketAddr) {
    let served = Served::at(2, machine("cross-point", "depth: 1"), Choice::default());
    let (first, second) = (served.address, served.other.expect("a second port"));
    (served, first, second)
}

fn host(address: SocketAddr) -> Initiator {
    Initiator::connect(&Wanted::new(address, NQN)).expect("an association")
}

fn ana(host: &mut Initiator) -> AnaLog {
    let asked = get_log_page(ANA_LOG, 0, 52);
    let (ending, log) = host.one(SqId::ADMIN, asked, Transfer::FromController(52)).expect("an answer");
    assert_eq!(ending.status, Status::SUCCESS);
    AnaLog::read(&log).expect("a log")
}

/// Asks to be told of one change.
fn listen(host: &mut Initiator) {
    let asked = command(AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST.0, Nsid::NONE);
    host.submit(SqId::ADMIN, EVENT, asked, Transfer::None).expect("it is sent");
}

fn event(host: &mut Initiator) -> Option<EventResult> {
    let ended = host.wait(Duration::from_secs(2)).ok()?;
    let told = ended.into_iter().find(|one| one.name == EVENT)?;
    Some(EventResult::from_raw(told.ending.dw0))
}

fn status_of_read(host: &mut Initiator) -> Status {
    io(host, read(ONE, 0, 8), Transfer::FromController(4096)).0
}

#[test]
fn two_ports_are_two_paths_to_one_namespace() {
    let (_served, first, second) = two_ports();
    let entries = Initiator::discover(first).expect("a log");
    let services: Vec<String> = entries
        .iter()
        .map(|entry| String::from_utf8_lossy(&entry.service()).trim_end_matches([' ', '\0']).to_owned())
        .collect();
    assert_eq!(services, [first.port().to_string(), second.port().to_string()]);
    assert_eq!(entries.iter().map(|entry| entry.port()).collect::<Vec<_>>(), [1, 2]);
    let (mut a, mut b) = (host(first), host(second));
    assert_ne!(a.controller_id(), b.controller_id());
    let told = |host: &Initiator| IdentifyController::from_bytes(host.identity().try_into().expect("4 KiB"));
    let (of_a, of_b) = (told(&a), told(&b));
    assert_eq!((of_a.serial(), of_a.nqn()), (of_b.serial(), of_b.nqn()));
    assert!(of_a.multi_path().asymmetric_access() && of_a.events().asymmetric_access());
    assert_eq!((of_a.access_groups(), of_a.most_namespaces()), (1, 1));
    assert_eq!(io(&mut a, write(ONE, 0, 8), to(&[7; 4096])).0, Status::SUCCESS);
    let (_, found) = io(&mut b, read(ONE, 0, 8), Transfer::FromController(4096));
    assert!(found == [7; 4096]);
}

#[test]
fn a_state_is_of_a_port_and_hosts_that_asked_are_told() {
    let (served, first, second) = two_ports();
    let (mut a, mut b, mut deaf) = (host(first), host(second), host(first));
    for host in [&mut a, &mut b] {
        let asked = set_features(Feature::EVENT_CONFIGURATION, 1 << 11);
        assert!(host.one(SqId::ADMIN, asked, Transfer::None).expect("an answer").0.status.is_success());
        listen(host);
    }
    listen(&mut deaf);
    for (number, (state, word, status)) in [
        ("inaccessible", AnaState::INACCESSIBLE, Status::ASYMMETRIC_ACCESS_INACCESSIBLE),
        ("persistent-loss", AnaState::PERSISTENT_LOSS, Status::ASYMMETRIC_ACCESS_PERSISTENT_LOSS),
        ("change", AnaState::CHANGE, Status::ASYMMETRIC_ACCESS_TRANSITION),
        ("non-optimized", AnaState::NON_OPTIMIZED, Status::SUCCESS),
        ("optimized", AnaState::OPTIMIZED, Status::SUCCESS),
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!(r#"{{"control":"access","state":"{state}","port":1,"namespace":1}}"#);
        assert_eq!(served.control(&line).trim(), "{}");
        let told = event(&mut a).expect("an event");
        assert_eq!((told.kind(), told.information(), told.log()), (EventType::NOTICE, ANA_CHANGED, ANA_LOG));
        let log = ana(&mut a);
        assert_eq!((log.state(ONE), log.changes), (Some(word), number as u64 + 1));
        assert_eq!(status_of_read(&mut a), status);
        assert_eq!(status_of_read(&mut b), Status::SUCCESS);
        listen(&mut a);
    }
    assert_eq!((ana(&mut b).state(ONE), ana(&mut b).changes), (Some(AnaState::OPTIMIZED), 0));
    assert_eq!((event(&mut b), event(&mut deaf)), (None, None));
    // all ports at once
    served.control(r#"{"control":"access","state":"inaccessible"}"#);
    assert!(event(&mut b).is_some());
    assert_eq!(status_of_read(&mut b), Status::ASYMMETRIC_ACCESS_INACCESSIBLE);
    for line in [
        r#"{"control":"access","state":"optimized","port":3}"#,
        r#"{"control":"access","state":"optimized","namespace":2}"#,
        r#"{"control":"access","state":"optimized","port":0}"#,
        r#"{"control":"port-down","port":3}"#,
    ] {
        assert!(served.control(line).contains("there is no "), "{line}");
    }
}

#[test]
fn a_port_fails_and_comes_back_and_the_other_serves_on() {
    let (served, first, second) = two_ports();
    let (mut a, mut b) = (host(first), host(second));
    assert_eq!(status_of_read(&mut a), Status::SUCCESS);
    served.control(r#"{"control":"port-down","port":1}"#);
    let lost = a.one(SqId(1), read(ONE, 0, 8), Transfer::FromController(4096));
    assert!(matches!(lost, Err(Trouble::Failed(_) | Trouble::System(_))), "{lost:?}");
    assert!(Initiator::connect(&Wanted::new(first, NQN)).is_err());
    assert_eq!(status_of_read(&mut b), Status::SUCCESS);
    served.control(r#"{"control":"port-up","port":1}"#);
    assert_eq!(status_of_read(&mut host(first)), Status::SUCCESS);
    assert_eq!(status_of_read(&mut b), Status::SUCCESS);
}
