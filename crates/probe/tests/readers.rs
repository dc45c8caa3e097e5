//! Readers of what other programs write: judged by lspci where it is there, hostile input, and records without serial
//! numbers.

use lanetwin_probe::Address;
use lanetwin_probe::fake::{Sample, dump};
use lanetwin_probe::inventory::{Inventory, Snapshot, diagnose, read, record};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tar::{Builder, EntryType, Header};

/// Ports and drives of every speed and width, trained to less, with payloads, read requests and errors of all sizes.
fn machine() -> BTreeMap<Address, Vec<u8>> {
    let mut spaces = BTreeMap::new();
    let widths = [1_u8, 2, 4, 8, 16];
    for (nth, (speed, width)) in (1..=5_u8).flat_map(|speed| widths.map(|width| (speed, width))).enumerate() {
        let bus = u8::try_from(nth + 1).expect("a bus");
        let sample = Sample { speed, width, retimers: u8::try_from(nth % 3).expect("small") };
        let (mut port, mut drive) = {
            let mut spaces = sample.spaces();
            let mut take = |at| spaces.remove(&at).expect("it is there");
            (take(Sample::PORT), take(Sample::DEVICE))
        };
        port[0x18..0x1b].copy_from_slice(&[0, bus, bus]);
        let trained = u16::from(speed.saturating_sub(u8::from(nth % 2 == 0)).max(1)) | u16::from(width) << 4;
        let sizes = (nth % 6) as u16;
        let errors = [0, 1 << 6, 1 << 12][nth % 3];
        for (space, at) in [(&mut port, 0x40), (&mut drive, 0x70)] {
            space[at + 0x12..at + 0x14].copy_from_slice(&trained.to_le_bytes());
            space[at + 8..at + 10].copy_from_slice(&(sizes << 5 | (5 - sizes) << 12).to_le_bytes());
            space[at + 4] = space[at + 4] & !7 | 5;
            space[0x110..0x114].copy_from_slice(&i32::to_le_bytes(errors));
            space[0x158..0x15c].copy_from_slice(&u32::to_le_bytes((nth % 4) as u32));
        }
        spaces.insert(Address { domain: 0, bus: 0, device: bus - 1, function: 0 }, port);
        spaces.insert(Address { domain: 0, bus, device: 0, function: 0 }, drive);
    }
    spaces
}

/// Skips, or fails where `REQUIRE` names the tool.
fn lspci(file: &Path, options: &[&str]) -> Option<String> {
    let done = Command::new("lspci").arg("-F").arg(file).args(options).output();
    let required = std::env::var("REQUIRE").unwrap_or_default();
    let promised = required.split([' ', ',']).any(|word| word == "lspci");
    match done {
        Ok(done) if done.status.success() => Some(String::from_utf8_lossy(&done.stdout).into_owned()),
        other => {
            assert!(!promised, "lspci is required here (REQUIRE names it): {other:?}");
            println!("skipped: there is no lspci");
            None
        }
    }
}

/// What lspci prints of a dump says what the bytes of the dump say: each field of links, sizes and errors.
#[test]
fn the_text_of_lspci_says_what_the_bytes_do() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("judged-{}.txt", std::process::id()));
    let text = dump::write(&machine());
    std::fs::write(&file, &text).expect("a file");
    let said = lspci(&file, &["-vvv", "-nn"]);
    let quoted = lspci(&file, &["-mm", "-nn"]);
    std::fs::remove_file(&file).expect("a file");
    let (Some(said), Some(quoted)) = (said, quoted) else { return };
    let bytes = Inventory::of(&read(text.as_bytes()).expect("a dump"));
    let words = Inventory::of(&read(said.as_bytes()).expect("lspci's text"));
    assert_eq!(bytes.devices.len(), 50);
    assert_eq!(words.devices.len(), 50);
    for (of_bytes, of_words) in bytes.devices.iter().zip(&words.devices) {
        let at = of_bytes.address;
        assert_eq!(
            (of_bytes.kind, of_bytes.class, of_bytes.parent),
            (of_words.kind, of_words.class, of_words.parent),
            "{at}"
        );
        let (one, other) = (of_bytes.link.as_ref().expect("a link"), of_words.link.as_ref().expect("a link"));
        assert_eq!((one.capable, one.trained), (other.capable, other.trained), "{at}");
        assert_eq!(one.target_generation, other.target_generation, "{at}");
        assert_eq!(one.retimers_detected, other.retimers_detected, "{at}");
        let (one, other) = (of_bytes.requests.expect("sizes"), of_words.requests.expect("sizes"));
        assert_eq!(
            (one.mps_supported, one.mps, one.mrrs),
            (other.mps_supported, other.mps, other.mrrs),
            "{at}"
        );
        assert_eq!(of_bytes.errors.correctable, of_words.errors.correctable, "{at}");
        assert_eq!(of_bytes.errors.lanes, of_words.errors.lanes.or(Some(0)), "{at}");
    }
    let codes = |inventory: &Inventory| {
        diagnose(inventory).iter().map(|one| (one.code, one.address, one.message.clone())).collect::<Vec<_>>()
    };
    assert!(codes(&bytes).len() > 20);
    assert_eq!(codes(&bytes), codes(&words), "the same findings");
    let names = Inventory::of(&read(quoted.as_bytes()).expect("lspci's words"));
    let of = |inventory: &Inventory| {
        inventory
            .devices
            .iter()
            .map(|one| (one.address, one.vendor, one.device, one.class >> 8))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&names), of(&bytes));
}

