//! The five rules for a valid result (Graph 500 specification, "Validation").

use super::{Edge, Graph, UNREACHED};

/// A rule that a result breaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Invalid {
    /// Rule 1: the parents are not a tree: there is a cycle, or a parent that is not a vertex or not in the tree.
    NoTree,
    /// Rule 2: an edge of the tree joins vertices whose levels do not differ by one. As levels are computed from the
    /// tree, only the root can break it, if it is not its own parent.
    TreeLevels,
    /// Rule 3: an edge of the graph joins vertices whose levels differ by more than one.
    EdgeLevels,
    /// Rule 4: an edge of the graph joins a vertex in the tree with one that is not.
    Component,
    /// Rule 5: a vertex and its parent are joined by no edge of the graph.
    NoEdge,
}

/// Checks the parents that a search from `root` found in a graph with these edges. Returns the level of each vertex,
/// `None` if it is not reached.
///
/// # Errors
/// All rules that are broken, each once.
///
/// # Panics
/// If there are not as many parents as vertices, or if an edge has an end that is not a vertex.
pub fn validate(
    graph: &Graph,
    edges: impl Iterator<Item = Edge>,
    root: u32,
    parents: &[u32],
) -> Result<Vec<Option<u32>>, Vec<Invalid>> {
    assert_eq!(parents.len(), graph.vertices(), "each vertex has an entry");
    let mut wrong = Vec::new();
    if parents[root as usize] != root {
        wrong.push(Invalid::TreeLevels);
    }
    let Some(levels) = levels(root, parents) else {
        wrong.push(Invalid::NoTree);
        wrong.sort_unstable();
        return Err(wrong);
    };
    for [a, b] in edges {
        match (levels[a as usize], levels[b as usize]) {
            (Some(one), Some(other)) if one.abs_diff(other) > 1 => wrong.push(Invalid::EdgeLevels),
            (Some(_), None) | (None, Some(_)) => wrong.push(Invalid::Component),
            _ => {}
        }
    }
    for (vertex, parent) in (0_u32..).zip(parents) {
        let has_edge = || graph.neighbours(vertex).contains(parent);
        if *parent != UNREACHED && vertex != root && !has_edge() {
            wrong.push(Invalid::NoEdge);
        }
    }
    wrong.sort_unstable();
    wrong.dedup();
    if wrong.is_empty() { Ok(levels) } else { Err(wrong) }
}

/// The distance of each vertex from the root along the tree; `None` if the parents are not a tree.
fn levels(root: u32, parents: &[u32]) -> Option<Vec<Option<u32>>> {
    let mut levels = vec![None; parents.len()];
    levels[root as usize] = Some(0);
    let mut way = Vec::new();
    for start in 0..parents.len() as u32 {
        if parents[start as usize] == UNREACHED {
            continue;
        }
        let mut vertex = start;
        while levels[vertex as usize].is_none() {
            way.push(vertex);
            vertex = parents[vertex as usize];
            if vertex == UNREACHED || vertex as usize >= parents.len() || way.len() > parents.len() {
                return None;
            }
        }
        let mut level = levels[vertex as usize]?;
        while let Some(vertex) = way.pop() {
            level += 1;
            levels[vertex as usize] = Some(level);
        }
    }
    Some(levels)
}
