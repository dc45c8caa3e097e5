//! Hosts and subsystems that prove who they are, by every hash and group: on each queue, before all else.

use crate::laws::{host, host_name, target};
use crate::rig::Rig;
use lanetwin_nvme::logic::host::commands::read;
use lanetwin_nvme::spec::{Nsid, SqId};
use lanetwin_nvmeof::logic::authentication::{Group, Hash, Keys, Ring, Secret, Terms};
use lanetwin_nvmeof::logic::host::{
    ControllerConfig, ControllerEffect, Failure, HostTransport, Io, TcpHost, Transfer,
};
use lanetwin_nvmeof::logic::target::{RdmaConfig, SubsystemId, TcpConfig, Transport};
use lanetwin_nvmeof::spec::authentication::Explanation;
use lanetwin_nvmeof::spec::status::FabricsStatus;
use lanetwin_units::Span;

fn secret(byte: u8, hash: Option<Hash>) -> Secret {
    Secret::new(vec![byte; hash.map_or(32, Hash::bytes)], hash).expect("a secret")
}
fn keys(hash: Option<Hash>) -> Keys {
    Keys { host: secret(1, hash), subsystem: Some(secret(2, hash)) }
}
fn terms(hash: Hash, group: Group) -> Terms {
    Terms { hashes: vec![hash], groups: vec![group] }
}
fn tcp() -> HostTransport {
    HostTransport::Tcp(TcpHost::default())
}
/// A target that admits a host with these secrets; none are asked for if there are none.
fn rig(of_host: Option<Keys>, of_target: Option<(Keys, Terms)>, seed: u64) -> Rig {
    let config = ControllerConfig { keys: of_host, controller_loss: Some(Span::ZERO), ..host(tcp()) };
    let mut rig = Rig::new(config, target(Transport::Tcp(TcpConfig::default()), 4096), None, seed);
    if let Some((keys, terms)) = of_target {
        let ring = Ring { terms, hosts: vec![(host_name().nqn, keys)] };
        rig.target.admit(SubsystemId(0), ring, &mut Vec::new());
    }
    rig
}
/// Why the host has given up, if it has.
fn outcome(mut rig: Rig) -> Option<Failure> {
    rig.connect();
    match rig.told.last().expect("it has settled") {
        ControllerEffect::Removed { why } => Some(*why),
        _ => {
            let io = Io {
                command: read(Nsid(1), 0, 1),
                name: 1,
                transfer: Transfer::FromController(512),
                address: 0,
            };
            assert!(rig.submit(SqId(2), io));
            rig.run_until_ended(1);
            assert!(rig.ended[0].1.status.is_success());
            None
        }
    }
}

#[test]
fn whoever_knows_the_secrets_is_admitted_by_every_hash_and_group() {
    for hash in Hash::ALL {
        for group in Group::ALL {
            // as many bits as there are need no proof in a build that is not optimised
            if cfg!(debug_assertions) && group > Group::Ffdhe4096 && hash != Hash::Sha256 {
                continue;
            }
            let of_target = || Some((keys(Some(hash)), terms(hash, group)));
            assert_eq!(outcome(rig(Some(keys(Some(hash))), of_target(), 1)), None, "{hash:?} {group:?}");
            let alone = Keys { subsystem: None, ..keys(Some(hash)) };
            assert_eq!(outcome(rig(Some(alone), of_target(), 2)), None, "{hash:?} {group:?}, alone");
        }
    }
}

#[test]
fn a_host_without_the_secret_is_not_admitted() {
    let (hash, terms) = (Hash::Sha256, terms(Hash::Sha256, Group::Ffdhe2048));
    let of_target = || Some((keys(None), terms.clone()));
    assert_eq!(outcome(rig(None, of_target(), 1)), Some(Failure::AuthenticationRequired));
    let wrong = [
        Keys { host: secret(3, None), subsystem: None },
        // the same bytes, which another key is made of
        Keys { host: secret(1, Some(hash)), subsystem: None },
        // that of the subsystem
        Keys { host: secret(2, None), subsystem: None },
    ];
    for keys in wrong {
        let failed = Some(Failure::NotAuthenticated(Explanation::FAILED));
        assert_eq!(outcome(rig(Some(keys), of_target(), 1)), failed);
    }
}

#[test]
fn a_subsystem_that_cannot_prove_itself_is_left() {
    let terms = terms(Hash::Sha384, Group::Null);
    let failed = Some(Failure::NotAuthenticated(Explanation::FAILED));
    let other = Keys { subsystem: Some(secret(3, None)), ..keys(None) };
    assert_eq!(outcome(rig(Some(keys(None)), Some((other, terms.clone())), 1)), failed);
    let none = Keys { subsystem: None, ..keys(None) };
    assert_eq!(outcome(rig(Some(keys(None)), Some((none, terms)), 1)), failed);
    // one that asks for nothing: whoever answers in its place would not
    assert!(matches!(outcome(rig(Some(keys(None)), None, 1)), Some(Failure::Refused(..))));
    // a host that wants no proof takes it as it is
    assert_eq!(outcome(rig(Some(Keys { subsystem: None, ..keys(None) }), None, 1)), None);
}

#[test]
fn hosts_that_are_not_named_and_terms_that_differ_are_refused() {
    let mut stranger = rig(Some(keys(None)), None, 1);
    let ring = Ring { terms: Terms::quick(), hosts: vec![("nqn.2026-01.test:other".into(), keys(None))] };
    stranger.target.admit(SubsystemId(0), ring, &mut Vec::new());
    assert_eq!(outcome(stranger), Some(Failure::Refused(FabricsStatus::INVALID_HOST.status(), 0)));
    let no_group = Terms { hashes: vec![Hash::Sha512], groups: vec![] };
    let unusable = Some(Failure::NotAuthenticated(Explanation::GROUP_UNUSABLE));
    assert_eq!(outcome(rig(Some(keys(None)), Some((keys(None), no_group)), 1)), unusable);
    let no_hash = Terms { hashes: vec![], groups: vec![Group::Null] };
    let unusable = Some(Failure::NotAuthenticated(Explanation::HASH_UNUSABLE));
    assert_eq!(outcome(rig(Some(keys(None)), Some((keys(None), no_hash)), 1)), unusable);
}

#[test]
fn by_rdma_this_host_does_not_authenticate() {
    let by = HostTransport::Rdma(lanetwin_nvmeof::logic::host::RdmaHost { remote_invalidate: true });
    let config = ControllerConfig { keys: Some(keys(None)), ..host(by) };
    let mut rig = Rig::new(config, target(Transport::Rdma(RdmaConfig::default()), 4096), None, 1);
    let ring = Ring { terms: Terms::quick(), hosts: vec![(host_name().nqn, keys(None))] };
    rig.target.admit(SubsystemId(0), ring, &mut Vec::new());
    assert_eq!(outcome(rig), Some(Failure::AuthenticationRequired));
}
