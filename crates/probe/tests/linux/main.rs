//! The backend of a real machine on a machine of files: every guard refuses, nothing is written before it is confirmed,
//! a killed run is put back.

mod tree;

use lanetwin_probe::cycle::Progress;
use lanetwin_probe::drive::{Report, Request, real, restore};
use lanetwin_probe::fake::Sample;
use lanetwin_probe::journal::{Entry, Journal, Saved};
use lanetwin_probe::linux::{Linux, disk};
use lanetwin_probe::{Finding, Width};
use std::fs;
use std::ops::ControlFlow;
use tree::{DRIVE, Tree};

const BDF: &str = "0000:01:00.0";

fn confirmed() -> Request {
    Request {
        tests: vec!["sbr".into()],
        count: 1,
        i_know: Some(BDF.into()),
        serial: Some("S123".into()),
        ..Request::default()
    }
}

fn ask(tree: &Tree, request: &Request) -> Result<Report, Vec<Finding>> {
    real(&mut Linux::at(tree.root()), BDF, request, &mut |_: &Progress| ControlFlow::Continue(()))
}

fn codes(found: Result<Report, Vec<Finding>>) -> Vec<&'static str> {
    match found {
        Ok(report) => panic!("nothing was refused: {report:?}"),
        Err(found) => found.iter().map(|finding| finding.code).collect(),
    }
}

/// The configuration spaces, which no refusal may touch.
fn spaces(tree: &Tree) -> [Vec<u8>; 2] {
    ["0000:00:1c.0", BDF].map(|at| {
        fs::read(tree.path(&format!("sys/bus/pci/devices/{at}/config"))).expect("a configuration space")
    })
}

/// Changes the machine of files, asks with full consent, and gives the codes of the refusal.
fn refused(change: impl FnOnce(&Tree)) -> Vec<&'static str> {
    let tree = Tree::new();
    change(&tree);
    let before = spaces(&tree);
    let found = codes(ask(&tree, &confirmed()));
    assert_eq!(spaces(&tree), before, "a refusal writes nothing");
    assert!(!tree.path("var/lib/lanetwin").exists(), "and leaves no journal");
    found
}

#[test]
fn a_mounted_namespace_is_refused() {
    let mount =
        |tree: &Tree| tree.text("proc/self/mountinfo", "30 22 259:0 / /data rw - ext4 /dev/nvme0n1 rw\n");
    assert_eq!(refused(mount), ["LC006"]);
    let by_source =
        |tree: &Tree| tree.text("proc/77/mountinfo", "30 22 0:44 / /b rw - btrfs /dev/nvme0n1p1 rw\n");
    assert_eq!(refused(by_source), ["LC006"], "in another process' name space, by the name of its source");
}

#[test]
fn the_root_file_system_is_refused_at_any_depth() {
    let direct =
        |tree: &Tree| tree.text("proc/self/mountinfo", "22 1 259:1 / / rw - ext4 /dev/nvme0n1p1 rw\n");
    assert_eq!(refused(direct), ["LC007", "LC006"]);
    let through_lvm = |tree: &Tree| {
        tree.holder("nvme0n1p1", "dm-0", "253:0", "dm/uuid", "LVM-abc\n");
        tree.text("proc/self/mountinfo", "22 1 253:0 / / rw - ext4 /dev/mapper/vg-root rw\n");
    };
    assert_eq!(refused(through_lvm), ["LC007", "LC006", "LC006"]);
}

#[test]
fn arrays_volumes_swap_and_open_files_are_refused() {
    assert_eq!(refused(|tree| tree.holder("nvme0n1", "md0", "9:0", "md/level", "raid1\n")), ["LC006"]);
    assert_eq!(refused(|tree| tree.holder("nvme0n1p1", "dm-3", "253:3", "dm/uuid", "LVM-x\n")), ["LC006"]);
    let swap = |tree: &Tree| tree.text("proc/swaps", "Filename Type\n/dev/nvme0n1p1 partition 1 0 -2\n");
    assert_eq!(refused(swap), ["LC006"]);
    assert_eq!(refused(|tree| tree.link("proc/99/fd/7", "/dev/nvme0n1")), ["LC006"]);
}

#[test]
fn a_namespace_with_multipath_is_found() {
    let multipath = |tree: &Tree| {
        tree.block("nvme5n1", "sys/devices/virtual/nvme-subsystem/nvme-subsys5/nvme5n1", "259:9");
        tree.text("sys/class/nvme-subsystem/nvme-subsys5/nvme0", "");
        tree.text("sys/class/nvme-subsystem/nvme-subsys5/nvme5n1", "");
        tree.text("proc/self/mountinfo", "30 22 259:9 / /data rw - ext4 /dev/nvme5n1 rw\n");
    };
    assert_eq!(refused(multipath), ["LC006"]);
}

