//! The door by NVMe/TCP: our own host, hosts that mean ill, control, and time.

use crate::machine::{machine, plan};
use crate::serving::{Serving, told};
use lanetwin_doors::command::Command as DriveCommand;
use lanetwin_doors::control::path_of;
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::engine::Engine;
use lanetwin_doors::fabric::front::{Front, Outward};
use lanetwin_doors::fabric::initiator::{Initiator, Trouble, Wanted};
use lanetwin_doors::fabric::offer::{CONTROLLERS, Offer};
use lanetwin_doors::fabric::ping::{Ping, Pong};
use lanetwin_doors::lateness::Told;
use lanetwin_doors::listen::{Listening, loopback};
use lanetwin_doors::server::{Entrance, Sockets};
use lanetwin_nvme::logic::host::commands::{
    blocks, command, deallocate, flush, get_log_page, read, set_features, write,
};
use lanetwin_nvme::spec::feature::Feature;
use lanetwin_nvme::spec::log::LogPage;
use lanetwin_nvme::spec::{Command, IoOpcode, Nsid, SqId, Status};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::authentication::Ring;
use lanetwin_nvmeof::logic::host::{
    Controller, ControllerConfig, ControllerEffect, HostName, HostTransport, Io, QueueEffect, TcpHost,
    Transfer,
};
use lanetwin_nvmeof::logic::tcp::Stream;
use lanetwin_ssd::SparseMemory;
use lanetwin_units::{Instant, Span};
use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::channel;
use std::time::Duration;

const NQN: &str = "nqn.2026-01.org.lanetwin:ssd";
const LONG: Duration = Duration::from_secs(20);
const IO: SqId = SqId(1);
const ONE: Nsid = Nsid(1);

/// A drive that is served until this goes away.
pub struct Served {
    pub address: SocketAddr,
    /// Of the second port, if there is one.
    pub other: Option<SocketAddr>,
    serving: Serving,
}

impl Served {
    fn new(set: &str) -> Self {
        Self::of(machine(set, "depth: 1"), Choice::default())
    }
    pub fn of(scenario: String, choice: Choice) -> Self {
        Self::at(1, scenario, choice)
    }
    /// At so many ports.
    pub fn at(ports: usize, scenario: String, choice: Choice) -> Self {
        Self::admitting(ports, (scenario, choice), None)
    }
    /// With hosts that have to prove who they are.
    pub fn admitting(ports: usize, (scenario, choice): (String, Choice), ring: Option<Ring>) -> Self {
        let (ready, is_ready) = channel();
        let serving = Serving::admitting(scenario, choice, ring, move || {
            let ports: Vec<_> = (0..ports).map(|_| loopback("127.0.0.1:0").expect("an address")).collect();
            let addresses: Vec<SocketAddr> =
                ports.iter().map(|port| port.local_addr().expect("an address")).collect();
            let control = path_of(&addresses[0].to_string()).expect("a folder");
            let control = Listening::at(&control).expect("a socket");
            ready.send(addresses).expect("somebody waits");
            Sockets { entrance: Entrance::NvmeTcp(ports), control }
        });
        let addresses = is_ready.recv_timeout(LONG).expect("it listens");
        Self { address: addresses[0], other: addresses.get(1).copied(), serving }
    }
    pub fn wanted(&self) -> Wanted {
        Wanted::new(self.address, NQN)
    }
    fn host(&self) -> Initiator {
        Initiator::connect(&self.wanted()).expect("an association")
    }
    pub fn socket(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address).expect("it listens");
        socket.set_read_timeout(Some(LONG)).expect("a timeout");
        socket
    }
    pub fn control(&self, line: &str) -> String {
        told(&path_of(&self.address.to_string()).expect("a folder"), line)
    }
    fn end(&mut self) -> (Told, bool) {
        self.serving.end()
    }
}

pub fn to(data: &[u8]) -> Transfer {
    Transfer::ToController(Data::from(data.to_vec()))
}

/// A command of an I/O queue: how it ended, and what it brought.
pub fn io(host: &mut Initiator, command: Command, transfer: Transfer) -> (Status, Vec<u8>) {
    let (ending, data) = host.one(IO, command, transfer).expect("an answer");
    (ending.status, data)
}

