//! Stages of a message on a CXL link, as the link marks them.
//!
//! ```text
//!  handed over        may be sent     its flit starts     its flit is out      at the receiver      handed on
//!       ├── sending port ──┼─ queue for slots ──┼───── flit ──────┼─────── wire ──────┼─ receiving port ──┤
//! ```
//!
//! All times except that in the queue are constant, so that the start of the flit follows from the arrival.

use crate::message::Message;
use lanetwin_cxl::logic::{Direction, LinkLayer};
use lanetwin_kernel::{Context, Stage};
use lanetwin_units::{Instant, Span, Ticks};

/// The stages of a direction.
const NAMES: [&str; 5] = ["sending port", "queue for slots", "flit", "wire", "receiving port"];
const SENDING: u16 = 0;
const QUEUE: u16 = 1;
const FLIT: u16 = 2;
const WIRE: u16 = 3;
const RECEIVING: u16 = 4;

/// Constant times of the path over a link, in one direction.
pub(crate) struct Timing {
    sending: Span,
    /// Time from the start of the flit that completes a message to its end \[ticks\].
    flit: u64,
    flight: Span,
    /// Time from the start of that flit until the message is delivered \[ticks\].
    lag: u64,
}

impl Timing {
    pub(crate) fn new<U>(link: &impl LinkLayer<U>, direction: Direction) -> Self {
        let (spec, d) = (link.spec(), direction.index());
        let behind = spec.flight + spec.receive[1 - d] + link.correction();
        let flit = link.part_ticks();
        Self { sending: spec.transmit[d], flit, flight: spec.flight, lag: flit + behind.as_ticks().0 }
    }
    /// Marks that the message being handled is handed over at `at`.
    #[inline]
    pub(crate) fn enter(&self, direction: Direction, at: Instant, cx: &mut Context<'_, Message>) {
        cx.mark_until(at + self.sending, stage(direction, SENDING));
    }
    /// Marks that the message being handled is delivered at `at`.
    pub(crate) fn leave(&self, direction: Direction, at: Instant, cx: &mut Context<'_, Message>) {
        // delivery times are rounded up to a picosecond
        let start = Ticks(Ticks::from(at).0.saturating_sub(self.lag));
        let flit = Ticks(start.0 + self.flit).as_ps_ceil();
        cx.mark_until(start.as_ps_ceil().min(at), stage(direction, QUEUE));
        cx.mark_until(flit.min(at), stage(direction, FLIT));
        cx.mark_until((flit + self.flight).min(at), stage(direction, WIRE));
        cx.mark_until(at, stage(direction, RECEIVING));
    }
}

fn stage(direction: Direction, part: u16) -> Stage {
    Stage(direction.index() as u16 * NAMES.len() as u16 + part)
}

/// The direction of a stage, and whether a message passes it exactly once.
pub(crate) fn place(Stage(number): Stage) -> (Direction, bool) {
    let parts = NAMES.len() as u16;
    (Direction::ALL[usize::from(number / parts) % 2], number % parts == FLIT)
}

/// The names of the stages of both directions.
pub(crate) fn names() -> Vec<String> {
    Direction::ALL.iter().flat_map(|_| NAMES).map(Into::into).collect()
}
