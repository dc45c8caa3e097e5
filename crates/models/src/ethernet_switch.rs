//! `ethernet-switch`: an Ethernet switch with a packet buffer shared by all ports.
//!
//! ```text
//!  line ──► admitted? ──► buffer ── latency ──► queue of (port, priority) ──► line
//!                └─ no room under the threshold of its queue: dropped
//! ```
//!
//! [`lanetwin_fabric::ethernet::logic::switch`] specifies a switch to the picosecond; this model adds its parameters,
//! its place in the kernel and its report. It is told of frames when they are sent, so that it decides many at a
//! time: up to the time at which an unknown frame could arrive over the shortest of its lines.
//!
//! With `pause` it pauses its peers instead of dropping frames, and obeys their pauses: `pausing`.
//!
//! Frames that arrive while a cable is down are lost at the receiving end.
//!
//! Not here: forwarding tables (they are computed from the links of the machine), learning of addresses, spanning
//! trees.

mod pausing;
mod trails;

use crate::roles::SendsFrames;
use crate::wakes::Wakes;
use lanetwin_fabric::ethernet::logic::Train;
use lanetwin_fabric::ethernet::logic::switch::{
    BufferSpec, Departure, Horizon, Marking, Mode, PortCounts, Switch, SwitchSpec,
};
use lanetwin_fabric::ethernet::spec::{Rate, Tagging, frame_bytes};
use lanetwin_kernel::{Component, Metric, Port, Report, Supply, SupplyKind, Trail};
use lanetwin_ports::{
    Build, CableOutages, Condition, Context, Dimension, EthernetSite, LATENCY, Message, Mistake, Model,
    Param, Params, PortInfo, Protocol, Setting, Site,
};
use lanetwin_units::{Better, Instant, Span};
use std::any::Any;
use trails::{Passing, Trails};

/// The declaration.
pub static MODEL: Model = Model {
    name: "ethernet-switch",
    about: "A switch of Ethernet: cut-through or store-and-forward, with a packet buffer that all ports share.",
    ports: &[PortInfo {
        name: "port",
        speaks: Protocol::Ethernet,
        about: "the ports, each at the rate of its link",
        many: true,
    }],
    params: &[PARAMS, pausing::PARAMS],
    conditions: CONDITIONS,
    mistakes,
    foresees: true,
    build: Build::Component(|params, site| Box::new(EthernetSwitch::new(params, site))),
    ..Model::DEFAULT
};

/// Parameters of marking and pausing have no effect without it.
const CONDITIONS: &[Condition] = &[
    Condition { of: &["ecn.probability"], on: "ecn.threshold.most", must_be: Setting::Above0 },
    Condition { of: &["pause."], on: "pause", must_be: Setting::Not("none") },
    Condition { of: &["pause.priority", "pause.watchdog"], on: "pause", must_be: Setting::Word("pfc") },
    Condition { of: &["pause.watchdog."], on: "pause.watchdog", must_be: Setting::Not("off") },
];

const PARAMS: &[Param] = &[
    Param {
        name: "ports",
        dimension: Dimension::Count { least: 1, most: 256 },
        default: Some("32"),
        about: "how many ports there are",
    },
    Param {
        name: "ethernet.rate",
        dimension: Dimension::Choice(&["1", "10", "25", "40", "50", "100", "200", "400"]),
        default: Some("100"),
        about: "the highest rate of an Ethernet port, in Gb/s",
    },
    Param {
        name: "ethernet.mtu",
        dimension: Dimension::Size,
        default: Some("9216B"),
        about: "the largest payload of a frame that it forwards; longer ones are dropped, and nobody is told",
    },
    Param {
        name: "forwarding",
        dimension: Dimension::Choice(&["cut-through", "store-and-forward"]),
        default: Some("cut-through"),
        about: "whether a frame may leave when its first bit is in, or its last; into a faster line always its last",
    },
    Param {
        name: LATENCY,
        dimension: Dimension::Time,
        default: Some("450ns"),
        about: "from the first bit in (the last, if stored) to the first bit out, where nothing is in the way",
    },
    Param {
        name: "buffer",
        dimension: Dimension::Size,
        default: Some("16MiB"),
        about: "the packet buffer, which all ports share",
    },
    Param {
        name: "buffer.cell",
        dimension: Dimension::Size,
        default: Some("256B"),
        about: "the buffer is handed out in cells of so many bytes; a frame takes whole cells",
    },
    Param {
        name: "buffer.alpha",
        dimension: Dimension::Choice(&[
            "1/128", "1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1", "2", "4", "8",
        ]),
        default: Some("1"),
        about: "a queue may grow to alpha times what of the buffer is free; frames that find more are dropped",
    },
    Param {
        name: "ecn.threshold",
        dimension: Dimension::Size,
        default: Some("0B"),
        about: "a frame that finds so much in its queue is marked (congestion experienced), if it can be; 0 is never",
    },
    Param {
        name: "ecn.threshold.most",
        dimension: Dimension::Size,
        default: Some("0B"),
        about: "from here on every frame is marked; from `ecn.threshold` on the probability rises in a line; 0 is at `ecn.threshold`",
    },
    Param {
        name: "ecn.probability",
        dimension: Dimension::Ratio,
        default: Some("1"),
        about: "how likely a frame is marked that finds almost `ecn.threshold.most`",
    },
    Param {
        name: "routes",
        dimension: Dimension::Flag,
        default: Some("true"),
        about: "whether it is a router: then flows are spread over equally short ways; bridges must not form a loop",
    },
];

