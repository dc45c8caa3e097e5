//! What can be wrong with a job file or an I/O log: one variant a code, with the message and the remedy.
//!
//! A code never changes its meaning and is never used again; `docs/errors/` has a page for each, whose examples are run
//! as tests. `FI0…` are errors, `FI1…` warnings.

use crate::findings::problems;

problems! {
    /// A file cannot be read.
    Unreadable { said: String } = "FI001", "the file cannot be read: {said}", "check the path, and that the file may be read";
    /// An option before the first section.
    Outside { text: String } = "FI002", "`{text}` stands outside of a section", "put `[global]`, or the name of a job in brackets, above it";
    /// A section in a file that is included.
    SectionInInclude { file: String } = "FI003", "`{file}` is included and has a section", "a file that is included has options only; give it to fio as a job file of its own, or take the line in brackets away";
    /// A file that cannot be included.
    CannotInclude { file: String, said: String } = "FI004", "`{file}` cannot be included: {said}", "names are paths from where fio is started, or from the folder of the file that includes";
    /// An option that nobody knows.
    UnknownOption { name: String, near: String } = "FI005", "fio 3.33 has no option `{name}`", "{near}`fio --cmdhelp=all` lists the options, `fio --enghelp=ENGINE` those of an engine";
    /// An option of another engine.
    NotOfEngine { name: String, engine: String } = "FI006", "the engine `{engine}` has no option `{name}`", "take it away, or choose the engine that has it (`fio --enghelp=ENGINE`)";
    /// An option without its value.
    NoValue { name: String } = "FI007", "`{name}` has no value", "write `{name}=` and a value";
    /// Not a number.
    NotANumber { name: &'static str, text: String } = "FI008", "`{text}` is no number, where `{name}` wants one", "write whole numbers, with `k`, `m`, `g`, `t` for sizes and `us`, `ms`, `s`, `m`, `h`, `d` for times; fio 3.33 of Debian does no sums in parentheses";
    /// A number out of its range.
    OutOfRange { name: &'static str, text: String, least: String, most: String } = "FI009", "`{text}` is out of range for `{name}`", "choose a value from {least} to {most}";
    /// A word that is not in the list.
    UnknownWord { name: &'static str, word: String, words: String } = "FI010", "`{word}` is none of the words that `{name}` takes", "write one of {words}";
    /// Something behind a word that does not have this form.
    BadForm { name: &'static str, text: String, form: &'static str } = "FI011", "`{text}` cannot be read as what `{name}` is", "write {form}";
    /// Shares that do not make a whole.
    Shares { name: &'static str, sum: u64 } = "FI012", "the shares of `{name}` add to {sum} %", "make the shares add to 100; those that are left out divide the rest";
    /// Options that contradict one another.
    Contradiction { one: &'static str, other: &'static str, why: &'static str } = "FI013", "`{one}` and `{other}` contradict each other: {why}", "take one of the two away";
    /// An option that fio has given up.
    Removed { name: &'static str } = "FI014", "fio has given up `{name}`", "take it away; a share of sequential accesses is written as `percentage_random`";
    /// A file without a job.
    NoJob = "FI015", "the file has no job", "add a section with the name of the job in brackets; sections whose names begin with `global` are no jobs";
    /// Arithmetic that cannot be done.
    Arithmetic { text: String } = "FI016", "`{text}` cannot be computed", "with a keyword such as `$ncpus`, a value is a sum of whole numbers without units";
    /// Blocks that do not fit.
    TooSmall { size: u64, block: u64 } = "FI017", "the size of {size} B is smaller than a block of {block} B", "make `size` larger, or `bs` smaller";
    /// Not an I/O log.
    NotALog = "FI018", "this is no I/O log of fio", "a log opens with the line `fio version 2 iolog` or `fio version 3 iolog`; binary traces of blktrace are not read";
    /// A log without an I/O.
    EmptyLog = "FI019", "the log has no read and no write", "record one with `write_iolog=FILE`";
    /// A log too long.
    LongLog { most: usize } = "FI020", "the log has more than {most} I/Os", "split it";
    /// Something that changes what is measured, and cannot be modelled.
    CannotModel { name: &'static str, text: String, why: &'static str } = "FI021", "`{name}={text}` cannot be simulated: {why}", "take the job away, or choose it with `section:`";

    /// A power of 1000 where one of 1024 is expected, or the other way round.
    Inverted { name: &'static str, text: String, value: u64, other: String } = "FI101", "`{text}` means {value} in fio (`kb_base` is 1024, and units with `i` are its opposite)", "for powers of 1024 write `{other}`";
    /// A blank that hides a unit.
    HiddenUnit { name: &'static str, text: String, value: u64 } = "FI102", "`{name} ={text}` means {value} in fio: behind a blank no unit is read", "write no blank behind the `=`";
    /// A unit of time that nobody knows.
    UnknownTime { name: &'static str, text: String, value: u64 } = "FI103", "`{text}` means {value} µs in fio", "the units are `us`, `ms`, `s`, `m`, `h` and `d`, and nothing may follow them";
    /// A number with something behind it.
    Tail { name: &'static str, text: String, value: u64 } = "FI104", "`{text}` means {value} in fio: the rest is not read", "write a whole number and a unit";
    /// Options that are read and not modelled.
    NotModelled { names: String } = "FI105", "read, but not modelled: {names}", "docs/fio.md says what is modelled";
    /// A variable that is not there.
    NoVariable { name: String } = "FI106", "there is no variable `{name}`: fio puts nothing in its place", "write the value into the file; scenarios know no environment";
    /// An option that does nothing.
    NoEffect { name: String, why: &'static str } = "FI107", "`{name}` has no effect: {why}", "take it away, or mend what keeps it from working";
    /// A number of the machine.
    OfMachine { word: &'static str, number: u64 } = "FI108", "`{word}` is {number} here, and may be another number where fio runs", "write the number into the file";
    /// A section line without an end.
    Unclosed { name: String } = "FI109", "the bracket is not closed, and fio takes the last character away: the name is `{name}`", "close the bracket";
    /// Lines of a log that fio leaves out.
    LeftOut { what: String } = "FI110", "{what}: left out, as fio does", "record the log again, or mend the line";
    /// Buffered I/O.
    Buffered = "FI111", "without `direct=1` fio goes through the page cache of the operating system; here every I/O goes to the device", "add `direct=1`";
    /// Shares of block sizes that do not make a whole.
    OddShares { sum: u64 } = "FI112", "the shares of `bssplit` add to {sum} %: fio sorts them, gives the last what is missing, and leaves out what is beyond 100", "make the shares add to 100; those that are left out divide the rest";
    /// An engine whose I/Os go somewhere else.
    OtherEngine { engine: String, what: &'static str } = "FI113", "the engine `{engine}` {what}; here its I/Os go to the drive", "choose an engine of block devices: `libaio`, `io_uring`, `psync`";
    /// A rate of I/Os of several sizes.
    RateOfBytes { rate: u64, block: u64, bytes: u64 } = "FI114", "fio limits bytes, not I/Os: `rate_iops` is {rate} times the smallest block of {block} B, {bytes} B a second, and larger blocks take more of them each", "say `rate` in bytes; for {rate} I/Os a second multiply it by the mean size of a block";
    /// Several files, of which there is one here.
    SeveralFiles { name: &'static str, files: u32 } = "FI115", "`{name}` gives the job {files} files, over which fio deals out its I/Os; here all of them go to the drive that is asked, as if it were one file", "for several drives write a job for each with a `filename` of its own, and run each on its drive (`section:` and `target:` of a workload); or list the drives in `target:`, and each has the whole job";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_are_never_used_twice() {
        assert!(CODES.windows(2).all(|pair| pair[0] < pair[1]), "{CODES:?}");
    }
}
