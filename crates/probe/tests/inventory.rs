//! A machine from dumps and from folders: what its functions are, and what is wrong with them.

use lanetwin_probe::Address;
use lanetwin_probe::inventory::{Device, End, Gravity, Inventory, Kind, Snapshot, diagnose};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What a synthetic function has.
#[derive(Clone, Copy)]
struct Made {
    kind: u16,
    buses: Option<(u8, u8)>,
    capable: (u8, u8),
    trained: (u8, u8),
    target: u8,
    mps: u16,
    detected: u16,
}

const PORT: Made =
    Made { kind: 4, buses: Some((1, 1)), capable: (5, 16), trained: (5, 4), target: 5, mps: 1, detected: 0 };
const DRIVE: Made = Made { kind: 0, buses: None, capable: (5, 4), target: 5, ..PORT };

/// The bytes of a function: header, PCI Express capability, an AER capability without errors.
fn space(made: Made) -> Vec<u8> {
    let mut bytes = vec![0_u8; 4096];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &[0x4d, 0x14, 0x24, 0xa8]);
    put(0x06, &[0x10, 0x00]);
    put(0x09, if made.buses.is_some() { &[0x00, 0x04, 0x06] } else { &[0x02, 0x08, 0x01] });
    if let Some((first, last)) = made.buses {
        put(0x0e, &[0x01]);
        put(0x18, &[0, first, last]);
    }
    put(0x34, &[0x40]);
    put(0x40, &[0x10, 0x00]);
    put(0x42, &(made.kind << 4 | 2).to_le_bytes());
    put(0x44, &2_u32.to_le_bytes());
    put(0x48, &(made.mps << 5 | 2 << 12).to_le_bytes());
    let (speed, width) = (u32::from(made.capable.0), u32::from(made.capable.1));
    put(0x4c, &(speed | width << 4).to_le_bytes());
    let status = u16::from(made.trained.0) | u16::from(made.trained.1) << 4;
    put(0x52, &status.to_le_bytes());
    put(0x6c, &(1_u32 << 23 | 1 << 24).to_le_bytes());
    put(0x70, &u16::from(made.target).to_le_bytes());
    put(0x72, &(made.detected << 6).to_le_bytes());
    put(0x100, &0x0001_0001_u32.to_le_bytes());
    bytes
}

fn dump(functions: &[(&str, Made)]) -> String {
    let row = |(at, row): (usize, &[u8])| {
        let bytes: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{:02x}: {}\n", at * 16, bytes.join(" "))
    };
    let of = |(address, made): &(&str, Made)| {
        let rows: String = space(*made).chunks(16).enumerate().map(row).collect();
        format!("{address} Something: made\n{rows}\n")
    };
    functions.iter().map(of).collect()
}

fn found(functions: &[(&str, Made)]) -> (Inventory, Vec<&'static str>) {
    let snapshot = Snapshot::of_dump(&dump(functions)).expect("a dump");
    let inventory = Inventory::of(&snapshot);
    let codes = diagnose(&inventory).iter().map(|one| one.code).collect();
    (inventory, codes)
}

fn at<'i>(inventory: &'i Inventory, address: &str) -> &'i Device {
    inventory.at(address.parse::<Address>().expect("an address")).expect("it is there")
}

#[test]
fn a_drive_below_a_port_is_what_it_is() {
    let (inventory, codes) = found(&[("00:01.0", PORT), ("01:00.0", DRIVE)]);
    let drive = at(&inventory, "01:00.0");
    assert_eq!((drive.kind, drive.class, drive.vendor), (Kind::Endpoint, 0x01_0802, 0x144d));
    assert_eq!(drive.parent, "00:01.0".parse().ok());
    let link = drive.link.as_ref().expect("a link");
    assert_eq!(
        (link.capable, link.trained),
        (End { generation: 5, width: 4 }, End { generation: 5, width: 4 })
    );
    let sizes = drive.requests.expect("sizes");
    assert_eq!((sizes.mps_supported, sizes.mps, sizes.mrrs), (512, 256, 512));
    assert_eq!(codes, Vec::<&str>::new(), "a port that is wider than its device is no finding");
}

#[test]
fn a_subsystem_is_in_the_header_and_of_a_bridge_in_a_capability() {
    let (mut port, mut drive) = (space(PORT), space(DRIVE));
    // of a bridge these are the upper halves of a window of addresses
    for bytes in [&mut port, &mut drive] {
        bytes[0x2c..0x30].copy_from_slice(&[0x28, 0x10, 0x5b, 0x21]);
    }
    port[0x41] = 0x80;
    port[0x80..0x88].copy_from_slice(&[0x0d, 0, 0, 0, 0x00, 0x10, 0x96, 0xa0]);
    let of = |bytes: Vec<u8>| {
        let address = "01:00.0".parse::<Address>().expect("an address");
        let snapshot = Snapshot { spaces: BTreeMap::from([(address, bytes)]), ..Snapshot::default() };
        let found = Inventory::of(&snapshot).devices.remove(0).subsystem;
        found.map(|subsystem| (subsystem.vendor, subsystem.device))
    };
    assert_eq!(of(drive), Some((0x1028, 0x215b)));
    assert_eq!(of(port.clone()), Some((0x1000, 0xa096)));
    port[0x80] = 0x05;
    assert_eq!(of(port), None);
    assert_eq!(of(space(DRIVE)), None);
}

