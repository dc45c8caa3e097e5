//! Problems of job files and I/O logs: one variant for each code, with the message and the remedy.
//!
//! A code never changes its meaning and is never used again; `docs/errors/` has a page for each, whose examples are run
//! as tests. `FI0…` are errors, `FI1…` warnings.

use crate::findings::problems;

problems! {
    /// The file cannot be read.
    Unreadable { said: String } = "FI001", "the file cannot be read: {said}", "check the path, and that the file may be read";
    /// An option stands before the first section.
    Outside { text: String } = "FI002", "`{text}` stands outside of a section", "put `[global]`, or the name of a job in brackets, above it";
    /// An included file has a section.
    SectionInInclude { file: String } = "FI003", "`{file}` is included and has a section", "a file that is included has options only; give it to fio as a job file of its own, or take the line in brackets away";
    /// A file cannot be included.
    CannotInclude { file: String, said: String } = "FI004", "`{file}` cannot be included: {said}", "names are paths from where fio is started, or from the folder of the file that includes";
    /// An option is unknown.
    UnknownOption { name: String, near: String } = "FI005", "fio 3.33 has no option `{name}`", "{near}`fio --cmdhelp=all` lists the options, `fio --enghelp=ENGINE` those of an engine";
    /// An option belongs to another engine.
    NotOfEngine { name: String, engine: String } = "FI006", "the engine `{engine}` has no option `{name}`", "take it away, or choose the engine that has it (`fio --enghelp=ENGINE`)";
    /// An option has no value.
    NoValue { name: String } = "FI007", "`{name}` has no value", "write `{name}=` and a value";
    /// A value is not a number.
    NotANumber { name: &'static str, text: String } = "FI008", "`{text}` is no number, where `{name}` wants one", "write whole numbers, with `k`, `m`, `g`, `t` for sizes and `us`, `ms`, `s`, `m`, `h`, `d` for times; fio 3.33 of Debian does no sums in parentheses";
    /// A number is out of its range.
    OutOfRange { name: &'static str, text: String, least: String, most: String } = "FI009", "`{text}` is out of range for `{name}`", "choose a value from {least} to {most}";
    /// A word is not one of the possible ones.
    UnknownWord { name: &'static str, word: String, words: String } = "FI010", "`{word}` is none of the words that `{name}` takes", "write one of {words}";
    /// A value does not have the form of its option.
    BadForm { name: &'static str, text: String, form: &'static str } = "FI011", "`{text}` cannot be read as what `{name}` is", "write {form}";
    /// Shares do not sum to 100 %.
    Shares { name: &'static str, sum: u64 } = "FI012", "the shares of `{name}` add to {sum} %", "make the shares add to 100; those that are left out divide the rest";
    /// Two options contradict each other.
    Contradiction { one: &'static str, other: &'static str, why: &'static str } = "FI013", "`{one}` and `{other}` contradict each other: {why}", "take one of the two away";
    /// fio no longer has the option.
    Removed { name: &'static str } = "FI014", "fio has given up `{name}`", "take it away; a share of sequential accesses is written as `percentage_random`";
    /// The file has no job.
    NoJob = "FI015", "the file has no job", "add a section with the name of the job in brackets; sections whose names begin with `global` are no jobs";
    /// An expression cannot be computed.
    Arithmetic { text: String } = "FI016", "`{text}` cannot be computed", "with a keyword such as `$ncpus`, a value is a sum of whole numbers without units";
    /// The size of a job is smaller than a block.
    TooSmall { size: u64, block: u64 } = "FI017", "the size of {size} B is smaller than a block of {block} B", "make `size` larger, or `bs` smaller";
    /// The file is not an I/O log.
    NotALog = "FI018", "this is no I/O log of fio", "a log opens with the line `fio version 2 iolog` or `fio version 3 iolog`; binary traces of blktrace are not read";
    /// The log has no I/O.
    EmptyLog = "FI019", "the log has no read and no write", "record one with `write_iolog=FILE`";
    /// The log is too long.
    LongLog { most: usize } = "FI020", "the log has more than {most} I/Os", "split it";
    /// An option changes the results, and cannot be modelled.
    CannotModel { name: &'static str, text: String, why: &'static str } = "FI021", "`{name}={text}` cannot be simulated: {why}", "take the job away, or choose it with `section:`";

    /// A unit is a power of 1000 where one of 1024 is expected, or the other way round.
    Inverted { name: &'static str, text: String, value: u64, other: String } = "FI101", "`{text}` means {value} in fio (`kb_base` is 1024, and units with `i` are its opposite)", "for powers of 1024 write `{other}`";
    /// A blank before a number hides its unit.
    HiddenUnit { name: &'static str, text: String, value: u64 } = "FI102", "`{name} ={text}` means {value} in fio: behind a blank no unit is read", "write no blank behind the `=`";
    /// A unit of time is unknown.
    UnknownTime { name: &'static str, text: String, value: u64 } = "FI103", "`{text}` means {value} µs in fio", "the units are `us`, `ms`, `s`, `m`, `h` and `d`, and nothing may follow them";
    /// Text after a number is not read.
    Tail { name: &'static str, text: String, value: u64 } = "FI104", "`{text}` means {value} in fio: the rest is not read", "write a whole number and a unit";
    /// Options are read, but not modelled.
    NotModelled { names: String } = "FI105", "read, but not modelled: {names}", "docs/fio.md says what is modelled";
    /// A variable does not exist.
    NoVariable { name: String } = "FI106", "there is no variable `{name}`: fio puts nothing in its place", "write the value into the file; scenarios know no environment";
    /// An option has no effect.
    NoEffect { name: String, why: &'static str } = "FI107", "`{name}` has no effect: {why}", "take it away, or mend what keeps it from working";
    /// A keyword stands for a number of the machine.
    OfMachine { word: &'static str, number: u64 } = "FI108", "`{word}` is assumed to be {number}, and is a number of the machine where fio runs", "write the number of that machine into the file";
    /// The line of a section has no closing bracket.
    Unclosed { name: String } = "FI109", "the bracket is not closed, and fio takes the last character away: the name is `{name}`", "close the bracket";
    /// fio skips lines of the log.
    LeftOut { what: String } = "FI110", "{what}: left out, as fio does", "record the log again, or mend the line";
    /// The job would use buffered I/O.
    Buffered = "FI111", "without `direct=1` fio goes through the page cache of the operating system; here every I/O goes to the device", "add `direct=1`";
    /// Shares of block sizes do not sum to 100 %.
    OddShares { sum: u64 } = "FI112", "the shares of `bssplit` add to {sum} %: fio sorts them, gives the last what is missing, and leaves out what is beyond 100", "make the shares add to 100; those that are left out divide the rest";
    /// The I/Os of the engine do not go to a drive.
    OtherEngine { engine: String, what: &'static str } = "FI113", "the engine `{engine}` {what}; here its I/Os go to the drive", "choose an engine of block devices: `libaio`, `io_uring`, `psync`";
    /// A rate of I/Os is given for blocks of several sizes.
    RateOfBytes { rate: u64, block: u64, bytes: u64 } = "FI114", "fio limits bytes, not I/Os: `rate_iops` is {rate} times the smallest block of {block} B, {bytes} B a second, and larger blocks take more of them each", "say `rate` in bytes; for {rate} I/Os a second multiply it by the mean size of a block";
    /// The job has several files; which drives they are, `target` of a workload says.
    SeveralFiles { name: &'static str, files: u32 } = "FI115", "`{name}` gives the job {files} files, over which fio deals out its I/Os in turn; here each drive has an equal share of them if `target:` lists as many drives as the job file names, and otherwise every drive has all of them, as if they were one file", "list the drives in `target:`, in the order in which the job file names them; for other turns write a job for each drive, with a `filename` and an `iodepth` of its own";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_are_never_used_twice() {
        assert!(CODES.windows(2).all(|pair| pair[0] < pair[1]), "{CODES:?}");
    }
}
