//! The imports between the files of a crate, found in its tokens.
//!
//! Paths that begin with `crate`, `super`, `self`, a module declared in the file or a name imported there are followed
//! through `use` lines, so that an item reached through a re-export counts as imported from the file that defines it. A
//! `mod` line alone imports nothing. Tests (`#[cfg(test)]`) do not count.
//!
//! Not seen: items that are imported by a glob, and the results of macros.

use crate::source::{self, Token};
use crate::workspace::{self, Workspace};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of re-exports on the way to an item; more are a circle of re-exports.
const MOST_HOPS: usize = 16;

/// The files of a crate, and what each imports from the others.
#[derive(Default)]
pub struct Imports {
    modules: Vec<Module>,
}

#[derive(Default)]
struct Module {
    file: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// The names that `use` lines import, with their paths.
    names: BTreeMap<String, Vec<String>>,
    /// Every path in the file that may lead to another file.
    paths: BTreeSet<Vec<String>>,
}

impl Imports {
    /// Reads the crate that starts from `root`.
    #[must_use]
    pub fn of(workspace: &Workspace, root: &str) -> Self {
        let mut imports = Self::default();
        imports.read(workspace, root, None);
        imports
    }

    /// Groups of two or more files that import from each other, directly or through others.
    #[must_use]
    pub fn circles(&self) -> Vec<Vec<&str>> {
        let reached: Vec<BTreeSet<usize>> = (0..self.modules.len()).map(|from| self.reached(from)).collect();
        let mut circles = BTreeSet::new();
        for from in 0..self.modules.len() {
            let together = |to: &usize| reached[*to].contains(&from);
            let circle: BTreeSet<usize> = reached[from].iter().copied().filter(together).collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        let named = |circle: BTreeSet<usize>| circle.into_iter().map(|i| &*self.modules[i].file).collect();
        circles.into_iter().map(named).collect()
    }

    /// What each file of a circle imports from another file of the same circle, with a line for each pair of files.
    #[must_use]
    pub fn inside_circles(&self) -> Vec<String> {
        let circles = self.circles();
        let mut lines = Vec::new();
        for (from, module) in self.modules.iter().enumerate() {
            let Some(circle) = circles.iter().find(|circle| circle.contains(&&*module.file)) else {
                continue;
            };
            let mut taken: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
            for path in &module.paths {
                if let Some((to, _)) = self.resolve(from, path, MOST_HOPS).filter(|(to, _)| *to != from) {
                    taken.entry(to).or_default().extend(path.last().map(String::as_str));
                }
            }
            for (to, names) in taken.iter().filter(|(to, _)| circle.contains(&&*self.modules[**to].file)) {
                let names: Vec<&str> = names.iter().copied().collect();
                lines.push(format!("{} <- {}: {}", module.file, self.modules[*to].file, names.join(" ")));
            }
        }
        lines
    }

    /// Every module from which a module imports, directly or through others.
    fn reached(&self, from: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            for to in self.taken_from(module) {
                if reached.insert(to) {
                    open.push(to);
                }
            }
        }
        reached
    }

    fn taken_from(&self, module: usize) -> BTreeSet<usize> {
        let found = self.modules[module].paths.iter();
        let mut found: BTreeSet<usize> =
            found.filter_map(|path| self.resolve(module, path, MOST_HOPS)).map(|(to, _)| to).collect();
        found.remove(&module);
        found
    }