const FORWARDED: Metric = Metric::new("frames forwarded", "M/s", Better::Neither);
const CARRIED: Metric = Metric::new("frames forwarded in bytes", "MB/s", Better::Neither);
const WAITED: Metric = Metric::new("mean wait for a line", "ns", Better::Lower);
const LONGEST: Metric = Metric::new("longest wait for a line", "us", Better::Lower);
const DROPPED: Metric = Metric::new("frames dropped", "", Better::Lower).if_any("dropped frames");
const MARKED: Metric = Metric::new("frames marked", "", Better::Neither).if_any("marked frames");
const LOST: Metric =
    Metric::new("frames lost with a cable", "", Better::Lower).if_any("frames lost with a cable");
const TOO_LONG: Metric =
    Metric::new("frames longer than the MTU", "", Better::Lower).if_any("frames longer than the MTU");
const PAUSES: Metric = Metric::new("pause frames sent", "", Better::Lower).if_any("pauses");
const PAUSED: Metric = Metric::new("pause frames obeyed", "", Better::Lower).if_any("pauses");
const CLOSED: Metric = Metric::new("time paused, of all ports", "us", Better::Lower).if_any("pauses");
const STORMS: Metric = Metric::new("pause storms detected", "", Better::Lower).if_any("pause storms");
const RESTORED: Metric = Metric::new("pause storms over", "", Better::Higher).if_any("pause storms");
const DISCARDED: Metric =
    Metric::new("frames dropped in pause storms", "", Better::Lower).if_any("frames dropped in pause storms");
/// When the first storm was detected, and when it ended, since the start of the run.
const DETECTED_AT: Metric =
    Metric::new("pause storm detected at", "ms", Better::Lower).if_any("pause storms");
const RESTORED_AT: Metric =
    Metric::new("pause storm over at", "ms", Better::Lower).if_any("pause storms over");
const STRAY: Metric = Metric::new("frames without a way", "", Better::Lower).if_any("frames without a way");

/// The fraction given by a word of `buffer.alpha`.
fn alpha(params: &Params) -> (u32, u32) {
    let (part, of) =
        params.choice("buffer.alpha").split_once('/').unwrap_or((params.choice("buffer.alpha"), "1"));
    let number = |text: &str| text.parse().unwrap_or(1);
    (number(part), number(of))
}

/// The marking of frames; `None` if the threshold is 0.
fn marking(params: &Params) -> Option<Marking> {
    let size = |name| params.size(name).0;
    let (from, to) = (size("ecn.threshold"), size("ecn.threshold.most"));
    let most = (params.ratio("ecn.probability") * 1e6).round() as u32;
    (from > 0).then(|| Marking { from, to: to.max(from), most })
}

/// Everything about these parameters that makes a switch impossible.
fn mistakes(params: &Params) -> Vec<Mistake> {
    let (buffer, cell) = (params.size("buffer").0, params.size("buffer.cell").0);
    let cell_bad = (cell == 0 || cell > 1 << 16).then(|| Mistake {
        parameter: "buffer.cell",
        problem: format!("a cell of {cell} B"),
        remedy: "it must be from 1 B to 64 KiB; 208 B to 256 B are usual".to_owned(),
    });
    let buffer_bad = (buffer < 1 << 14).then(|| Mistake {
        parameter: "buffer",
        problem: format!("a buffer of {buffer} B does not hold a frame of 9000 B"),
        remedy: "it must be 16 KiB or more".to_owned(),
    });
    let (from, to) = (params.size("ecn.threshold").0, params.size("ecn.threshold.most").0);
    let marks_bad = (to > 0 && (from == 0 || to < from)).then(|| Mistake {
        parameter: "ecn.threshold.most",
        problem: format!("every frame is marked from {to} B on, but the first from {from} B"),
        remedy: "it must not be below `ecn.threshold`, and that must not be 0".to_owned(),
    });
    let pausing_bad = pausing::mistakes(params);
    cell_bad.into_iter().chain(buffer_bad).chain(marks_bad).chain(pausing_bad).collect()
}

