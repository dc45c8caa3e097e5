//! Problems of Iometer's files: one variant for each code, with the message and the remedy.
//!
//! A code never changes its meaning and is never used again; `docs/errors/` has a page for each, whose examples are run
//! as tests. `IO0…` are errors, `IO1…` warnings.

use crate::findings::problems;

problems! {
    /// The file cannot be read.
    Unreadable { said: String } = "IO001", "the file cannot be read: {said}", "check the path, and that the file may be read";
    /// The first line is not a version line.
    NoVersion = "IO002", "the file does not open with its version", "the first line of a configuration of Iometer is `Version 1.1.0` or `Version 2004.07.30`";
    /// Files of this version cannot be read.
    UnknownVersion { text: String } = "IO003", "files of version `{text}` are not understood", "save it again with Iometer 1.1.0 or 2004.07.30; versions from 1999.02.17 on are read like one of the two";
    /// A section has no end.
    Truncated { section: String, end: String } = "IO004", "`{section}` is cut short: there is no `{end}` line", "the file was cut off or edited; save it again, or add the line `{end}`";
    /// A section is unknown.
    UnknownSection { name: String } = "IO005", "there is no section `{name}`", "the sections are `'TEST SETUP`, `'RESULTS DISPLAY`, `'ACCESS SPECIFICATIONS` and `'MANAGER LIST`; a comment has a space after its apostrophe";
    /// A key is unknown in its section.
    UnknownKey { key: String, known: String } = "IO006", "`{key}` is not known here", "known here: {known}";
    /// A key lacks values.
    MissingValue { key: String, wanted: String } = "IO007", "`{key}` lacks {wanted}", "write {wanted} into the line below, after a tab";
    /// A value is not a whole number.
    NotANumber { text: String, what: String } = "IO008", "`{text}` is no whole number, where {what} belongs", "write {what} in digits";
    /// A number is out of its range.
    OutOfRange { text: String, what: String, least: u64, most: u64 } = "IO009", "`{text}` is out of range for {what}", "choose a value from {least} to {most}";
    /// A word is not one of the possible ones.
    UnknownWord { word: String, words: String } = "IO010", "`{word}` is none of the words that can stand here", "write one of {words}";
    /// The shares of a specification do not sum to 100.
    SharesNot100 { name: String, sum: u64 } = "IO011", "the shares of accesses of `{name}` add to {sum}, not to 100", "the second number of each line is its share of accesses in percent, whatever the sizes; make them add to 100";
    /// A specification has no lines.
    NoLines { name: String } = "IO012", "the access specification `{name}` has no line", "add one, such as `2048,100,67,100,0,1,0,0`, or remove the specification";
    /// A worker is assigned a specification that the file does not have.
    UnknownSpec { spec: String, worker: String, known: String } = "IO013", "worker `{worker}` is assigned `{spec}`, which is no access specification of this file", "the file has {known}; add the specification, or assign one of these or `Idle`";
    /// A section or specification occurs twice.
    Duplicate { what: String, line: u32 } = "IO014", "{what} is already given in line {line}", "rename or remove one of the two";
    /// A setting does not exist for this kind of worker.
    WrongKind { what: String, kind: &'static str } = "IO015", "{what} does not belong to a {kind} worker", "remove it, or change the type of the worker";
    /// A specification has too many lines.
    TooManyLines { name: String, most: usize } = "IO016", "the access specification `{name}` has more than {most} lines", "a share is at least 1 %: merge lines, or split the specification";
    /// The file has no section.
    Nothing = "IO017", "the file has no section", "a library of access specifications has at least `'ACCESS SPECIFICATIONS`";
    /// A line does not belong to any key.
    Stray { text: String } = "IO018", "the line `{text}` belongs to nothing", "a value stands below the line with an apostrophe that names it; remove the line, or restore what it belonged to";
    /// A key has too many values.
    TooManyValues { key: String, wanted: usize, found: usize } = "IO019", "`{key}` has {found} values, where {wanted} belong", "remove what is too much; numbers have no comma inside";
    /// The file is not a results file.
    NotResults = "IO020", "this is no results file of Iometer", "a results file opens with `'Test Type,Test Description`; give `results.csv`, not the configuration or a spreadsheet made of it";
    /// A cell of a results file cannot be read.
    BadCell { column: String, text: String } = "IO021", "`{text}` cannot be read as {column}", "the file was edited or saved by a spreadsheet in another format; give it as Iometer wrote it";

    /// The version is not one of the two known ones, but is read like one of them.
    NearVersion { version: String, like: String } = "IO101", "version `{version}` is read like {like}", "compare what `lanetwin iometer show` prints with what you meant";
    /// There is no version line at the end.
    NoClosingVersion = "IO102", "the version line at the end is missing", "Iometer repeats the version as the last line; check that nothing was cut off";
    /// A section is missing.
    MissingSection { section: &'static str, so: &'static str } = "IO103", "there is no section `'{section}`: {so}", "save all sections if the file is to be run; a library needs no more than its specifications";
    /// A disk worker is assigned a specification with replies.
    ReplyOnDisk { spec: String, worker: String } = "IO104", "`{spec}` has replies, but `{worker}` is a disk worker: they are left out", "set the last number of its lines to 0; with a reply, Iometer makes a second I/O in the opposite direction";
    /// A worker has no specification or no target.
    IdleWorker { worker: String, why: &'static str } = "IO105", "worker `{worker}` does nothing: {why}", "assign what is missing, or remove the worker";
    /// A setting is read, but not modelled.
    NotModelled { what: String } = "IO106", "{what}: read, but not modelled", "see docs/iometer.md for what is modelled";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_are_never_used_twice() {
        assert!(CODES.windows(2).all(|pair| pair[0] < pair[1]), "{CODES:?}");
    }
}
