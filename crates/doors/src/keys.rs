//! The file with the secrets of hosts. Whoever has it can impersonate any of them, so that only its owner may read
//! it.
//!
//! ```text
//!   # host NQN                                 its secret            that of the subsystem, if it is to prove itself
//!   nqn.2014-08.org.nvmexpress:uuid:…          DHHC-1:01:…:          DHHC-1:01:…:
//!   # what may be used, the preferred one first, if it is to be something else than by default
//!   hash sha-512 sha-384
//!   group ffdhe3072 null
//! ```

use crate::problem::Problem;
use lanetwin_nvmeof::logic::authentication::secret::NoSecret;
use lanetwin_nvmeof::logic::authentication::{Group, Keys, RANDOM_BYTES, Random, Ring, Secret, Terms};
use lanetwin_nvmeof::spec::fabrics::LONGEST_NQN;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

pub use lanetwin_nvmeof::logic::authentication::Hash;

/// The longest file \[B\].
const MOST_BYTES: u64 = 1 << 20;

/// Randomness of the system.
///
/// # Errors
/// The system has none.
pub fn random() -> Result<Random, getrandom::Error> {
    let mut drawn = [0; RANDOM_BYTES];
    getrandom::fill(&mut drawn)?;
    Ok(Random(drawn))
}

/// A new secret, as it is written: for this hash, or 32 bytes that are the key themselves.
///
/// # Errors
/// The system has no randomness.
pub fn new_secret(hash: Option<Hash>) -> Result<String, getrandom::Error> {
    let mut bytes = vec![0; hash.map_or(32, Hash::bytes)];
    getrandom::fill(&mut bytes)?;
    Ok(Secret::new(bytes, hash).map_or_else(String::new, |secret| secret.to_text()))
}

/// The hosts of a file, and their secrets.
///
/// # Errors
/// Others can read it, or it contains an invalid line.
pub fn read(path: &Path) -> Result<Ring, Problem> {
    let unusable = |said: String| Problem::KeysUnusable { file: path.display().to_string(), said };
    // a pipe would wait for whoever writes it
    let file = File::options().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(path);
    let mut file = file.map_err(|error| unusable(error.to_string()))?;
    let meta = file.metadata().map_err(|error| unusable(error.to_string()))?;
    let own = [rustix::process::geteuid().as_raw(), 0].contains(&meta.uid());
    if !meta.is_file() || meta.len() > MOST_BYTES {
        return Err(unusable("it is no file, or too long to be one of secrets".into()));
    }
    if !own || meta.mode() & 0o077 != 0 {
        return Err(unusable(format!("others than you may use it (mode {:04o})", meta.mode() & 0o7777)));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| unusable(error.to_string()))?;
    parse(&text).map_err(unusable)
}

/// The hosts of a text, one a line.
fn parse(text: &str) -> Result<Ring, String> {
    let (mut hosts, mut terms) = (Vec::<(String, Keys)>::new(), Terms::quick());
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let (nqn, host, subsystem) = match words[..] {
            [] => continue,
            ["hash", ref names @ ..] if !names.is_empty() => {
                terms.hashes =
                    named(names, hash_named).map_err(|name| format!("line {number}: `{name}` is no hash"))?;
                continue;
            }
            ["group", ref names @ ..] if !names.is_empty() => {
                terms.groups = named(names, group_named)
                    .map_err(|name| format!("line {number}: `{name}` is no group"))?;
                continue;
            }
            [nqn, host] => (nqn, host, None),
            [nqn, host, subsystem] => (nqn, host, Some(subsystem)),
            _ => return Err(format!("line {number} is no host NQN with one or two secrets")),
        };
        if nqn.len() > LONGEST_NQN || !nqn.starts_with("nqn.") {
            return Err(format!("line {number}: `{nqn}` is no NQN"));
        }
        if hosts.iter().any(|(known, _)| known == nqn) {
            return Err(format!("line {number}: `{nqn}` has a line already"));
        }
        let secret = |text: &str| {
            Secret::parse(text).map_err(|why: NoSecret| format!("line {number} has no secret: {why}"))
        };
        let keys = Keys { host: secret(host)?, subsystem: subsystem.map(secret).transpose()? };
        if keys.subsystem.as_ref() == Some(&keys.host) {
            return Err(format!(
                "line {number}: host and subsystem have one secret, so that neither proves anything"
            ));
        }
        hosts.push((nqn.to_owned(), keys));
    }
    if hosts.is_empty() {
        return Err("it names no host".into());
    }
    Ok(Ring { terms, hosts })
}

