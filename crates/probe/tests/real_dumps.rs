//! Dumps of real machines beside lspci, field by field.
//!
//! `LANETWIN_DUMPS` names a folder of them, such as `tests` of pciutils' sources; they are never part of this project.
//! `LANETWIN_LSPCI` names an lspci, if it is not the one that is installed.

use lanetwin_probe::Address;
use lanetwin_probe::inventory::{Device, Inventory, diagnose, read, record};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a line of lspci says, by the names that it has for fields.
type Line = BTreeMap<String, String>;

/// The lines that are compared, in the order of what is told of a function.
const LINES: [&str; 3] = ["DevCtl", "LnkCap", "LnkSta"];

#[test]
fn real_dumps_are_read_as_lspci_reads_them() {
    let Some(folder) = std::env::var_os("LANETWIN_DUMPS") else {
        println!("skipped: LANETWIN_DUMPS names no folder of dumps");
        return;
    };
    let lspci = std::env::var("LANETWIN_LSPCI").unwrap_or_else(|_| "lspci".into());
    let (mut files, mut functions, mut fields) = (0, 0, 0);
    let mut unread = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let Ok(bytes) = fs::read(entry.path()) else { continue };
        let Ok(snapshot) = read(&bytes) else {
            unread.push(entry.file_name());
            continue;
        };
        files += 1;
        let inventory = Inventory::of(&snapshot);
        assert!(diagnose(&inventory).iter().all(|one| !one.evidence.is_empty()));
        let again = Inventory::of(&read(record(&snapshot).as_bytes()).expect("a record"));
        assert_eq!(links(&again), links(&inventory), "a record of {:?}", entry.file_name());
        for (address, lines) in said_by(&lspci, &entry.path()) {
            let name = entry.file_name();
            let device = inventory.at(address).unwrap_or_else(|| panic!("{name:?} has {address}"));
            functions += 1;
            agrees_with_itself(device);
            for (line, theirs) in lines {
                let ours = told(device, &line);
                fields += theirs.len();
                assert_eq!(ours, theirs, "{name:?} {address} {line}");
            }
        }
    }
    println!("{files} dumps, {functions} functions, {fields} fields; not dumps: {unread:?}");
    assert!(files > 0 && fields > 0, "the folder has no dumps with links");
}

fn links(inventory: &Inventory) -> Vec<(Address, Option<&lanetwin_probe::inventory::Link>)> {
    inventory.devices.iter().map(|device| (device.address, device.link.as_ref())).collect()
}

/// Links and sizes are those of the registers.
fn agrees_with_itself(device: &Device) {
    let of = |register: &str, field: &str| {
        device.registers.iter().find(|one| one.register == register).and_then(|one| one.field(field))
    };
    if let Some(link) = &device.link {
        let ends = [("Link Capabilities", "max_speed", "max_width"), ("Link Status", "speed", "width")];
        for (end, (register, speed, width)) in [link.capable, link.trained].into_iter().zip(ends) {
            let known = (Some(u32::from(end.generation)), Some(u32::from(end.width)));
            assert_eq!(known, (of(register, speed), of(register, width)), "{}", device.address);
        }
    }
    if let Some(sizes) = device.requests {
        let size = |field: &str| of("Device Control", field).map(|bits| 128 << bits);
        let known = (Some(u32::from(sizes.mps)), Some(u32::from(sizes.mrrs)));
        assert_eq!(known, (size("payload"), size("read_request")), "{}", device.address);
    }
}

/// What lspci says of a dump, for each function that it says something of.
fn said_by(lspci: &str, file: &Path) -> BTreeMap<Address, BTreeMap<String, Line>> {
    let done = Command::new(lspci).arg("-F").arg(file).arg("-vvv").output().expect("lspci runs");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let mut found: BTreeMap<Address, BTreeMap<String, Line>> = BTreeMap::new();
    let mut now = None;
    let mut open: Option<String> = None;
    for line in text.lines() {
        if !line.starts_with('\t') {
            now = line.split(' ').next().and_then(|word| word.parse::<Address>().ok());
            open = None;
            continue;
        }
        let Some(address) = now else { continue };
        let rest = match line
            .trim()
            .split_once(':')
            .filter(|_| line.starts_with("\t\t") && !line.starts_with("\t\t\t"))
        {
            Some((name, rest)) => {
                open = Some(name.to_owned()).filter(|name| LINES.contains(&name.as_str()));
                rest
            }
            None if line.starts_with("\t\t\t") => line,
            None => {
                open = None;
                continue;
            }
        };
        if let Some(name) = &open {
            found.entry(address).or_default().entry(name.clone()).or_default().extend(fields_of(rest));
        }
    }
    found
}

