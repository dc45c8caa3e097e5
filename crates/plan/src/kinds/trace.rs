//! `trace:` – the requests of a trace, each at its recorded time.

use crate::files::{FileOf, Source, Understood};
use crate::kind::{Asked, Kind, Place, Who};
use crate::plan::{AccessShape, Arrivals, Blocks, Case, Demand, LeftOut, Load, Offered, Step, Timing};
use crate::values::{count, size};
use crate::words::{Field, Holds, count as whole, field, optional, required};
use lanetwin_document::fields::Fields;
use lanetwin_document::node::Node;
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_kernel::Component;
use lanetwin_load::trace::{Pace, Replay, Trace};
use lanetwin_load::{self as load, BlockLoad, Slot};
use lanetwin_ports::{Dimension, Message, Operation, Value};
use lanetwin_units::{Bytes, Span, greatest_common_divisor};
use std::sync::Arc;

pub(crate) const KIND: Kind = Kind {
    name: "trace",
    about: "reads and writes of blocks, as a trace has them with their times",
    keys: KEYS,
    who: Who::Hosts,
    rounds: false,
    file: Some(FileOf { key: "file", read: understand, options: None }),
    read,
};

const KEYS: &[Field] = &[
    required(
        "file",
        Holds::Text,
        "the trace: comma-separated values with `time_us` (or `_s`, `_ms`, `_ns`), `operation`, `offset` and `size`, or as Microsoft Research Cambridge wrote them",
    ),
    field("speed", Holds::One(whole(1, 1_000_000)), "100", "how fast it is replayed, in percent"),
    field(
        "depth",
        Holds::One(whole(1, 65_536)),
        "65536",
        "requests in flight at most: what is due beyond that goes out when one is answered",
    ),
    optional(
        "span",
        Holds::One(Dimension::Size),
        "the part of the medium that is used: addresses beyond it begin again at its start; otherwise as the trace has them",
    ),
    optional(
        "requests",
        Holds::One(whole(1, 100_000_000)),
        "only so many of the trace, from its first on; otherwise all",
    ),
    optional("understood", Holds::Ignored, "what the trace of a complete plan asks for; not read"),
];

/// A trace to be replayed.
#[derive(Clone, PartialEq, Debug)]
struct TraceCase {
    /// Its file, as the scenario names it.
    file: String,
    trace: Arc<Trace>,
    pace: Pace,
}

/// Parses a trace: its content, and the findings.
fn understand(file: &Source<'_>) -> Understood {
    let read = match &file.text {
        Ok(text) => Trace::read(text, &file.shown),
        Err(said) => Err(vec![Trace::unreadable(said, &file.shown)]),
    };
    match read {
        Ok(trace) => (Some(Arc::new(trace)), Vec::new()),
        Err(findings) => (None, findings),
    }
}

fn read(fields: &mut Fields<'_>, place: Place<'_>, reports: &mut Reports) -> Option<Asked> {
    let file = fields.text("file", reports);
    let (speed, depth) = (count(fields, "speed", reports), count(fields, "depth", reports));
    let span = fields.written("span").is_some().then(|| size(fields, "span", reports));
    let requests = fields.written("requests").is_some().then(|| count(fields, "requests", reports));
    let file = file?.value;
    let trace: Arc<Trace> = place.configurations.content(KIND.name, &file)?;
    let (percent, depth) = (speed?, u32::try_from(depth?).expect("declared as at most 65 536"));
    // a value that is given has to be valid
    let (span, requests) = (span.map_or(Some(None), |said| said.map(Some))?, requests.map_or(Some(None), |said| said.map(Some))?);
    let trace = match requests {
        Some(requests) => Arc::new((*trace).clone().first(usize::try_from(requests).unwrap_or(usize::MAX))),
        None => trace,
    };
    let case = TraceCase { file, trace, pace: Pace { percent, depth, span: span.map(|Bytes(bytes)| bytes) } };
    fields.record("understood", case.understood());
    let label = case.file.rsplit('/').next().unwrap_or(&case.file).to_owned();
    Some(Asked::of(vec![Case { label, axis: None, load: Load::of_blocks(case) }]))
}

