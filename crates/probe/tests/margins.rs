//! Reading lane margins from receivers of memory: what is read is what they have, step sizes included, and nothing
//! stays changed.

use lanetwin_probe::cycle::{Bench, Stop};
use lanetwin_probe::fake::{Behaviour, Fake, Sample};
use lanetwin_probe::{Address, Function, Host, HostError, Session, Width};
use lanetwin_units::{Instant, Span};

/// Where the sample's margining capability is, and its lanes.
const LANES: u16 = 0x200 + 8;

/// Receivers with so many good steps to either side: left, right, down, up.
struct Receivers {
    inner: Fake,
    good: [u8; 4],
    /// Timing steps and reach \[% of a UI\], voltage steps and reach \[% of 1 V\].
    scale: [u8; 4],
}

impl Receivers {
    /// What a receiver answers to a command.
    fn answer(&self, command: u32) -> u32 {
        let (receiver, kind, payload) = (command & 7, command >> 3 & 7, (command >> 8) as u8);
        let says = match (kind, payload) {
            (1, 0x88) => 0b111,
            (1, 0x89) => self.scale[2],
            (1, 0x8a) => self.scale[0],
            (1, 0x8b) => self.scale[1],
            (1, 0x8c) => self.scale[3],
            (3, _) => executed(payload & 0x3f, self.good[usize::from(payload & 0x40 == 0)]),
            (4, _) => executed(payload & 0x7f, self.good[2 + usize::from(payload & 0x80 == 0)]),
            _ => payload,
        };
        receiver | kind << 3 | u32::from(says) << 8
    }
}

/// In progress without errors, or too many errors.
fn executed(step: u8, good: u8) -> u8 {
    if step <= good { 0x80 } else { 0x05 }
}

impl Host for Receivers {
    fn read(&mut self, at: Address, offset: u16, width: Width) -> Result<u32, HostError> {
        self.inner.read(at, offset, width)
    }
    fn write(&mut self, at: Address, offset: u16, width: Width, value: u32) -> Result<(), HostError> {
        if (LANES..LANES + 16).contains(&offset) && offset.is_multiple_of(4) {
            let status = self.answer(value);
            let mut spaces = self.inner.spaces().clone();
            let space = spaces.get_mut(&at).expect("a function");
            let lane = usize::from(offset);
            space[lane..lane + 2].copy_from_slice(&(value as u16).to_le_bytes());
            space[lane + 2..lane + 4].copy_from_slice(&(status as u16).to_le_bytes());
            self.inner = Fake::new(spaces, Behaviour::Obliging);
            return Ok(());
        }
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
        "receivers".into()
    }
}

fn ends(host: &mut dyn Host) -> (Function, Function) {
    let find = |host: &mut dyn Host, at| Function::find(host, at).expect("an end of the sample");
    (find(host, Sample::PORT), find(host, Sample::DEVICE))
}

#[test]
fn margins_are_read_with_their_steps_and_everything_is_put_back() {
    let inner = Sample { retimers: 1, width: 2, ..Sample::default() }.machine(Behaviour::Obliging);
    let before = inner.spaces().clone();
    let mut machine = Receivers { inner, good: [5, 6, 3, 4], scale: [12, 48, 10, 20] };
    let (port, device) = ends(&mut machine);
    let mut session = Session::new(&mut machine, Sample::PORT, Sample::DEVICE, None);
    let found = Bench::new(&mut session, port, device).unwrap().margins().expect("margins");
    let who: Vec<(u8, u8)> = found.iter().map(|one| (one.receiver, one.lane)).collect();
    assert_eq!(
        who,
        [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (6, 0), (6, 1)],
        "a retimer has two receivers"
    );
    for one in &found {
        // 12 steps to 48 % of a UI are 0.04 UI each; 10 steps to 20 % of a volt are 20 mV
        assert!((one.step.0 - 0.04).abs() < 1e-12 && (one.step.1 - 0.02).abs() < 1e-12, "{one:?}");
        assert!(
            (one.timing_ui[0] - 0.20).abs() < 1e-12 && (one.timing_ui[1] - 0.24).abs() < 1e-12,
            "{one:?}"
        );
        let [down, up] = one.voltage_v.expect("voltage");
        assert!((down - 0.06).abs() < 1e-12 && (up - 0.08).abs() < 1e-12 && !one.at_limit, "{one:?}");
    }
    assert_eq!(session.restore(), []);
    drop(session);
    for (address, space) in machine.inner.spaces() {
        let answers = |at: usize| (0x208..0x210).contains(&at);
        let changed = (0..4096).filter(|&at| space[at] != before[address][at] && !answers(at));
        assert_eq!(changed.collect::<Vec<_>>(), [0_usize; 0], "{address}");
    }
}

#[test]
fn the_last_step_is_told_as_at_least() {
    let inner = Sample { width: 1, ..Sample::default() }.machine(Behaviour::Obliging);
    let mut machine = Receivers { inner, good: [12, 12, 2, 2], scale: [12, 0, 10, 0] };
    let (port, device) = ends(&mut machine);
    let mut session = Session::new(&mut machine, Sample::PORT, Sample::DEVICE, None);
    let found = Bench::new(&mut session, port, device).unwrap().margins().expect("margins");
    assert!(found.iter().all(|one| one.at_limit && (one.timing_ui[0] - 0.5).abs() < 1e-12), "{found:?}");
}

#[test]
fn receivers_that_do_not_answer_are_not_performed() {
    for behaviour in [Behaviour::Inert, Behaviour::Obliging] {
        let mut machine = Sample::default().machine(behaviour);
        let (port, device) = ends(&mut machine);
        let mut session = Session::new(&mut machine, Sample::PORT, Sample::DEVICE, None);
        let found = Bench::new(&mut session, port, device).unwrap().margins();
        assert!(matches!(found, Err(Stop::NotPerformed(_))), "{found:?}");
    }
}
