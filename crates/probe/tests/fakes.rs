//! The runner on machines of memory: what an inert one is reported as, what an obliging one passes, and that every
//! register is put back.

use lanetwin_probe::cycle::{Bench, CyclePlan, Test, TestReport};
use lanetwin_probe::fake::{Behaviour, Sample, dump};
use lanetwin_probe::journal::{self, Entry, Journal};
use lanetwin_probe::{Address, Attribute, Function, Host, HostError, Session, Width, put_back};
use lanetwin_units::{Instant, Span};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

fn wish(tests: Vec<Test>, count: u64) -> CyclePlan {
    CyclePlan { tests, count, power_count: count, ..CyclePlan::default() }
}

/// Runs a wish on a machine.
fn run(host: &mut dyn Host, wish: &CyclePlan) -> Vec<TestReport> {
    let port = Function::find(host, Sample::PORT).expect("a port");
    let device = Function::find(host, Sample::DEVICE).expect("a drive");
    let mut session = Session::new(host, Sample::PORT, Sample::DEVICE, None);
    let reports = {
        let mut bench = Bench::new(&mut session, port, device).expect("a link");
        bench.run(wish, &mut |_| ControlFlow::Continue(())).expect("a machine that lets it").0
    };
    assert_eq!(session.restore(), [], "everything is put back");
    reports
}

#[test]
fn every_action_on_an_inert_machine_is_not_performed() {
    let mut machine = Sample::default().machine(Behaviour::Inert);
    let reports = run(&mut machine, &wish(Test::ALL.to_vec(), 3));
    assert_eq!(reports.len(), Test::ALL.len());
    for report in reports {
        assert_eq!(report.verdict, "NOT PERFORMED", "{}: {:?}", report.title, report.failures);
        assert_eq!((report.passed, report.failed, report.bound), (0, 0, None), "{}", report.title);
        assert!(report.reason.is_some_and(|why| why.len() > 10), "{}", report.title);
    }
}

#[test]
fn every_action_on_an_obliging_machine_passes_and_leaves_no_trace() {
    for retimers in 0..=2 {
        let mut machine = Sample { retimers, ..Sample::default() }.machine(Behaviour::Obliging);
        let before = machine.spaces().clone();
        for report in run(&mut machine, &wish(Test::ALL.to_vec(), 4)) {
            assert_eq!(report.verdict, "pass", "{}: {:?} {:?}", report.title, report.reason, report.failures);
            assert!(report.proof.is_some());
        }
        let status = |offset| [0x52, 0x53, 0x82, 0x83].contains(&offset);
        for (address, space) in machine.spaces() {
            let changed = (0..4096).filter(|&at| space[at] != before[address][at] && !status(at));
            assert_eq!(changed.collect::<Vec<_>>(), [0_usize; 0], "{address}");
        }
    }
}

/// A machine that breaks: it refuses everything from its nth write on, or goes on as a killed process leaves it.
struct Breaking<'a> {
    inner: &'a mut dyn Host,
    writes: usize,
    refuses_at: Option<usize>,
    touched: BTreeSet<(Address, u16)>,
}

impl<'a> Breaking<'a> {
    fn new(inner: &'a mut dyn Host, refuses_at: Option<usize>) -> Self {
        Self { inner, writes: 0, refuses_at, touched: BTreeSet::new() }
    }
}

