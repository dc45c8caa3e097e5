//! What changes a controller or its namespaces: formats, sanitizes, resets, a host that is not heard of.

use super::{ONE, TWO, begin_slow_read, event, for_namespace, log, machine, request_event, with_buffer};
use crate::rig::{Host, Rig, Wanted, namespace, subsystem};
use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::logic::{ControllerConfig, LbaFormat, MediaOperation};
use lanetwin_nvme::spec::feature::Feature;
use lanetwin_nvme::spec::log::{EventResult, EventType, LogPage, SanitizeLog, SanitizeState};
use lanetwin_nvme::spec::registers::{CC, CSTS, ControllerStatus, NSSR, RESET_WORD, ShutdownStatus};
use lanetwin_nvme::spec::{AdminOpcode, Nsid, Status};

#[test]
fn a_format_changes_the_blocks_and_the_other_controller_is_told() {
    let (mut rig, mut host) = machine();
    let mut other = rig.start(TWO, &Wanted::default());
    let configure = commands::set_features(Feature::EVENT_CONFIGURATION, 0x100);
    assert_eq!(rig.admin(&mut other, configure).0, Status::SUCCESS);
    request_event(&mut rig, &mut other);
    let buffer = rig.memory.allocate(4096);
    rig.memory.write(buffer, &[9; 512]);
    assert_eq!(
        rig.io(&mut host, 0, with_buffer(commands::write(Nsid(1), 3, 1), buffer, 512)),
        Status::SUCCESS
    );
    let format = |index: u32| for_namespace(AdminOpcode::FORMAT_NVM, Nsid(1), index, 0);
    assert_eq!(rig.admin(&mut host, format(2)).0, Status::INVALID_FORMAT);

    // while it goes on, the namespace refuses
    rig.hold_media = true;
    let submitted = host.admin.submit(format(1), 0).unwrap();
    rig.memory.write(submitted.address, submitted.entry.as_bytes());
    rig.ring(ONE, submitted.ring);
    rig.run();
    let read = with_buffer(commands::read(Nsid(1), 3, 1), buffer, 512);
    assert_eq!(rig.io(&mut other, 0, read), Status::FORMAT_IN_PROGRESS);
    rig.hold_media = false;
    rig.run();
    let done = host.admin.consume(rig.entry(&host.admin)).unwrap();
    rig.ring(ONE, done.ring);
    assert_eq!(done.status, Status::SUCCESS);
    assert_eq!(event(&mut rig, &mut other).map(EventResult::kind), Some(EventType::NOTICE));
    assert_eq!(rig.subsystem.block_bytes(Nsid(1)), Some(4096));
    assert_eq!(rig.io(&mut host, 0, commands::read(Nsid(1), 256, 1)), Status::LBA_OUT_OF_RANGE);
    assert_eq!(
        rig.io(&mut host, 0, with_buffer(commands::read(Nsid(1), 0, 1), buffer, 4096)),
        Status::SUCCESS
    );
    assert_eq!(rig.memory.read(buffer, 512), [0; 512]);
}

#[test]
fn a_sanitize_goes_on_behind_its_command_and_over_a_reset() {
    let (mut rig, mut host) = machine();
    let mut other = rig.start(TWO, &Wanted::default());
    rig.hold_media = true;
    let sanitize = |action: u32| for_namespace(AdminOpcode::SANITIZE, Nsid::NONE, action, 0);
    assert_eq!(rig.admin(&mut host, sanitize(7)).0, Status::INVALID_FIELD);
    assert_eq!(rig.admin(&mut host, sanitize(2)).0, Status::SUCCESS);
    rig.subsystem.sanitize_progress(0x8000);
    let read = with_buffer(commands::read(Nsid(1), 0, 1), 0x1000, 512);
    assert_eq!(rig.io(&mut other, 0, read), Status::SANITIZE_IN_PROGRESS);
    assert_eq!(rig.admin(&mut other, sanitize(2)).0, Status::SANITIZE_IN_PROGRESS);
    let status = |rig: &mut Rig, host: &mut Host| {
        let log = log(rig, host, LogPage::SANITIZE_STATUS, 512);
        let log = SanitizeLog::from_bytes(log.try_into().unwrap());
        (log.status().state(), log.progress())
    };
    assert_eq!(status(&mut rig, &mut other), (SanitizeState::IN_PROGRESS, 0x8000));
    rig.subsystem.reset(rig.now, ONE, &mut rig.effects);
    rig.absorb();
    assert_eq!(status(&mut rig, &mut other).0, SanitizeState::IN_PROGRESS);
    request_event(&mut rig, &mut other);
    rig.hold_media = false;
    rig.run();
    assert_eq!(event(&mut rig, &mut other).map(EventResult::kind), Some(EventType::IO_COMMAND_SET));
    assert_eq!(status(&mut rig, &mut other), (SanitizeState::COMPLETED, 0xffff));
    assert_eq!(rig.io(&mut other, 0, read), Status::SUCCESS);

    // one that fails has to be acknowledged, or done again
    rig.media_status = Status::INTERNAL_ERROR;
    assert_eq!(rig.admin(&mut other, sanitize(2)).0, Status::SUCCESS);
    rig.run();
    assert_eq!(rig.io(&mut other, 0, read), Status::SANITIZE_FAILED);
    assert_eq!(rig.admin(&mut other, sanitize(1)).0, Status::SANITIZE_FAILED);
    rig.media_status = Status::SUCCESS;
    assert_eq!(rig.admin(&mut other, sanitize(2)).0, Status::SUCCESS);
    rig.run();
    assert_eq!(rig.io(&mut other, 0, read), Status::SUCCESS);
}