mod nightly {
    use super::*;

    /// A look takes no time that somebody notices: the least of some, since other programs only make it longer.
    #[test]
    #[ignore = "a timing, which other programs lengthen: make test-nightly"]
    fn a_dump_of_400_kb_and_a_live_machine_are_read_in_no_time() {
        let text = dump::write(&machine().into_iter().take(30).collect());
        assert!((400_000..420_000).contains(&text.len()), "{} B", text.len());
        let least = |look: &dyn Fn() -> Option<Snapshot>| {
            let once = |_| {
                let start = Instant::now();
                let inventory = Inventory::of(&look()?);
                let found = diagnose(&inventory).len();
                Some((start.elapsed(), inventory.devices.len(), found))
            };
            (0..40).filter_map(once).min()
        };
        let (took, functions, findings) = least(&|| read(text.as_bytes()).ok()).expect("a dump");
        println!("dump of {} B: {functions} functions, {findings} findings in {took:?}", text.len());
        assert!(took < Duration::from_millis(50), "{took:?}");
        if let Some((took, functions, _)) = least(&|| Snapshot::of_sysfs(Path::new("/")).ok()) {
            println!("this machine: {functions} functions in {took:?}");
            assert!(took < Duration::from_millis(300), "{took:?}");
        }
    }
}

/// The machine with secrets wherever a serial number can be: capabilities of serial numbers, of VPD, of vendors, and
/// bytes that belong to nothing.
fn with_secrets() -> Snapshot {
    let mut spaces = Sample::default().spaces();
    for space in spaces.values_mut() {
        let mut put = |at: usize, bytes: &[u8]| space[at..at + bytes.len()].copy_from_slice(bytes);
        // behind the last capability of each list: VPD and one of the vendor; Device Serial Number and DVSEC
        put(0xc0, &[0x03, 0xd0, 0, 0, 0x53, 0x33, 0x43, 0x52]);
        put(0xd0, &[0x09, 0x00, 0x10, 0x53, 0x33, 0x43, 0x52]);
        put(0x300, &[0x03, 0x00, 0x01, 0x32, 0x53, 0x33, 0x43, 0x52, 0x53, 0x33, 0x43, 0x52]);
        put(0x320, &[0x23, 0x00, 0x01, 0x00, 0x4d, 0x14, 0xc0, 0x01, 7, 0, 0x53, 0x33, 0x43, 0x52]);
        put(0xf0, b"S3CR");
        put(0xf00, b"S3CR");
        // end of the lists of the sample
        let last = if space[0x0e] == 1 { 0x41 } else { 0x71 };
        space[last] = 0xc0;
        let mut end =
            (0..0x1000).step_by(4).skip(64).filter(|at| space[at + 2] & 0xf == 1 && space[at + 3] == 0);
        let end = end.rfind(|at| (0x100..0x300).contains(at) && space[*at] != 0).expect("an end");
        space[end + 2..end + 4].copy_from_slice(&[0x01, 0x30]);
    }
    let attributes = [("driver".to_owned(), "nvme".to_owned())];
    let attributes = BTreeMap::from([(Sample::DEVICE, BTreeMap::from(attributes))]);
    Snapshot { spaces, attributes, ..Snapshot::default() }
}

