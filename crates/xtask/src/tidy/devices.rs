//! Code outside the models crate does not depend on the type or the name of a device. It uses the declarations of
//! devices, their reports, and their roles.

use super::Breach;
use crate::source::{self, Token, starts_with};
use crate::workspace::Workspace;

const SHELF: &str = "crates/models/";
const LIST: &str = "crates/models/src/lib.rs";
/// Folders that are exempt: tests, and measurements of single devices.
const FREE: [&str; 3] = ["/tests/", "/benches/", "benches/"];
/// The names of the models crate in imports.
const CRATE: [&str; 2] = ["lanetwin_models", "models"];

/// Places outside the models crate that import a device, or compare the name of a model.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let Some(list) = workspace.files.get(LIST).and_then(|text| source::tokens(text).ok()) else {
        return Vec::new();
    };
    let devices = source::macro_words(&list, "models");
    let mut found = Vec::new();
    for (path, text) in workspace.files.iter().filter(|(path, _)| is_judged(path)) {
        let Ok(tokens) = source::tokens(text) else { continue };
        let tokens = source::production(&tokens);
        let imported = CRATE.iter().flat_map(|name| source::names_under(&tokens, name));
        for device in imported.filter(|token| devices.contains(&token.text)) {
            let says = format!("knows the device `{}` by its type; ask for what it declares", device.text);
            found.push(Breach::at(path, device.line, says));
        }
        found.extend(compared_names(&tokens).map(|line| {
            Breach::at(path, line, "compares the name of a model; declare in `Model` what is asked for")
        }));
    }
    found
}

fn is_judged(path: &str) -> bool {
    path.ends_with(".rs") && !path.starts_with(SHELF) && !FREE.iter().any(|free| path.contains(free))
}

/// The lines on which the name of a model is compared.
fn compared_names(tokens: &[Token]) -> impl Iterator<Item = usize> {
    let compares = |at: usize| {
        let rest = &tokens[at..];
        ["=", "!"].iter().any(|sign| starts_with(rest, &["model", ".", "name", sign, "="]))
    };
    (0..tokens.len()).filter(move |at| compares(*at)).map(|at| tokens[at].line)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    fn judge(path: &str, text: &str) -> Vec<String> {
        said(&breaches(&tree([(LIST, "models! { disk, host }"), (path, text)])))
    }

    #[test]
    fn a_device_that_is_known_by_type_or_name_is_a_breach() {
        for text in [
            "use lanetwin_models::disk::Disk;",
            "use lanetwin_models::{find, disk};",
            "fn f() { models::disk::open() }",
            "fn f() { if plan.model.name == \"disk\" {} }",
            "fn f() { if model.name != MODEL.name {} }",
        ] {
            assert_eq!(judge("crates/world/src/building.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn roles_tests_and_the_shelf_itself_are_free() {
        let text = "use lanetwin_models::disk::Disk;";
        for path in ["crates/world/tests/disk.rs", "crates/models/src/host.rs", "benches/src/disk.rs"] {
            assert_eq!(judge(path, text), [""; 0], "{path}");
        }
        for text in [
            "use lanetwin_models::roles::RequestsByDma;",
            "fn f() { models::driver(model) }",
            "fn f() { let name = model.name; }",
            "#[cfg(test)] mod tests { use lanetwin_models::disk; }",
        ] {
            assert_eq!(judge("crates/world/src/building.rs", text), [""; 0], "{text}");
        }
    }
}