#[test]
fn ready_goes_only_when_nothing_is_under_way() {
    let (mut rig, mut host) = machine();
    let status = |rig: &Rig| ControllerStatus::from_raw(rig.subsystem.read_register(ONE, CSTS));
    let (read, _) = begin_slow_read(&mut rig, &mut host);
    let configuration = rig.subsystem.read_register(ONE, CC);
    rig.write_register(ONE, CC, configuration & !1);
    assert!(status(&rig).ready());
    rig.hold_media = false;
    rig.run();
    assert!(!status(&rig).ready());
    assert_eq!(rig.memory.read(host.queues[0].next_completion(), 16), [0; 16], "no completion after a reset");
    let mut host = rig.start(ONE, &Wanted::default());
    assert_eq!(rig.io(&mut host, 0, read), Status::SUCCESS);

    // shutdown writes the cache out
    rig.hold_media = true;
    rig.write_register(ONE, CC, configuration | 1 << 14);
    assert_eq!(status(&rig).shutdown(), ShutdownStatus::OCCURRING);
    rig.hold_media = false;
    rig.run();
    assert_eq!(status(&rig).shutdown(), ShutdownStatus::COMPLETE);
    assert_eq!(rig.done.last().map(|request| request.operation), Some(MediaOperation::Flush));

    rig.write_register(ONE, NSSR, RESET_WORD);
    assert!(status(&rig).subsystem_reset() && !status(&rig).ready());
    // an admin queue of one entry is fatal
    rig.write_register(ONE, CC, configuration);
    assert!(status(&rig).fatal());
    let mut host = rig.start(ONE, &Wanted::default());
    assert_eq!(rig.io(&mut host, 0, read), Status::SUCCESS);
}

/// A start that waits for what a reset has left does not ask to be woken again and again.
#[test]
fn a_start_waits_for_what_is_under_way() {
    let late =
        ControllerConfig { ready_after: lanetwin_units::Span::from_us(5), ..ControllerConfig::new(ONE) };
    let namespaces = vec![namespace(1, 1 << 20, &[LbaFormat::B512], &[1])];
    let mut rig = Rig::new(&subsystem(vec![late], namespaces), 1);
    let mut host = rig.start(ONE, &Wanted::default());
    begin_slow_read(&mut rig, &mut host);
    let configuration = rig.subsystem.read_register(ONE, CC);
    rig.subsystem.reset(rig.now, ONE, &mut rig.effects);
    for (offset, value) in [(0x24, 0x000f_000f), (0x28, 0x1000), (0x30, 0x2000), (CC, configuration)] {
        rig.write_register(ONE, offset, value);
    }
    rig.run();
    let status = |rig: &Rig| ControllerStatus::from_raw(rig.subsystem.read_register(ONE, CSTS));
    assert!(!status(&rig).ready() && rig.wakes.is_empty());
    rig.hold_media = false;
    rig.run();
    assert!(status(&rig).ready());
}

#[test]
fn a_host_that_is_not_heard_of_is_given_up() {
    let (mut rig, mut host) = machine();
    let status = |rig: &Rig| ControllerStatus::from_raw(rig.subsystem.read_register(ONE, CSTS));
    assert_eq!(
        rig.admin(&mut host, commands::set_features(Feature::KEEP_ALIVE_TIMER, 10)).0,
        Status::SUCCESS
    );
    let began = rig.now;
    let keep_alive = commands::command(AdminOpcode::KEEP_ALIVE.0, Nsid::NONE);
    rig.now = began + lanetwin_units::Span::from_us(9_000);
    assert_eq!(rig.admin(&mut host, keep_alive).0, Status::SUCCESS);
    rig.step();
    assert!(!status(&rig).fatal(), "the timer began again");
    rig.run();
    assert!(status(&rig).fatal());
    assert_eq!(rig.expired, [ONE]);
    assert!(rig.now.since(began).as_ps() >= 19_000_000_000);
}
