//! What a run has changed, on disk before it is changed: a run that is killed leaves it behind, and it puts everything
//! back.
//!
//! A journal is lines of JSON. The first names the machine and the link; each later one is a register or an attribute
//! with the value it had. A line is on the disk before the first write to what it is about. A last line that was cut
//! short is no change: the write it announces was not made.

use crate::host::{Address, Attribute, Width};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The version of the format.
const VERSION: u32 = 1;

/// The first line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Opening {
    /// The version of the format.
    pub lanetwin_journal: u32,
    /// What the machine is.
    pub host: String,
    /// The port above the link.
    pub port: Address,
    /// The device below it.
    pub device: Address,
    /// The process that wrote it.
    pub process: u32,
}

/// A register with the value it had.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Saved {
    /// The function.
    pub address: Address,
    /// Where in its configuration space \[B\].
    pub offset: u16,
    /// How wide.
    pub width: Width,
    /// What it held.
    pub value: u32,
    /// The bits that keep what is written.
    pub keeps: u32,
    /// The bits that writing a one clears.
    pub clears: u32,
    /// Its name.
    pub name: String,
}

/// A line behind the first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entry {
    /// A register.
    Register(Saved),
    /// A thing of the operating system.
    Attribute(Attribute),
}

/// A journal that is being written. Dropping it leaves the file.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Starts a journal.
    ///
    /// # Errors
    /// If the file is there already ([`io::ErrorKind::AlreadyExists`]: an earlier run was killed) or cannot be written.
    pub fn create(path: &Path, host: &str, port: Address, device: Address) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let mut journal = Self { path: path.to_owned(), file };
        let opening = Opening {
            lanetwin_journal: VERSION,
            host: host.to_owned(),
            port,
            device,
            process: std::process::id(),
        };
        journal.line(&opening)?;
        Ok(journal)
    }
    /// Notes what is about to be changed; it is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn note(&mut self, entry: &Entry) -> io::Result<()> {
        self.line(entry)
    }
    fn line<T: Serialize>(&mut self, value: &T) -> io::Result<()> {
        let mut text = serde_json::to_vec(value)?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.file.sync_data()
    }
    /// Removes the file: everything is as it was.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn close(self) -> io::Result<()> {
        std::fs::remove_file(self.path)
    }
    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Text that is no journal.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {said}")]
pub struct NotAJournal {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub said: String,
}

/// Reads a journal: its first line, and what was changed, in the order of the changes.
///
/// # Errors
/// If a line other than the last cannot be read.
pub fn read(text: &str) -> Result<(Opening, Vec<Entry>), NotAJournal> {
    let mut lines = text.split_inclusive('\n').enumerate();
    let wrong =
        |line: usize, error: serde_json::Error| NotAJournal { line: line + 1, said: error.to_string() };
    let (_, first) =
        lines.next().ok_or_else(|| NotAJournal { line: 1, said: "the file is empty".to_owned() })?;
    let opening: Opening = serde_json::from_str(first).map_err(|error| wrong(0, error))?;
    if opening.lanetwin_journal != VERSION {
        let said = format!("version {} of the format is not known", opening.lanetwin_journal);
        return Err(NotAJournal { line: 1, said });
    }
    let mut entries = Vec::new();
    for (at, line) in lines {
        match serde_json::from_str(line) {
            Ok(entry) => entries.push(entry),
            Err(_) if !line.ends_with('\n') => break,
            Err(error) => return Err(wrong(at, error)),
        }
    }
    Ok((opening, entries))
}
