//! The door by vfio-user: our own driver, clients that mean ill, resets, a drive that goes away.

use crate::machine::{machine, plan};
use crate::nvme_tcp::{READS, in_process, place};
use crate::serving::{Serving, told};
use lanetwin_doors::control::path_of;
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::engine::Engine;
use lanetwin_doors::listen::Listening;
use lanetwin_doors::medium::ForDrives;
use lanetwin_doors::server::{Entrance, Sockets};
use lanetwin_doors::vfio_user::function::Function;
use lanetwin_doors::vfio_user::host::{Client, Driver, Trouble};
use lanetwin_doors::vfio_user::link::LinkSeen;
use lanetwin_doors::vfio_user::wire::{
    Access, Code, Header, Irq, MapBody, MapFlags, Region, RegionInfo, SetIrqFlags, SetIrqs,
};
use lanetwin_doors::vfio_user::{BAR_BYTES, PENDING_AT, TABLE_AT};
use lanetwin_nvme::logic::host::commands::{blocks, create_cq, create_sq, deallocate, flush, read, write};
use lanetwin_nvme::logic::host::{QueuePair, QueuePairConfig, RingPolicy};
use lanetwin_nvme::spec::admin::QueuePriority;
use lanetwin_nvme::spec::registers::{ACQ, AQA, ASQ, CC, CSTS, doorbell_offset};
use lanetwin_nvme::spec::{CompletionEntry, CqId, Doorbell, IoOpcode, Nsid, SqId, Status};
use lanetwin_ssd::SparseMemory;
use lanetwin_units::Instant;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(20);
const ONE: Nsid = Nsid(1);

/// A drive that is served until this goes away.
struct Served {
    path: PathBuf,
    _serving: Serving,
}

impl Served {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("vfio-user-{}-{number}", std::process::id()));
        let (ready, is_ready) = channel();
        let theirs = path.clone();
        let serving = Serving::new("cross-point, firmware.read-latency: 50us", move || {
            let entrance = Entrance::VfioUser(Listening::at(&theirs).expect("a socket"));
            let control = path_of(&theirs.display().to_string()).expect("a folder");
            ready.send(()).expect("somebody waits");
            Sockets { entrance, control: Listening::at(&control).expect("a socket") }
        });
        is_ready.recv_timeout(LONG).expect("it listens");
        Self { path, _serving: serving }
    }
    fn socket(&self) -> UnixStream {
        let socket = UnixStream::connect(&self.path).expect("it listens");
        socket.set_read_timeout(Some(LONG)).expect("a timeout");
        socket
    }
    fn driver(&self) -> Driver {
        // who was there before may not have been missed yet
        let mut tries = (0..100).map(|_| {
            std::thread::sleep(Duration::from_millis(20));
            Driver::attach(self.socket())
        });
        tries.find_map(Result::ok).expect("a controller that starts")
    }
    fn client(&self) -> Client {
        Client::connect(self.socket()).expect("a client")
    }
    fn told(&self, line: &str) -> String {
        told(&path_of(&self.path.display().to_string()).expect("a folder"), line)
    }
}

fn refused<T: std::fmt::Debug>(asked: Result<T, Trouble>) -> Errno {
    match asked {
        Err(Trouble::Refused(errno)) => errno,
        other => panic!("{other:?}"),
    }
}

fn register(driver: &mut Driver, offset: u32) -> u32 {
    let read = driver.client().read(Region::BAR0, offset.into(), 4).expect("a register");
    u32::from_le_bytes(read.try_into().expect("a dword"))
}

#[test]
fn a_driver_finds_what_it_has_written() {
    let served = Served::new();
    let mut driver = served.driver();
    // a list of pages that begins within one
    let mut data: Vec<u8> = (0..512 << 10).map(|at: u32| (at / 7) as u8).collect();
    let sent = data.clone();
    assert_eq!(driver.one(write(ONE, 8, 1024), &mut data).expect("an end"), Status::SUCCESS);
    data.fill(0);
    assert_eq!(driver.one(read(ONE, 8, 1024), &mut data).expect("an end"), Status::SUCCESS);
    assert!(data == sent);
    assert_eq!(driver.one(flush(ONE), &mut []).expect("an end"), Status::SUCCESS);
    let mut same = sent[..1024].to_vec();
    assert_eq!(driver.one(blocks(IoOpcode::COMPARE, ONE, 8, 2), &mut same).expect("an end"), Status::SUCCESS);
    same[700] ^= 1;
    assert_eq!(
        driver.one(blocks(IoOpcode::COMPARE, ONE, 8, 2), &mut same).expect("an end"),
        Status::COMPARE_FAILURE
    );
    let mut range = [[0, 0, 0, 0, 2, 0, 0, 0], [8, 0, 0, 0, 0, 0, 0, 0]].concat();
    assert_eq!(driver.one(deallocate(ONE, 1), &mut range).expect("an end"), Status::SUCCESS);
    let mut data = vec![1; 2048];
    assert_eq!(driver.one(read(ONE, 8, 4), &mut data).expect("an end"), Status::SUCCESS);
    assert_eq!((&data[..1024], &data[1024..]), (&[0; 1024][..], &sent[1024..2048]));
    let beyond = (8_u64 << 30) / 512;
    assert_eq!(driver.one(read(ONE, beyond, 4), &mut data).expect("an end"), Status::LBA_OUT_OF_RANGE);
}

