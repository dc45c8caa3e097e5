//! CXL links: keys shared with PCIe links are read in the same way, others are rejected.

use super::errors::BitErrors;
use super::link::Link;
use super::speeds::LEAST_OF_CXL;
use super::via::Running;
use super::{LONGEST, refuse_keys};
use crate::language::FLITS;
use crate::plan::{CxlLinkPlan, CxlRole, End};
use crate::problem::Problem;
use crate::values::out_of_range;
use lanetwin_cxl::logic::FlitMode;
use lanetwin_cxl::spec::flit_256::Layout;
use lanetwin_document::node::Node;
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_pcie::spec::Clocking;
use lanetwin_ports::{CxlLinkSpec, Value};
use lanetwin_units::{Generation, Span, Width};

/// The keys that a CXL link can have.
const KEYS: [&str; 14] = [
    "from",
    "to",
    "gen",
    "width",
    "clocking",
    "propagation",
    "ber",
    "channel",
    "channel-variant",
    "eyes",
    "skp",
    "via",
    "io",
    "flit",
];
/// The widest CXL link (Compute Express Link 2.0, section 6.1).
const WIDEST: Width = Width::X16;
/// The flits that a link can have.
const MODES: [FlitMode; 3] =
    [FlitMode::Bytes68, FlitMode::Bytes256(Layout::Standard), FlitMode::Bytes256(Layout::LatencyOptimised)];

/// Its name in a scenario.
const fn word(flits: FlitMode) -> &'static str {
    FLITS[match flits {
        FlitMode::Bytes68 => 0,
        FlitMode::Bytes256(Layout::Standard) => 1,
        FlitMode::Bytes256(Layout::LatencyOptimised) => 2,
    }]
}

/// Payload for which the clock drift between SKP ordered sets is checked \[B\]: the smallest there is, since a flit of
/// 68 B is shorter.
const PAYLOAD: u16 = 128;

impl Link<'_> {
    pub(super) fn cxl(&mut self, reports: &mut Reports) -> Option<CxlLinkPlan> {
        let known = self.known;
        refuse_keys(self.entry, &self.fields.path, &KEYS, reports);
        let ends = self.host_and_device(reports);
        let read = self.stages(known.catalogue, reports);
        let understood = read.is_some();
        let (stages, written) = read.unwrap_or_else(|| (Vec::new(), Node::null()));
        self.stages = stages;
        let generation = self.generation(reports).filter(|generation| self.is_fast(*generation, reports));
        let flits = self.flits(generation, reports);
        let has_eyes = self.has_eyes(generation, reports);
        let width = self.width(reports).filter(|width| self.is_narrow(*width, reports));
        let clocking = self.clocking(reports);
        let propagation = self.short("propagation", reports);
        let retimers = self.stages.iter().filter(|stage| stage.is_retimer()).count();
        let errors = (understood && has_eyes)
            .then(|| self.bit_errors(retimers, generation, known.channels, reports))
            .flatten();
        let skp = self.choice("skp", reports).map(|word| word == "on");
        self.fields.record("via", written);
        let io = match self.fields.one("io", reports)?.value {
            Value::Rate(rate) => rate,
            other => unreachable!("`io` is declared as a rate, read as {other:?}"),
        };
        let running = Running { generation: generation?, width: width?, mps: PAYLOAD, clocking: clocking? };
        let stages = std::mem::take(&mut self.stages);
        let via = understood.then(|| self.via(stages, running, reports))?;
        if let Some(long) = via.iter().map(|via| via.latency).find(|latency| *latency > LONGEST) {
            self.fields.fault("via", out_of_range(long, Span::ZERO, LONGEST), reports);
            return None;
        }
        let BitErrors { ratio, segments, channel } = errors?;
        let (host, device) = ends?;
        Some(CxlLinkPlan {
            name: self.entry.key.clone(),
            host,
            device,
            generation: running.generation,
            width: running.width,
            clocking: running.clocking,
            propagation: propagation?,
            bit_error_ratio: ratio,
            segments,
            channel,
            via,
            skp: skp?,
            flits: flits?,
            io,
        })
    }

    /// The end at a downstream port, and the one at an upstream port.
    fn host_and_device(&self, reports: &mut Reports) -> Option<(End, End)> {
        let is_down = |end: End| self.plan(end).is_down(end.port);
        let role = |end: End| match self.plan(end).cxl_role() {
            Some(CxlRole::Host) => "a host",
            Some(CxlRole::Switch) => "a switch",
            _ => "a device",
        };
        match (is_down(self.from), is_down(self.to)) {
            (true, false) => Some((self.from, self.to)),
            (false, true) => Some((self.to, self.from)),
            (both, _) => {
                let way = if both { "both lead down to memory" } else { "neither leads down from a host" };
                let found = format!("{} and {}, by ports of which {way}", role(self.from), role(self.to));
                reports.add(Problem::NoCxlRoot { found }, self.entry.spot, &self.fields.path);
                None
            }
        }
    }

    pub(super) fn clocking(&mut self, reports: &mut Reports) -> Option<Clocking> {
        match self.choice("clocking", reports) {
            Some("srns") => Some(Clocking::Srns),
            Some("sris") => Some(Clocking::Sris),
            other => other.map(|_| Clocking::Common),
        }
    }

    /// The flit format: the given one, or that of its rate (CXL 3.2, table 6-4).
    fn flits(&mut self, generation: Option<Generation>, reports: &mut Reports) -> Option<FlitMode> {
        if self.fields.written("flit").is_none() {
            let flits = CxlLinkSpec::new(generation?, Width::X1).flits;
            self.fields.record("flit", Node::scalar(word(flits)));
            return Some(flits);
        }
        let said = self.choice("flit", reports)?;
        let flits = MODES.into_iter().find(|flits| word(*flits) == said)?;
        if flits == FlitMode::Bytes68 && generation? > Generation::Gen5 {
            self.fields.fault("flit", Problem::OldFlit { flit: said.into() }, reports);
            return None;
        }
        Some(flits)
    }

    /// Rejects channels at rates with four levels, since eyes are computed for two levels only.
    fn has_eyes(&self, generation: Option<Generation>, reports: &mut Reports) -> bool {
        let four_levels = generation.filter(|generation| *generation > Generation::Gen5);
        let asked = four_levels.filter(|_| self.fields.written("channel").is_some());
        if let Some(generation) = asked {
            self.fields.fault("channel", Problem::NoEyes { generation: generation.to_string() }, reports);
        }
        asked.is_none()
    }

    fn is_fast(&self, generation: Generation, reports: &mut Reports) -> bool {
        let is = generation >= LEAST_OF_CXL;
        if !is {
            let (least, most) = (LEAST_OF_CXL.number().to_string(), Generation::Gen6.number().to_string());
            let problem = Common::OutOfRange { text: generation.number().to_string(), least, most };
            self.fields.fault("gen", problem, reports);
        }
        is
    }

    fn is_narrow(&self, width: Width, reports: &mut Reports) -> bool {
        let is = width <= WIDEST;
        if !is {
            let (least, most) = (Width::X1.to_string(), WIDEST.to_string());
            self.fields.fault("width", Common::OutOfRange { text: width.to_string(), least, most }, reports);
        }
        is
    }
}
