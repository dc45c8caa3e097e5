//! What the owner of a program says or asks of its pages, to the devices that they are on.

use super::nodes::{Node, address_of, node_of};
use super::running::Running;
use lanetwin_kernel::Port;
use lanetwin_ports::{Context, Hint, HintKind, Message};
use lanetwin_units::Span;
use std::collections::BTreeSet;

const PAGE: u64 = 4096;

/// The hints of a run.
#[derive(Default, Debug)]
pub(super) struct Hints {
    /// What is sent for each: port, first page at the device, how many.
    all: Vec<(HintKind, Vec<Run>)>,
    answers: Vec<(u64, usize)>,
}

/// Consecutive pages of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    port: u16,
    page: u64,
    pages: u32,
}

impl Hints {
    /// Takes note of a hint about pages of a program.
    pub(super) fn add(&mut self, of: &Running, nodes: &[Node], what: HintKind, address: u64, pages: u32) {
        let mut wanted = BTreeSet::new();
        let mut last = (u64::MAX, 0);
        for page in 0..u64::from(pages) {
            let place = of.line(address / PAGE * PAGE + page * PAGE, &mut last);
            if let Node::Cxl(decoder) = &nodes[node_of(place)] {
                let start = decoder.base() + address_of(place);
                let step = decoder.granularity().min(PAGE);
                let leads = (0..PAGE / step).filter_map(|i| decoder.decode(start + i * step));
                wanted.extend(leads.map(|to| (to.target, to.dpa / PAGE)));
            }
        }
        let mut runs: Vec<Run> = Vec::new();
        for (port, page) in wanted {
            match runs.last_mut() {
                Some(run) if run.port == port && run.page + u64::from(run.pages) == page => run.pages += 1,
                _ => runs.push(Run { port, page, pages: 1 }),
            }
        }
        self.answers.push((0, runs.len()));
        self.all.push((what, runs));
    }
    /// The number of the last one.
    pub(super) fn last(&self) -> u32 {
        self.all.len() as u32 - 1
    }
    /// Sends a hint to every device that it is about.
    pub(super) fn send(&self, hint: u32, cx: &mut Context<'_>) {
        let (what, runs) = &self.all[hint as usize];
        for &Run { port, page, pages } in runs {
            let hint = Hint { what: *what, pages, handle: hint, address: page * PAGE };
            cx.send(Port(port), Span::ZERO, Message::Hint(hint));
        }
    }
    /// A device has answered.
    pub(super) fn answer(&mut self, hint: u32, value: u64) {
        let (sum, left) = &mut self.answers[hint as usize];
        *sum += value;
        *left -= 1;
    }
    /// The sum of the answers to each; none while one is out.
    pub(super) fn answers(&self) -> Vec<Option<u64>> {
        self.answers.iter().map(|(sum, left)| (*left == 0).then_some(*sum)).collect()
    }
}
