//! Lists the documents that the crate embeds: parts, pages of the diagnostics, templates. A new file in one of these
//! folders is in the next build; no list in the code has to be told.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Constant in the generated file, folder from the crate, ending of the files.
const FOLDERS: [(&str, &str, &str); 4] = [
    ("PARTS", "../../parts", ".yaml"),
    ("PAGES", "../../docs/errors", ".md"),
    ("TEMPLATES", "templates", ".yaml"),
    ("LINK_TEMPLATES", "templates/link", ".yaml"),
];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for build scripts"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it for build scripts"));
    let mut text = String::new();
    for (constant, folder, ending) in FOLDERS {
        let folder = here.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        list(&mut text, constant, &folder, ending)?;
    }
    fs::write(out.join("embedded.rs"), text)
}

/// Appends `const NAME: &[(stem, text)]`, in the order of the names.
fn list(text: &mut String, constant: &str, folder: &Path, ending: &str) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(ending).filter(|stem| *stem != "README").map(str::to_owned));
    }
    names.sort();
    let _ = writeln!(text, "pub(crate) const {constant}: &[(&str, &str)] = &[");
    for stem in names {
        let path = folder.join(format!("{stem}{ending}"));
        println!("cargo::rerun-if-changed={}", path.display());
        let _ = writeln!(text, "    ({stem:?}, include_str!({path:?})),");
    }
    text.push_str("];\n");
    Ok(())
}
