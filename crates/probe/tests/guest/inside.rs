//! What happens inside the guest: each check prints its name when it has passed.

use lanetwin_probe::cycle::{Progress, Test, TestReport};
use lanetwin_probe::drive::{Report, Request, real, restore};
use lanetwin_probe::linux::{Facts, Linux};
use lanetwin_probe::registers::{EXPRESS, LINK_CAPABILITIES, LINK_STATUS};
use lanetwin_probe::{Address, Finding, Function, Host};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Set in the guest, and nowhere else.
pub const IN_GUEST: &str = "LANETWIN_IN_GUEST";
const BUSYBOX: &str = "/bin/busybox";
const MOUNT_POINT: &str = "/mnt";

/// Everything, in order.
pub fn main() {
    let [port, switch] = ["behind-port", "behind-switch"].map(drive_of);
    let check = |name: &str, what: &dyn Fn()| {
        what();
        println!("\nCHECK {name}");
    };
    check("registers", &|| registers(port, switch));
    check("dry run", &|| dry_run(port));
    check("mounted", &|| mounted(port));
    check("root", &|| root(port));
    check("swap", &|| swap(switch));
    check("performed behind the port", &|| performed(port, "behind-port"));
    check("not performed", &|| not_performed(port));
    check("as before", &|| as_before(port, "behind-port"));
    check("performed behind the switch", &|| performed(switch, "behind-switch"));
    check("rescan", &|| rescan(switch));
    check("killed and restored", &|| killed(port));
}

/// The device with a serial number.
fn drive_of(serial: &str) -> Address {
    let found = within(10, || {
        for entry in fs::read_dir("/sys/class/nvme").into_iter().flatten().flatten() {
            let said = fs::read_to_string(entry.path().join("serial")).unwrap_or_default();
            if said.trim() == serial {
                let device = entry.path().join("device").canonicalize().ok()?;
                return device.file_name()?.to_str()?.parse().ok();
            }
        }
        None
    });
    found.unwrap_or_else(|| panic!("no drive {serial}"))
}

/// The block device of a drive.
fn block_of(device: Address) -> String {
    let folder = format!("/sys/bus/pci/devices/{device}/nvme");
    let found = within(10, || {
        let controller = fs::read_dir(&folder).ok()?.next()?.ok()?;
        let names = fs::read_dir(controller.path()).ok()?.flatten().map(|entry| entry.file_name());
        let name = names.filter_map(|name| name.into_string().ok()).find(|name| name.starts_with("nvme"))?;
        Some(format!("/dev/{name}"))
    });
    found.unwrap_or_else(|| panic!("{device} has no block device"))
}