/// So late that nothing happens later, and yet can be added to \[ps\].
const FAR: u64 = u64::MAX / 2;

lanetwin_kernel::stages! { LINE = "line", FORWARD = "forward", QUEUE = "queue for the line" }

/// The switch.
pub struct EthernetSwitch {
    switch: Switch,
    ports: Vec<Option<EthernetSite>>,
    /// Outages of the cables at the ports.
    outages: Vec<CableOutages>,
    /// Frames that were lost with them.
    lost: u64,
    /// The shortest time that anything takes over one of its lines \[ps\].
    nearest: u64,
    singly: bool,
    /// The largest frame that it takes \[B\].
    longest: u32,
    latency: Span,
    /// Number of longer frames, which are dropped.
    too_long: u64,
    trails: Trails,
    wakes: Wakes,
    out: Vec<Departure>,
}

impl EthernetSwitch {
    fn new(params: &Params, site: &Site) -> Self {
        let mut ports = site.ethernet.clone();
        ports.resize(ports.len().max(params.count("ports") as usize), None);
        let mut outages = site.outages.clone();
        outages.resize(ports.len(), CableOutages::default());
        let most =
            params.choice("ethernet.rate").parse().ok().and_then(Rate::from_gbps).unwrap_or(Rate::G400);
        let spec = SwitchSpec {
            ports: ports.iter().map(|port| port.map(|site| site.line.rate.min(most))).collect(),
            mode: match params.choice("forwarding") {
                "cut-through" => Mode::CutThrough,
                _ => Mode::StoreAndForward,
            },
            latency_ps: params.time(LATENCY).as_ps(),
            buffer: BufferSpec {
                bytes: params.size("buffer").0,
                cell: params.size("buffer.cell").0.clamp(1, 1 << 16) as u32,
                alpha: alpha(params),
                marking: marking(params),
            },
            pause: pausing::spec(params, &ports, most),
            forwarding: site.forwarding.clone(),
        };
        let sites = || ports.iter().flatten();
        Self {
            switch: Switch::new(spec),
            nearest: sites().map(|site| site.line.delay().as_ps()).min().unwrap_or(1),
            singly: sites().any(|site| site.frame_by_frame),
            longest: frame_bytes(params.size("ethernet.mtu").0.min(1 << 16) as u32, Tagging::Tagged),
            too_long: 0,
            latency: params.time(LATENCY),
            trails: Trails::default(),
            ports,
            outages,
            lost: 0,
            wakes: Wakes::new(),
            out: Vec::new(),
        }
    }

    /// Counters of each port up to `now`, the present.
    #[must_use]
    pub fn ports(&self, now: Instant) -> Vec<PortCounts> {
        self.switch.counts(now.as_ps()).ports
    }

    /// Forwards a train announced to arrive at `at`, if no unknown frame can come before it and nothing blocks it.
    /// Returns whether it did.
    fn pass_at_once(&mut self, at: Instant, ingress: u16, train: &Train, cx: &mut Context<'_>) -> bool {
        let now = cx.now();
        if self.singly {
            return false;
        }
        let until = cx.next_unknown().as_ps().min(FAR) + self.nearest;
        let Some(departure) = self.switch.pass_at_once(at.as_ps(), ingress, train, until) else {
            return false;
        };
        let Departure { port, start, train } = departure;
        let last = train.start_of(start, train.count - 1);
        let (left, came) = (Instant::from_ps(last), train.start_of(at.as_ps(), train.count - 1));
        let came = Instant::from_ps(came);
        cx.mark_until(came, LINE);
        cx.mark_until((came + self.latency).min(left), FORWARD);
        cx.mark_until(left, QUEUE);
        if let Some(site) = self.ports[usize::from(port)] {
            cx.send_at(Port(port), Instant::from_ps(start) + site.line.delay(), Message::Frames(train));
        }
        self.switch.happen(now.as_ps());
        // a single frame has already started when it is announced
        if train.count > 1 {
            self.arm(Some(last), cx);
        }
        true
    }

    /// Sees to it that it is woken when something may have to be decided, and when the last frame starts that has been.
    fn arm(&mut self, last: Option<u64>, cx: &mut Context<'_>) {
        let Some(at) = self.switch.next_decision().or(last) else { return };
        self.wakes.ask(Instant::from_ps(at).max(cx.now()), 0, cx);
    }
}

impl SendsFrames for EthernetSwitch {
    fn set_frame_by_frame(&mut self, each: bool) {
        self.singly = each;
    }
}

impl Component<Message> for EthernetSwitch {
    fn receive(&mut self, _: Port, _: Message, _: &mut Context<'_>) {
        unreachable!("a switch is told of frames when they are sent")
    }

