//! The output of `numactl -H`: NUMA nodes with their CPUs, memory and distances.

use crate::inventory::snapshot::{NotRead, Snapshot};
use crate::inventory::told::{Node, cpu_ranges};
use std::collections::BTreeMap;

/// Maximum number of nodes that are read: the maximum of Linux (`NODES_SHIFT` 10).
const MOST_NODES: usize = 1024;

/// Whether a text begins like this output.
pub(super) fn is_one(text: &str) -> bool {
    text.starts_with("available: ") && text.lines().next().is_some_and(|line| line.contains(" node"))
}

/// Reads the output.
///
/// # Errors
/// If it has no node, or more than a machine has.
pub(super) fn read(text: &str) -> Result<Snapshot, NotRead> {
    let mut nodes: BTreeMap<u32, Node> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let line = line.trim();
        let Some((head, said)) = line.split_once(':') else { continue };
        if let Some((number, what)) = head.strip_prefix("node ").and_then(|rest| rest.split_once(' ')) {
            let Ok(number) = number.parse() else { continue };
            let node = nodes.entry(number).or_insert_with(|| Node { node: number, ..Node::default() });
            match what {
                "cpus" => node.cpus = cpu_ranges(&numbers(said)),
                "size" => node.memory_bytes = mebibytes(said).unwrap_or(0),
                _ => {}
            }
        } else if let Some(node) = head.trim().parse().ok().and_then(|number: u32| nodes.get_mut(&number)) {
            node.distances = numbers(said);
        }
        if nodes.len() > MOST_NODES {
            return Err(NotRead("there are more NUMA nodes than a machine has".into()));
        }
    }
    if nodes.is_empty() {
        return Err(NotRead("there is no NUMA node in it".into()));
    }
    Ok(Snapshot { nodes: nodes.into_values().collect(), ..Snapshot::default() })
}

fn numbers(said: &str) -> Vec<u32> {
    said.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// A size \[B\] from `64325 MB`, which is in MiB.
fn mebibytes(said: &str) -> Option<u64> {
    said.trim().strip_suffix(" MB")?.parse::<u64>().ok()?.checked_mul(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_read_with_their_distances() {
        let text = "available: 2 nodes (0-1)\nnode 0 cpus: 0 1 2 8\nnode 0 size: 1024 MB\nnode 0 free: 12 MB\nnode 1 cpus:\nnode 1 \
                    size: 2048 MB\nnode distances:\nnode   0   1 \n  0:  10  21 \n  1:  21  10 \n";
        assert!(is_one(text));
        let nodes = read(text).expect("nodes").nodes;
        let node = |node, cpus: &str, gib: u64, distances: [u32; 2]| Node {
            node,
            cpus: cpus.into(),
            memory_bytes: gib << 30,
            distances: distances.to_vec(),
        };
        assert_eq!(nodes, [node(0, "0-2,8", 1, [10, 21]), node(1, "", 2, [21, 10])]);
    }
}
