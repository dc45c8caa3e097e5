//! Lists the documents that a crate embeds: parts, pages of error codes, templates. A new file in one of these folders
//! is embedded by the next build; there is no list in the code to extend.
//!
//! For build scripts, which write `embedded.rs` with it; the crate includes this file from `OUT_DIR`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Writes `embedded.rs`: for each folder a constant, which is a list of pairs of a file's stem and its text, sorted by
/// name. A folder is given as the name of the constant, its path from the crate, and the ending of its files; `README`
/// is left out.
///
/// # Errors
/// If a folder cannot be read, or the list cannot be written.
///
/// # Panics
/// If it is not called from a build script.
pub fn embed(folders: &[(&str, &str, &str)]) -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it for build scripts"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it for build scripts"));
    let mut text = String::new();
    for (constant, folder, ending) in folders {
        let folder = here.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        list(&mut text, constant, &folder, ending)?;
    }
    fs::write(out.join("embedded.rs"), text)
}

/// Appends `const NAME: &[(stem, text)]`, sorted by name.
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