    fn expect(&mut self, at: Instant, port: Port, message: &Message, cx: &mut Context<'_>) {
        let Message::Frames(train) = *message else {
            unreachable!("a switch is sent frames, not {message:?}")
        };
        if u32::from(train.bytes) > self.longest {
            self.too_long += u64::from(train.count);
            return;
        }
        let outages = &self.outages[usize::from(port.0)];
        if outages.are_none() {
            if self.pass_at_once(at, port.0, &train, cx) {
                return;
            }
            self.trails.come(at, &train, cx.trail());
            self.switch.arrive(at.as_ps(), port.0, train);
            return self.arm(None, cx);
        }
        self.lost += u64::from(train.count);
        for (at, piece) in outages.passed(at, train) {
            self.lost -= u64::from(piece.count);
            self.trails.come(at, &piece, cx.trail());
            self.switch.arrive(at.as_ps(), port.0, piece);
        }
        self.arm(None, cx);
    }

    fn wake(&mut self, _: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        self.wakes.come(now);
        let unknown = if self.singly { now } else { cx.next_unknown() };
        let arrivals = unknown.as_ps().min(FAR) + self.nearest;
        let horizon = Horizon { arrivals, answer: 2 * self.nearest, singly: self.singly };
        let mut out = std::mem::take(&mut self.out);
        self.switch.decide(horizon, &mut out);
        let last =
            |departure: &Departure| departure.train.start_of(departure.start, departure.train.count - 1);
        let last = out.iter().map(last).max().filter(|last| *last > now.as_ps());
        for Departure { port, start, train } in out.drain(..) {
            let Some(site) = self.ports[usize::from(port)] else { continue };
            let left = Instant::from_ps(train.start_of(start, train.count - 1));
            let passing = self.trails.leave(&train);
            cx.resume(passing.map_or(Trail::NONE, |passing| passing.trail));
            if let Some(Passing { at, .. }) = passing {
                cx.mark_until(at, LINE);
                cx.mark_until((at + self.latency).min(left), FORWARD);
                cx.mark_until(left, QUEUE);
            }
            cx.send_at(Port(port), Instant::from_ps(start) + site.line.delay(), Message::Frames(train));
        }
        self.out = out;
        self.switch.happen(now.as_ps());
        self.arm(last, cx);
    }

    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("ports-connected", self.ports.iter().flatten().count().to_string());
        see("next-decision", format!("{:?}", self.wakes.first()));
    }

    fn report(&mut self, now: Instant, report: &mut Report) {
        let counts = self.switch.counts(now.as_ps());
        let sum = |of: fn(&PortCounts) -> u64| counts.ports.iter().map(of).sum::<u64>();
        let frames = sum(|port| port.frames);
        let waited = counts.ports.iter().map(|port| port.waited_ps).sum::<u128>();
        for (number, (port, rate)) in counts.ports.iter().zip(&self.switch.spec().ports).enumerate() {
            let Some(rate) = *rate else { continue };
            let in_use_ps = port.busy_ps(rate, now.as_ps());
            report.supply(
                format!("line of port {number}"),
                Supply { in_use_ps, supply: 1, kind: SupplyKind::Server },
            );
        }
        report.rate(FORWARDED, frames, 1e6);
        report.rate(CARRIED, sum(|port| port.bytes), 1e6);
        report.ratio(WAITED, [u64::try_from(waited / 1000).unwrap_or(u64::MAX), frames], 1.0);
        let longest = counts.ports.iter().map(|port| port.longest_wait_ps).max().unwrap_or(0);
        report.level(LONGEST, longest as f64 / 1e6);
        report.count(DROPPED, sum(|port| port.dropped));
        report.count(MARKED, sum(|port| port.marked));
        report.count(LOST, self.lost);
        report.count(TOO_LONG, self.too_long);
        report.count(PAUSES, sum(|port| port.told[0]));
        report.count(PAUSED, sum(|port| port.heard[0]));
        report.count(CLOSED, sum(|port| port.closed_ps) / 1_000_000);
        report.count(STORMS, sum(|port| port.storms[0]));
        report.count(RESTORED, sum(|port| port.storms[1]));
        report.count(DISCARDED, sum(|port| port.discarded));
        let first = |over: usize| counts.ports.iter().filter_map(|port| port.first_storm[over]).min();
        report.level(DETECTED_AT, first(0).unwrap_or(0) as f64 / 1e9);
        report.level(RESTORED_AT, first(1).unwrap_or(0) as f64 / 1e9);
        report.count(STRAY, counts.stray);
    }

    fn digest_up_to(&self, now: Instant) -> u64 {
        self.switch.counts(now.as_ps()).digest
    }

    fn stages(&self) -> Vec<String> {
        crate::stages::names(&[STAGES])
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
    lanetwin_kernel::roles! { dyn SendsFrames }
}
