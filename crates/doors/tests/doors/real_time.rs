//! The door in process, on a clock.

use crate::machine::{machine, plan};
use lanetwin_doors::awake::Awake;
use lanetwin_doors::command::{Command, Ended, Kind};
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::faults::Fault;
use lanetwin_doors::local::{Local, Pacing};
use lanetwin_ssd::SparseMemory;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(10);

fn open(set: &str) -> Local {
    let plan = plan(&machine(set, "depth: 1"));
    let drive = Drive::choose(&plan, &Choice::default()).expect("a drive");
    Local::open(drive, Box::new(SparseMemory::new()), (Pacing::Real, Awake::not_wanted())).expect("a thread")
}

/// Asks, and waits for the reply: how it ended, what was read, how long it took on the clock.
fn one(local: &Local, command: Command) -> (Ended, Vec<u8>, Duration) {
    let asked = Instant::now();
    local.ask(command).expect("a request of whole blocks").expect("a thread");
    let mut replies = local.take(LONG).expect("a thread");
    let (_, reply) = replies.pop().expect("a reply within ten seconds");
    (reply.ended, reply.data, asked.elapsed())
}

#[test]
fn what_is_written_is_read_and_takes_no_less_than_predicted() {
    let local = open("cross-point, firmware.read-latency: 5ms");
    let (ended, _, _) = one(&local, Command::write(4096, vec![9; 8192]));
    assert_eq!(ended, Ended::Well);
    let (_, data, took) = one(&local, Command::read(4096, 8192));
    assert_eq!(data, vec![9; 8192]);
    assert!(took >= Duration::from_millis(5), "{took:?}");
    let compare = |byte| Command { data: vec![byte; 512], ..Command::of(Kind::Compare, 4096, 512) };
    assert_eq!(one(&local, compare(9)).0, Ended::Well);
    assert_eq!(one(&local, compare(8)).0, Ended::Differs);
    for kind in [Kind::Deallocate, Kind::WriteZeroes] {
        assert_eq!(one(&local, Command::of(kind, 4096, 4096)).0, Ended::Well);
    }
    assert_eq!(one(&local, Command::read(4096, 8192)).1, [vec![0; 4096], vec![9; 4096]].concat());
    assert_eq!(one(&local, Command::flush()).0, Ended::Well);
    let told = local.lateness().expect("a thread");
    assert_eq!((told.answers, told.faulted), (8, 0));
    assert!(told.predicted_p99_us > 5000.0, "{told:?}");
    assert!(local.close());
}

#[test]
fn faults_show_and_are_counted_apart() {
    let local = open("cross-point");
    local.fault(Fault::MediaError { first: 0, bytes: 4096 }).expect("a thread");
    assert_eq!(one(&local, Command::read(0, 512)).0, Ended::ReadError);
    assert_eq!(one(&local, Command::write(0, vec![1; 4096])).0, Ended::Well);
    assert_eq!(one(&local, Command::read(0, 512)).0, Ended::Well);
    local.fault(Fault::LinkDown { for_ms: 30 }).expect("a thread");
    let (ended, _, took) = one(&local, Command::read(0, 512));
    assert!(ended.is_well() && took >= Duration::from_millis(25), "{took:?}");
    local.fault(Fault::SlowDie { die: 0, dies: 1, extra_us: 20_000 }).expect("a thread");
    let (ended, _, took) = one(&local, Command::read(0, 512));
    assert!(ended.is_well() && took >= Duration::from_millis(20), "{took:?}");
    local.fault(Fault::None).expect("a thread");
    local.power_cut().expect("a thread");
    assert_eq!(one(&local, Command::read(0, 512)).0, Ended::NoPower);
    local.power_on().expect("a thread");
    assert_eq!(one(&local, Command::read(0, 512)).0, Ended::Well);
    assert_eq!(local.lateness().expect("a thread").faulted, 2);
}

#[test]
fn what_is_no_request_is_refused_before_it_is_asked() {
    let local = open("cross-point");
    for command in [
        Command::read(0, 0),
        Command::read(100, 512),
        Command::read(0, 100),
        Command::read(8 << 30, 512),
        Command::read(u64::MAX - 511, 512),
    ] {
        assert!(local.ask(command).is_err());
    }
}
