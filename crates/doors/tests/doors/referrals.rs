//! Hosts that are referred to other discovery services.

use crate::machine::machine;
use crate::nvme_tcp::Served;
use lanetwin_doors::drive::Choice;
use lanetwin_doors::fabric::initiator::{Initiator, Wanted};
use lanetwin_nvme::logic::host::commands::{command, set_features};
use lanetwin_nvme::spec::feature::Feature;
use lanetwin_nvme::spec::{AdminOpcode, Nsid, SqId};
use lanetwin_nvmeof::logic::host::Transfer;
use lanetwin_nvmeof::logic::host::discovery::referrals;
use lanetwin_nvmeof::spec::discovery::{DISCOVERY_CHANGE_BIT, DISCOVERY_CHANGED, DISCOVERY_NQN};
use std::time::Duration;

/// A host that has asked for it hears that the discovery log has changed, reads it, and finds the other service.
#[test]
fn hosts_are_referred_to_other_discovery_services_and_told_of_it() {
    let served = Served::of(machine("cross-point", "depth: 1"), Choice::default());
    let wanted = Wanted { io_queues: 0, keep_alive_ms: 0, ..Wanted::new(served.address, DISCOVERY_NQN) };
    let mut host = Initiator::connect(&wanted).expect("an association");
    let configured = set_features(Feature::EVENT_CONFIGURATION, 1 << DISCOVERY_CHANGE_BIT);
    let (ending, _) = host.one(SqId::ADMIN, configured, Transfer::None).expect("an answer");
    assert!(ending.status.is_success());
    let request = command(AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST.0, Nsid::NONE);
    host.submit(SqId::ADMIN, 7, request, Transfer::None).expect("room");
    assert!(host.wait(Duration::from_millis(50)).is_err(), "nothing has changed yet");
    let asked = r#"{"control":"refer","to":["192.0.2.7:8009","[2001:db8::1]:8009"]}"#;
    assert_eq!(served.control(asked).trim(), "{}");
    let told = host.wait(Duration::from_secs(20)).expect("an event");
    // a notice, of the discovery log, which is page 70h
    let [event] = &told[..] else { panic!("{told:?}") };
    assert_eq!((event.name, event.ending.dw0), (7, 2 | u32::from(DISCOVERY_CHANGED) << 8 | 0x70 << 16));
    let entries = Initiator::discover(served.address).expect("a log");
    let found: Vec<_> = referrals(&entries).map(|entry| (entry.address(), entry.service())).collect();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches([' ', '\0']).to_owned();
    let found: Vec<_> = found.iter().map(|(address, port)| (text(address), text(port))).collect();
    let expected = ["192.0.2.7", "2001:db8::1"].map(|address| (address.to_owned(), "8009".to_owned()));
    assert_eq!((found, entries.len()), (expected.to_vec(), 3));
    served.control(r#"{"control":"refer","to":[]}"#);
    assert_eq!(Initiator::discover(served.address).expect("a log").len(), 1);
    assert!(served.control(r#"{"control":"refer","to":["nowhere"]}"#).contains("error"));
}
