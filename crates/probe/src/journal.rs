//! The journal of a run: everything that it changes is written to disk before the change. A run that is killed leaves
//! its journal, from which everything can be restored.
//!
//! A journal is lines of JSON. The first names the machine and the link; each later one is a register or an attribute
//! with its previous value. A line is on disk before the first write to its register or attribute. If the last line is
//! incomplete, the write that it announces was not made.

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
    /// The kind of the machine.
    pub host: String,
    /// The port above the link.
    pub port: Address,
    /// The device below it.
    pub device: Address,
    /// ID of the process that wrote it.
    pub process: u32,
}

/// A register with its previous value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Saved {
    /// The function.
    pub address: Address,
    /// Its offset in configuration space \[B\].
    pub offset: u16,
    /// Its width.
    pub width: Width,
    /// The previous value.
    pub value: u32,
    /// The bits that hold what is written to them.
    pub keeps: u32,
    /// The bits that a write of one clears (RW1C).
    pub clears: u32,
    /// Its name.
    pub name: String,
}

/// A line after the first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entry {
    /// A register.
    Register(Saved),
    /// A setting of the operating system.
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
    /// If the file exists ([`io::ErrorKind::AlreadyExists`]: an earlier run was killed), or cannot be written.
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
    /// Records a value that is about to be changed; it is on disk when this returns.
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
    /// Removes the file, because everything has been restored.
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

/// Why a text is not a journal.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {said}")]
pub struct NotAJournal {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub said: String,
}

/// Reads a journal: its first line, and the changes in order.
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
