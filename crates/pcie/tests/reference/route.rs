//! Which way a TLP goes: docs/link-model.md, section 2, by listing all shortest paths and taking the least.

use super::machine::{Machine, Node};

/// The egresses from one endpoint to another, first to last.
///
/// # Panics
/// If there is no way.
pub fn path(machine: &Machine, source: usize, destination: usize) -> Vec<usize> {
    path_from(machine, Node::Endpoint(source), destination)
}

/// The same from anywhere.
///
/// # Panics
/// If there is no way.
pub fn path_from(machine: &Machine, source: Node, destination: usize) -> Vec<usize> {
    let mut paths: Vec<Vec<usize>> = vec![Vec::new()];
    // One more link each round: the first round that reaches the destination holds all shortest paths.
    for _ in 0..=machine.links.len() {
        paths = paths.iter().flat_map(|path| longer(machine, source, path)).collect();
        let arrived = paths
            .iter()
            .filter(|path| path.last().is_some_and(|&e| machine.receiver(e) == Node::Endpoint(destination)))
            .min_by_key(|path| path.iter().rev().map(|egress| egress / 2).collect::<Vec<_>>());
        if let Some(path) = arrived {
            return path.clone();
        }
    }
    panic!("no way from {source:?} to endpoint {destination}");
}

/// The paths that have one more egress. Only switches pass TLPs on.
fn longer(machine: &Machine, source: Node, path: &[usize]) -> Vec<Vec<usize>> {
    let at = path.last().map_or(source, |&egress| machine.receiver(egress));
    if !path.is_empty() && matches!(at, Node::Endpoint(_)) {
        return Vec::new();
    }
    (0..machine.egresses())
        .filter(|&egress| machine.transmitter(egress) == at && !path.iter().any(|e| e / 2 == egress / 2))
        .map(|egress| [path, &[egress]].concat())
        .collect()
}
