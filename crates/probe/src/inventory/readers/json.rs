//! The JSON of `cxl list`, and of `nvme list` in the schemas of nvme-cli 1.x and 2.x. Only named fields are read;
//! serial numbers, NQNs and names of hosts are not among them.

use crate::host::Address;
use crate::inventory::snapshot::{NotRead, Snapshot};
use crate::inventory::told::{Drive, Memory, kept};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Maximum number of devices that are read; a machine has fewer. Assumed.
const MANY: usize = 65_536;

/// Reads the JSON of either program.
///
/// # Errors
/// If it is not JSON, or not of either program.
pub(super) fn read(text: &str) -> Result<Snapshot, NotRead> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| NotRead(format!("it begins as JSON, and is none: {error}")))?;
    if let Some(devices) = value.get("Devices").and_then(Value::as_array) {
        return Ok(Snapshot { drives: drives(devices), ..Snapshot::default() });
    }
    let mut memories = BTreeMap::new();
    collect_memories(&value, &mut memories);
    if memories.is_empty() {
        let said =
            "it is JSON, and has neither `Devices` as `nvme list` writes nor a `memdev` as `cxl list` does";
        return Err(NotRead(said.into()));
    }
    Ok(Snapshot { memories: memories.into_values().collect(), ..Snapshot::default() })
}

fn drives(devices: &[Value]) -> Vec<Drive> {
    let mut found: BTreeMap<String, Drive> = BTreeMap::new();
    for device in devices.iter().filter_map(Value::as_object) {
        if device.contains_key("Subsystems") {
            for subsystem in objects(device, "Subsystems") {
                // a namespace that several controllers share is listed in the subsystem, or in each controller
                let shared = capacity(subsystem);
                for controller in objects(subsystem, "Controllers") {
                    let drive = controller_of(controller, shared);
                    found.insert(drive.name.clone(), drive);
                }
            }
        } else {
            take_namespace(device, &mut found);
        }
        if found.len() > MANY {
            break;
        }
    }
    found.into_values().collect()
}

fn controller_of(controller: &Map<String, Value>, shared: u64) -> Drive {
    Drive {
        name: text(controller, "Controller"),
        address: text(controller, "Address").parse::<Address>().ok(),
        model: text(controller, "ModelNumber"),
        firmware: text(controller, "Firmware"),
        capacity_bytes: capacity(controller).max(shared),
    }
}

fn capacity(of: &Map<String, Value>) -> u64 {
    let sizes = objects(of, "Namespaces").filter_map(|namespace| namespace.get("PhysicalSize")?.as_u64());
    sizes.fold(0, u64::saturating_add)
}

/// Takes an entry of the schema of 1.x, which is one namespace, such as `/dev/nvme0n1`.
fn take_namespace(namespace: &Map<String, Value>, found: &mut BTreeMap<String, Drive>) {
    let path = text(namespace, "DevicePath");
    let own = path.rsplit('/').next().unwrap_or("");
    let name = own.rfind('n').filter(|at| *at > 0).map_or(own, |at| &own[..at]);
    if name.is_empty() {
        return;
    }
    let drive = found.entry(name.to_owned()).or_insert_with(|| Drive {
        name: name.to_owned(),
        address: None,
        model: text(namespace, "ModelNumber"),
        firmware: text(namespace, "Firmware"),
        capacity_bytes: 0,
    });
    let size = namespace.get("PhysicalSize").and_then(Value::as_u64).unwrap_or(0);
    drive.capacity_bytes = drive.capacity_bytes.saturating_add(size);
}

/// Collects memory devices at any depth: at the top, or below buses, ports or regions. Each name is kept once.
fn collect_memories(value: &Value, found: &mut BTreeMap<String, Memory>) {
    match value {
        Value::Array(list) => list.iter().for_each(|one| collect_memories(one, found)),
        Value::Object(object) => {
            let name = text(object, "memdev");
            // a mapping of a region also has the name of a device, but no size
            let is_device = object.contains_key("ram_size") || object.contains_key("pmem_size");
            if !name.is_empty() && is_device && found.len() < MANY {
                found.insert(name.clone(), memory(name, object));
            }
            object.values().for_each(|one| collect_memories(one, found));
        }
        _ => {}
    }
}

