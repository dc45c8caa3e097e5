//! Every promise holds for its seeds and for a fixed number of seeded changes of them: the same inputs in every run.
//! What coverage finds beyond is `make fuzz`'s.

mod changes;
mod inputs;

use changes::Changes;
use inputs::Inputs;
use lanetwin_kernel::Stream;
use lanetwin_promises::{Holds, PROMISES};
use std::panic::{catch_unwind, resume_unwind};

/// One test for each promise, with so many inputs beside its seeds.
macro_rules! tests {
    ($($name:ident: $count:literal,)*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                holds(stringify!($name), lanetwin_promises::$name::holds, $count);
            }
        )*
    };
}

tests! {
    authentication: 400,
    fabrics_target: 50_000,
    fio: 3_000,
    flits: 50_000,
    fuse: 150,
    icf: 5_000,
    link: 500,
    machines: 2_000,
    memory_trace: 10_000,
    nbd: 50_000,
    nvme_commands: 20_000,
    packets: 200_000,
    probe: 1_000,
    rate: 50_000,
    results: 3_000,
    scenario: 150,
    tcp_units: 50_000,
    touchstone: 30_000,
    vfio_user: 5_000,
}

fn holds(name: &str, holds: Holds, count: usize) {
    let inputs = Inputs::of(name);
    for (path, seed) in &inputs.seeds {
        hold(name, holds, seed, path);
    }
    let mut changes = Changes::new(Stream::new(1, name, "changes"), &inputs);
    for number in 0..count {
        hold(name, holds, &changes.next(), &format!("input {number}"));
    }
}

/// Says which bytes broke the promise: with these in `fuzz/regressions/NAME/FILE`, they are a seed.
fn hold(name: &str, holds: Holds, bytes: &[u8], what: &str) {
    if let Err(panic) = catch_unwind(|| holds(bytes)) {
        println!("{name} does not hold for {what}, of {} B: {}", bytes.len(), bytes.escape_ascii());
        resume_unwind(panic);
    }
}

#[test]
fn every_promise_is_tested_and_has_a_target_that_calls_it() {
    let names: Vec<&str> = PROMISES.iter().map(|&(name, _)| name).collect();
    assert_eq!(names, TESTED);
    let mut targets = inputs::files(&inputs::fuzz().join("targets"));
    targets.sort();
    for (name, target) in names.iter().zip(&targets) {
        let text = std::fs::read_to_string(target).expect("a target");
        assert!(target.ends_with(format!("{name}.rs")), "{}", target.display());
        assert!(text.contains(&format!("lanetwin_promises::{name}::holds(bytes)")), "{text}");
    }
    assert_eq!(names.len(), targets.len());
}

#[test]
fn what_breaks_on_a_rare_byte_is_found() {
    let inputs = Inputs { seeds: vec![("a seed".into(), vec![0; 100])], words: vec![b"word".to_vec()] };
    let mut changes = Changes::new(Stream::new(1, "a promise", "changes"), &inputs);
    let all: Vec<Vec<u8>> = (0..2_000).map(|_| changes.next()).collect();
    let some = |found: &dyn Fn(&[u8]) -> bool| assert!(all.iter().any(|bytes| found(bytes)));
    some(&|bytes| bytes.len() == 100 && bytes.iter().filter(|&&byte| byte != 0).count() == 1);
    some(&|bytes| bytes.len() < 20);
    some(&|bytes| bytes.len() > 150);
    some(&|bytes| bytes.windows(4).any(|four| four == b"word"));
    some(&|bytes| bytes.windows(4).any(|four| four == [0xff; 4]));
    let mut again = Changes::new(Stream::new(1, "a promise", "changes"), &inputs);
    assert!(all.iter().all(|bytes| *bytes == again.next()));
}