#[test]
fn resets_of_three_kinds_stop_the_controller_and_keep_the_bytes() {
    let served = Served::new();
    let mut driver = served.driver();
    let mut data = vec![7; 4096];
    assert_eq!(driver.one(write(ONE, 0, 8), &mut data).expect("an end"), Status::SUCCESS);
    for kind in 0..3 {
        assert_eq!(register(&mut driver, CSTS), 1);
        match kind {
            0 => drop(driver.client().ask(Code::DEVICE_RESET, &[], &[]).expect("a reset")),
            // Initiate Function Level Reset, in Device Control
            1 => driver.client().write(Region::CONFIG, 0x48 + 8, &[0x10, 0xa8]).expect("a reset"),
            _ => assert_eq!(served.told("{\"control\": \"reset\"}"), "{}\n"),
        }
        assert_eq!(register(&mut driver, CSTS), 0);
        driver.start().expect("it starts again");
        data.fill(0);
        assert_eq!(driver.one(read(ONE, 0, 8), &mut data).expect("an end"), Status::SUCCESS);
        assert!(data.iter().all(|byte| *byte == 7));
    }
}

#[test]
fn one_guest_has_it_at_a_time_and_its_memory_goes_with_it() {
    let served = Served::new();
    let driver = served.driver();
    assert!(Client::connect(served.socket()).is_err(), "another guest is turned away");
    drop(driver);
    let mut data = vec![3; 4096];
    assert_eq!(served.driver().one(write(ONE, 0, 8), &mut data).expect("an end"), Status::SUCCESS);
}