#[test]
fn a_link_below_what_both_ends_can_do_is_found_with_its_evidence() {
    let codes = |trained, target| {
        let (port, drive) = (Made { trained, target, ..PORT }, Made { trained, ..DRIVE });
        found(&[("00:01.0", port), ("01:00.0", drive)]).1
    };
    assert_eq!(codes((4, 4), 5), ["HW101"], "slower");
    assert_eq!(codes((5, 2), 5), ["HW102"], "narrower");
    assert_eq!(codes((3, 2), 5), ["HW102"], "both");
    assert_eq!(codes((4, 4), 4), ["HW103"], "told to be slower");
    assert_eq!(codes((0, 0), 5), Vec::<&str>::new(), "no link");
    let trained = Made { trained: (4, 2), ..DRIVE };
    let snapshot = Snapshot::of_dump(&dump(&[("00:01.0", PORT), ("01:00.0", trained)])).expect("a dump");
    let finding = &diagnose(&Inventory::of(&snapshot))[0];
    assert_eq!(finding.evidence.len(), 4);
    assert_eq!(finding.evidence[2].value, "00000045", "Link Capabilities of the drive");
    let shortfall = finding.shortfall.expect("a link");
    assert_eq!((shortfall.capable.generation, shortfall.trained.width, shortfall.mps), (5, 2, 256));
}

#[test]
fn that_a_retimer_can_be_detected_is_no_retimer() {
    let with = |detected| {
        let port = Made { detected, ..PORT };
        let (inventory, codes) = found(&[("00:01.0", port), ("01:00.0", DRIVE)]);
        let link = at(&inventory, "00:01.0").link.clone().expect("a link");
        (link.can_detect_retimer, link.retimers_detected, codes)
    };
    assert_eq!(with(0b00), (true, 0, vec![]));
    assert_eq!(with(0b01), (true, 1, vec!["HW201"]));
    assert_eq!(with(0b11), (true, 2, vec!["HW201"]));
}

#[test]
fn a_payload_smaller_than_everything_supports_is_found() {
    let small = Made { mps: 0, ..DRIVE };
    assert_eq!(found(&[("00:01.0", PORT), ("01:00.0", small)]).1, ["HW104"]);
}

#[test]
fn logged_errors_are_found_and_a_scan_of_empty_slots_is_none() {
    let codes = |at: usize, value: u32| {
        let mut snapshot = Snapshot::of_dump(&dump(&[("00:01.0", PORT)])).expect("a dump");
        let space = snapshot.spaces.values_mut().next().expect("a port");
        space[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let found = diagnose(&Inventory::of(&snapshot));
        assert!(found.iter().all(|one| one.severity == Gravity::Warning));
        found.iter().map(|one| one.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(0x110, 1 << 6), ["HW105"], "Bad TLP");
    assert_eq!(codes(0x110, 1 << 13), Vec::<&str>::new(), "Advisory Non-Fatal is not of the link");
    assert_eq!(codes(0x104, 1 << 18), ["HW106"], "Malformed TLP");
    assert_eq!(codes(0x104, 1 << 20), Vec::<&str>::new(), "Unsupported Request");
}

#[test]
fn a_recorded_folder_is_read_and_says_what_registers_cannot() {
    let root = Folder::new("recorded");
    let device = root.0.join("sys/bus/pci/devices/0000:01:00.0");
    fs::create_dir_all(&device).expect("a folder");
    // without rights the first 64 bytes are all that there is
    fs::write(device.join("config"), &space(DRIVE)[..64]).expect("a file");
    for (name, text) in [
        ("max_link_speed", "32.0 GT/s PCIe\n"),
        ("max_link_width", "4\n"),
        ("current_link_speed", "8.0 GT/s PCIe\n"),
        ("current_link_width", "2\n"),
        ("numa_node", "-1\n"),
    ] {
        fs::write(device.join(name), text).expect("a file");
    }
    let inventory = Inventory::of(&Snapshot::of_sysfs(&root.0).expect("a folder"));
    let drive = at(&inventory, "01:00.0");
    assert_eq!((drive.read, drive.kind, drive.node), (64, Kind::Conventional, None));
    let link = drive.link.as_ref().expect("a link");
    assert_eq!(
        (link.capable, link.trained),
        (End { generation: 5, width: 4 }, End { generation: 3, width: 2 })
    );
    assert!(Snapshot::of_sysfs(&root.0.join("sys")).is_err(), "no functions");
}

#[test]
fn a_bridge_that_claims_its_own_bus_is_above_nothing() {
    let bridge = Made { buses: Some((1, 9)), ..PORT };
    let (inventory, _) = found(&[("00:01.0", bridge), ("01:00.0", bridge), ("02:00.0", DRIVE)]);
    let parent = |address| at(&inventory, address).parent.map(|parent| parent.to_string());
    assert_eq!(parent("02:00.0").as_deref(), Some("0000:00:01.0"));
    assert_eq!(parent("01:00.0").as_deref(), Some("0000:00:01.0"));
    assert_eq!(parent("00:01.0"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever registers hold, something is told, and nothing panics.
    #[test]
    fn no_bytes_panic(
        spaces in prop::collection::vec((any::<u8>(), 0_u8..32, prop::collection::vec(any::<u8>(), 64..600)), 1..6)
    ) {
        let of = |(bus, device, bytes): (u8, u8, Vec<u8>)| (Address { domain: 0, bus, device, function: 0 }, bytes);
        let spaces: BTreeMap<Address, Vec<u8>> = spaces.into_iter().map(of).collect();
        let snapshot = Snapshot { spaces, ..Snapshot::default() };
        let inventory = Inventory::of(&snapshot);
        let findings = diagnose(&inventory);
        prop_assert!(findings.iter().all(|one| !one.evidence.is_empty()));
        for device in &inventory.devices {
            prop_assert!(device.parent.is_none_or(|parent| parent.bus < device.address.bus));
        }
    }
}

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("inventory-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