    /// The module to which a path in `from` leads, and whether the path names the module itself instead of an item in
    /// it; `None` if it leads out of the crate.
    fn resolve(&self, from: usize, path: &[String], hops: usize) -> Option<(usize, bool)> {
        let (mut at, mut rest) = (from, path);
        let first = rest.first()?;
        match first.as_str() {
            "crate" => {
                at = 0;
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {}
            name if !self.modules[at].children.contains_key(name)
                && !self.modules[at].names.contains_key(name) =>
            {
                return None;
            }
            _ => {}
        }
        while let Some(name) = rest.first() {
            let module = &self.modules[at];
            rest = &rest[1..];
            if name == "super" {
                at = module.parent?;
            } else if let Some(child) = module.children.get(name) {
                at = *child;
            } else if let Some(alias) = module.names.get(name).filter(|alias| *alias != path) {
                let (to, is_module) = self.resolve(at, alias, hops.checked_sub(1)?)?;
                at = to;
                if !is_module {
                    return Some((at, false));
                }
            } else {
                return Some((at, false));
            }
        }
        Some((at, true))
    }

    fn read(&mut self, workspace: &Workspace, file: &str, parent: Option<usize>) -> Option<usize> {
        let tokens = source::tokens(workspace.files.get(file)?).ok()?;
        let tokens = source::production(&tokens);
        let place = self.modules.len();
        self.modules.push(Module { file: file.to_owned(), parent, ..Module::default() });
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        let stem = name.strip_suffix(".rs").unwrap_or(name);
        let own =
            if parent.is_none() || stem == "mod" { folder.to_owned() } else { format!("{folder}/{stem}") };
        let listed = source::listed(&tokens);
        let declared = source::modules(&tokens).into_iter();
        for (module, elsewhere) in declared.chain(listed.iter().map(|(word, _)| (word.clone(), None))) {
            let files = match elsewhere {
                Some(path) => vec![workspace::resolve(folder, &path).unwrap_or_default()],
                None => vec![format!("{own}/{module}.rs"), format!("{own}/{module}/mod.rs")],
            };
            if let Some(child) = files.iter().find_map(|file| self.read(workspace, file, Some(place))) {
                self.modules[place].children.insert(module, child);
            }
        }
        // a list macro uses one item of each of its modules
        let listed = listed.into_iter().map(|(word, item)| vec![word, item.into()]);
        let module = &mut self.modules[place];
        module.paths.extend(listed);
        read_paths(&tokens, module);
        Some(place)
    }
}

/// Reads the `use` lines and all other paths of a file, except the visibility of items (`pub(in path)`).
fn read_paths(tokens: &[Token], module: &mut Module) {
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].text == "use" {
            let end = (at..tokens.len()).find(|i| tokens[*i].text == ";").unwrap_or(tokens.len());
            read_use(&tokens[at + 1..end], &[], module);
            at = end;
        } else if source::starts_with(&tokens[at..], &["pub", "(", "in"]) {
            at = (at..tokens.len()).find(|i| tokens[*i].text == ")").unwrap_or(tokens.len());
        } else if is_path_start(tokens, at) {
            let path = chain(&tokens[at..]);
            at += path.len() * 3 - 2;
            module.paths.insert(path);
        } else {
            at += 1;
        }
    }
}

/// Whether a path of at least two names begins here: `a::b`, but not the `b::c` in `a::b::c` or in `$crate::b::c`.
fn is_path_start(tokens: &[Token], at: usize) -> bool {
    let before = |count: usize| at.checked_sub(count).map(|before| tokens[before].text.as_str());
    // a single colon stands before a type or before the value of a field: a path may begin after it
    let goes_on = matches!(before(1), Some("." | "$")) || (before(1), before(2)) == (Some(":"), Some(":"));
    !goes_on && source::is_name(&tokens[at].text) && chain(&tokens[at..]).len() > 1
}

/// The names, joined by `::`, with which the tokens begin.
fn chain(tokens: &[Token]) -> Vec<String> {
    let mut names = vec![tokens[0].text.clone()];
    let mut rest = &tokens[1..];
    while source::starts_with(rest, &[":", ":"])
        && rest.get(2).is_some_and(|token| source::is_name(&token.text))
    {
        names.push(rest[2].text.clone());
        rest = &rest[3..];
    }
    names
}

/// Reads the rest of a `use` line after `prefix`: a path, a list in braces, an `as`, a glob.
fn read_use(tokens: &[Token], prefix: &[String], module: &mut Module) {
    let Some(first) = tokens.first() else { return };
    if first.text == "{" {
        for element in elements(tokens) {
            read_use(element, prefix, module);
        }
        return;
    }
    if first.text == "*" || !source::is_name(&first.text) {
        module.paths.insert(prefix.to_vec());
        return;
    }
    let names = chain(tokens);
    let path: Vec<String> = prefix.iter().cloned().chain(names.iter().cloned()).collect();
    let rest = &tokens[names.len() * 3 - 2..];
    if source::starts_with(rest, &[":", ":"]) {
        return read_use(&rest[2..], &path, module);
    }
    // `use a::{self}` names the module
    let path = if names == ["self"] && !prefix.is_empty() { prefix.to_vec() } else { path };
    let alias = rest.get(1).filter(|_| source::starts_with(rest, &["as"]));
    if let Some(name) = alias.map(|token| token.text.clone()).or_else(|| path.last().cloned()) {
        module.names.insert(name, path.clone());
    }
    module.paths.insert(path);
}