fn named<'a, T>(names: &[&'a str], of: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, &'a str> {
    names.iter().map(|&name| of(name).ok_or(name)).collect()
}

/// The hash of a name such as `sha-256`.
#[must_use]
pub fn hash_named(name: &str) -> Option<Hash> {
    let names = ["sha-256", "sha-384", "sha-512"];
    names.iter().zip(Hash::ALL).find(|(known, _)| **known == name).map(|(_, hash)| hash)
}

/// The group of a name such as `ffdhe2048`, or `null`.
fn group_named(name: &str) -> Option<Group> {
    let names = ["null", "ffdhe2048", "ffdhe3072", "ffdhe4096", "ffdhe6144", "ffdhe8192"];
    names.iter().zip(Group::ALL).find(|(known, _)| **known == name).map(|(_, group)| group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_with_one_secret_or_two() {
        let made = || new_secret(Some(Hash::Sha384)).expect("a secret");
        let (one, two) = (made(), made());
        let ring = parse(&format!("# hosts\n\nnqn.a {one} {two} # both\nnqn.b {two}\n")).expect("hosts");
        let keys = |nqn| ring.keys(nqn).map(|keys| (keys.host.to_text(), keys.subsystem.is_some()));
        assert_eq!((keys("nqn.a"), keys("nqn.b")), (Some((one.clone(), true)), Some((two.clone(), false))));
        assert_eq!((keys("nqn.c"), &ring.terms), (None, &Terms::quick()));
        let chosen = parse(&format!("hash sha-512 sha-256\ngroup null\nnqn.a {one}")).expect("hosts");
        let terms = Terms { hashes: vec![Hash::Sha512, Hash::Sha256], groups: vec![Group::Null] };
        assert_eq!(chosen.terms, terms);
        for (text, said) in [
            (String::new(), "no host"),
            ("nqn.a".into(), "line 1"),
            (format!("nqn.a {one} {two} {one}"), "line 1"),
            (format!("\nhost {one}"), "no NQN"),
            (format!("nqn.a {one}\nnqn.a {two}"), "line 2"),
            (format!("nqn.a {one} {one}"), "one secret"),
            ("nqn.a DHHC-1:00:AAAA:".into(), "32, 48 or 64"),
            ("hash md5".into(), "no hash"),
            ("group".into(), "line 1"),
            ("group ffdhe2048 modp".into(), "no group"),
        ] {
            let why = parse(&text).expect_err("not this");
            assert!(why.contains(said), "{why}");
        }
    }

    #[test]
    fn nobody_else_may_read_it() {
        let folder = std::env::temp_dir().join(format!("lanetwin-keys-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("keys");
        let line = format!("nqn.a {}", new_secret(None).expect("a secret"));
        for (mode, is_taken) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            std::fs::remove_file(&file).ok();
            std::fs::write(&file, &line).expect("a file");
            rustix::fs::chmod(&file, rustix::fs::Mode::from_raw_mode(mode)).expect("a mode");
            assert_eq!(read(&file).is_ok(), is_taken, "{mode:o}");
        }
        for wrong in [&folder, &folder.join("none"), Path::new("/dev/zero")] {
            assert!(read(wrong).is_err());
        }
        std::fs::remove_dir_all(&folder).expect("it goes away");
    }
}
