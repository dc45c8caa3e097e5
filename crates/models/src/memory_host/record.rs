//! What a host writes down while loads are followed, and what it says of where one spent its time.

use super::MemoryHost;
use super::flights::{Cause, Flight, NONE};
use super::nodes::{Node, address_of, node_of};
use crate::marks::{Mark, of_read};
use crate::roles::memory::LoadRecord;
use lanetwin_media::dram::Command;
use lanetwin_units::Instant;

/// What is written down.
#[derive(Default, Debug)]
pub(super) struct Record {
    pub(super) loads: Vec<LoadRecord>,
    /// The commands of each node's DRAM.
    commands: Vec<Vec<Command>>,
}

impl MemoryHost {
    /// Writes down from now on when loads that memory serves are where, or stops.
    pub fn record(&mut self, on: bool) {
        self.record = on.then(Box::default);
        for node in &mut self.nodes {
            if let Node::Dram(dram) = node {
                dram.record(on);
            }
        }
    }
    /// The loads that have ended since recording began.
    #[must_use]
    pub fn recorded(&self) -> &[LoadRecord] {
        self.record.as_ref().map_or(&[], |record| &record.loads)
    }

    /// Whether a load or store that was issued up to `at` still waits for memory.
    #[must_use]
    pub fn waits_since(&self, at: Instant) -> bool {
        self.flights
            .at_memory()
            .any(|flight| flight.issued <= at && matches!(flight.cause, Cause::Load | Cause::Store))
    }

    /// Where a load was up to its memory: up to DRAM, or to the link behind a CXL port, to which it was handed at
    /// `sent`.
    #[must_use]
    pub fn outbound_marks(&self, load: &LoadRecord, sent: Option<Instant>) -> Vec<Mark> {
        let mut marks = vec![(load.translated, "translation"), (load.arrives, "to the other socket")];
        if let Some(sent) = sent {
            let before = |span| Instant::from_ps(sent.as_ps().saturating_sub(span));
            let logic = self.rules.cxl_latency.as_ps();
            let uncore = self.rules.uncore.of(load.line).as_ps();
            marks.push((before(logic + uncore), "queue for the port's tracker"));
            marks.extend([(before(logic), "uncore"), (sent, "CXL logic")]);
        }
        marks
    }
    /// Where a load was in the DRAM of a socket.
    pub fn in_dram(&mut self, load: &LoadRecord) -> Vec<Mark> {
        let done =
            Instant::from_ps(load.returned.as_ps().saturating_sub(self.rules.uncore.of(load.line).as_ps()));
        let count = self.nodes.len();
        let (Some(Node::Dram(dram)), Some(record)) = (self.nodes.get_mut(load.node), &mut self.record) else {
            return Vec::new();
        };
        record.commands.resize(count, Vec::new());
        let place = dram.spread.place(address_of(load.line));
        let mut marks = dram.steps(&mut record.commands[load.node], place, (load.arrives, done));
        marks.push((load.returned, "uncore"));
        marks
    }
    /// Where a load was after its memory had answered.
    #[must_use]
    pub fn return_marks(&self, load: &LoadRecord) -> Vec<Mark> {
        vec![(load.told, "from the other socket")]
    }
    /// Whether the node is DRAM of a socket.
    #[must_use]
    pub fn is_dram(&self, node: usize) -> bool {
        matches!(self.nodes.get(node), Some(Node::Dram(_)))
    }
}

impl super::nodes::Dram {
    fn record(&mut self, on: bool) {
        self.machine.iter_mut().for_each(|machine| machine.record(on));
    }
    /// Where a read was that came and ended at these instants.
    fn steps(
        &mut self,
        commands: &mut Vec<Command>,
        address: u64,
        (came, done): (Instant, Instant),
    ) -> Vec<Mark> {
        let Some(machine) = &mut self.machine else {
            let begun = Instant::from_ps(done.as_ps().saturating_sub(self.latency.as_ps()));
            return vec![(begun, "DRAM queue"), (done, "DRAM")];
        };
        commands.extend(machine.take_record());
        of_read(machine.read_steps(commands, address, came, done), done)
    }
}

impl Record {
    /// Writes down a load that has its data.
    #[cold]
    pub(super) fn add(&mut self, program: u32, name: u32, flight: &Flight, told: Instant) {
        let Flight { line, issued, translated, asked, arrives, returned, leader, .. } = *flight;
        self.loads.push(LoadRecord {
            program,
            node: node_of(line),
            handle: if leader == NONE { name } else { leader },
            issued,
            translated,
            asked,
            arrives,
            // what lies before the request was of a page walk
            returned: if returned > arrives { returned } else { told },
            told,
            line,
        });
    }
}