#[test]
fn a_record_has_the_machine_and_no_serial_number() {
    let snapshot = with_secrets();
    let before = Inventory::of(&snapshot);
    let drive = before.at(Sample::DEVICE).expect("a drive");
    assert!(drive.capabilities.iter().any(|(id, _)| *id == 3), "VPD is there: {:?}", drive.capabilities);
    assert!(drive.extended.iter().any(|one| one.id == 3), "a serial number is there");
    assert!(drive.extended.iter().any(|one| one.vendor == Some((0x144d, 7))));
    let written = record(&snapshot);
    let hex: String = b"S3CR".iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(!written.contains(&hex), "{written}");
    assert!(!written.contains("S3CR"));
    let again = read(written.as_bytes()).expect("a record");
    let after = Inventory::of(&again);
    assert_eq!(after, before);
    assert_eq!(diagnose(&after), diagnose(&before));
    assert_eq!(record(&again), written);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn a_record_of_any_bytes_is_read_as_they_are(bytes in prop::collection::vec(any::<u8>(), 64..1200)) {
        let spaces = BTreeMap::from([(Sample::DEVICE, bytes)]);
        let snapshot = Snapshot { spaces, ..Snapshot::default() };
        let again = read(record(&snapshot).as_bytes()).expect("a record");
        prop_assert_eq!(Inventory::of(&again), Inventory::of(&snapshot));
        prop_assert_eq!(record(&again), record(&snapshot));
    }
    #[test]
    fn no_bytes_panic_a_reader(head in 0_usize..12, text in "[ -~\n\t]{0,300}", cut in 0_usize..400) {
        let heads: [&[u8]; 12] = [
            b"", b"\x1f\x8b\x08", b"BZh9", b"{\"Devices\": [", b"[{\"memdev\": ", b"<topology><object type=\"NUMANode\" ",
            b"available: 2 nodes\n", b"01:00.0 \"", b"Slot:\t01:00.0\n", b"01:00.0 PCI bridge: x\n\t\tLnkCap:\t",
            b"{\"format\": \"lanetwin-machine-1\", ", b"\xff\xfe",
        ];
        let mut bytes = [heads[head], text.as_bytes()].concat();
        bytes.truncate(cut.max(heads[head].len()));
        if let Ok(snapshot) = read(&bytes) {
            let _ = diagnose(&Inventory::of(&snapshot));
        }
    }
}

/// A PCI Express capability of version 1 ends behind the link of an endpoint and behind the root registers of a root
/// port (PCIe Base 1.1 §7.8); what a vendor keeps there is not in a record.
#[test]
fn a_record_ends_where_an_old_capability_ends() {
    let mut snapshot = with_secrets();
    for (address, space) in &mut snapshot.spaces {
        let (at, length) = if *address == Sample::DEVICE { (0x70, 0x14) } else { (0x40, 0x24) };
        space[at + 2] = space[at + 2] & 0xf0 | 1;
        space[at + length..at + 0x3c].fill(0);
        space[at + length..at + length + 8].copy_from_slice(b"S3CRS3CR");
    }
    let before = Inventory::of(&snapshot);
    assert!(before.at(Sample::DEVICE).expect("a drive").link.is_some());
    let written = record(&snapshot);
    assert!(!written.contains("53334352"), "{written}");
    assert_eq!(Inventory::of(&read(written.as_bytes()).expect("a record")), before);
}

/// A capability with room for many lanes is kept, and the serial number behind the few that it has is not; what lanes
/// say is (control and status of each without a command is 9c38h, PCIe Base 6.0 §7.7.8).
#[test]
fn a_record_has_lanes_and_not_what_stands_behind_them() {
    let mut snapshot = with_secrets();
    for space in snapshot.spaces.values_mut() {
        // the first extended capability, Lane Margining of four lanes, and a serial number behind it
        space[0x100..0x104].copy_from_slice(&[0x27, 0x00, 0x01, 0x14]);
        space[0x104..0x140].fill(0);
        (0..4).for_each(|lane| space[0x108 + 4 * lane..][..4].copy_from_slice(&[0x38, 0x9c, 0x38, 0x9c]));
        space[0x140..0x144].copy_from_slice(&[0x03, 0x00, 0x01, 0x00]);
        space[0x144..0x14c].copy_from_slice(b"S3CRS3CR");
    }
    let before = Inventory::of(&snapshot);
    let words = &before.at(Sample::DEVICE).expect("a drive").registers;
    assert!(words.iter().any(|word| word.value == "9c38"), "{words:?}");
    let written = record(&snapshot);
    assert!(!written.contains("53334352"), "{written}");
    assert_eq!(Inventory::of(&read(written.as_bytes()).expect("a record")), before);
}