fn written_and_read(served: &Served, digests: bool) {
    let mut host = Initiator::connect(&Wanted { digests, ..served.wanted() }).expect("an association");
    assert_eq!(host.io_queues(), 1);
    let data: Vec<u8> = (0..256 << 10).map(|i: u32| (i % 251) as u8).collect();
    // by R2T and H2CData, then in a capsule
    assert_eq!(io(&mut host, write(ONE, 8, 512), to(&data)).0, Status::SUCCESS);
    assert_eq!(io(&mut host, write(ONE, 520, 8), to(&data[..4096])).0, Status::SUCCESS);
    let expected = [&data[..], &data[..4096]].concat();
    let (status, found) = io(&mut host, read(ONE, 8, 520), Transfer::FromController(520 * 512));
    assert!(status.is_success() && found == expected);
    assert_eq!(io(&mut host, flush(ONE), Transfer::None).0, Status::SUCCESS);
    let compare = || blocks(IoOpcode::COMPARE, ONE, 520, 8);
    assert_eq!(io(&mut host, compare(), to(&data[..4096])).0, Status::SUCCESS);
    assert_eq!(io(&mut host, compare(), to(&[0; 4096])).0, Status::COMPARE_FAILURE);
    let zeroes = blocks(IoOpcode::WRITE_ZEROES, ONE, 8, 8);
    assert_eq!(io(&mut host, zeroes, Transfer::None).0, Status::SUCCESS);
    // a range: attributes, 8 blocks, from block 16 on
    let range = [&[0; 4][..], &8_u32.to_le_bytes(), &16_u64.to_le_bytes()].concat();
    assert_eq!(io(&mut host, deallocate(ONE, 1), to(&range)).0, Status::SUCCESS);
    let (_, found) = io(&mut host, read(ONE, 8, 24), Transfer::FromController(24 * 512));
    assert!(found == [&[0; 8192][..], &data[8192..12288]].concat());
}

#[test]
fn bytes_go_in_and_come_out() {
    let mut served = Served::new("cross-point");
    written_and_read(&served, false);
    written_and_read(&served, true);
    let mut host = served.host();
    let beyond = read(ONE, (8 << 30) / 512, 1);
    assert_eq!(io(&mut host, beyond, Transfer::FromController(512)).0, Status::LBA_OUT_OF_RANGE);
    let nowhere = read(Nsid(2), 0, 1);
    assert_eq!(io(&mut host, nowhere, Transfer::FromController(512)).0, Status::INVALID_NAMESPACE_OR_FORMAT);
    let (told, is_written) = served.end();
    // of each: two writes, three reads and compares, zeroes, a range; a drive that is protected has nothing to flush
    assert!(is_written && told.answers == 2 * 8, "{told:?}");
}

#[test]
fn a_host_discovers_identifies_and_reads_logs() {
    let served = Served::new("cross-point");
    let entries = Initiator::discover(served.address).expect("a log");
    assert_eq!(entries.len(), 1);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches([' ', '\0']).to_owned();
    assert_eq!(text(&entries[0].subsystem()), NQN);
    assert_eq!(text(&entries[0].service()), served.address.port().to_string());
    let mut host = served.host();
    let admin = |host: &mut Initiator, command, transfer| {
        let (ending, data) = host.one(SqId::ADMIN, command, transfer).expect("an answer");
        (ending.status, data)
    };
    let page = |host: &mut Initiator, log, bytes| {
        admin(host, get_log_page(log, 0, bytes), Transfer::FromController(bytes))
    };
    let (status, smart) = page(&mut host, LogPage::SMART, 512);
    assert!(status.is_success() && u16::from_le_bytes([smart[1], smart[2]]) == 313);
    let failed = read(ONE, u64::MAX, 1);
    assert_eq!(io(&mut host, failed, Transfer::FromController(512)).0, Status::LBA_OUT_OF_RANGE);
    let (status, errors) = page(&mut host, LogPage::ERROR, 64);
    assert!(status.is_success() && errors[..8] == 1_u64.to_le_bytes());
    assert_eq!(page(&mut host, LogPage(0xc0), 512).0, Status::INVALID_LOG_PAGE);
    let off = set_features(Feature::VOLATILE_WRITE_CACHE, 0);
    assert!(!admin(&mut host, off, Transfer::None).0.is_success(), "there is no volatile cache");
    let refused = Initiator::connect(&Wanted::new(served.address, "nqn.2026-01.org.lanetwin:none"));
    assert!(matches!(refused, Err(Trouble::Failed(_))));
}