impl TraceCase {
    /// Number of requests of an operation, and the bytes that they move.
    fn moved(&self, operation: Operation) -> (u64, u64) {
        let own = self.trace.requests().filter(|request| request.operation == operation);
        own.fold((0, 0), |(n, bytes), request| (n + 1, bytes + u64::from(request.bytes)))
    }
    /// Length of the replay if no request has to wait.
    fn lasts(&self) -> Span {
        let ps = u128::from(self.trace.lasts().as_ps()) * 100 / u128::from(self.pace.percent);
        Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
    /// The requests of the trace, summarised as a mapping.
    fn understood(&self) -> Node {
        let side = |operation| {
            let (requests, bytes) = self.moved(operation);
            Node::scalar(format!("{requests}, {}", quantity::label(Value::Size(Bytes(bytes)))))
        };
        let lasts = Node::scalar(quantity::label(Value::Time(self.lasts())));
        Node::map([("reads", side(Operation::Read)), ("writes", side(Operation::Write)), ("lasts", lasts)])
    }
}

impl Blocks for TraceCase {
    /// Its mean rate; the number in flight depends on the drive.
    fn offered(&self) -> Offered {
        let bytes: u64 = self.trace.requests().map(|request| u64::from(request.bytes)).sum();
        let ps = u128::from(self.lasts().as_ps().max(1));
        let rate = u128::from(bytes) * 1_000_000_000_000 / ps;
        let bytes_per_second = u64::try_from(rate).unwrap_or(u64::MAX).max(1);
        Offered::Rate { bytes_per_second, arrivals: Arrivals::Fixed }
    }
    fn most_in_flight(&self) -> Option<u32> {
        Some(self.pace.depth)
    }
    fn requests(&self) -> u64 {
        self.trace.requests().len() as u64
    }
    fn kinds(&self) -> (bool, bool) {
        let has = |operation| self.moved(operation).0 > 0;
        (has(Operation::Read), has(Operation::Write))
    }
    fn shapes(&self) -> Vec<AccessShape> {
        let shape = |is_write: bool, bytes| AccessShape { is_write, is_random: true, multiple_of: Bytes(bytes) };
        let sides = [(Operation::Read, false), (Operation::Write, true)];
        let of_side = |(operation, is_write)| {
            let own = self.trace.requests().filter(move |request| request.operation == operation);
            let bytes = own.map(|request| greatest_common_divisor(request.address, request.bytes.into()));
            bytes.reduce(greatest_common_divisor).map(|bytes| shape(is_write, bytes))
        };
        sides.into_iter().filter_map(of_side).collect()
    }
    fn largest(&self) -> u64 {
        self.trace.requests().map(|request| u64::from(request.bytes)).max().unwrap_or(0)
    }
    fn asker(&self, _: usize, slot: Slot<'_>) -> Box<dyn Component<Message>> {
        let requests = Box::new(Replay::new(Arc::clone(&self.trace), self.pace));
        let arrivals = load::Arrivals::Closed { outstanding: self.pace.depth };
        Box::new(BlockLoad::of(requests, arrivals, slot.seed, slot.path).in_slot(slot))
    }
    fn timing(&self) -> Timing {
        Timing { is_whole: true, ..Timing::default() }
    }
    fn demand(&self) -> Demand {
        let end = self.trace.requests().map(|request| request.address.saturating_add(request.bytes.into())).max();
        let reach = end.map(|end| Bytes(self.pace.span.map_or(end, |span| span.min(end))));
        let every = self.shapes().iter().map(|shape| shape.multiple_of.0).fold(0, greatest_common_divisor);
        let said = quantity::written(Value::Size(Bytes(every)));
        let what = format!("what places and sizes of `{}` are multiples of, {said},", self.file);
        Demand { span: reach, steps: vec![Step { bytes: every, what, hint: "" }], ..Demand::default() }
    }
    fn not_modelled(&self, _: LeftOut<'_>) -> Vec<String> {
        vec![format!(
            "What has filled the drive before the trace `{}` began, and who waited for whom in it: a request goes out at its time, whatever became of those before.",
            self.file
        )]
    }
}
