//! What `fuzz/run` begins with, too: seeds, inputs that once broke a promise, documents that are shipped, and words.

use std::fs;
use std::path::{Path, PathBuf};

pub struct Inputs {
    /// Files by their names.
    pub seeds: Vec<(String, Vec<u8>)>,
    pub words: Vec<Vec<u8>>,
}

impl Inputs {
    pub fn of(name: &str) -> Self {
        let fuzz = fuzz();
        let documents = fs::read_to_string(fuzz.join("documents")).expect("a list of documents");
        let documents = documents.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let folders = ["seeds", "regressions"].map(|of| format!("{of}/{name}"));
        let folders = documents.flat_map(|line| line.split(' ')).map(str::to_owned).chain(folders);
        let mut seeds: Vec<_> =
            folders.flat_map(|folder| files(&fuzz.join(folder))).map(|path| seed(&path)).collect();
        // a file system lists them in any order
        seeds.sort();
        let words = fs::read_to_string(fuzz.join(format!("seeds/{name}.dict"))).unwrap_or_default();
        Self { seeds, words: words.lines().filter_map(word).collect() }
    }
}

/// Where the seeds and targets are.
pub fn fuzz() -> PathBuf {
    // cargo tells a program that it runs where its package lies; the path at compile time may be another checkout's
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).parent().expect("a folder").to_owned()
}

/// The files in a folder and below it; none if there is no such folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn seed(path: &Path) -> (String, Vec<u8>) {
    (path.display().to_string(), fs::read(path).expect("a seed"))
}

/// The word of a line `"word"` of libFuzzer's dictionaries, with `\xAB` and `\\`.
fn word(line: &str) -> Option<Vec<u8>> {
    let mut rest = line.trim().strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let mut word = Vec::new();
    while let Some((&first, after)) = rest.split_first() {
        (word, rest) = match (first, after) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                let digits =
                    [*high, *low].map(char::from).map(|digit| digit.to_digit(16).expect("a hex digit") as u8);
                ([&word[..], &[digits[0] << 4 | digits[1]]].concat(), after)
            }
            (b'\\', [escaped, after @ ..]) => ([&word[..], &[*escaped]].concat(), after),
            _ => ([&word[..], &[first]].concat(), after),
        };
    }
    Some(word)
}
