//! What a door takes of its own, with a drive and without: reads of 4 KiB, one at a time, at each door of a drive that
//! takes next to nothing, beside a bare echo of the same door, in which no drive has a part; and the processor time of
//! the engine for each I/O.
//!
//! `cargo run --release -p lanetwin-benches --bin doors` prints medians over rounds, with the least and the most. In
//! each round each door is opened, measures its echo, and is then read through. With arguments `DOOR READS` (`nbd`,
//! `nvme-tcp`, `vfio-user`, `fuse`, or `pacer`) one of them is read so often, for a profiler.

#[path = "../clock.rs"]
mod clock;

use clock::{cpu_seconds, median, peak_rss_mb};
use lanetwin_doors::awake::{Awake, LIMIT};
use lanetwin_doors::command::Command;
use lanetwin_doors::cores::Cores;
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::engine::Engine;
use lanetwin_doors::fabric::initiator::{Initiator, Wanted};
use lanetwin_doors::fuse::mount::Mounted;
use lanetwin_doors::listen::{Listening, loopback};
use lanetwin_doors::nbd::client::{Ask, Client};
use lanetwin_doors::nbd::connection::EXPORT;
use lanetwin_doors::server::{Entrance, Server, Sockets};
use lanetwin_doors::vfio_user::host::Driver;
use lanetwin_nvme::logic::host::commands::read;
use lanetwin_nvme::spec::{Nsid, SqId};
use lanetwin_nvmeof::logic::host::Transfer;
use lanetwin_plan::{Catalogue, check};
use lanetwin_units::{Instant, Span};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

/// So often each door is opened.
const ROUNDS: usize = 9;
/// So many medians of so many reads, in turns on each core: whether both threads share one decides more than all else.
/// A door measures its echo in the same way.
const MEDIANS: usize = 16;
const READS: usize = 25;
/// So many I/Os of the engine.
const PACED: u64 = 100_000;

/// An NVMe drive behind a link of PCIe 4.0, whose medium and firmware take next to nothing.
const MACHINE: &str = "
about: Speed.
machine:
  cpu: {model: root-complex}
  ssd: {model: nvme-ssd, capacity: 8GiB, medium: cross-point, cross-point.read: 100ns, firmware.read-latency: 0us}
links:
  slot: {from: cpu, to: ssd, gen: 4, width: x4}
workloads:
  w: {block: {size: 4KiB, requests: 1000, depth: 1}, on: cpu, target: ssd}
";

fn drive() -> Drive {
    let checked = check(Path::new("doors.yaml"), MACHINE, &[], &Catalogue::built_in());
    let plan = checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
    Drive::choose(&plan, &Choice::default()).expect("a drive that can be served")
}

/// What a door took \[µs\].
struct Took {
    echo: f64,
    drive: f64,
}

/// The ways in.
#[derive(Clone, Copy)]
enum Door {
    Nbd,
    NvmeTcp,
    VfioUser,
    Fuse,
}

const DOORS: [(&str, Door); 4] =
    [("nbd", Door::Nbd), ("nvme-tcp", Door::NvmeTcp), ("vfio-user", Door::VfioUser), ("fuse", Door::Fuse)];

/// A drive that a thread serves, and where.
struct Served {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
    /// What the door takes without a drive.
    echo: Span,
    at: String,
    folder: PathBuf,
}

