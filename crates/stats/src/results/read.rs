//! Reads results documents that may be foreign, newer, truncated or damaged.

use std::path::Path;

use lanetwin_textfile::Limit;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

/// Why a file cannot be read as a results document: a coded error with place and remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}:{column}: {code}: {message}; {help}")]
pub struct ReadError {
    /// The code, which never changes: `RS001` unreadable file, `RS002` not JSON, `RS003` foreign, `RS004` another major
    /// version, `RS005` damaged.
    pub code: &'static str,
    /// The file.
    pub file: String,
    /// The line, from 1; 0 if the error concerns no single line.
    pub line: u32,
    /// The column, from 1; 0 if the error concerns no single column.
    pub column: u32,
    /// The path in the document (`rows[3].value`); empty for the whole document.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// The field that names the schema; all others are ignored.
#[derive(Deserialize)]
struct Header {
    schema: Option<serde_json::Value>,
}

/// The text of a document, and the name that errors give its file.
pub(super) fn text_of(path: &Path) -> Result<(String, String), ReadError> {
    let file = path.display().to_string();
    let text = lanetwin_textfile::read_text(path, Limit::Data).map_err(|error| ReadError {
        code: "RS001",
        file: file.clone(),
        line: 0,
        column: 0,
        path: String::new(),
        message: format!("the file cannot be read: {error}"),
        help: "give the path of a results.json that `lanetwin run` has written".into(),
    })?;
    Ok((text, file))
}

/// Reads a document of this schema from its text; `file` is the name that errors give it.
pub(super) fn document<D: DeserializeOwned>(text: &str, file: &str, schema: &str) -> Result<D, ReadError> {
    check_header(text, file, schema)?;
    let deserializer = &mut serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(deserializer).map_err(|error| damaged(&error, file))
}

/// Rejects text that is not JSON, of another program, or of another major version.
fn check_header(text: &str, file: &str, schema: &str) -> Result<(), ReadError> {
    let at = |code, line, column, message: String, help: &str| ReadError {
        code,
        file: file.into(),
        line,
        column,
        path: if code == "RS002" { String::new() } else { "schema".into() },
        message,
        help: help.into(),
    };
    let foreign = |found: String| {
        let help =
            "results.json opens with the schema; compare needs two files that `lanetwin run` has written";
        at("RS003", 0, 0, format!("this is not a results document: {found}"), help)
    };
    let not_json = |error: serde_json::Error| {
        let help = "the file is cut short or was edited by hand; run the scenario again";
        at("RS002", place(error.line()), place(error.column()), format!("this is not JSON: {error}"), help)
    };
    serde_json::from_str::<IgnoredAny>(text).map_err(not_json)?;
    if !text.trim_start().starts_with('{') {
        return Err(foreign("it is JSON, but not an object".into()));
    }
    let header: Header = serde_json::from_str(text).map_err(|error| foreign(error.to_string()))?;
    match header.schema.as_ref().map(serde_json::Value::as_str) {
        Some(Some(said)) if said == schema => Ok(()),
        Some(Some(other)) if other.starts_with("lanetwin-results/") => {
            let help = "read it with the version of lanetwin that wrote it, or run its scenario again";
            Err(at("RS004", 0, 0, format!("its schema is `{other}`, this version reads `{schema}`"), help))
        }
        Some(other) => Err(foreign(format!("its schema is `{}`", other.unwrap_or("no text")))),
        None => Err(foreign(format!("it has no `schema: {schema}`"))),
    }
}

/// The error for a document of the right schema with a wrong value in it.
fn damaged(error: &serde_path_to_error::Error<serde_json::Error>, file: &str) -> ReadError {
    let inner = error.inner();
    let path = error.path().to_string();
    ReadError {
        code: "RS005",
        file: file.into(),
        line: place(inner.line()),
        column: place(inner.column()),
        path: if path == "." { String::new() } else { path },
        message: format!("the document is damaged: {inner}"),
        help: "mend the field or run the scenario again; a number that is missing is `null` only where the schema allows it"
            .into(),
    }
}

/// A line or column as `u32`; saturates.
fn place(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