/// `Port #0, Speed 8GT/s (ok), Width x4, ASPM L0s L1, Exit Latency L0s <512ns, L1 <4us` and `ClockPM- Surprise+`.
fn fields_of(text: &str) -> Line {
    let mut found = Line::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let words: Vec<&str> = part.split_whitespace().collect();
        if words.iter().all(|word| word.ends_with(['+', '-'])) {
            found.extend(words.iter().map(|word| {
                let (name, sign) = word.split_at(word.len() - 1);
                (name.to_owned(), sign.to_owned())
            }));
            continue;
        }
        // what lspci makes of the value, such as `(ok)`, is not part of it
        let value = |from: usize| {
            let own = words[from..].iter().take_while(|word| !word.starts_with('('));
            own.copied().collect::<Vec<_>>().join(" ")
        };
        let (name, value) = match words[0] {
            "Exit" => (format!("Exit {}", words[2]), value(3)),
            "L1" => ("Exit L1".to_owned(), value(1)),
            name => (name.to_owned(), value(1)),
        };
        found.insert(name, value);
    }
    found
}

const SPEEDS: [(u32, &str); 7] =
    [(1, "2.5GT/s"), (2, "5GT/s"), (3, "8GT/s"), (4, "16GT/s"), (5, "32GT/s"), (6, "64GT/s"), (7, "128GT/s")];

/// The same of what is read here.
fn told(device: &Device, line: &str) -> Line {
    let named = |register: &str| {
        let found = device.registers.iter().find(|one| one.register == register);
        found.unwrap_or_else(|| panic!("{} has {register}", device.address))
    };
    let of = |register: &str, field: &str| {
        named(register).field(field).unwrap_or_else(|| panic!("{register} has {field}"))
    };
    let sign = |register: &str, field: &str| (if of(register, field) == 1 { "+" } else { "-" }).to_owned();
    let signs = |register: &str, pairs: &[(&str, &str)]| -> Line {
        pairs.iter().map(|(theirs, ours)| ((*theirs).to_owned(), sign(register, ours))).collect()
    };
    let speed = |number: u32| {
        let known = SPEEDS.iter().find(|(generation, _)| *generation == number);
        known.map_or("unknown", |(_, rate)| rate).to_owned()
    };
    match line {
        "DevCtl" => {
            let mut found = signs("Device Control", &CONTROL);
            let size = |field: &str| format!("{} bytes", 128 << of("Device Control", field));
            found.insert("MaxPayload".into(), size("payload"));
            found.insert("MaxReadReq".into(), size("read_request"));
            let kind = of("PCI Express Capabilities", "kind");
            let resets = of("Device Capabilities", "function_level_reset") == 1;
            if kind == 7 {
                found.insert("BrConfRtry".into(), sign("Device Control", "initiate_reset"));
            } else if resets && [0, 1, 9].contains(&kind) {
                found.insert("FLReset".into(), sign("Device Control", "initiate_reset"));
            }
            found
        }
        "LnkCap" => {
            let register = "Link Capabilities";
            let mut found = signs(register, &CAPABILITIES);
            found.insert("Port".into(), format!("#{}", of(register, "port_number")));
            found.insert("Speed".into(), speed(of(register, "max_speed")));
            found.insert("Width".into(), format!("x{}", of(register, "max_width")));
            let aspm = of(register, "aspm");
            found.insert("ASPM".into(), ["not supported", "L0s", "L1", "L0s L1"][aspm as usize].into());
            if aspm & 1 == 1 {
                found.insert("Exit L0s".into(), L0S[of(register, "l0s_exit") as usize].into());
            }
            if aspm & 2 == 2 {
                found.insert("Exit L1".into(), L1[of(register, "l1_exit") as usize].into());
            }
            found
        }
        _ => {
            let register = "Link Status";
            let mut found = signs(register, &STATUS);
            found.insert("Speed".into(), speed(of(register, "speed")));
            found.insert("Width".into(), format!("x{}", of(register, "width")));
            found
        }
    }
}

/// Exit latencies (PCIe Base 6.0 §7.5.3.6).
const L0S: [&str; 8] = ["<64ns", "<128ns", "<256ns", "<512ns", "<1us", "<2us", "<4us", "unlimited"];
const L1: [&str; 8] = ["<1us", "<2us", "<4us", "<8us", "<16us", "<32us", "<64us", "unlimited"];
/// lspci's names of fields, and ours.
const CONTROL: [(&str, &str); 9] = [
    ("CorrErr", "correctable_error"),
    ("NonFatalErr", "nonfatal_error"),
    ("FatalErr", "fatal_error"),
    ("UnsupReq", "unsupported_request"),
    ("RlxdOrd", "relaxed_ordering"),
    ("ExtTag", "extended_tag"),
    ("PhantFunc", "phantom_functions"),
    ("AuxPwr", "aux_power"),
    ("NoSnoop", "no_snoop"),
];
const CAPABILITIES: [(&str, &str); 5] = [
    ("ClockPM", "clock_power"),
    ("Surprise", "surprise_down"),
    ("LLActRep", "link_active_reporting"),
    ("BwNot", "bandwidth_notification"),
    ("ASPMOptComp", "aspm_optional"),
];
const STATUS: [(&str, &str); 6] = [
    ("TrErr", "training_error"),
    ("Train", "training"),
    ("SlotClk", "slot_clock"),
    ("DLActive", "active"),
    ("BWMgmt", "bandwidth_management"),
    ("ABWMgmt", "autonomous_bandwidth"),
];