fn memory(name: String, object: &Map<String, Value>) -> Memory {
    Memory {
        name,
        address: text(object, "host").parse().ok(),
        volatile_bytes: object.get("ram_size").and_then(bytes).unwrap_or(0),
        persistent_bytes: object.get("pmem_size").and_then(bytes).unwrap_or(0),
        node: object.get("numa_node").and_then(Value::as_u64).and_then(|node| u32::try_from(node).ok()),
    }
}

/// A size \[B\] from `268435456`, or from `256.00 MiB (268.44 MB)` as `cxl list -u` writes it.
fn bytes(value: &Value) -> Option<u64> {
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let (number, rest) = value.as_str()?.trim().split_once(' ')?;
    let unit = rest.split(' ').next()?;
    let power = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"].iter().position(|known| *known == unit)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let part = format!("{part:0<2}").get(..2)?.parse::<u64>().ok()?;
    let hundredths = whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(part)?;
    hundredths.checked_mul(1 << (10 * power)).map(|product| product / 100)
}

fn text(of: &Map<String, Value>, name: &str) -> String {
    of.get(name).and_then(Value::as_str).map(kept).unwrap_or_default()
}

fn objects<'o>(of: &'o Map<String, Value>, name: &str) -> impl Iterator<Item = &'o Map<String, Value>> {
    of.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_schemas_of_nvme_cli_say_the_same() {
        let old = r#"{"Devices": [
            {"NameSpace": 1, "DevicePath": "/dev/nvme0n1", "Firmware": "F1", "ModelNumber": "A drive  ", "SerialNumber": "S3CRET", "PhysicalSize": 100},
            {"NameSpace": 2, "DevicePath": "/dev/nvme0n2", "Firmware": "F1", "ModelNumber": "A drive", "SerialNumber": "S3CRET", "PhysicalSize": 28}]}"#;
        let new = r#"{"Devices": [{"HostNQN": "nqn.S3CRET", "Subsystems": [{"SubsystemNQN": "nqn.S3CRET", "Controllers": [
            {"Controller": "nvme0", "SerialNumber": "S3CRET", "ModelNumber": "A drive", "Firmware": "F1", "Transport": "pcie", "Address": "0000:01:00.0",
             "Namespaces": [{"NameSpace": "nvme0n1", "PhysicalSize": 100}, {"NameSpace": "nvme0n2", "PhysicalSize": 28}]}]}]}]}"#;
        let (old, new) = (read(old).expect("old").drives, read(new).expect("new").drives);
        assert_eq!(new[0].address, "01:00.0".parse().ok());
        assert_eq!(old, [Drive { address: None, ..new[0].clone() }]);
        assert_eq!((old[0].capacity_bytes, old[0].model.as_str()), (128, "A drive"));
        assert!(!format!("{old:?}{new:?}").contains("S3CRET"));
    }

    #[test]
    fn memories_are_found_at_any_depth_and_in_both_units() {
        let text = r#"[{"memdevs": [{"memdev": "mem0", "ram_size": 268435456, "serial": 305419896, "numa_node": 2, "host": "0000:35:00.0"}]},
            {"buses": [{"ports:root0": [{"memdevs:endpoint1": [{"memdev": "mem1", "pmem_size": "1.5 GiB (1.61 GB)", "host": "cxl_mem.0"}]}]}]},
            {"regions": [{"mappings": [{"memdev": "mem0", "position": 0}]}]}]"#;
        let found = read(text).expect("memories").memories;
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].volatile_bytes, found[0].node), (256 << 20, Some(2)));
        assert_eq!((found[1].persistent_bytes, found[1].address), (3 << 29, None));
    }

    #[test]
    fn other_json_is_refused() {
        for text in ["{}", "[1, 2", "{\"Devices\": 3}", "[]"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"[".repeat(100_000)).is_err(), "depth is limited");
    }
}
