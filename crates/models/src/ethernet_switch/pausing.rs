//! Parameters of how a switch pauses its peers, and the resulting settings of its ports.

use lanetwin_fabric::ethernet::headroom::Lossless;
use lanetwin_fabric::ethernet::logic::switch::{PauseSpec, Scope, StormAction, WatchdogSpec};
use lanetwin_fabric::ethernet::spec::{Line, MIN_FRAME_BYTES, Rate, Tagging, frame_bytes, slowest_response};
use lanetwin_ports::{Dimension, EthernetSite, LATENCY, Mistake, Param, Params};
use lanetwin_units::Span;

pub(super) const PARAMS: &[Param] = &[
    Param {
        name: "pause",
        dimension: Dimension::Choice(&["none", "802.3x", "pfc"]),
        default: Some("none"),
        about: "whether it pauses its peers before its buffer is full, and obeys them: all that they send, or a priority",
    },
    Param {
        name: "pause.priority",
        dimension: Dimension::Count { least: 0, most: 7 },
        default: Some("3"),
        about: "the priority that is paused and never dropped, with pfc",
    },
    Param {
        name: "pause.xoff",
        dimension: Dimension::Size,
        default: Some("96KiB"),
        about: "a port whose frames hold more of the buffer pauses its peer; so much is kept for each port",
    },
    Param {
        name: "pause.hysteresis",
        dimension: Dimension::Size,
        default: Some("18KiB"),
        about: "once they hold so much less than `pause.xoff`, the peer may go on",
    },
    Param {
        name: "pause.headroom",
        dimension: Dimension::Size,
        default: Some("0B"),
        about: "what is kept above `pause.xoff` for frames on their way; 0 is what can come at most over the line of the port",
    },
    Param {
        name: "pause.quanta",
        dimension: Dimension::Count { least: 64, most: 65_535 },
        default: Some("65535"),
        about: "for how long it pauses a peer, in times of 512 bits; it asks again when half is over",
    },
    Param {
        name: "pause.response",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "from the last bit of a pause frame to no frame being begun with; 0 is the longest that IEEE 802.3 allows",
    },
    Param {
        name: "pause.watchdog",
        dimension: Dimension::Choice(&["off", "drop", "forward", "alert"]),
        default: Some("off"),
        about: "with pfc: what it does about a queue that its peer pauses for ever (pause storm): its frames are dropped, or forwarded against the pause, or it is told of alone",
    },
    Param {
        name: "pause.watchdog.detection",
        dimension: Dimension::Time,
        default: Some("200ms"),
        about: "a queue that was paused for so long without having sent a frame is in a storm (SONiC, `pfcwd`)",
    },
    Param {
        name: "pause.watchdog.restoration",
        dimension: Dimension::Time,
        default: Some("200ms"),
        about: "the storm is over when no pause came for so long (SONiC, `pfcwd`)",
    },
];

/// The pause storm watchdog; `None` if there is none.
fn watchdog(params: &Params) -> Option<WatchdogSpec> {
    let action = match params.choice("pause.watchdog") {
        "drop" => StormAction::Drop,
        "forward" => StormAction::Forward,
        "alert" => StormAction::Alert,
        _ => return None,
    };
    let time = |what: &str| params.time(&format!("pause.watchdog.{what}")).as_ps().max(1);
    Some(WatchdogSpec { detection_ps: time("detection"), restoration_ps: time("restoration"), action })
}

/// Response time of a port of this rate to a pause.
fn response(params: &Params, rate: Rate) -> Span {
    let told = params.time("pause.response");
    if told == Span::ZERO { slowest_response(rate) } else { told }
}

/// Headroom above `pause.xoff` for a port at the end of this line, if its peer obeys as late as allowed.
fn headroom(params: &Params, line: Line) -> u64 {
    let told = params.size("pause.headroom").0;
    let longest = frame_bytes(params.size("ethernet.mtu").0.min(1 << 16) as u32, Tagging::Tagged);
    let form = || {
        let lossless = Lossless {
            line,
            latency: params.time(LATENCY),
            response: slowest_response(line.rate).max(params.time("pause.response")),
            longest_out: longest,
            frames_in: [MIN_FRAME_BYTES, longest],
            cell: params.size("buffer.cell").0.clamp(1, 1 << 16) as u32,
        };
        lossless.headroom()
    };
    if told == 0 { form() } else { told }
}

/// How the switch pauses; `None` if it does not.
pub(super) fn spec(params: &Params, ports: &[Option<EthernetSite>], most: Rate) -> Option<PauseSpec> {
    let scope = match params.choice("pause") {
        "802.3x" => Scope::Port,
        "pfc" => Scope::Priorities(1 << params.count("pause.priority")),
        _ => return None,
    };
    let xoff = params.size("pause.xoff").0;
    let lines = || {
        let own = |site: EthernetSite| Line { rate: site.line.rate.min(most), ..site.line };
        ports.iter().map(move |port| port.map(own))
    };
    Some(PauseSpec {
        scope,
        xoff,
        xon: xoff.saturating_sub(params.size("pause.hysteresis").0),
        headroom: lines().map(|line| line.map_or(0, |line| headroom(params, line))).collect(),
        quanta: params.count("pause.quanta") as u16,
        watchdog: watchdog(params),
        response_ps: lines().map(|line| line.map_or(0, |line| response(params, line.rate).as_ps())).collect(),
    })
}

/// Everything about these parameters that makes pausing impossible.
pub(super) fn mistakes(params: &Params) -> Vec<Mistake> {
    let watches = params.choice("pause.watchdog") != "off" && params.choice("pause") != "pfc";
    let blind = watches.then(|| Mistake {
        parameter: "pause.watchdog",
        problem: "a watchdog looks after queues that are paused by PFC, which is off".to_owned(),
        remedy: "say `pause: pfc`, or leave `pause.watchdog` out".to_owned(),
    });
    if params.choice("pause") == "none" {
        return blind.into_iter().collect();
    }
    let size = |name| params.size(name).0;
    let (xoff, buffer, ports) = (size("pause.xoff"), size("buffer"), params.count("ports"));
    let rate = params.choice("ethernet.rate").parse().ok().and_then(Rate::from_gbps).unwrap_or(Rate::G400);
    let room = xoff + headroom(params, Line::of(rate, 0, Span::ZERO));
    let full = (room * ports > buffer).then(|| Mistake {
        parameter: "pause.xoff",
        problem: format!(
            "{ports} ports that keep {room} B each, `pause.xoff` and headroom, want {} B, but the buffer has {buffer} B",
            room * ports
        ),
        remedy: "lower `pause.xoff` or `pause.headroom`, or take a larger `buffer` or fewer `ports`".to_owned(),
    });
    let hysteresis = size("pause.hysteresis");
    let never = (hysteresis > xoff).then(|| Mistake {
        parameter: "pause.hysteresis",
        problem: format!("{hysteresis} B below `pause.xoff`, {xoff} B, is less than nothing"),
        remedy: "it must not be above `pause.xoff`; two frames are usual".to_owned(),
    });
    full.into_iter().chain(never).chain(blind).collect()
}