impl Served {
    fn by(door: Door) -> Self {
        let folder = std::env::temp_dir().join(format!("lanetwin-doors-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("mount")).expect("a folder");
        let stop = Arc::new(AtomicBool::new(false));
        let (is_stopped, place, (ready, is_ready)) = (stop.clone(), folder.clone(), channel());
        let thread = std::thread::spawn(move || {
            let drive = drive();
            let (entrance, at) = entrance(door, &place, &drive);
            let control = Listening::at(&place.join("control")).expect("a socket");
            let sockets = Sockets { entrance, control };
            let engine = Engine::of(&drive, Vec::new()).started();
            let cores = Cores::new(Awake::by(Path::new(LIMIT)), None).expect("any");
            let mut server = Server::new(engine, sockets, cores).expect("sockets");
            ready.send((server.took().echo, at)).expect("somebody waits");
            server.serve(&|| is_stopped.load(Ordering::Relaxed));
        });
        let (echo, at) = is_ready.recv().expect("it is served");
        Self { stop, thread, echo, at, folder }
    }
    fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("no panic");
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn entrance(door: Door, folder: &Path, drive: &Drive) -> (Entrance, String) {
    let path = folder.join("socket");
    let said = path.display().to_string();
    match door {
        Door::Nbd => (Entrance::Nbd(Listening::at(&path).expect("a socket")), said),
        Door::VfioUser => (Entrance::VfioUser(Listening::at(&path).expect("a socket")), said),
        Door::NvmeTcp => {
            let port = loopback("127.0.0.1:0").expect("a port");
            let address = port.local_addr().expect("an address").to_string();
            (Entrance::NvmeTcp(vec![port]), address)
        }
        Door::Fuse => {
            let mounted = Mounted::at(&folder.join("mount"), drive.facts).expect("a mount");
            let file = mounted.file().display().to_string();
            (Entrance::File(mounted), file)
        }
    }
}

/// Reads through a door, until `enough` has been given what reads one.
fn read_through<T>(door: Door, at: &str, enough: impl FnOnce(&mut dyn FnMut()) -> T) -> T {
    match door {
        Door::Nbd => {
            let socket = UnixStream::connect(at).expect("it listens");
            let mut client = Client::connect(socket, EXPORT).expect("an export");
            enough(&mut || drop(client.one(Ask::Read, 0, 4096, &[]).expect("an answer").expect("bytes")))
        }
        Door::NvmeTcp => {
            let address = at.parse().expect("an address");
            let wanted = Wanted { keep_alive_ms: 0, ..Wanted::new(address, "nqn.2026-01.org.lanetwin:ssd") };
            let mut host = Initiator::connect(&wanted).expect("an association");
            enough(&mut || {
                let ended = host.one(SqId(1), read(Nsid(1), 0, 8), Transfer::FromController(4096));
                assert!(ended.expect("an answer").0.status.is_success());
            })
        }
        Door::VfioUser => {
            let socket = UnixStream::connect(at).expect("it listens");
            let (mut driver, mut data) = (Driver::attach(socket).expect("a controller"), [0; 4096]);
            enough(&mut || {
                let ended = driver.one(read(Nsid(1), 0, 8), &mut data);
                assert!(ended.expect("an answer").is_success());
            })
        }
        Door::Fuse => {
            let (file, mut data) = (std::fs::File::open(at).expect("the file"), [0; 4096]);
            enough(&mut || file.read_exact_at(&mut data, 0).expect("bytes"))
        }
    }
}

fn us(span: Span) -> f64 {
    span.as_ps() as f64 * 1e-6
}

/// Opens a door, and reads through it.
fn took(door: Door) -> Took {
    let served = Served::by(door);
    let drive = read_through(door, &served.at, |one| best(one));
    let echo = us(served.echo);
    served.end();
    Took { echo, drive }
}

/// The least median \[µs\].
fn best(one: &mut dyn FnMut()) -> f64 {
    let all = sched_getaffinity(None).expect("a thread has cores");
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core)).collect();
    let medians = (0..MEDIANS).map(|turn| {
        let mut core = CpuSet::new();
        core.set(cores[turn % cores.len()]);
        // where that is not allowed the scheduler decides
        let _ = sched_setaffinity(None, &core);
        let reads = (0..READS).map(|_| {
            let began = std::time::Instant::now();
            one();
            began.elapsed()
        });
        let mut reads: Vec<Duration> = reads.collect();
        reads.sort_unstable();
        reads[READS / 2].as_secs_f64() * 1e6
    });
    let least = medians.fold(f64::INFINITY, f64::min);
    let _ = sched_setaffinity(None, &all);
    least
}

/// Processor time of the engine for each of so many I/Os \[µs\], with nothing around it and no clock to wait for; and
/// what the last of them was predicted to take \[µs\].
fn paced(depth: u64, count: u64) -> (f64, f64) {
    let mut engine = Engine::of(&drive(), Vec::new()).started();
    let (mut now, mut asked, mut ended, mut predicted) = (Instant::ZERO, 0, 0, Span::ZERO);
    let began = cpu_seconds();
    while ended < count {
        while asked < count && asked - ended < depth {
            engine.ask(now, asked, Command::read(asked % 4096 * 4096, 4096));
            asked += 1;
        }
        now = now.max(engine.next_due());
        for reply in engine.poll(now) {
            ended += 1;
            predicted = reply.latency;
        }
    }
    ((cpu_seconds() - began) / count as f64 * 1e6, us(predicted))
}

/// `doors DOOR READS`.
fn one_for_a_profiler() -> Option<()> {
    let mut arguments = std::env::args().skip(1);
    let (name, reads) = (arguments.next()?, arguments.next()?.parse::<u64>().ok()?);
    if name == "pacer" {
        println!("{:.2} µs", paced(1, reads).0);
        return Some(());
    }
    let (_, door) = DOORS.into_iter().find(|(known, _)| *known == name)?;
    let served = Served::by(door);
    let began = std::time::Instant::now();
    read_through(door, &served.at, |one| (0..reads).for_each(|_| one()));
    println!(
        "echo {:.1} µs, drive {:.1} µs",
        us(served.echo),
        began.elapsed().as_secs_f64() / reads as f64 * 1e6
    );
    served.end();
    Some(())
}

fn show(name: &str, unit: &str, values: Vec<f64>) {
    let (median, least, most) = median(values);
    println!("{name:40} {median:8.1} [{least:.1} .. {most:.1}] {unit}");
}

fn main() {
    if one_for_a_profiler().is_some() {
        return;
    }
    println!("median [least .. most] of {ROUNDS} rounds\n");
    for depth in [1, 32] {
        let rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| paced(depth, PACED / 10)).collect();
        let name = format!("pacer, {depth} in progress");
        show(&name, "µs of processor time for each I/O", rounds.iter().map(|(each, _)| *each).collect());
        show("  predicted", "µs", rounds.iter().map(|(_, predicted)| *predicted).collect());
    }
    for (name, door) in DOORS {
        if matches!(door, Door::Fuse) && !Path::new("/dev/fuse").exists() {
            println!("{name}: there is no /dev/fuse");
            continue;
        }
        let rounds: Vec<Took> = (0..ROUNDS).map(|_| took(door)).collect();
        show(&format!("{name}, echo"), "µs", rounds.iter().map(|took| took.echo).collect());
        show("  drive", "µs", rounds.iter().map(|took| took.drive).collect());
        show("  echo / drive", "%", rounds.iter().map(|took| took.echo / took.drive * 100.0).collect());
    }
    println!("\npeak memory {:.0} MB", peak_rss_mb());
}