/// What a look gives within some seconds.
fn within<T>(seconds: u64, look: impl Fn() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let found = look();
        if found.is_some() || start.elapsed() > Duration::from_secs(seconds) {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn busybox(words: &[&str]) {
    let done = Command::new(BUSYBOX).args(words).status();
    assert!(done.is_ok_and(|status| status.success()), "busybox {words:?}");
}

fn ask(device: Address, request: &Request) -> Result<Report, Vec<Finding>> {
    real(&mut Linux::new(), &device.to_string(), request, &mut |_: &Progress| ControlFlow::Continue(()))
}

fn confirmed(tests: &[&str], serial: &str, count: u64) -> (Request, u64) {
    let wanted = Request {
        tests: tests.iter().map(|name| (*name).to_owned()).collect(),
        count,
        dwell_ms: 1,
        serial: Some(serial.into()),
        ..Request::default()
    };
    (wanted, count)
}

/// Runs tests on a device that is confirmed.
fn run(device: Address, tests: &[&str], serial: &str, count: u64) -> Result<Vec<TestReport>, Vec<Finding>> {
    let (mut request, _) = confirmed(tests, serial, count);
    request.i_know = Some(device.to_string());
    let mut report = ask(device, &request)?;
    let series = report.series.remove(0);
    assert_eq!(series.not_restored, [], "everything is put back");
    Ok(series.tests)
}

fn codes(found: Result<Vec<TestReport>, Vec<Finding>>) -> Vec<&'static str> {
    found.expect_err("a refusal").iter().map(|finding| finding.code).collect()
}

/// Configuration space says what sysfs says.
fn registers(port: Address, switch: Address) {
    let mut linux = Linux::new();
    for device in [port, switch] {
        let function = Function::find(&mut linux, device).expect("a drive");
        assert!(function.has(EXPRESS) && function.class == 0x01_08_02 && !function.bridge, "{function:?}");
        let status = function.read(&mut linux, LINK_STATUS).expect("a guest can").expect("a link");
        let said = |name: &str| {
            fs::read_to_string(format!("/sys/bus/pci/devices/{device}/{name}")).expect("a guest can")
        };
        assert_eq!(said("current_link_width").trim(), status.width().to_string());
        assert!(said("current_link_speed").starts_with("2.5") && status.speed() == 1);
        let facts = Facts::of(&mut linux, &function);
        let above = facts.port.expect("a port");
        assert_eq!(facts.driver.as_deref(), Some("nvme"));
        assert_eq!(facts.siblings, []);
        let above = Function::find(&mut linux, above).expect("a port");
        assert!(above.bridge);
        let can = above.read(&mut linux, LINK_CAPABILITIES).expect("a guest can").expect("a link");
        // the root port of QEMU is one of 16 GT/s; its switch does not say
        assert!(can.link_active_reporting() && can.max_speed() == 4 || above.address.bus > 0, "{can:?}");
    }
}

fn dry_run(device: Address) {
    let config = format!("/sys/bus/pci/devices/{device}/config");
    let before = fs::read(&config).expect("a guest can");
    let (request, _) = confirmed(&["sbr", "d3hot"], "behind-port", 5);
    let report = ask(device, &request).expect("a plan");
    let plan = report.plan.expect("a plan");
    assert!(plan.iter().all(|(_, writes)| !writes.is_empty()), "{plan:?}");
    assert_eq!(report.findings.last().map(|finding| finding.code), Some("LC011"));
    assert_eq!(fs::read(config).expect("a guest can"), before);
}

fn mounted(device: Address) {
    let block = block_of(device);
    busybox(&["mount", "-t", "ext4", &block, MOUNT_POINT]);
    assert_eq!(codes(run(device, &["sbr"], "behind-port", 1)), ["LC006"]);
    busybox(&["umount", MOUNT_POINT]);
}

/// A process whose root is on the drive.
fn root(device: Address) {
    let block = block_of(device);
    busybox(&["mount", "-t", "ext4", &block, MOUNT_POINT]);
    fs::copy(BUSYBOX, format!("{MOUNT_POINT}/busybox")).expect("a guest can");
    let mut sleeper: Child = Command::new(BUSYBOX)
        .args(["chroot", MOUNT_POINT, "/busybox", "sleep", "1000"])
        .spawn()
        .expect("a guest can");
    let found = within(5, || {
        let found = codes(run(device, &["sbr"], "behind-port", 1));
        found.contains(&"LC007").then_some(found)
    });
    sleeper.kill().expect("a guest can");
    sleeper.wait().expect("a guest can");
    busybox(&["umount", MOUNT_POINT]);
    assert!(found.is_some_and(|found| found.contains(&"LC006")));
}

fn swap(device: Address) {
    let block = block_of(device);
    busybox(&["mkswap", &block]);
    busybox(&["swapon", &block]);
    assert_eq!(codes(run(device, &["sbr"], "behind-switch", 1)), ["LC006"]);
    busybox(&["swapoff", &block]);
}

/// What QEMU does, it is seen to do.
fn performed(device: Address, serial: &str) {
    let tests = [Test::HotReset, Test::BusReset, Test::D3Hot, Test::FunctionReset].map(Test::name);
    for test in run(device, &tests, serial, 2).expect("nothing stands against it") {
        assert_eq!(
            (test.verdict, test.passed),
            ("pass", 2),
            "{}: {:?} {:?}",
            test.title,
            test.reason,
            test.failures
        );
        println!("{}: {}; {:.3} s a cycle", test.title, test.proof.unwrap_or_default(), test.time.mean_s);
    }
}

/// What QEMU does not do is not told as done.
fn not_performed(device: Address) {
    let tests = [
        Test::Retrain,
        Test::Disable,
        Test::AspmL1,
        Test::EqualisationRedo,
        Test::SpeedChange,
        Test::SpeedChangeMax,
        Test::Width,
    ];
    for test in run(device, &tests.map(Test::name), "behind-port", 3).expect("nothing stands against it") {
        assert_eq!((test.verdict, test.passed), ("NOT PERFORMED", 0), "{}: {:?}", test.title, test.failures);
        println!("{}: {}", test.title, test.reason.unwrap_or_default());
    }
}

/// The driver is back, and the drive can be read.
fn as_before(device: Address, serial: &str) {
    assert_eq!(drive_of(serial), device);
    let block = block_of(device);
    busybox(&["mount", "-t", "ext4", &block, MOUNT_POINT]);
    assert!(Path::new(MOUNT_POINT).join("busybox").exists(), "what was written is still there");
    busybox(&["umount", MOUNT_POINT]);
}

fn rescan(device: Address) {
    let mut linux = Linux::new();
    linux.allow_writes();
    linux.rescan(device).expect("it comes back");
    assert!(Function::find(&mut linux, device).is_ok());
}

/// Cycles until somebody kills it.
pub fn cycle_until_killed() {
    let device = drive_of("behind-port");
    let _ = run(device, &["sbr"], "behind-port", 1_000_000);
}

fn killed(device: Address) {
    let journal = format!("/var/lib/lanetwin/cycle-{device}.journal");
    let mut child = Command::new("/program")
        .args(["to_be_killed", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .spawn()
        .expect("a guest can");
    let unbound = || (!Path::new(&format!("/sys/bus/pci/devices/{device}/driver")).exists()).then_some(());
    within(20, unbound).expect("the child takes the device from its driver");
    std::thread::sleep(Duration::from_millis(700));
    child.kill().expect("a guest can"); // SIGKILL
    child.wait().expect("a guest can");
    assert!(Path::new(&journal).exists(), "the journal stays");
    assert_eq!(unbound(), Some(()), "and the device has no driver");
    let mut linux = Linux::new();
    let function = Function::find(&mut linux, device).expect("a drive");
    let serial = Facts::of(&mut linux, &function).serial.unwrap_or_else(|| "none".into());
    assert!(codes(run(device, &["sbr"], &serial, 1)).contains(&"LC012"));
    let done = restore(&mut linux, Path::new(&journal)).expect("a journal");
    assert_eq!(done.findings, []);
    assert!(done.registers > 5, "{done:?}");
    assert!(!Path::new(&journal).exists());
    as_before(device, "behind-port");
}
