//! A switch between lines of memory and those who ask for them.

use crate::rig::*;
use lanetwin_cxl::hdm::Decoder;
use lanetwin_kernel::{Component, ComponentId, Port};
use lanetwin_models::cxl_switch::CxlSwitch;
use lanetwin_ports::{
    Builder, Context, CxlLink, CxlLinkSpec, Hint, HintKind, Line, LineDone, Message, Operation, Status,
};
use lanetwin_units::{Generation, Instant, Span, Width};

const LATENCY: Span = Span::from_ns(10);

fn line(at: u64, operation: Operation, handle: u32, address: u64) -> (Instant, Message) {
    (ns(at), Message::Line(Line { operation, handle, address }))
}

/// Answers after so long, and notes what it was asked.
struct Memory {
    latency: Span,
    log: Log,
}

impl Component<Message> for Memory {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        self.log.borrow_mut().push((cx.now().as_ps(), port, message));
        let answer = match message {
            Message::Line(Line { operation, handle, .. }) => {
                Message::LineDone(LineDone { operation, handle, status: Status::Ok })
            }
            Message::Hint(Hint { handle, pages, .. }) => Message::HintDone { handle, value: pages.into() },
            other => panic!("a memory got {other:?}"),
        };
        cx.send(port, self.latency, answer);
    }
}

fn memory(builder: &mut Builder, name: &str, latency: Span) -> (ComponentId, Log) {
    let log = Log::default();
    (builder.add(name, Box::new(Memory { latency, log: log.clone() })), log)
}

/// A switch with two memories over which 8 KiB are interleaved by 256 B, after 4 KiB that the second has alone.
fn two(replaced: &[(&str, &str)], script: Vec<(Instant, Message)>) -> (Log, [Log; 2], ([u64; 2], u64)) {
    let mut builder = Builder::new();
    let switch = add_at(&mut builder, "switch", "cxl-switch", replaced, |site| {
        site.decoders = vec![
            Decoder::new(0x1000, 0x1000, 256, vec![1]).unwrap(),
            Decoder::new(0x2000, 0x2000, 256, vec![0, 1]).unwrap().starting_at(0x1000),
        ];
    });
    let logs = [0, 1].map(|i| {
        let (id, log) = memory(&mut builder, ["a", "b"][i], Span::from_ns([100, 30][i]));
        builder.join((id, Port(0)), (switch, Port(1 + i as u16)));
        log
    });
    let log = peer(&mut builder, (switch, Port(0)), script);
    let mut kernel = builder.seal();
    kernel.run_until(ns(1_000_000));
    let forwarded = kernel.component::<CxlSwitch>(switch).unwrap().forwarded();
    (log, logs, forwarded)
}

#[test]
fn lines_go_where_decoders_lead_and_answers_come_back_to_who_asked() {
    let script = vec![
        line(0, Operation::Read, 7, 0x1040),
        line(1, Operation::Write, 9, 0x2000),
        line(2, Operation::Read, 8, 0x2340),
        line(3, Operation::Read, 1, 0x0fff),
        line(4, Operation::Read, 2, 0x4000),
    ];
    let (answers, [a, b], forwarded) = two(&[], script);
    let asked = |log: &Log| -> Vec<(u64, u64)> {
        let log = log.borrow();
        log.iter()
            .map(|(at, _, message)| match message {
                Message::Line(line) => (*at, line.address),
                other => panic!("{other:?}"),
            })
            .collect()
    };
    assert_eq!(asked(&a), [(11_000, 0x1000)]);
    assert_eq!(asked(&b), [(10_000, 0x40), (12_000, 0x1140)]);
    let done: Vec<(u64, u32, Status)> = answers
        .borrow()
        .iter()
        .map(|(at, _, message)| match message {
            Message::LineDone(done) => (*at, done.handle, done.status),
            other => panic!("{other:?}"),
        })
        .collect();
    // There 10 ns, in the memory 30 or 100, back 10; an address that nobody has turns round in the switch.
    let expected = [
        (23_000, 1, Status::Aborted),
        (24_000, 2, Status::Aborted),
        (50_000, 7, Status::Ok),
        (52_000, 8, Status::Ok),
        (121_000, 9, Status::Ok),
    ];
    assert_eq!(done, expected);
    assert_eq!(forwarded, ([3, 3], 2));
}

