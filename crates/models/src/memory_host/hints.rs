//! Hints and queries of a program's owner to the devices that hold its pages.

use super::nodes::{Node, address_of, node_of};
use super::running::Running;
use crate::roles::memory::Advised;
use lanetwin_kernel::{Port, Trail};
use lanetwin_ports::{Context, Hint, HintKind, Message};
use lanetwin_units::Span;
use std::collections::BTreeSet;
use std::ops::Range;

pub(super) const PAGE: u64 = 4096;

/// The hints of a run.
#[derive(Default, Debug)]
pub(super) struct Hints {
    /// Messages of each hint: port, first page at the device, number of pages.
    all: Vec<(HintKind, Vec<Run>)>,
    answers: Vec<(u64, usize)>,
    pub(super) told: Advised,
}

/// Hints that threads give while they run: only their sums are reported.
const ADVICE: [HintKind; 4] = [HintKind::Prefetch, HintKind::Evict, HintKind::Status, HintKind::Temperature];
/// The most pages of one of these.
const MOST_PAGES: u32 = 1 << 16;

/// The handle of such a hint, which tells what was asked, and of how many pages.
pub(super) const fn name_of(what: HintKind, pages: u32) -> u32 {
    let kind = match what {
        HintKind::Prefetch => 0,
        HintKind::Evict => 1,
        HintKind::Status => 2,
        HintKind::Temperature => 3,
    };
    debug_assert!(pages >= 1 && pages <= MOST_PAGES, "a page, or the few of it that are on one device");
    u32::MAX - kind - (pages - 1) * ADVICE.len() as u32
}

/// Whether this is the handle of such a hint.
pub(super) const fn is_advice(handle: u32) -> bool {
    u32::MAX - handle < ADVICE.len() as u32 * MOST_PAGES
}

/// The pages of devices that these pages of a program are on.
pub(super) fn runs(of: &Running, nodes: &[Node], pages: Range<u64>) -> Vec<Run> {
    let mut wanted = BTreeSet::new();
    let mut last = (u64::MAX, 0);
    for page in pages {
        let place = of.line(page * PAGE, &mut last);
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
    runs
}

/// Consecutive pages of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) port: u16,
    pub(super) page: u64,
    pub(super) pages: u32,
}

impl Hints {
    /// Takes note of a hint about pages of a program.
    pub(super) fn add(&mut self, of: &Running, nodes: &[Node], what: HintKind, address: u64, pages: u32) {
        let first = address / PAGE;
        let runs = runs(of, nodes, first..first + u64::from(pages));
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
            cx.resume(Trail::NONE);
            cx.send(Port(port), Span::ZERO, Message::Hint(hint));
        }
    }
    /// Handles a device's answer to a hint of a thread. Its pages count from here on, with their answer: between two
    /// reports there are no more answers than pages.
    pub(super) fn advised(&mut self, handle: u32, value: u64) {
        let (told, kinds) = (&mut self.told, ADVICE.len() as u32);
        let (pages, sum) = match ADVICE[((u32::MAX - handle) % kinds) as usize] {
            HintKind::Prefetch => (&mut told.announced, &mut told.accepted),
            HintKind::Evict => (&mut told.dismissed, &mut told.leaving),
            HintKind::Status => (&mut told.asked, &mut told.cached),
            HintKind::Temperature => (&mut told.felt, &mut told.heat),
        };
        *pages += u64::from((u32::MAX - handle) / kinds + 1);
        *sum += value;
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