#[test]
fn a_drive_that_is_away_reads_as_ones_and_comes_back_as_after_a_reset() {
    let served = Served::new();
    let mut driver = served.driver();
    let fault = r#"{"control": "fault", "what": {"fault": "link-down", "for_ms": 300}}"#;
    for (away, back) in [(r#"{"control": "remove"}"#, Some(r#"{"control": "insert"}"#)), (fault, None)] {
        assert_eq!(register(&mut driver, CSTS), 1);
        served.told(away);
        assert_eq!(register(&mut driver, CSTS), u32::MAX);
        assert_eq!(driver.client().read(Region::CONFIG, 0, 4).expect("ones"), [0xff; 4]);
        back.map_or_else(|| std::thread::sleep(Duration::from_millis(400)), |line| drop(served.told(line)));
        assert_eq!(register(&mut driver, CSTS), 0);
        driver.start().expect("it starts again");
    }
}

#[test]
fn what_is_asked_amiss_is_refused_and_the_drive_goes_on() {
    let served = Served::new();
    let mut driver = served.driver();
    let client = driver.client();
    assert_eq!(refused(client.read(Region::BAR0, BAR_BYTES - 2, 4)), Errno::INVAL);
    assert_eq!(refused(client.read(Region::CONFIG, u64::MAX, 4)), Errno::INVAL);
    assert_eq!(refused(client.read(Region(1), 0, 4)), Errno::INVAL);
    assert_eq!(refused(client.write(Region(99), 0, &[0; 4])), Errno::INVAL);
    let mut short = Access::ZERO;
    short.set_count(8);
    assert_eq!(refused(client.ask(Code::REGION_WRITE, short.as_bytes(), &[])), Errno::INVAL);
    assert_eq!(refused(client.ask(Code::DMA_MAP, &[0; 31], &[])), Errno::INVAL);
    assert_eq!(refused(client.ask(Code(11), &[0; 32], &[])), Errno::OPNOTSUPP);
    let mut region = RegionInfo::ZERO;
    region.set_index(Region(9));
    assert_eq!(refused(client.ask(Code::DEVICE_GET_REGION_INFO, region.as_bytes(), &[])), Errno::INVAL);
    let (pipe, _other) = std::io::pipe().expect("a pipe");
    assert_eq!(refused(client.set_irqs(&[pipe.as_fd()])), Errno::INVAL, "no eventfd");
    assert_eq!(refused(client.map((1 << 40, 4096), pipe.as_fd())), Errno::INVAL, "no memory");
    let small = memfd_create("small", MemfdFlags::CLOEXEC).expect("a file");
    ftruncate(&small, 4096).expect("its size");
    assert_eq!(refused(client.map((1 << 40, 8192), small.as_fd())), Errno::INVAL, "beyond its end");
    assert_eq!(refused(client.map((0, 4096), small.as_fd())), Errno::EXIST);
    let mut irqs = SetIrqs::ZERO;
    irqs.set_index(Irq::MSIX);
    irqs.set_flags(SetIrqFlags::from_raw(0x21));
    irqs.set_start(u32::MAX);
    irqs.set_count(2);
    assert_eq!(refused(client.ask(Code::DEVICE_SET_IRQS, irqs.as_bytes(), &[])), Errno::INVAL);
    let mut data = vec![1; 4096];
    assert_eq!(driver.one(read(ONE, 0, 8), &mut data).expect("an end"), Status::SUCCESS);
}

#[test]
fn a_controller_that_is_told_of_memory_that_is_not_there_has_failed() {
    let served = Served::new();
    let mut client = served.client();
    let (far, queues) = (0xdead_0000_u64, 0x001f_001f_u32);
    client.write(Region::BAR0, AQA.into(), &queues.to_le_bytes()).expect("written");
    client.write(Region::BAR0, ASQ.into(), &far.to_le_bytes()).expect("written");
    client.write(Region::BAR0, ACQ.into(), &far.to_le_bytes()).expect("written");
    client.write(Region::BAR0, CC.into(), &0x0046_0001_u32.to_le_bytes()).expect("written");
    client.write(Region::BAR0, 0x1000, &1_u32.to_le_bytes()).expect("rung");
    let status = client.read(Region::BAR0, CSTS.into(), 4).expect("a register");
    assert_eq!(status[0] & 2, 2, "Controller Fatal Status");
}

#[test]
fn a_vector_that_nobody_hears_is_pending_until_somebody_does() {
    let served = Served::new();
    let mut client = served.client();
    let mut irqs = SetIrqs::ZERO;
    irqs.set_index(Irq::MSIX);
    irqs.set_flags(SetIrqFlags::from_raw(0x21));
    irqs.set_count(1);
    client.ask(Code::DEVICE_SET_IRQS, irqs.as_bytes(), &[]).expect("signalled");
    assert_eq!(client.read(Region::BAR0, PENDING_AT, 1).expect("pending bits"), [1]);
    let flags = rustix::event::EventfdFlags::CLOEXEC;
    let told = rustix::event::eventfd(0, flags).expect("an eventfd");
    client.set_irqs(&[told.as_fd()]).expect("an eventfd is taken");
    assert_eq!(client.read(Region::BAR0, PENDING_AT, 1).expect("pending bits"), [0]);
    let mut count = [0; 8];
    rustix::io::read(&told, &mut count).expect("it was told");
    assert_eq!(u64::from_ne_bytes(count), 1);
    client.write(Region::BAR0, TABLE_AT + 16, &[1, 2, 3, 4]).expect("written");
    assert_eq!(client.read(Region::BAR0, TABLE_AT + 16, 4).expect("the table"), [1, 2, 3, 4]);
}

/// What comes, message by message.
fn header(code: u16, size: u32, flags: u32) -> Vec<u8> {
    let mut bytes = Header::ZERO.as_bytes().to_vec();
    bytes[2..4].copy_from_slice(&code.to_le_bytes());
    bytes[4..8].copy_from_slice(&size.to_le_bytes());
    bytes[8..12].copy_from_slice(&flags.to_le_bytes());
    bytes
}

#[test]
fn who_does_not_keep_to_the_protocol_is_turned_away_and_the_next_is_not() {
    let served = Served::new();
    let version = [header(1, 20, 0), vec![0, 0, 1, 0]].concat();
    let bad: [Vec<u8>; 8] = [
        [header(4, 32, 0), vec![0; 16]].concat(),
        header(1, 15, 0),
        header(1, u32::MAX, 0),
        [header(1, 20, 0), vec![1, 0, 0, 0]].concat(),
        [header(1, 22, 0), vec![0, 0, 1, 0, b'{', b'}']].concat(),
        [header(1, 23, 0), vec![0, 0, 1, 0, b'[', b']', 0]].concat(),
        [version.clone(), version.clone()].concat(),
        [version, header(9, 16, 1)].concat(),
    ];
    for bytes in bad {
        let mut tries = 0;
        loop {
            let mut socket = served.socket();
            let is_sent = socket.write_all(&bytes).is_ok();
            let mut said = Vec::new();
            // it is closed, whatever was answered to what was right
            let is_over = socket.read_to_end(&mut said).is_ok() || !is_sent;
            tries += 1;
            assert!(tries < 100, "it is not turned away: {bytes:?}");
            if is_over {
                break;
            }
        }
    }
    let mut data = vec![1; 4096];
    assert_eq!(served.driver().one(read(ONE, 0, 8), &mut data).expect("an end"), Status::SUCCESS);
}

/// A driver and the function in virtual time, with nothing between them: no socket, no thread.
struct Together {
    now: Instant,
    engine: Engine,
    function: Function,
    memory: File,
    pair: QueuePair,
}

const ADMIN_SQ: u64 = 0;
const ADMIN_CQ: u64 = 0x1000;
const IO_SQ: u64 = 0x2000;
const IO_CQ: u64 = 0x4000;
const DATA: u64 = 0x10000;
const ENTRIES: u32 = 128;

impl Together {
    fn new(drive: &Drive) -> Self {
        let memory = memfd_create("memory", MemfdFlags::CLOEXEC).expect("a file");
        ftruncate(&memory, 2 * DATA).expect("its size");
        let link = LinkSeen::of(drive).expect("a link");
        let mut function = Function::new("ssd", drive.facts, &link).expect("a function");
        let mut body = MapBody::ZERO;
        body.set_flags(MapFlags::from_raw(3));
        body.set_size(2 * DATA);
        function.memory().map(&body, Some(memory.try_clone().expect("a copy"))).expect("memory");
        let pair = QueuePair::new(QueuePairConfig {
            sqid: SqId(1),
            cqid: CqId(1),
            sq_entries: ENTRIES,
            cq_entries: ENTRIES,
            sq_address: IO_SQ,
            cq_address: IO_CQ,
            ring_tail: RingPolicy::Each,
            ring_head: RingPolicy::Each,
        });
        let engine = Engine::new(drive, Box::new(SparseMemory::new())).started();
        let mut together = Self { now: Instant::ZERO, engine, function, memory: memory.into(), pair };
        together.start();
        together
    }
    fn write(&mut self, offset: u32, value: u32) {
        self.function.write(self.now, Region::BAR0, offset.into(), &value.to_le_bytes());
    }
    fn start(&mut self) {
        for (offset, value) in
            [(AQA, 0x001f_001f), (ASQ, ADMIN_SQ as u32), (ACQ, ADMIN_CQ as u32), (CC, 0x0046_0001)]
        {
            self.write(offset, value);
        }
        let into = create_cq(CqId(1), ENTRIES, IO_CQ, Some(1));
        let from = create_sq(SqId(1), ENTRIES, IO_SQ, CqId(1), QueuePriority::MEDIUM);
        for (at, command) in (0..).zip([into, from]) {
            self.memory.write_all_at(command.as_bytes(), ADMIN_SQ + at * 64).expect("memory");
        }
        self.write(doorbell_offset(Doorbell::SubmissionTail(SqId::ADMIN), 0), 2);
    }
    fn read(&mut self, name: u64, slba: u64) {
        let mut command = read(ONE, slba, 8);
        command.set_prp1(DATA);
        let submitted = self.pair.submit(command, name).expect("room");
        self.memory.write_all_at(submitted.entry.as_bytes(), submitted.address).expect("memory");
        let (doorbell, value) = submitted.ring.expect("each is rung for");
        self.write(doorbell_offset(doorbell, 0), value.into());
        for one in self.function.take() {
            let ForDrives::Ask { ticket, command } = one else { panic!("{one:?}") };
            self.engine.ask(self.now, ticket, command);
        }
    }
    /// The commands that end next, and when.
    fn next(&mut self) -> (Instant, Vec<u64>) {
        let (now, replies) = self.engine.next_replies(self.now).expect("something is in progress");
        self.now = now;
        let mut ended = Vec::new();
        for reply in replies {
            self.function.answered(now, reply);
            let mut entry = [0; 16];
            self.memory.read_exact_at(&mut entry, self.pair.next_completion()).expect("memory");
            let completed = self.pair.consume(CompletionEntry::from_bytes(entry)).expect("a completion");
            assert_eq!(completed.status, Status::SUCCESS);
            let (doorbell, value) = completed.ring.expect("each is rung for");
            self.write(doorbell_offset(doorbell, 0), value.into());
            ended.push(completed.name);
        }
        (now, ended)
    }
}

/// Messages and the controller take no time of the machine: what a guest sees is what the drive takes in process.
#[test]
fn a_function_in_virtual_time_answers_when_the_drive_does() {
    for depth in [1, 7, 64] {
        let plan = plan(&machine("nand, firmware.read-latency: 20us", "depth: 1"));
        let drive = Drive::choose(&plan, &Choice::default()).expect("a drive");
        let (mut together, mut begun, mut seen) = (Together::new(&drive), 0, Vec::new());
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
        assert_eq!(seen, in_process(&drive, depth), "depth {depth}");
    }
}
