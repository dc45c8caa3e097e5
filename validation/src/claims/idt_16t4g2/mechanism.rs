//! What nobody knows of the machine, and how far it may be from what was assumed.

use super::machine::Setup;

/// How the drives are slowed to what was measured without the switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Brake {
    /// A time for each access, which varies evenly by half of it either way, so that drives do not keep in step.
    Access,
    /// The same without variation: five equal drives keep in step.
    SteadyAccess,
    /// A rate at which the medium moves data, in each direction.
    Rate,
}

/// Something that is assumed, one of its ends, and what that does to the machine.
#[derive(Clone, Debug)]
pub(super) struct Mechanism {
    /// What it is.
    pub(super) name: &'static str,
    /// The end of its range.
    pub(super) end: &'static str,
    /// `path=value`; `hba.` stands for each of the adapters.
    changes: &'static [(&'static str, &'static str)],
    /// In flight on each drive.
    pub(super) outstanding: u32,
    pub(super) brake: Brake,
}

impl Mechanism {
    const fn of(
        name: &'static str,
        end: &'static str,
        changes: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { name, end, changes, outstanding: 1, brake: Brake::Access }
    }

    /// The parts as they are.
    pub(super) const BASE: Self = Self::of("as the parts are", "", &[]);

    /// Whether the machine without the switch is the same, too.
    pub(super) fn is_of_switch(&self) -> bool {
        self.outstanding == 1
            && self.brake == Brake::Access
            && self.changes.iter().all(|(path, _)| path.starts_with("sw."))
    }

    /// The setup with this, the drives slowed by `slow` (an access time in s, or a rate in B/s).
    pub(super) fn setup(&self, slow: f64) -> Setup {
        let picoseconds = |seconds: f64| format!("{}ps", (seconds.max(0.0) * 1e12) as u64);
        let slowed: Vec<(&str, String)> = match self.brake {
            Brake::Access => {
                vec![("hba.target.access", picoseconds(slow / 2.0)), ("hba.target.jitter", picoseconds(slow))]
            }
            Brake::SteadyAccess => vec![("hba.target.access", picoseconds(slow))],
            Brake::Rate => vec![("hba.target.rate", format!("{}B/s", slow as u64))],
        };
        let own = self.changes.iter().map(|&(path, value)| (path, value.to_owned()));
        let changes = own.chain(slowed).flat_map(|(path, value)| everywhere(path, &value)).collect();
        Setup { changes, outstanding: self.outstanding }
    }
}

/// A change of each component that a path stands for.
fn everywhere(path: &str, value: &str) -> Vec<(String, String)> {
    let change = |component: String, rest: &str| (format!("machine.{component}.{rest}"), value.to_owned());
    match path.split_once('.') {
        Some(("hba", rest)) => (0..3).map(|i| change(format!("hba{i}"), rest)).collect(),
        Some((component, rest)) => vec![change(component.to_owned(), rest)],
        None => Vec::new(),
    }
}

/// Every end of every range: those that the notes of the parts state, and what else is open.
pub(super) fn mechanisms() -> Vec<Mechanism> {
    let of = Mechanism::of;
    vec![
        of("switch: latency", "100 ns", &[("sw.latency", "100ns")]),
        of("switch: latency", "300 ns", &[("sw.latency", "300ns")]),
        of("switch: speed-up of its bus", "2", &[("sw.speed-up", "2")]),
        of("switch: core", "none that anybody waits for", &[("sw.core", "none")]),
        of("switch: forwarding", "store-and-forward", &[("sw.forwarding", "store-and-forward")]),
        of(
            "switch: ingress buffers",
            "small",
            &[
                ("sw.port.posted-header-credits", "16"),
                ("sw.port.posted-data-credits", "128"),
                ("sw.port.completion-header-credits", "16"),
                ("sw.port.completion-data-credits", "128"),
            ],
        ),
        of(
            "switch: ingress buffers",
            "large",
            &[
                ("sw.port.posted-header-credits", "127"),
                ("sw.port.posted-data-credits", "514"),
                ("sw.port.completion-header-credits", "127"),
                ("sw.port.completion-data-credits", "514"),
            ],
        ),
        of("switch: output buffers", "small", &[("sw.output.tlps", "8"), ("sw.output.data", "2KiB")]),
        of("switch: credit updates", "300 ns", &[("sw.port.credit-update", "300ns")]),
        of("host: completions", "of up to MPS", &[("host.completion.split", "mps")]),
        of("host: MPS", "256 B", &[("host.port.mps", "256B"), ("host.port.posted-data-credits", "256")]),
        of(
            "host: memory latency",
            "400 ns",
            &[("host.memory.dram", "400ns"), ("host.memory.llc-hit", "400ns")],
        ),
        of(
            "host: posted credits",
            "PH 14, PD 56",
            &[("host.port.posted-header-credits", "14"), ("host.port.posted-data-credits", "56")],
        ),
        of("adapter: MRRS", "2 KiB", &[("hba.port.mrrs", "2KiB")]),
        of("adapter: bursts read at once", "2", &[("hba.dma.reads", "2")]),
        of("adapter: burst", "16 KiB", &[("hba.dma.burst", "16KiB")]),
        Mechanism { outstanding: 2, ..of("load: in flight on each drive", "2", &[]) },
        Mechanism { brake: Brake::SteadyAccess, ..of("drives: access time", "does not vary", &[]) },
        Mechanism { brake: Brake::Rate, ..of("drives: slow by", "the rate of the medium", &[]) },
    ]
}

/// The ends that can move a row by more than a few parts of a thousand; those of the switch, all at once.
pub(super) fn decisive() -> Vec<Mechanism> {
    let of_switch = Mechanism::of(
        "switch: everything",
        "slow and small",
        &[
            ("sw.latency", "300ns"),
            ("sw.speed-up", "2"),
            ("sw.forwarding", "store-and-forward"),
            ("sw.port.posted-header-credits", "16"),
            ("sw.port.posted-data-credits", "128"),
            ("sw.port.completion-header-credits", "16"),
            ("sw.port.completion-data-credits", "128"),
            ("sw.output.tlps", "8"),
            ("sw.output.data", "2KiB"),
            ("sw.port.credit-update", "300ns"),
        ],
    );
    let others = mechanisms().into_iter().filter(|mechanism| !mechanism.is_of_switch());
    [of_switch].into_iter().chain(others).collect()
}
