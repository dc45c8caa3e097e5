//! The real backend on a real kernel: a guest of QEMU with one NVMe drive behind a root port and one behind a switch.
//!
//! The guest is Debian's kernel for clouds, in which NVMe and PCIe hot plug are built in, with this very program as its
//! initial file system. It needs no privilege, no network and no disk. Where QEMU has a link in name only (Link
//! Disable, retraining, speeds) the runner has to say so.
//!
//! `LANETWIN_GUEST_KERNEL` names the kernel; `.ci/guest-kernel` fetches one and prints its path. Where
//! `LANETWIN_GUESTS` names guests and not `probe`, it is left out.

mod initramfs;
mod inside;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than a slow machine takes; the guest needs some 20 s.
const PATIENCE: Duration = Duration::from_secs(240);

/// Everything that the guest has to say, in this order.
const CHECKS: &[&str] = &[
    "registers",
    "dry run",
    "mounted",
    "root",
    "swap",
    "performed behind the port",
    "not performed",
    "as before",
    "performed behind the switch",
    "rescan",
    "killed and restored",
];

#[test]
fn the_real_backend_drives_a_guest() {
    if std::env::var("LANETWIN_GUESTS").is_ok_and(|chosen| chosen.split(' ').all(|name| name != "probe")) {
        eprintln!(
            "skipped: LANETWIN_GUESTS does not name probe: nothing changed in what .ci/guests.list has for it"
        );
        return;
    }
    let Some([qemu, busybox, mke2fs]) = tools() else { return };
    let Some(kernel) = kernel() else { return };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("guest-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the guest");
    let initrd = folder.join("initrd");
    initramfs::write(&initrd, &busybox).expect("an initial file system");
    let drives = ["port", "switch"].map(|name| drive(&folder, &mke2fs, name));
    let said = boot(&qemu, &kernel, &initrd, &drives);
    let _ = std::fs::remove_dir_all(&folder);
    let passed: Vec<&str> = said.lines().filter_map(|line| line.trim_end().strip_prefix("CHECK ")).collect();
    assert_eq!(passed, CHECKS, "the guest said:\n{}", tail(&said));
}

/// What the guest runs. Elsewhere it does nothing: no machine but a guest is reset by a test.
#[test]
#[ignore = "runs inside the guest"]
fn inside_the_guest() {
    if std::env::var_os(inside::IN_GUEST).is_some() {
        inside::main();
    }
}

/// What the guest runs to be killed in the middle.
#[test]
#[ignore = "runs inside the guest"]
fn to_be_killed() {
    if std::env::var_os(inside::IN_GUEST).is_some() {
        inside::cycle_until_killed();
    }
}

/// The tools; none if the test is skipped for want of one.
fn tools() -> Option<[PathBuf; 3]> {
    let [qemu, busybox, mke2fs] =
        [("qemu-system-x86_64", "qemu-system-x86"), ("busybox", "busybox-static"), ("mke2fs", "e2fsprogs")]
            .map(|(name, package)| {
                let found = find(name);
                if found.is_none() {
                    absent(name, &format!("{name} is not installed (Debian: {package})"));
                }
                found
            });
    Some([qemu?, busybox?, mke2fs?])
}

fn kernel() -> Option<PathBuf> {
    let named = std::env::var_os("LANETWIN_GUEST_KERNEL").map(PathBuf::from).filter(|path| path.is_file());
    if named.is_none() {
        absent("guest-kernel", "LANETWIN_GUEST_KERNEL names no kernel (.ci/guest-kernel fetches one)");
    }
    named
}

/// Skips, or fails where `REQUIRE` names the tool.
fn absent(name: &str, why: &str) {
    let required = std::env::var("REQUIRE").unwrap_or_default();
    let promised = required.split([' ', ',']).any(|word| word == name);
    assert!(!promised, "{name} is required here (REQUIRE names it): {why}");
    eprintln!("skipped: {why}");
}

fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/sbin", "/usr/sbin"].map(PathBuf::from));
    folders.into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// A drive of 16 MiB with a file system.
fn drive(folder: &Path, mke2fs: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::File::create(&path).and_then(|file| file.set_len(16 << 20)).expect("a file for a drive");
    let made = Command::new(mke2fs).args(["-q", "-F", "-t", "ext4"]).arg(&path).status();
    assert!(made.is_ok_and(|status| status.success()), "mke2fs {}", path.display());
    path
}

/// Runs the guest until it switches itself off; what it said.
fn boot(qemu: &Path, kernel: &Path, initrd: &Path, drives: &[PathBuf; 2]) -> String {
    let mut command = Command::new(qemu);
    command.args([
        "-machine",
        "q35,accel=tcg",
        "-cpu",
        "max",
        "-m",
        "512",
        "-smp",
        "1",
        "-nodefaults",
        "-no-user-config",
    ]);
    command.args(["-display", "none", "-serial", "stdio", "-no-reboot", "-net", "none"]);
    command.arg("-kernel").arg(kernel).arg("-initrd").arg(initrd);
    command.args(["-append", "console=ttyS0 quiet panic=-1 random.trust_cpu=on nokaslr mitigations=off"]);
    for (name, drive) in ["a", "b"].iter().zip(drives) {
        command.arg("-drive").arg(format!("if=none,format=raw,id={name},file={}", drive.display()));
    }
    for device in [
        "pcie-root-port,id=rp0,chassis=1,slot=1",
        "nvme,bus=rp0,drive=a,serial=behind-port",
        "pcie-root-port,id=rp1,chassis=2,slot=2",
        "x3130-upstream,id=up,bus=rp1",
        "xio3130-downstream,id=dn0,bus=up,chassis=3,slot=3",
        "nvme,bus=dn0,drive=b,serial=behind-switch",
    ] {
        command.args(["-device", device]);
    }
    let mut guest = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("qemu starts");
    let mut out = guest.stdout.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = std::io::Read::read_to_end(&mut out, &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let start = Instant::now();
    while guest.try_wait().expect("a child").is_none() {
        if start.elapsed() > PATIENCE {
            guest.kill().expect("a child");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    reader.join().expect("a reader")
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(80)..].join("\n")
}