/// The elements of the list in braces with which the tokens begin.
fn elements(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut depth, mut begin, mut found) = (0_usize, 1, Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && token.text == ",") {
            found.push(&tokens[begin..at]);
            begin = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    found.retain(|element| !element.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::tree;

    fn circles<const N: usize>(files: [(&str, &str); N]) -> Vec<Vec<String>> {
        let workspace = tree(files);
        let imports = Imports::of(&workspace, "a/src/lib.rs");
        imports.circles().into_iter().map(|circle| circle.into_iter().map(str::to_owned).collect()).collect()
    }

    #[test]
    fn files_that_take_from_each_other_are_a_circle() {
        let found = circles([
            ("a/src/lib.rs", "mod b; mod c; mod d;"),
            ("a/src/b.rs", "use crate::c::C; pub struct B;"),
            ("a/src/c.rs", "fn f() -> super::d::D { todo() } pub struct C;"),
            ("a/src/d.rs", "use super::{b::{self, B}, x}; pub struct D;"),
        ]);
        assert_eq!(found, [["a/src/b.rs", "a/src/c.rs", "a/src/d.rs"]]);
    }

    #[test]
    fn who_may_see_an_item_is_not_taken() {
        let parent = ("a/src/b/mod.rs", "mod c; use c::C;");
        let child = "pub(in crate::b) struct C;";
        assert_eq!(circles([("a/src/lib.rs", "mod b;"), parent, ("a/src/b/c.rs", child)]), [[""; 0]; 0]);
    }

    #[test]
    fn a_child_that_takes_from_its_parent_is_a_circle_only_if_the_parent_takes_from_it() {
        let child = ("a/src/b/c.rs", "use super::B; pub struct C;");
        assert_eq!(
            circles([("a/src/lib.rs", "mod b;"), ("a/src/b.rs", "mod c; pub struct B;"), child]),
            [[""; 0]; 0]
        );
        let found =
            circles([("a/src/lib.rs", "mod b;"), ("a/src/b.rs", "mod c; use c::C; pub struct B;"), child]);
        assert_eq!(found, [["a/src/b.rs", "a/src/b/c.rs"]]);
    }

    #[test]
    fn a_path_behind_one_colon_counts() {
        let files = [
            ("a/src/lib.rs", "mod b; mod c;"),
            ("a/src/b.rs", "const B: D = D { field: crate::c::C };"),
            ("a/src/c.rs", "fn f(b: crate::b::B) {}"),
        ];
        assert_eq!(circles(files), [["a/src/b.rs", "a/src/c.rs"]]);
        let imports = Imports::of(&tree(files), "a/src/lib.rs");
        assert_eq!(imports.inside_circles(), ["a/src/b.rs <- a/src/c.rs: C", "a/src/c.rs <- a/src/b.rs: B"]);
    }

    #[test]
    fn what_is_taken_through_a_re_export_is_taken_from_where_it_is_defined() {
        let root = "mod b; mod c; pub use b::B; pub use c::{C as Sea};";
        let free = [
            ("a/src/lib.rs", root),
            ("a/src/b.rs", "pub struct B;"),
            ("a/src/c.rs", "use crate::B; pub struct C;"),
        ];
        assert_eq!(circles(free), [[""; 0]; 0]);
        let mutual = [
            ("a/src/lib.rs", root),
            ("a/src/b.rs", "use crate::Sea; pub struct B;"),
            ("a/src/c.rs", "use crate::B; pub struct C;"),
        ];
        assert_eq!(circles(mutual), [["a/src/b.rs", "a/src/c.rs"]]);
    }

    #[test]
    fn an_item_of_the_root_ties_its_user_to_the_root() {
        let found = circles([
            ("a/src/lib.rs", "mod b; pub use b::B; pub const K: u8 = 1;"),
            ("a/src/b.rs", "const L: u8 = crate::K;"),
        ]);
        assert_eq!(
            found,
            [["a/src/b.rs", "a/src/lib.rs"]].map(|mut circle| {
                circle.reverse();
                circle
            })
        );
    }

    #[test]
    fn tests_comments_other_crates_and_exported_macros_do_not_count() {
        let found = circles([
            ("a/src/lib.rs", "mod b; mod c;"),
            ("a/src/b.rs", "use crate::c::C; use std::c::D; pub struct B;"),
            (
                "a/src/c.rs",
                "// use crate::b::B;\n#[cfg(test)] mod tests { use crate::b::B; }\nmacro_rules! m { () => { $crate::b::B } }",
            ),
        ]);
        assert_eq!(found, [[""; 0]; 0]);
    }
}
