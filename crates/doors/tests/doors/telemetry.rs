//! The Telemetry logs: what the emulated drive has done, and what a fault at its medium leaves to be read.

use crate::machine::machine;
use crate::nvme_tcp::{Served, io, to};
use lanetwin_doors::drive::Choice;
use lanetwin_doors::fabric::initiator::Initiator;
use lanetwin_nvme::logic::host::commands::{get_log_page, read, write};
use lanetwin_nvme::spec::log::{LogPage, TelemetryHeader};
use lanetwin_nvme::spec::{Nsid, SqId, Status};
use lanetwin_nvmeof::logic::host::Transfer;

const ONE: Nsid = Nsid(1);

#[test]
fn telemetry_tells_of_the_drive_behind_the_door() {
    let served = Served::of(machine("cross-point", "depth: 1"), Choice::default());
    let mut host = Initiator::connect(&served.wanted()).expect("a host");
    assert_eq!(io(&mut host, write(ONE, 0, 16), to(&[7; 8192])).0, Status::SUCCESS);
    let mut page = |log, change: u32, bytes| {
        let mut command = get_log_page(log, 0, bytes);
        command.set_cdw10(command.cdw10() | change);
        let transfer = Transfer::FromController(bytes);
        let (ending, found) = host.one(SqId::ADMIN, command, transfer).expect("an answer");
        assert!(ending.status.is_success(), "{ending:?}");
        let header = TelemetryHeader::from_bytes(*found.first_chunk::<512>().expect("a header"));
        (header, String::from_utf8_lossy(&found[512..]).into_owned())
    };
    let (header, text) = page(LogPage::TELEMETRY_HOST, 1 << 8, 4096);
    assert_eq!((header.host_generation(), header.available()), (1, 0));
    assert!(text.starts_with("[drive]\n") && text.contains("\nhost_bytes_written = 8192\n"), "{text}");
    assert!(text.contains("[door]\n") && text.contains("power_cuts = 0\n"), "{text}");
    let (again, same) = page(LogPage::TELEMETRY_HOST, 0, 4096);
    assert_eq!((again.host_generation(), same), (1, text));
    served.control(r#"{"control":"fault","what":{"fault":"media-error","first":0,"bytes":4096}}"#);
    let mut other = Initiator::connect(&served.wanted()).expect("a host");
    let failed = io(&mut other, read(ONE, 0, 8), Transfer::FromController(4096));
    assert_eq!(failed.0, Status::UNRECOVERED_READ_ERROR);
    let (header, text) = page(LogPage::TELEMETRY_CONTROLLER, 0, 4096);
    assert_eq!((header.available(), header.generation()), (1, 1));
    assert!(header.reason().starts_with(b"Unrecovered Read Error: namespace 1, block 0,"));
    assert!(text.contains("host_bytes_written = 8192\n"), "{text}");
}
