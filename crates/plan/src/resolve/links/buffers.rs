//! Properties of a link's two ports: sizes of the standard, and buffers that hold at least one TLP.

use super::link::Link;
use super::payload_size;
use crate::plan::End;
use crate::problem::Problem;
use lanetwin_document::fields::join;
use lanetwin_document::problem::{Complaint, Problem as Common, Reports};
use lanetwin_document::quantity;
use lanetwin_ports::Value;
use lanetwin_units::Bytes;

/// The payload of one data credit \[B\] (PCI Express Base, section 2.6.1).
const CREDIT_BYTES: u64 = 16;
/// Maximum overhead of a TLP with payload on the wire: a header of 4 DW, framing and LCRC \[B\].
const MOST_OVERHEAD: u64 = 24;
/// The links count the bytes in a replay buffer with 32 bits.
const LARGEST_REPLAY_BUFFER: u64 = u32::MAX as u64;

impl Link<'_> {
    /// Checks that every buffer holds the largest TLP that goes through it. Otherwise that TLP could never leave, and
    /// the machine would stop.
    pub(super) fn check_buffers(&self, mps: u64, reports: &mut Reports) {
        for end in [self.from, self.to] {
            let params = &self.plan(end).params;
            // a completion is at most as large as its request; a switch has to accept any
            let asked = self.port_size(end, "port.mrrs");
            let completion = asked.map_or(mps, |Bytes(asked)| mps.min(asked));
            let receives = [("port.posted-data-credits", mps), ("port.completion-data-credits", completion)];
            for (param, payload) in receives {
                let (credits, needed) = (params.count(param), payload.div_ceil(CREDIT_BYTES));
                if (1..needed).contains(&credits) {
                    let (port, payload) =
                        (self.ports_name(end), quantity::label(Value::Size(Bytes(payload))));
                    self.port_fault(
                        end,
                        param,
                        Problem::TooFewCredits { port, param, credits, needed, payload },
                        reports,
                    );
                }
            }
            self.check_replay_buffer(end, mps + MOST_OVERHEAD, reports);
        }
    }

    fn check_replay_buffer(&self, end: End, needed: u64, reports: &mut Reports) {
        let param = "port.replay-buffer";
        let written = |bytes| quantity::written(Value::Size(Bytes(bytes)));
        let has = self.plan(end).params.size(param).0;
        if has < needed {
            let (port, has, needed) = (self.ports_name(end), written(has), written(needed));
            self.port_fault(end, param, Problem::SmallReplayBuffer { port, has, needed }, reports);
        } else if has > LARGEST_REPLAY_BUFFER {
            let (least, most) = (written(needed), written(LARGEST_REPLAY_BUFFER));
            self.port_fault(end, param, Common::OutOfRange { text: written(has), least, most }, reports);
        }
    }

    /// The name of a port for reports. Ports of the same kind share their parameters, so a mistake is reported once for
    /// all.
    fn ports_name(&self, end: End) -> String {
        let port = self.port(end);
        if port.many { format!("{}.{}", self.plan(end).name, port.group) } else { self.port_name(end) }
    }

    /// Reports a problem with a parameter of the component at an end.
    fn port_fault(&self, end: End, param: &str, problem: impl Complaint, reports: &mut Reports) {
        let slot = &self.machine.components[end.component];
        reports.add(problem, slot.spot, &join(&join("machine", &slot.name), param));
    }

    /// A size of the ports of the component at an end; switches declare fewer of them than devices.
    fn port_size(&self, end: End, param: &str) -> Option<Bytes> {
        let params = &self.plan(end).params;
        params.0.contains_key(param).then(|| params.size(param))
    }

    /// Checks that a port's own sizes are sizes of the standard, too.
    pub(super) fn check_port_size(&self, end: End, param: &str, reports: &mut Reports) {
        let Some(size) = self.port_size(end, param) else { return };
        if payload_size(size.0).is_none() {
            let text = quantity::written(Value::Size(size));
            self.port_fault(end, param, Problem::PayloadSize { text }, reports);
        }
    }
}
