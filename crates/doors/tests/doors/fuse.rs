//! The door by a file: bytes, errors as programs see them, the mount before and afterwards. Skipped where nobody can
//! mount, which fails where `REQUIRE` names `fuse`.

use crate::machine::{machine, plan};
use crate::serving::{Serving, told};
use lanetwin_doors::drive::{Choice, Drive};
use lanetwin_doors::fuse::mount::Mounted;
use lanetwin_doors::listen::Listening;
use lanetwin_doors::problem::Problem;
use lanetwin_doors::server::{Entrance, Sockets};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(20);
const SET: &str = "cross-point";

/// A folder that goes away with this.
struct Empty(PathBuf);

impl Empty {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("lanetwin-fuse-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Empty {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether a folder can be mounted here.
fn can_mount() -> bool {
    let why = match File::options().read(true).write(true).open("/dev/fuse") {
        Ok(_) if may_mount() => return true,
        Ok(_) => "this user may not mount".to_owned(),
        Err(error) => format!("/dev/fuse: {error}"),
    };
    let required = std::env::var("REQUIRE").unwrap_or_default();
    assert!(
        !required.split([' ', ',']).any(|name| name == "fuse"),
        "fuse is required here (REQUIRE names it): {why}"
    );
    println!("skipped: {why}");
    false
}

/// Whether this process has the right to mount, which root in a container often lacks (CAP_SYS_ADMIN).
fn may_mount() -> bool {
    const CAP_SYS_ADMIN: u32 = 21;
    let status = std::fs::read_to_string("/proc/self/status").expect("what Linux tells of a process");
    let rights = status.lines().find_map(|line| line.strip_prefix("CapEff:")).expect("its rights");
    u64::from_str_radix(rights.trim(), 16).expect("a mask") >> CAP_SYS_ADMIN & 1 == 1
}

fn mounted(folder: &Path) -> Result<Mounted, Problem> {
    let drive = Drive::choose(&plan(&machine(SET, "depth: 1")), &Choice::default()).expect("a drive");
    Mounted::at(folder, drive.facts)
}

struct Served {
    folder: Empty,
    control: PathBuf,
    serving: Serving,
}

impl Served {
    fn new() -> Self {
        Self::of(SET)
    }
    fn of(set: &str) -> Self {
        let folder = Empty::new();
        let (at, control) = (folder.0.clone(), folder.0.with_extension("control"));
        let theirs = control.clone();
        let serving = Serving::new(set, move || Sockets {
            entrance: Entrance::File(mounted(&at).expect("a mount")),
            control: Listening::at(&theirs).expect("a socket"),
        });
        let began = Instant::now();
        while UnixStream::connect(&control).is_err() && began.elapsed() < LONG {
            std::thread::sleep(Duration::from_millis(2));
        }
        // answered when the server has measured itself and serves
        told(&control, r#"{"control":"status"}"#);
        Self { folder, control, serving }
    }
    fn file(&self) -> File {
        let path = self.folder.0.join("drive");
        OpenOptions::new().read(true).write(true).truncate(true).open(path).expect("a file")
    }
    fn control(&self, line: &str) -> String {
        told(&self.control, line)
    }
}

fn errno(result: std::io::Result<()>) -> Option<Errno> {
    result.err().and_then(|error| error.raw_os_error()).map(Errno::from_raw_os_error)
}

#[test]
fn bytes_go_in_and_come_out() {
    if !can_mount() {
        return;
    }
    let mut served = Served::new();
    let file = served.file();
    let meta = file.metadata().expect("it is there");
    assert_eq!((meta.len(), meta.mode() & 0o777), (8 << 30, 0o600));
    let data: Vec<u8> = (0..3 << 20).map(|i: u32| (i % 251) as u8).collect();
    file.write_all_at(&data, 4096).expect("it is written");
    file.sync_all().expect("it is flushed");
    let mut found = vec![0; data.len()];
    served.file().read_exact_at(&mut found, 4096).expect("it is read");
    assert!(found == data, "what was written is read");
    // parts of blocks, in writes that are in progress together
    let writers: Vec<_> = (0..8)
        .map(|part| {
            let file = file.try_clone().expect("a file");
            std::thread::spawn(move || file.write_all_at(&[part + 1; 100], (6 << 20) + 100 * u64::from(part)))
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().expect("no panic").expect("it is written"));
    let mut parts = [9; 900];
    file.read_exact_at(&mut parts, 6 << 20).expect("it is read");
    assert!(parts.iter().enumerate().all(|(at, byte)| usize::from(*byte) == (at / 100 + 1) % 9), "{parts:?}");
    // reads may be of any bytes, and end with the drive
    served.file().read_exact_at(&mut found[..100], 4099).expect("it is read");
    assert_eq!(found[..100], data[3..103]);
    assert_eq!(file.read_at(&mut found, (8 << 30) - 10).expect("it is read"), 10);
    assert_eq!(file.read_at(&mut found, 8 << 30).expect("it is read"), 0);
    let keep = FallocateFlags::KEEP_SIZE;
    fallocate(&file, keep | FallocateFlags::PUNCH_HOLE, 4096, 4096).expect("a hole");
    fallocate(&file, keep | FallocateFlags::ZERO_RANGE, 8192, 4096).expect("zeroes");
    fallocate(&file, keep | FallocateFlags::PUNCH_HOLE, 1 << 30, 3 << 30).expect("a hole in pieces");
    file.read_exact_at(&mut found[..16384], 4096).expect("it is read");
    assert!(found[..8192].iter().all(|byte| *byte == 0) && found[8192..16384] == data[8192..16384]);
    // what is no request of a drive is refused, and the file goes on
    let part = fallocate(&file, keep | FallocateFlags::PUNCH_HOLE, 100, 4096);
    assert_eq!(part, Err(Errno::INVAL));
    assert_eq!(errno(file.write_all_at(&[1; 512], 8 << 30)), Some(Errno::NOSPC));
    assert_eq!(errno(file.set_len(4096)), Some(Errno::INVAL));
    assert!(File::create(served.folder.0.join("other")).is_err());
    let names = std::fs::read_dir(&served.folder.0).expect("a folder");
    assert_eq!(names.map(|name| name.expect("a name").file_name()).collect::<Vec<_>>(), ["drive"]);
    drop(file);
    let (lateness, is_written) = served.serving.end();
    assert!(is_written && lateness.answers > 0, "{lateness:?}");
    assert!(!served.folder.0.join("drive").exists() && !served.control.exists(), "it is unmounted");
}

#[test]
fn faults_are_errors_of_the_file() {
    if !can_mount() {
        return;
    }
    let mut served = Served::new();
    let file = served.file();
    let mut block = [0; 4096];
    served.control(r#"{"control":"fault","what":{"fault":"media-error","first":8192,"bytes":4096}}"#);
    assert_eq!(errno(file.read_exact_at(&mut block, 8192)), Some(Errno::IO));
    assert_eq!(errno(file.read_exact_at(&mut block, 0)), None);
    file.write_all_at(&[7; 4096], 8192).expect("it is written");
    assert_eq!(errno(file.read_exact_at(&mut block, 8192)), None);
    assert_eq!(block, [7; 4096]);
    served.control(r#"{"control":"power-cut"}"#);
    assert_eq!(errno(file.sync_all()), Some(Errno::IO));
    served.control(r#"{"control":"power-on"}"#);
    assert_eq!(errno(file.sync_all()), None);
    // who has the file open when the drive goes away is told so, and keeps nobody waiting
    served.serving.end();
    assert!(file.read_exact_at(&mut block, 0).is_err());
}

#[test]
fn only_empty_folders_are_mounted() {
    let folder = Empty::new();
    let note = folder.0.join("note");
    std::fs::write(&note, "kept").expect("a file");
    for place in [&folder.0, &note, &folder.0.join("none")] {
        let refused = mounted(place).expect_err("it is no empty folder");
        assert!(matches!(refused, Problem::NoFolder { .. }), "{refused:?}");
    }
    assert_eq!(std::fs::read_to_string(&note).expect("it is there"), "kept");
}

mod nightly {
    use super::*;
    use crate::fidelity::{Seen, table};

    /// How long reads take of a file, by so many threads.
    fn measured(set: &str, depth: usize, count: usize) -> Seen {
        let mut served = Served::of(set);
        let reader = |nth: usize| {
            let file = served.file();
            std::thread::spawn(move || {
                let (mut took, mut data, mut state) = (Vec::new(), [0; 4096], nth as u64 + 1);
                for _ in 0..count / depth {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let began = Instant::now();
                    file.read_exact_at(&mut data, (state >> 33) % (1 << 18) * 4096).expect("bytes");
                    took.push(began.elapsed().as_secs_f64() * 1e6);
                }
                took
            })
        };
        let readers: Vec<_> = (0..depth).map(reader).collect();
        let took = readers.into_iter().flat_map(|reader| reader.join().expect("no panic")).collect();
        Seen::of(took, served.serving.end().0)
    }

    #[test]
    #[ignore = "prints a table, which a busy machine spoils: make test-nightly"]
    fn a_program_sees_of_a_file_what_is_predicted() {
        if can_mount() {
            table(measured);
        }
    }
}