#[test]
fn a_core_with_a_rate_is_shared_by_both_ways() {
    // 80 B take 8 ns, 16 B take 1.6 ns: two writes there, then their completions.
    let script = vec![line(0, Operation::Write, 1, 0x1000), line(0, Operation::Write, 2, 0x1040)];
    let (answers, [_, b], _) = two(&[("core.rate", "10GB/s")], script);
    let at = |log: &Log| log.borrow().iter().map(|(at, ..)| *at).collect::<Vec<_>>();
    assert_eq!(at(&b), [18_000, 26_000]);
    assert_eq!(at(&answers), [18_000 + 30_000 + 1_600 + 10_000, 26_000 + 30_000 + 1_600 + 10_000]);
}

#[test]
fn a_hint_is_asked_of_every_device_that_has_some_of_the_pages() {
    let hint = |at, handle, address, pages| {
        (ns(at), Message::Hint(Hint { what: HintKind::Status, pages, handle, address }))
    };
    let script = vec![hint(0, 3, 0x2000, 2), hint(1000, 4, 0x1000, 1), hint(2000, 5, 0x9000, 1)];
    let (answers, [a, b], _) = two(&[], script);
    let pages = |log: &Log| -> Vec<(u64, u32)> {
        let log = log.borrow();
        log.iter()
            .map(|(_, _, message)| match message {
                Message::Hint(hint) => (hint.address, hint.pages),
                other => panic!("{other:?}"),
            })
            .collect()
    };
    // Two pages that are interleaved are one page of each device.
    assert_eq!(pages(&a), [(0x1000, 1)]);
    assert_eq!(pages(&b), [(0x1000, 1), (0, 1)]);
    let values: Vec<(u32, u64)> = answers
        .borrow()
        .iter()
        .map(|(_, _, message)| match message {
            Message::HintDone { handle, value } => (*handle, *value),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(values, [(3, 2), (4, 1), (5, 0)]);
}

/// A host, a link, a switch, two links and two memories: the bandwidth is the upstream link's, and every line is
/// answered.
#[test]
fn two_devices_below_a_switch_have_the_bandwidth_of_its_upstream_link() {
    const LINES: u32 = 20_000;
    let mut builder = Builder::new();
    let switch = add_at(&mut builder, "switch", "cxl-switch", &[], |site| {
        site.decoders = vec![Decoder::new(0, 1 << 30, 256, vec![0, 1]).unwrap()];
    });
    let spec = CxlLinkSpec::new(Generation::Gen5, Width::X8);
    let mut link = |name: &str| builder.add_foreseeing(name, Box::new(CxlLink::new(name, 1, spec)));
    let [up, left, right] = ["up", "left", "right"].map(&mut link);
    builder.join((up, CxlLink::DEVICE), (switch, Port(0)));
    let logs = [(left, "a", 1), (right, "b", 2)].map(|(link, name, port)| {
        let (id, log) = memory(&mut builder, name, LATENCY);
        builder.join((switch, Port(port)), (link, CxlLink::HOST));
        builder.join((link, CxlLink::DEVICE), (id, Port(0)));
        log
    });
    let script = (0..LINES).map(|n| line(0, Operation::Read, n, u64::from(n) * 64)).collect();
    let answers = peer(&mut builder, (up, CxlLink::HOST), script);
    let mut kernel = builder.seal();
    kernel.run_until(Instant::NEVER);
    let answers = answers.borrow();
    let mut handles: Vec<u32> = answers
        .iter()
        .map(|(_, _, message)| match message {
            Message::LineDone(done) => done.handle,
            other => panic!("{other:?}"),
        })
        .collect();
    handles.sort_unstable();
    assert_eq!(handles, (0..LINES).collect::<Vec<_>>());
    assert_eq!(logs.map(|log| log.borrow().len() as u32), [LINES / 2; 2]);
    let (first, last) = (LINES as usize / 10, LINES as usize * 9 / 10);
    let bandwidth = (last - first) as f64 * 64.0 / (answers[last].0 - answers[first].0) as f64 * 1e3;
    assert!((bandwidth / 26.69 - 1.0).abs() < 0.005, "{bandwidth} GB/s");
}
