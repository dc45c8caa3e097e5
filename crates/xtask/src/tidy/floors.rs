//! Imports go downward only: compares the table of floors in ARCHITECTURE.md with `cargo metadata`.
//!
//! A crate may import the workspace's crates on lower floors. Crates on the same floor do not import each other, which
//! keeps protocols separate. Crates that are `aside` may import every crate but each other, and no crate imports them.
//! Imports of tests (dev-dependencies) are not restricted.

use super::Breach;
use crate::markdown;
use crate::workspace::{Package, Workspace};
use std::collections::BTreeMap;

const MAP: &str = "ARCHITECTURE.md";

/// Twice the number of a floor, so that 4½ is an integer; `None` for `aside`.
type Floor = Option<u32>;

/// Imports that do not go downward, crates that the table lacks, rows without a crate.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let Some(text) = workspace.files.get(MAP) else { return vec![Breach::of(MAP, "is missing")] };
    let (floors, mut found) = read_table(text);
    if floors.is_empty() {
        found.push(Breach::of(MAP, "has no table with the columns `floor` and `crate`"));
        return found;
    }
    for package in &workspace.packages {
        match floors.get(package.name.as_str()) {
            Some(&(_, floor)) => found.extend(upward_imports(package, floor, &floors)),
            None => {
                found.push(Breach::of(MAP, format!("crate `{}` is not in the table of floors", package.name)))
            }
        }
    }
    let exists = |name: &str| workspace.packages.iter().any(|package| package.name == name);
    for (name, (line, _)) in floors.iter().filter(|(name, _)| !exists(name)) {
        found.push(Breach::at(MAP, *line, format!("there is no crate `{name}`")));
    }
    found
}

fn upward_imports(package: &Package, floor: Floor, floors: &BTreeMap<String, (usize, Floor)>) -> Vec<Breach> {
    let allowed = |other: &str| match (floor, floors.get(other)) {
        (_, Some((_, None))) => false,
        (None, _) => true,
        (Some(own), Some((_, Some(other)))) => *other < own,
        // a crate that is not in the table is reported elsewhere, once
        (Some(_), None) => true,
    };
    package
        .imports
        .iter()
        .filter(|other| !allowed(other))
        .map(|other| {
            let says = format!("`{}` imports `{other}`, which does not lie on a lower floor", package.name);
            Breach::of(&format!("crates/{}/Cargo.toml", package.name), says)
        })
        .collect()
}

/// Line and floor of every crate in the table, and breaches of the table itself.
fn read_table(text: &str) -> (BTreeMap<String, (usize, Floor)>, Vec<Breach>) {
    let (mut floors, mut found) = (BTreeMap::new(), Vec::new());
    for table in markdown::tables(text) {
        let (Some(floor), Some(name)) = (table.column("floor"), table.column("crate")) else { continue };
        for (line, cells) in &table.rows {
            let cell = |column: usize| cells.get(column).map_or("", String::as_str);
            let name = cell(name).trim_matches('`').to_owned();
            match read_floor(cell(floor)) {
                Some(floor) if floors.insert(name.clone(), (*line, floor)).is_none() => {}
                Some(_) => {
                    found.push(Breach::at(MAP, *line, format!("crate `{name}` stands in the table twice")))
                }
                None => found.push(Breach::at(MAP, *line, format!("`{}` is not a floor", cell(floor)))),
            }
        }
    }
    (floors, found)
}

fn read_floor(cell: &str) -> Option<Floor> {
    if cell == "aside" {
        return Some(None);
    }
    let (whole, half) = cell.strip_suffix('½').map_or((cell, 0), |whole| (whole, 1));
    Some(Some(whole.parse::<u32>().ok()? * 2 + half))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    const TABLE: &str = "| Floor | Crate |\n|---|---|\n| 0 | `units` |\n| 1 | `kernel` |\n| 1 | `pcie` |\n| 4 | `world` |\n| 4½ | `validation` |\n| aside | `xtask` |\n";

    fn judge(table: &str, packages: &[(&str, &[&str])]) -> Vec<String> {
        let mut workspace = tree([(MAP, table)]);
        workspace.packages = packages
            .iter()
            .map(|(name, imports)| Package {
                name: (*name).into(),
                imports: imports.iter().map(|&import| import.into()).collect(),
                roots: Vec::new(),
            })
            .collect();
        said(&breaches(&workspace))
    }

    const HOUSE: [(&str, &[&str]); 6] = [
        ("units", &[]),
        ("kernel", &["units"]),
        ("pcie", &["units"]),
        ("world", &["kernel", "pcie", "units"]),
        ("validation", &["world"]),
        ("xtask", &["validation", "units"]),
    ];

    fn house_with(name: &'static str, imports: &'static [&'static str]) -> Vec<String> {
        let packages: Vec<_> = HOUSE.iter().map(|&(n, i)| (n, if n == name { imports } else { i })).collect();
        judge(TABLE, &packages)
    }

    #[test]
    fn a_house_in_order_is_silent() {
        assert_eq!(judge(TABLE, &HOUSE), [""; 0]);
    }

    #[test]
    fn importing_upward_or_sideways_is_a_breach() {
        for (name, imports) in [
            ("kernel", &["world"] as &'static [&'static str]),
            ("kernel", &["pcie"]),
            ("pcie", &["kernel"]),
            ("world", &["validation"]),
            ("world", &["xtask"]),
        ] {
            let expected = format!(
                "crates/{name}/Cargo.toml: `{name}` imports `{}`, which does not lie on a lower floor",
                imports[0]
            );
            assert_eq!(house_with(name, imports), [expected]);
        }
    }

    #[test]
    fn table_and_workspace_name_the_same_crates() {
        assert_eq!(judge(TABLE, &HOUSE[..5]), ["ARCHITECTURE.md:8: there is no crate `xtask`"]);
        let mut more = HOUSE.to_vec();
        more.push(("nvme", &[]));
        assert_eq!(judge(TABLE, &more), ["ARCHITECTURE.md: crate `nvme` is not in the table of floors"]);
    }

    #[test]
    fn a_broken_table_is_a_breach() {
        assert_eq!(
            judge("prose", &HOUSE),
            ["ARCHITECTURE.md: has no table with the columns `floor` and `crate`"]
        );
        let twice = format!("{TABLE}| 2 | `units` |\n| attic | `nvme` |\n");
        let said = judge(&twice, &HOUSE);
        assert!(
            said.contains(&"ARCHITECTURE.md:9: crate `units` stands in the table twice".to_owned()),
            "{said:?}"
        );
        assert!(said.contains(&"ARCHITECTURE.md:10: `attic` is not a floor".to_owned()), "{said:?}");
        assert_eq!(said_without_map(), ["ARCHITECTURE.md: is missing"]);
    }

    fn said_without_map() -> Vec<String> {
        said(&breaches(&tree([])))
    }
}
