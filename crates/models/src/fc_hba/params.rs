//! Parameters of a host bus adapter, its links and the targets behind them.

use lanetwin_fabric::fc::logic::transmitter::RUN_FRAMES;
use lanetwin_fabric::fc::spec::frame::WORD_BYTES;
use lanetwin_fabric::fc::{DataField, Rate};
use lanetwin_ports::{Dimension, Param, Params};
use lanetwin_units::{LinkRate, Span, Ticks};

pub(super) const PARAMS: &[Param] = &[
    Param {
        name: "issue",
        dimension: Dimension::Time,
        default: Some("20ns"),
        about: "from a TLP being possible (its data ready, its tag free) to it being offered to the link",
    },
    Param {
        name: "luns",
        dimension: Dimension::Count { least: 1, most: 16 },
        default: Some("2"),
        about: "FC ports, each with one logical unit behind it",
    },
    Param {
        name: "command",
        dimension: Dimension::Time,
        default: Some("2us"),
        about: "the firmware time from a doorbell to its FCP_CMND; each FC port does one command after another",
    },
    Param {
        name: "fc.gfc",
        dimension: Dimension::Choice(&["1", "2", "4", "8"]),
        default: Some("4"),
        about: "the rate of the FC ports: 1GFC (1.0625 GBd) to 8GFC (8.5 GBd), 8b/10b",
    },
    Param {
        name: "fc.payload",
        dimension: Dimension::Choice(&["512B", "1024B", "2048B", "2112B"]),
        default: Some("2048B"),
        about: "the largest data field of a frame; 2048 B of the 2112 B that there can be, as most ports agree on at login",
    },
    Param {
        name: "fc.bb-credits",
        dimension: Dimension::Count { least: 1, most: 65535 },
        default: Some("64"),
        about: "the buffer-to-buffer credits that an FC port of the adapter gives its target",
    },
    Param {
        name: "fc.propagation",
        dimension: Dimension::Time,
        default: Some("50ns"),
        about: "the time of flight between an FC port and its target, one way",
    },
    Param {
        name: "target.access",
        dimension: Dimension::Time,
        default: Some("10us"),
        about: "the time that a target takes for a command, one after another, before its data can move",
    },
    Param {
        name: "target.jitter",
        dimension: Dimension::Time,
        default: Some("0ns"),
        about: "the most that is added to each `target.access`, uniformly at random",
    },
    Param {
        name: "target.rate",
        dimension: Dimension::Rate,
        default: Some("0GB/s"),
        about: "the rate at which the medium of a target moves data, in each direction; 0 is no limit",
    },
    Param {
        name: "target.bb-credits",
        dimension: Dimension::Count { least: 1, most: 65535 },
        default: Some("64"),
        about: "the buffer-to-buffer credits that a target gives its FC port",
    },
    Param {
        name: "dma.burst",
        dimension: Dimension::Size,
        default: Some("4KiB"),
        about: "what the adapter moves to or from host memory at once, in whole frames; at least one",
    },
    Param {
        name: "dma.reads",
        dimension: Dimension::Count { least: 1, most: 4096 },
        default: Some("4"),
        about: "how many bursts each FC port requests from host memory at once",
    },
    Param {
        name: "dma.writes",
        dimension: Dimension::Count { least: 1, most: 4096 },
        default: Some("2"),
        about: "how many bursts (or completion entries) of each FC port may be on their way into the link at once; read requests queue behind them",
    },
    Param {
        name: "buffer.rx",
        dimension: Dimension::Size,
        default: Some("64KiB"),
        about: "the buffer of each FC port for data on their way to host memory, behind those that the credits stand for",
    },
    Param {
        name: "buffer.tx",
        dimension: Dimension::Size,
        default: Some("64KiB"),
        about: "the buffer of each FC port for data from host memory that wait for the wire; at least a frame",
    },
];

/// The parameters as they apply to an FC port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) line: LinkRate,
    pub(super) field: DataField,
    /// Credits of the adapter and of the target.
    pub(super) credits: [u32; 2],
    pub(super) propagation: Ticks,
    /// The firmware time of a command.
    pub(super) command: Span,
    pub(super) access: Span,
    pub(super) jitter: Span,
    /// `None` if there is no limit.
    pub(super) target_rate: Option<LinkRate>,
    /// The most that is moved to or from host memory at once \[B\]: whole frames.
    pub(super) burst: u32,
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// Buffers for data to and from host memory \[B\].
    pub(super) rx: u64,
    pub(super) tx: u64,
}

impl Rules {
    pub(super) fn new(params: &Params) -> Self {
        let gfc = params.choice("fc.gfc").parse().ok().and_then(Rate::from_gfc);
        let rate = gfc.expect("the words of the parameter are rates");
        let field = match params.choice("fc.payload") {
            "512B" => DataField::B512,
            "1024B" => DataField::B1024,
            "2048B" => DataField::B2048,
            "2112B" => DataField::B2112,
            other => unreachable!("{other} is no word of the parameter"),
        };
        let credits = ["fc.bb-credits", "target.bb-credits"].map(|name| params.count(name) as u32);
        let frame = u64::from(field.bytes());
        let tx = params.size("buffer.tx").0.max(frame);
        let burst =
            params.size("dma.burst").0.clamp(frame, tx.min(frame * u64::from(RUN_FRAMES))) / frame * frame;
        let target_rate = params.rate("target.rate");
        Self {
            line: rate.line(),
            field,
            credits,
            propagation: params.time("fc.propagation").as_ticks(),
            command: params.time("command"),
            access: params.time("target.access"),
            jitter: params.time("target.jitter"),
            target_rate: (target_rate > 0).then(|| LinkRate::bytes_per_second(target_rate)),
            burst: burst as u32,
            reads: params.count("dma.reads"),
            writes: params.count("dma.writes"),
            rx: params.size("buffer.rx").0,
            tx,
        }
    }
    /// Time from an R_RDY that can be sent until its credit is back: a word and the flight time.
    pub(super) fn ready_flight(&self) -> Ticks {
        self.line.ticks_for(u64::from(WORD_BYTES)) + self.propagation
    }
    /// The data field of the next frame of a sequence of which `left` are left \[B\].
    pub(super) fn next_frame(&self, left: u32) -> u32 {
        left.min(self.field.bytes())
    }
}
