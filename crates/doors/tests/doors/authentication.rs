//! Hosts that have to prove who they are, by sockets.

use crate::machine::machine;
use crate::nvme_tcp::{Served, io, to};
use lanetwin_doors::drive::Choice;
use lanetwin_doors::fabric::initiator::{HOST_NQN, Initiator, Trouble, Wanted};
use lanetwin_doors::keys::new_secret;
use lanetwin_doors::listen::tcp;
use lanetwin_doors::problem::Problem;
use lanetwin_nvme::logic::host::commands::{get_log_page, read, write};
use lanetwin_nvme::spec::{Nsid, SqId, Status};
use lanetwin_nvmeof::logic::authentication::{Hash, Keys, Ring, Secret, Terms};
use lanetwin_nvmeof::logic::host::{Failure, Transfer};
use lanetwin_nvmeof::spec::authentication::Explanation;
use lanetwin_nvmeof::spec::discovery::{DISCOVERY_LOG, DISCOVERY_NQN};
use std::io::Read;

fn secret() -> Secret {
    Secret::parse(&new_secret(Some(Hash::Sha256)).expect("randomness")).expect("a secret")
}
fn served(keys: &Keys) -> Served {
    let ring = Ring { terms: Terms::quick(), hosts: vec![(HOST_NQN.into(), keys.clone())] };
    Served::admitting(1, (machine("cross-point", "depth: 1"), Choice::default()), Some(ring))
}
fn connected(served: &Served, keys: Option<Keys>) -> Result<Initiator, Trouble> {
    Initiator::connect(&Wanted { keys, io_queues: 2, ..served.wanted() })
}

#[test]
fn who_has_the_secret_writes_and_nobody_else_does() {
    let keys = Keys { host: secret(), subsystem: Some(secret()) };
    let served = served(&keys);
    let log = |host: &str| {
        let wanted = Wanted { io_queues: 0, host: host.into(), ..Wanted::new(served.address, DISCOVERY_NQN) };
        let mut host = Initiator::connect(&wanted).expect("an association");
        let command = get_log_page(DISCOVERY_LOG, 0, 1024);
        host.one(SqId::ADMIN, command, Transfer::FromController(1024)).expect("a log").1[8]
    };
    assert_eq!((log(HOST_NQN), log("nqn.2026-01.test:other")), (1, 0), "who is not named does not find it");
    let mut host = connected(&served, Some(keys.clone())).expect("an association");
    assert!(host.has_proved());
    let data = [7; 4096];
    assert_eq!(io(&mut host, write(Nsid(1), 0, 8), to(&data)).0, Status::SUCCESS);
    let found = io(&mut host, read(Nsid(1), 0, 8), Transfer::FromController(4096));
    assert_eq!(found, (Status::SUCCESS, data.to_vec()));
    let wrong = Keys { host: secret(), subsystem: None };
    let why = |keys| match connected(&served, keys) {
        Err(Trouble::Failed(why)) => Some(why),
        _ => None,
    };
    assert_eq!(why(Some(wrong)), Some(Failure::NotAuthenticated(Explanation::FAILED)));
    assert_eq!(why(None), Some(Failure::AuthenticationRequired));
    let other = Keys { subsystem: Some(secret()), ..keys };
    assert_eq!(why(Some(other)), Some(Failure::NotAuthenticated(Explanation::FAILED)));
    // whoever is connected meanwhile hears nothing of it
    let found = io(&mut host, read(Nsid(1), 0, 8), Transfer::FromController(4096));
    assert_eq!(found.0, Status::SUCCESS);
}

/// A host that has connected and proves nothing is sent away.
#[test]
fn who_proves_nothing_is_sent_away_in_time() {
    use lanetwin_nvmeof::logic::host::{HostName, HostTransport, Queue, QueueConfig, QueueEffect, TcpHost};
    use std::io::Write;
    let served = served(&Keys { host: secret(), subsystem: None });
    let mut socket = served.socket();
    let config = QueueConfig {
        number: SqId::ADMIN,
        entries: 32,
        flow_control: true,
        host: HostName { nqn: HOST_NQN.into(), id: [1; 16] },
        subsystem: served.wanted().subsystem,
        controller: 0xffff,
        keep_alive_ms: 0,
        transport: HostTransport::Tcp(TcpHost::default()),
        buffer: 0,
        capsule_data: 4096,
    };
    let (mut queue, mut effects) = (Queue::new(config), Vec::new());
    queue.start(&mut effects);
    let mut buffer = [0; 4096];
    // it has no secret: what it sends is Connect, and the door waits for more in vain
    while let Some(effect) = effects.pop() {
        if let QueueEffect::Send { stream } = effect {
            socket.write_all(&stream.to_bytes().expect("bytes")).expect("it listens");
            let count = socket.read(&mut buffer).expect("an answer");
            queue.receive(buffer[..count].to_vec().into(), &mut effects);
        }
    }
    assert!(!queue.is_live());
    assert_eq!(socket.read(&mut buffer).expect("the end"), 0);
}

#[test]
fn other_machines_reach_nothing_without_secrets() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        // a machine may have no IPv6
        assert!(tcp(address, false).is_ok() || address.contains("::"));
    }
    for address in ["192.0.2.1:0", "0.0.0.0:0", "[::]:0", "nowhere"] {
        let refused = tcp(address, false).expect_err("nobody listens there");
        assert!(matches!(refused, Problem::NotLoopback { .. }), "{address}");
    }
    for address in ["0.0.0.0:0", "[::]:0", "224.0.0.1:0", "192.0.2.1"] {
        let refused = tcp(address, true).expect_err("nobody listens there");
        assert!(matches!(refused, Problem::NoOneAddress { .. }), "{address}");
    }
    // it is allowed, and none of ours
    let refused = tcp("192.0.2.77:0", true).expect_err("not here");
    assert!(matches!(refused, Problem::AddressTaken { .. }));
}