impl Host for Breaking<'_> {
    fn read(&mut self, at: Address, offset: u16, width: Width) -> Result<u32, HostError> {
        self.inner.read(at, offset, width)
    }
    fn write(&mut self, at: Address, offset: u16, width: Width, value: u32) -> Result<(), HostError> {
        self.writes += 1;
        if self.refuses_at == Some(self.writes) {
            return Err(HostError::Refused { what: "a write".into(), said: "it broke".into() });
        }
        self.touched.insert((at, offset));
        self.inner.write(at, offset, width, value)
    }
    fn size(&mut self, at: Address) -> Result<u16, HostError> {
        self.inner.size(at)
    }
    fn now(&self) -> Instant {
        self.inner.now()
    }
    fn wait(&mut self, span: Span) {
        self.inner.wait(span);
    }
    fn name(&self) -> String {
        self.inner.name()
    }
    fn power_cycle(&mut self, device: Address) -> Result<(), HostError> {
        self.inner.power_cycle(device)
    }
    fn direct_width(&mut self, port: Address, lanes: u8) -> Result<(), HostError> {
        self.inner.direct_width(port, lanes)
    }
    fn put_back(&mut self, attribute: &Attribute) -> Result<(), HostError> {
        assert_eq!(attribute.value, "0000:01:00.0");
        Ok(())
    }
}