/// What others have written may have the magic of a tarball at its place: the name of a driver, as here.
#[test]
fn a_record_that_looks_like_a_tarball_is_a_record() {
    let mut snapshot = with_secrets();
    let at = |snapshot: &Snapshot| record(snapshot).find("ustar").expect("the name is in it");
    // the name of a driver is kept, and moves to where the magic would be
    let drive = |fill: usize| ("driver".to_owned(), format!("{}ustar", "a".repeat(fill)));
    snapshot.spaces.clear();
    let mut put = |fill: usize| {
        snapshot.attributes = BTreeMap::from([(Sample::DEVICE, BTreeMap::from([drive(fill)]))]);
        (at(&snapshot), snapshot.clone())
    };
    let (first, _) = put(0);
    let (place, moved) = put(257 - first);
    assert_eq!(place, 257);
    let again = read(record(&moved).as_bytes()).expect("a record");
    assert_eq!(record(&again), record(&moved));
}

/// A tarball; names and targets are put in as they are, which the library would refuse.
fn tarball(members: &[(&str, EntryType, &[u8], &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, kind, bytes, target) in members {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        builder.append(&header, *bytes).expect("a member");
    }
    builder.into_inner().expect("a tarball")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).expect("written");
    packed.finish().expect("packed")
}

#[test]
fn a_tarball_of_sysfs_is_read_wherever_its_members_lead() {
    let spaces = Sample::default().spaces();
    let (port, drive) = (&spaces[&Sample::PORT], &spaces[&Sample::DEVICE]);
    let (file, link) = (EntryType::Regular, EntryType::Symlink);
    let members: [(&str, EntryType, &[u8], &str); 8] = [
        ("sys/devices/pci0000:00/0000:00:1c.0/config", file, port, ""),
        ("../../../../0000:01:00.0/config", file, drive, ""),
        ("/etc/0000:01:00.0/numa_node", file, b"1\n\0\0\0", ""),
        ("sys/0000:01:00.0/driver", link, b"", "../../../bus/pci/drivers/nvme"),
        ("sys/0000:02:00.0/config", link, b"", "/etc/passwd"),
        ("sys/0000:02:00.0/vendor", link, b"", "/etc/passwd"),
        ("../etc/passwd", file, b"root:x:0:0", ""),
        ("sys/devices/system/node/node0/meminfo", file, b"Node 0 MemTotal:       1024 kB\n", ""),
    ];
    let whole = tarball(&members);
    for bytes in [whole.clone(), gzip(&whole)] {
        let found = read(&bytes).expect("a tarball");
        assert_eq!(found.spaces, spaces);
        assert_eq!(found.attributes[&Sample::DEVICE]["numa_node"], "1");
        assert_eq!(found.attributes[&Sample::DEVICE]["driver"], "nvme");
        assert_eq!(found.nodes[0].memory_bytes, 1 << 20);
    }
    let cut = read(&whole[..whole.len() - 2600]).expect("what is before the end");
    assert_eq!(cut.spaces, spaces);
    assert!(
        cut.notes.iter().any(|note| note.contains("ends early")) || cut.nodes.is_empty(),
        "{:?}",
        cut.notes
    );
    assert!(read(&tarball(&members[6..7])).is_err(), "there is nothing of a machine in it");
    let nodes_alone = read(&tarball(&members[6..])).expect("a machine without functions");
    assert_eq!((nodes_alone.spaces.len(), nodes_alone.nodes.len()), (0, 1));
}

#[test]
fn a_tarball_that_expands_for_ever_ends() {
    let zeros = vec![0_u8; 1 << 20];
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut header = Header::new_gnu();
    header.set_path("huge").expect("a name");
    header.set_size(1 << 40);
    header.set_cksum();
    packed.write_all(header.as_bytes()).expect("written");
    for _ in 0..300 {
        packed.write_all(&zeros).expect("written");
    }
    let refused = read(&packed.finish().expect("packed")).expect_err("too much").to_string();
    assert!(refused.contains("expands to more than 256 MiB"), "{refused}");
}

#[test]
fn several_readings_are_one_machine() {
    let spaces = Sample::default().spaces();
    let nvme = br#"{"Devices": [{"Subsystems": [{"Controllers": [{"Controller": "nvme0", "ModelNumber": "A drive", "Address": "0000:01:00.0"}]}]}]}"#;
    let words = "01:00.0 \"Non-Volatile memory controller [0108]\" \"Some [1b36]\" \"Drive [0010]\"\n";
    let parts = [dump::write(&spaces).into_bytes(), nvme.to_vec(), words.as_bytes().to_vec()];
    let whole = parts.iter().map(|part| read(part).expect("a part")).reduce(Snapshot::merged).expect("parts");
    let inventory = Inventory::of(&whole);
    assert_eq!(inventory.devices.len(), 2);
    assert_eq!(inventory.drives[0].address, Some(Sample::DEVICE));
    let drive = inventory.at(Sample::DEVICE).expect("a drive");
    assert_eq!((drive.name.as_deref(), drive.link.is_some()), (Some("Some Drive"), true));
}