#[test]
fn what_is_on_the_link_beside_it_is_refused() {
    let other = "sys/devices/pci0000:00/0000:00:1c.0/0000:01:00.1";
    assert_eq!(refused(|tree| tree.text(&format!("{other}/class"), "0x010802\n")), ["LC008"]);
}

#[test]
fn virtual_machines_and_virtual_functions_are_refused() {
    let passed = |tree: &Tree| {
        fs::create_dir_all(tree.path("sys/bus/pci/drivers/vfio-pci")).unwrap();
        let driver = tree.path("sys/bus/pci/drivers/vfio-pci");
        tree.link(&format!("{DRIVE}/driver"), driver.to_str().unwrap());
    };
    assert_eq!(refused(passed), ["LC009"]);
    assert_eq!(refused(|tree| tree.text(&format!("{DRIVE}/sriov_numvfs"), "4\n")), ["LC010"]);
    assert_eq!(refused(|tree| tree.text(&format!("{DRIVE}/physfn"), "")), ["LC005"]);
}

#[test]
fn lockdown_heat_and_old_journals_are_refused() {
    let locked =
        |tree: &Tree| tree.text("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    assert_eq!(refused(locked), ["LC004"]);
    let hot = |tree: &Tree| tree.text(&format!("{DRIVE}/nvme/nvme0/hwmon1/temp1_input"), "71000\n");
    assert_eq!(refused(hot), ["LC019"]);
    let tree = Tree::new();
    tree.text("var/lib/lanetwin/cycle-0000:01:00.0.journal", "");
    assert_eq!(codes(ask(&tree, &confirmed())), ["LC012"]);
}

#[test]
fn everything_that_stands_against_it_is_told_at_once() {
    let much = |tree: &Tree| {
        tree.text("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
        tree.text("proc/swaps", "Filename Type\n/dev/nvme0n1p1 partition 1 0 -2\n");
        tree.text(&format!("{DRIVE}/sriov_numvfs"), "4\n");
    };
    assert_eq!(refused(much), ["LC004", "LC010", "LC006"]);
}

#[test]
fn devices_are_confirmed_by_address_and_serial() {
    let ask_with = |change: fn(&mut Request)| {
        let mut request = confirmed();
        change(&mut request);
        codes(ask(&Tree::new(), &request))
    };
    assert_eq!(ask_with(|request| request.i_know = Some("0000:02:00.0".into())), ["LC011"]);
    assert_eq!(ask_with(|request| request.serial = None), ["LC011"]);
    assert_eq!(ask_with(|request| request.serial = Some("S124".into())), ["LC023"]);
    assert_eq!(ask_with(|request| request.tests = vec!["power-cycle".into()]), ["LC014"]);
    assert_eq!(ask_with(|request| request.tests = vec!["sbrr".into()]), ["LC013"]);
    assert_eq!(ask_with(|request| request.count = 0), ["LC021"]);
}

#[test]
fn who_is_no_endpoint_is_refused() {
    let tree = Tree::new();
    let at = |device: &str| {
        codes(real(&mut Linux::at(tree.root()), device, &confirmed(), &mut |_| ControlFlow::Continue(())))
    };
    assert_eq!(at("01:00"), ["LC001"]);
    assert_eq!(at("0000:09:00.0"), ["LC002"]);
    assert_eq!(at("0000:00:1c.0")[0], "LC016");
}

#[test]
fn without_consent_the_plan_is_told_and_nothing_is_written() {
    let tree = Tree::new();
    let before = spaces(&tree);
    let request = Request { i_know: None, tests: vec!["all".into()], ..confirmed() };
    let report = ask(&tree, &request).expect("a plan");
    assert_eq!(spaces(&tree), before);
    assert!(!tree.path("var").exists());
    let plan = report.plan.expect("a plan");
    assert_eq!(plan.len(), 11);
    let of = |name: &str| &plan.iter().find(|(test, _)| test.name() == name).unwrap().1;
    let bridge: Vec<(u32, u32)> = of("sbr")
        .iter()
        .filter(|write| write.register == "Bridge Control")
        .map(|w| (w.before, w.value))
        .collect();
    assert_eq!(bridge, [(0, 0x40), (0x40, 0)]);
    assert!(of("retrain").iter().any(|write| write.register == "Link Control" && write.value & 0x20 != 0));
    let targets: Vec<u32> = of("speed-change-max")
        .iter()
        .filter(|write| write.register == "Link Control 2")
        .map(|write| write.value & 0xf)
        .collect();
    assert_eq!(targets, [1, 5]);
    assert_eq!(report.findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["LC011"]);
}

/// Files keep what is written and do nothing else: what shows no effect is not performed, and everything is put back.
#[test]
fn a_machine_of_files_performs_nothing_and_is_put_back() {
    let tree = Tree::new();
    let mut before = spaces(&tree);
    let request = Request {
        tests: ["retrain", "sbr", "disable-enable"].map(str::to_owned).to_vec(),
        dwell_ms: 0,
        ..confirmed()
    };
    let report = ask(&tree, &request).expect("it runs");
    for test in &report.series[0].tests {
        assert_eq!(test.verdict, "NOT PERFORMED", "{}", test.title);
    }
    assert_eq!(report.series[0].not_restored, []);
    let mut after = spaces(&tree);
    // a status that is cleared with a one keeps the one in a file
    for space in before.iter_mut().chain(&mut after) {
        for status in [0x52, 0x53] {
            space[status] = 0;
        }
    }
    assert_eq!(after, before);
    assert!(!tree.path("var/lib/lanetwin/cycle-0000:01:00.0.journal").exists());
}

#[test]
fn a_killed_run_is_put_back_from_its_journal() {
    let tree = Tree::new();
    let path = tree.path("journal");
    let before = spaces(&tree);
    let mut journal = Journal::create(&path, "test", Sample::PORT, Sample::DEVICE).unwrap();
    let register = |address, offset, width, value, name: &str| {
        Entry::Register(Saved {
            address,
            offset,
            width,
            value,
            keeps: width.ones(),
            clears: 0,
            name: name.into(),
        })
    };
    journal.note(&register(Sample::PORT, 0x70, Width::Word, 5, "Link Control 2")).unwrap();
    journal
        .note(&register(Sample::DEVICE, 0x10, Width::Dword, 0xfebd_0004, "Base Address Register"))
        .unwrap();
    let attribute = format!("{DRIVE}/power/control");
    tree.text(&attribute, "on");
    let attribute = tree.path(&attribute);
    journal
        .note(&Entry::Attribute(lanetwin_probe::Attribute {
            name: attribute.display().to_string(),
            value: "auto".into(),
        }))
        .unwrap();
    drop(journal);
    // as the killed run left them
    let config = |at: &str| tree.path(&format!("sys/bus/pci/devices/{at}/config"));
    let mut port = before[0].clone();
    port[0x70] = 1;
    fs::write(config("0000:00:1c.0"), port).unwrap();
    let mut drive = before[1].clone();
    drive[0x10..0x14].fill(0);
    fs::write(config(BDF), drive).unwrap();

    let done = restore(&mut Linux::at(tree.root()), &path).expect("a journal");
    assert_eq!((done.registers, done.attributes, done.findings.len()), (2, 1, 0));
    assert_eq!(spaces(&tree), before);
    assert_eq!(fs::read_to_string(attribute).unwrap(), "auto");
    assert!(!path.exists());
    assert_eq!(restore(&mut Linux::at(tree.root()), &path).unwrap_err()[0].code, "LC018");
}

#[test]
fn a_disk_tells_its_drive_its_partitions_and_who_uses_them() {
    let tree = Tree::new();
    tree.text("proc/self/mountinfo", "30 22 259:1 / /data rw - ext4 /dev/nvme0n1p1 rw\n");
    tree.text(&format!("{DRIVE}/nvme/nvme0/nvme0n1/size"), "2048\n");
    tree.text(&format!("{DRIVE}/nvme/nvme0/nvme0n1/device/serial"), "S123  \n");
    let found = disk(tree.root(), "nvme0n1").expect("a disk");
    assert_eq!((found.serial.as_deref(), found.bytes), (Some("S123"), 1 << 20));
    assert_eq!((found.made_of, found.read_only), (None, false));
    let users = found.stores.iter().map(|store| (store.name.as_str(), store.users.len()));
    assert_eq!(users.collect::<Vec<_>>(), [("nvme0n1", 0), ("nvme0n1p1", 1)]);
    let part = disk(tree.root(), "nvme0n1p1").expect("a partition");
    assert_eq!(part.made_of.as_deref(), Some("it is a partition"));
    assert_eq!(disk(tree.root(), "nvme9n1"), None);
}
