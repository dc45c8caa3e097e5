//! What a controller tells of itself: health, and events.

use super::{ONE, event, log, machine, request_event, with_buffer};
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::spec::feature::Feature;
use lanetwin_nvme::spec::log::{EventResult, EventType, LogPage, NoticeEvent, SmartEvent, SmartLog};
use lanetwin_nvme::spec::{AdminOpcode, Doorbell, Nsid, SqId, Status};

#[test]
fn smart_counts_what_was_done_and_what_the_owner_says() {
    let (mut rig, mut host) = machine();
    let buffer = rig.memory.allocate(1 << 16);
    for _ in 0..3 {
        let write = with_buffer(commands::write(Nsid(2), 0, 1), buffer, 4096);
        assert_eq!(rig.io(&mut host, 0, write), Status::SUCCESS);
    }
    let read = with_buffer(commands::read(Nsid(2), 0, 1), buffer, 4096);
    assert_eq!(rig.io(&mut host, 0, read), Status::SUCCESS);
    (rig.health.percentage_used, rig.health.available_spare_percent, rig.health.media_errors) = (12, 9, 5);
    let smart = SmartLog::from_bytes(log(&mut rig, &mut host, LogPage::SMART, 512).try_into().unwrap());
    assert_eq!((smart.host_writes(), smart.host_reads(), smart.data_units_written()), (3, 1, 1));
    assert_eq!((smart.percentage_used(), smart.media_errors(), smart.temperature()), (12, 5, 313));
    assert!(smart.critical_warning().spare() && !smart.critical_warning().temperature());
    // a part of a log, and one that begins behind it
    let part = with_buffer(commands::get_log_page(LogPage::SMART, 64, 16), buffer, 16);
    assert_eq!(rig.admin(&mut host, part).0, Status::SUCCESS);
    assert_eq!(rig.memory.read(buffer, 2), [1, 0]);
    let beyond = with_buffer(commands::get_log_page(LogPage::SMART, 516, 16), buffer, 16);
    assert_eq!(rig.admin(&mut host, beyond).0, Status::INVALID_FIELD);
    let unknown = with_buffer(commands::get_log_page(LogPage(0xc0), 0, 16), buffer, 16);
    assert_eq!(rig.admin(&mut host, unknown).0, Status::INVALID_LOG_PAGE);
}

#[test]
fn events_are_told_once_until_their_log_was_read() {
    let (mut rig, mut host) = machine();
    let configure = commands::set_features(Feature::EVENT_CONFIGURATION, 0x1ff);
    assert_eq!(rig.admin(&mut host, configure).0, Status::SUCCESS);
    for _ in 0..4 {
        request_event(&mut rig, &mut host);
    }
    let beyond = commands::command(AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST.0, Nsid::NONE);
    assert_eq!(rig.admin(&mut host, beyond).0, Status::EVENT_REQUEST_LIMIT_EXCEEDED);
    rig.subsystem.attach(rig.now, Nsid(7), ONE, true, &mut rig.effects);
    rig.absorb();
    let told = event(&mut rig, &mut host).unwrap();
    assert_eq!((told.kind(), told.information()), (EventType::NOTICE, NoticeEvent::NAMESPACE_CHANGED.0));
    rig.subsystem.attach(rig.now, Nsid(2), ONE, false, &mut rig.effects);
    rig.absorb();
    assert_eq!(event(&mut rig, &mut host), None, "masked until the log was read");
    assert_eq!(
        &log(&mut rig, &mut host, LogPage::CHANGED_NAMESPACES, 12),
        &[2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]
    );
    rig.subsystem.warn(rig.now, SmartEvent::TEMPERATURE, &mut rig.effects);
    rig.absorb();
    let (a, b) = (event(&mut rig, &mut host).unwrap(), event(&mut rig, &mut host).unwrap());
    assert_eq!((a.kind(), b.kind()), (EventType::NOTICE, EventType::SMART));
    // a doorbell that is none
    rig.ring(ONE, Some((Doorbell::SubmissionTail(SqId(9)), 1)));
    assert_eq!(event(&mut rig, &mut host).map(EventResult::kind), Some(EventType::ERROR));
    // the other controller was told nothing
    assert!(rig.completed.iter().all(|&(controller, ..)| controller == ONE));
}