/// The registers that keep what is written, without those whose change is what a status is.
fn differences(before: &[u8], after: &[u8]) -> Vec<usize> {
    let status = |offset: &usize| [0x52, 0x53, 0x82, 0x83, 0x18c, 0x28c, 0x72].contains(offset);
    (0..4096).filter(|&at| before[at] != after[at]).filter(|at| !status(at)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever was running and whenever the machine began to refuse: every register that was written holds what it
    /// held.
    #[test]
    fn every_register_written_is_restored(at in 1_usize..60, which in 0..Test::ALL.len(), cycles in 1_u64..4) {
        let mut machine = Sample::default().machine(Behaviour::Obliging);
        let before = machine.spaces().clone();
        let touched = {
            let mut breaking = Breaking::new(&mut machine, Some(at));
            let port = Function::find(&mut breaking, Sample::PORT).unwrap();
            let device = Function::find(&mut breaking, Sample::DEVICE).unwrap();
            {
                let mut session = Session::new(&mut breaking, Sample::PORT, Sample::DEVICE, None);
                let mut bench = Bench::new(&mut session, port, device).unwrap();
                // an error ends the run early; the session is dropped on the way out
                let _ = bench.run(&wish(vec![Test::ALL[which]], cycles), &mut |_| ControlFlow::Continue(()));
            }
            breaking.touched
        };
        // the test is not empty: what is refused late has written something before
        prop_assert!(at < 4 || !touched.is_empty() || which > 0);
        for (address, space) in machine.spaces() {
            prop_assert_eq!(differences(&before[address], space), Vec::<usize>::new(), "{} {}", address, Test::ALL[which].name());
        }
    }

    /// A killed process: nothing is dropped, only the journal is left, cut anywhere in its last line.
    #[test]
    fn a_journal_puts_back_what_a_killed_run_left(at in 1_usize..40, which in 0..Test::ALL.len(), cut in 0_usize..20) {
        let folder = tempfile(which * 100 + at, cut);
        let path = folder.join("journal");
        let mut machine = Sample::default().machine(Behaviour::Obliging);
        let before = machine.spaces().clone();
        {
            let journal = Journal::create(&path, "test", Sample::PORT, Sample::DEVICE).unwrap();
            // killed at its nth write: what was to come did not
            let mut breaking = Breaking::new(&mut machine, Some(at));
            let port = Function::find(&mut breaking, Sample::PORT).unwrap();
            let device = Function::find(&mut breaking, Sample::DEVICE).unwrap();
            let mut session = Session::new(&mut breaking, Sample::PORT, Sample::DEVICE, Some(journal));
            session
                .keep_attribute(Attribute { name: "driver".into(), value: "0000:01:00.0".into() })
                .unwrap();
            let mut bench = Bench::new(&mut session, port, device).unwrap();
            let _ = bench.run(&wish(vec![Test::ALL[which]], 2), &mut |_| ControlFlow::Continue(()));
            // as SIGKILL does it: nothing runs any more
            std::mem::forget(session);
        }
        let mut text = std::fs::read_to_string(&path).unwrap();
        // the write that a cut line announces was not made; here every line's was, so only an added one is cut
        let half = r#"{"register":{"address":"0000:01:00.0","offset":4"#;
        text.push_str(&half[..cut.min(half.len())]);
        let (opening, entries) = journal::read(&text).expect("a journal");
        prop_assert_eq!((opening.port, opening.device), (Sample::PORT, Sample::DEVICE));
        let (mut saved, mut attributes) = (Vec::new(), Vec::new());
        for entry in entries {
            match entry {
                Entry::Register(register) => saved.push(register),
                Entry::Attribute(attribute) => attributes.push(attribute),
            }
        }
        prop_assert_eq!(attributes.len(), 1);
        let mut other_process = Breaking::new(&mut machine, None);
        prop_assert_eq!(put_back(&mut other_process, (opening.port, opening.device), &saved, &attributes), vec![]);
        for (address, space) in machine.spaces() {
            prop_assert_eq!(differences(&before[address], space), Vec::<usize>::new());
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn no_text_makes_the_journal_panic(text in "(\\{\"lanetwin_journal\":1\\}|[{}\":a-z0-9,\n]){0,40}") {
        let _ = journal::read(&text);
    }
}

fn tempfile(which: usize, cut: usize) -> std::path::PathBuf {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("journal-{}-{which}-{cut}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for a journal");
    folder
}

#[test]
fn a_second_run_does_not_overwrite_the_journal_of_a_killed_one() {
    let path = tempfile(99, 0).join("journal");
    drop(Journal::create(&path, "test", Sample::PORT, Sample::DEVICE).unwrap());
    let again = Journal::create(&path, "test", Sample::PORT, Sample::DEVICE);
    assert_eq!(again.unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn a_panic_puts_everything_back() {
    let mut machine = Sample::default().machine(Behaviour::Obliging);
    let before = machine.spaces().clone();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let port = Function::find(&mut machine, Sample::PORT).unwrap();
        let device = Function::find(&mut machine, Sample::DEVICE).unwrap();
        let mut session = Session::new(&mut machine, Sample::PORT, Sample::DEVICE, None);
        let mut bench = Bench::new(&mut session, port, device).unwrap();
        let mut cycles = 0;
        let _ = bench.run(&wish(vec![Test::SpeedChange], 5), &mut |_| {
            cycles += 1;
            assert!(cycles < 3, "a bug of ours");
            ControlFlow::Continue(())
        });
    }));
    assert!(panicked.is_err());
    for (address, space) in machine.spaces() {
        assert_eq!(differences(&before[address], space), [0_usize; 0], "{address}");
    }
}

#[test]
fn a_stop_keeps_what_was_done_and_says_so() {
    let mut machine = Sample::default().machine(Behaviour::Obliging);
    let port = Function::find(&mut machine, Sample::PORT).unwrap();
    let device = Function::find(&mut machine, Sample::DEVICE).unwrap();
    let mut session = Session::new(&mut machine, Sample::PORT, Sample::DEVICE, None);
    let mut bench = Bench::new(&mut session, port, device).unwrap();
    let stop_at_7 = |progress: &lanetwin_probe::cycle::Progress| {
        if progress.done == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (reports, complete) =
        bench.run(&wish(vec![Test::Retrain, Test::BusReset], 100), &mut { stop_at_7 }).unwrap();
    assert!(!complete);
    assert_eq!((reports.len(), reports[0].passed, reports[0].verdict), (1, 7, "stopped"));
    let bound = reports[0].bound.unwrap();
    assert!((bound - (1.0 - 0.05_f64.powf(1.0 / 7.0))).abs() < 1e-9);
}

/// The dump that users try things on is the one that the code makes up.
#[test]
fn the_shipped_dump_is_the_sample() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/link/gen5-drive.txt");
    let text = dump::write(&Sample::default().spaces());
    if std::env::var_os("ACCEPT").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
}