/// Format NVM erases: all blocks read as zero, for every host.
#[test]
fn what_is_formatted_is_gone() {
    let served = Served::new("cross-point");
    let (mut host, mut other) = (served.host(), served.host());
    assert_ne!(host.controller_id(), other.controller_id());
    assert_eq!(io(&mut host, write(ONE, 0, 8), to(&[9; 4096])).0, Status::SUCCESS);
    let format = command(lanetwin_nvme::spec::AdminOpcode::FORMAT_NVM.0, ONE);
    let (ending, _) = host.one(SqId::ADMIN, format, Transfer::None).expect("an answer");
    assert_eq!(ending.status, Status::SUCCESS);
    let (status, found) = io(&mut other, read(ONE, 0, 8), Transfer::FromController(4096));
    assert!(status.is_success() && found == [0; 4096]);
}

#[test]
fn faults_resets_and_removal_are_controlled_from_outside() {
    let mut served = Served::new("cross-point");
    let mut host = served.host();
    let one = |host: &mut Initiator| host.one(IO, read(ONE, 0, 1), Transfer::FromController(512));
    let status = |host: &mut Initiator| one(host).expect("an answer").0.status;
    served.control(r#"{"control":"fault","what":{"fault":"media-error","first":0,"bytes":4096}}"#);
    assert_eq!(status(&mut host), Status::UNRECOVERED_READ_ERROR);
    served.control(r#"{"control":"fault","what":{"fault":"none"}}"#);
    served.control(r#"{"control":"power-cut"}"#);
    assert_eq!(status(&mut host), Status::INTERNAL_ERROR);
    served.control(r#"{"control":"power-on"}"#);
    assert_eq!(status(&mut host), Status::SUCCESS);
    served.control(r#"{"control":"reset"}"#);
    assert!(one(&mut host).is_err(), "the association is over");
    let mut host = served.host();
    assert_eq!(status(&mut host), Status::SUCCESS);
    served.control(r#"{"control":"remove"}"#);
    assert!(one(&mut host).is_err(), "the drive was pulled out");
    assert!(Initiator::connect(&served.wanted()).is_err(), "nobody is there");
    served.control(r#"{"control":"insert"}"#);
    assert_eq!(status(&mut served.host()), Status::SUCCESS);
    served.control(r#"{"control":"end"}"#);
    assert!(served.serving.ended().1);
}

/// A host that says nothing for longer than its Keep Alive Timeout is disconnected; one that does is not.
#[test]
fn a_host_that_is_silent_is_disconnected() {
    let served = Served::new("cross-point");
    let mut host =
        Initiator::connect(&Wanted { keep_alive_ms: 300, ..served.wanted() }).expect("an association");
    let mut other =
        Initiator::connect(&Wanted { keep_alive_ms: 300, ..served.wanted() }).expect("an association");
    let began = std::time::Instant::now();
    while began.elapsed() < Duration::from_millis(1200) {
        // it waits, and its Keep Alives go
        assert!(matches!(other.wait(Duration::from_millis(50)), Err(Trouble::Silent(_))));
    }
    assert!(other.one(IO, read(ONE, 0, 1), Transfer::FromController(512)).is_ok());
    assert!(host.one(IO, read(ONE, 0, 1), Transfer::FromController(512)).is_err());
}

/// Whoever is slow, goes away in the middle, says nothing, or talks nonsense, disturbs nobody.
#[test]
fn others_are_unharmed_by_bad_hosts() {
    let served = Served::new("cross-point");
    let mut host = served.host();
    let silent: Vec<TcpStream> = (0..400).map(|_| served.socket()).collect();
    for first in [0xff, 0x00, 0x04, 0x06] {
        let mut nonsense = served.socket();
        nonsense.write_all(&[first; 4096]).expect("it is sent");
        let mut said = Vec::new();
        let _ = nonsense.read_to_end(&mut said);
        // a C2HTermReq, unless the connection was reset with bytes that nobody had read
        assert!(said.first().is_none_or(|kind| *kind == 0x03), "{said:?}");
    }
    let mut half = served.socket();
    half.write_all(&[0, 0, 128, 0, 128, 0]).expect("it is sent");
    let gone: Vec<Initiator> = (0..8).map(|_| served.host()).collect();
    for mut gone in gone {
        for name in 0..50 {
            let all = Transfer::FromController(512 << 10);
            gone.submit(IO, name, read(ONE, 0, 1024), all).expect("it is sent");
        }
    }
    // this one asks for much, and takes no answer
    let mut full = served.host();
    for name in 0..100 {
        full.submit(IO, name, read(ONE, 0, 1024), Transfer::FromController(512 << 10)).expect("it is sent");
    }
    for place in 0..20 {
        assert_eq!(io(&mut host, write(ONE, place, 1), to(&[1; 512])).0, Status::SUCCESS);
    }
    drop((silent, half));
    // and takes them at last
    let mut ended = 0;
    while ended < 100 {
        for one in full.wait(LONG).expect("an answer") {
            assert!(one.ending.status.is_success() && one.data.len() == 512 << 10);
            ended += 1;
        }
    }
}

/// As many hosts as there are controllers; the next is told that all are busy, until one goes.
#[test]
fn there_are_as_many_hosts_as_controllers() {
    let served = Served::new("cross-point");
    let mut hosts: Vec<Initiator> = (0..CONTROLLERS).map(|_| served.host()).collect();
    let busy = Initiator::connect(&served.wanted());
    assert!(busy.is_err_and(|why| why.to_string().contains("0x181")), "Controller Busy");
    hosts.pop();
    let began = std::time::Instant::now();
    while began.elapsed() < LONG && Initiator::connect(&served.wanted()).is_err() {}
    assert!(began.elapsed() < LONG);
    assert_eq!(io(&mut hosts[0], read(ONE, 0, 1), Transfer::FromController(512)).0, Status::SUCCESS);
}

#[test]
fn only_this_machine_is_listened_to() {
    for address in ["0.0.0.0:4420", "192.0.2.1:4420", "[::]:4420", "localhost", "127.0.0.1", ""] {
        let refused = loopback(address).expect_err("it is refused");
        assert!(format!("{refused:?}").contains("NotLoopback"), "{address}: {refused:?}");
    }
    let first = loopback("127.0.0.1:0").expect("an address");
    let again = loopback(&first.local_addr().expect("an address").to_string());
    assert!(format!("{again:?}").contains("AddressTaken"));
}

fn ping(served: &Served, depth: u32, reads: u64) -> Pong {
    let ping = Ping {
        nqn: None,
        nsid: 1,
        reads,
        size: 4096,
        depth,
        digests: false,
        seed: 1,
        host: None,
        keys: None,
    };
    ping.run(served.address).expect("a target")
}

#[test]
fn a_ping_measures_no_less_than_the_drive_takes() {
    for depth in [1, 8] {
        // what the door misjudges of its own time is little beside 3 ms
        let mut served = Served::new("cross-point, firmware.read-latency: 3ms");
        let pong = ping(&served, depth, 100);
        let (told, _) = served.end();
        println!("depth {depth}: seen {:.1}, {told:?}", pong.mean_us);
        assert_eq!((pong.reads, pong.errors, pong.block), (100, 0, 512));
        assert!(pong.mean_us > told.predicted_mean_us * 0.97, "{} {told:?}", pong.mean_us);
        assert_eq!(pong.histogram.iter().map(|(_, count)| count).sum::<u64>(), 100);
    }
}

/// Host and subsystem in virtual time, with nothing between them: no socket, no thread.
struct Together {
    now: Instant,
    engine: Engine,
    front: Front,
    host: Controller,
    /// Connections of queues, by number.
    queues: BTreeMap<u32, SqId>,
    ended: Vec<u64>,
}

impl Together {
    fn new(drive: &Drive) -> Self {
        let address = "127.0.0.1:4420".parse().expect("an address");
        let name = HostName { nqn: "nqn.2026-01.test:host".into(), id: [7; 16] };
        let transport = HostTransport::Tcp(TcpHost::default());
        let mut together = Self {
            now: Instant::ZERO,
            engine: Engine::new(drive, Box::new(SparseMemory::new())).started(),
            front: Front::new(&Offer::of(drive, vec![address])).expect("an offer"),
            host: Controller::new(ControllerConfig {
                keep_alive_ms: 0,
                ..ControllerConfig::new(name, NQN, transport)
            }),
            queues: BTreeMap::new(),
            ended: Vec::new(),
        };
        let mut out = Vec::new();
        together.host.connect(&mut out);
        together.carry(out);
        together
    }
    fn carry(&mut self, effects: Vec<ControllerEffect>) {
        let mut waiting = VecDeque::from(effects);
        while let Some(effect) = waiting.pop_front() {
            let mut more = Vec::new();
            match effect {
                ControllerEffect::Open { queue } => {
                    let number = self.queues.len() as u32;
                    self.queues.insert(number, queue);
                    self.front.accept(number, 0);
                    self.host.opened(self.now, queue, &mut more);
                }
                ControllerEffect::Queue { queue, effect: QueueEffect::Send { stream } } => {
                    let (&number, _) = self.queues.iter().find(|(_, known)| **known == queue).expect("open");
                    let bytes = stream.to_bytes().expect("bytes");
                    let outward = self.front.receive(self.now, number, bytes);
                    self.outward(outward, &mut more);
                }
                ControllerEffect::Queue { effect: QueueEffect::Completed { name, ending }, .. } => {
                    assert!(ending.status.is_success());
                    self.ended.push(name);
                }
                _ => {}
            }
            waiting.extend(more);
        }
    }
    fn outward(&mut self, outward: Vec<Outward>, more: &mut Vec<ControllerEffect>) {
        for one in outward {
            match one {
                Outward::Send { connection, bytes } => {
                    let queue = self.queues[&connection];
                    self.host.receive(self.now, queue, Stream::from(bytes), more);
                }
                Outward::Ask { ticket, command } => self.engine.ask(self.now, ticket, command),
                other => panic!("{other:?}"),
            }
        }
    }
    fn read(&mut self, name: u64, slba: u64) {
        let transfer = Transfer::FromController(4096);
        let io = Io { command: read(ONE, slba, 8), name, transfer, address: 0 };
        let mut out = Vec::new();
        self.host.submit(IO, io, &mut out).expect("room");
        self.carry(out);
    }
    /// The commands that end next, and when.
    fn next(&mut self) -> (Instant, Vec<u64>) {
        let (now, replies) = self.engine.next_replies(self.now).expect("something is in progress");
        self.now = now;
        for reply in replies {
            let (outward, mut more) = (self.front.answered(now, reply), Vec::new());
            self.outward(outward, &mut more);
            self.carry(more);
        }
        (now, std::mem::take(&mut self.ended))
    }
}

/// So many reads are compared with those in process.
pub const READS: usize = 300;

/// The block that the reads of a comparison begin at.
pub fn place(step: u64) -> u64 {
    step.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 20) * 8
}

/// Which reads of 4 KiB end when in virtual time, in process, with so many in flight.
pub fn in_process(drive: &Drive, depth: u64) -> Vec<(u64, Instant)> {
    let mut direct = Engine::new(drive, Box::new(SparseMemory::new())).started();
    let read = |step: u64| DriveCommand::read(place(step) * 512, 4096);
    (0..depth).for_each(|step| direct.ask(Instant::ZERO, step, read(step)));
    let (mut begun, mut now, mut ended) = (depth, Instant::ZERO, Vec::new());
    while ended.len() < READS {
        let (at, replies) = direct.next_replies(now).expect("something is in progress");
        now = at;
        for reply in replies {
            ended.push((reply.ticket, now));
            direct.ask(now, begun, read(begun));
            begun += 1;
        }
    }
    ended.truncate(READS);
    ended
}

/// Capsules and controllers take no time of the machine: what a host sees is what the drive takes in process.
#[test]
fn a_subsystem_in_virtual_time_answers_when_the_drive_does() {
    for depth in [1, 7, 64] {
        let plan = plan(&machine("nand, firmware.read-latency: 20us", "depth: 1"));
        let drive = Drive::choose(&plan, &Choice::default()).expect("a drive");
        let mut together = Together::new(&drive);
        let (mut begun, mut seen) = (0, Vec::new());
        while begun < depth {
            together.read(begun, place(begun));
            begun += 1;
        }
        while seen.len() < READS {
            let (now, ended) = together.next();
            for name in ended {
                seen.push((name, now));
                together.read(begun, place(begun));
                begun += 1;
            }
        }
        seen.truncate(READS);
        let expected = in_process(&drive, depth);
        // tickets of the front are its own: the times are compared, and which read it was
        assert_eq!(seen, expected, "depth {depth}");
        assert!(seen[READS - 1].1 > Instant::ZERO + Span::from_us(20));
    }
}

mod nightly {
    use super::*;
    use crate::fidelity::{Seen, table};

    #[test]
    #[ignore = "prints a table, which a busy machine spoils: make test-nightly"]
    fn a_host_sees_what_is_predicted() {
        table(|set, depth, count| {
            let mut served = Served::new(set);
            let pong = ping(&served, depth as u32, count as u64);
            let p99 = pong.percentiles_us.iter().find(|(percent, _)| *percent == 99.0);
            Seen { mean_us: pong.mean_us, p99_us: p99.expect("many").1, told: served.end().0 }
        });
    }
}
