//! Both directions of a link with flits of 256 B.
//!
//! Like the link with 68 B flits ([`super::super::link`]), it decides as late as possible: one wake for all groups up
//! to the first that can have an effect.

use super::super::activity::Activity;
use super::super::clock::Grid;
use super::super::effects::Environment;
use super::super::layer::LinkLayer;
use super::super::packer::Class;
use super::super::queue::Entry;
use super::super::ring::NEVER;
use super::super::spec::{LinkSpec, Release};
use super::half::{FLIT_BITS, FarEnd, Half, Wire};
use super::packer::Rules;
use crate::spec::flit_256::{GROUPS, Layout, SLOTS, retry_probability};
use crate::spec::{Direction, FlitMode};
use lanetwin_units::{Generation, Instant, LinkRate, Span, Ticks};

/// A link. `U` is the sender's type of a message.
pub struct Link<U> {
    spec: LinkSpec,
    grid: Grid,
    halves: [Half<U>; 2],
    transmit: [u64; 2],
    /// Whether a response frees the buffer of its request.
    answers_release: bool,
    submitted: u64,
}

impl<U: Copy> Link<U> {
    /// A link at rest.
    ///
    /// # Panics
    /// If the flit mode is not 256 B, the generation is below Gen3, or S2M credits are to be released by answers:
    /// responses have none.
    #[must_use]
    pub fn new(spec: LinkSpec) -> Self {
        let FlitMode::Bytes256(layout) = spec.flits else { panic!("another flit") };
        assert!(spec.credits[1].release != Release::Answered, "nobody answers a response");
        let bypass = spec.sync_header_bypass && spec.generation <= Generation::Gen5;
        let grid = Grid::of_groups(spec.generation, spec.width, bypass, spec.skp);
        Self {
            grid,
            halves: Direction::ALL.map(|direction| half(&spec, direction, layout, grid)),
            transmit: spec.transmit.map(|span| span.as_ticks().0),
            answers_release: spec.credits[0].release == Release::Answered,
            submitted: 0,
            spec,
        }
    }
    /// Start times of its groups.
    #[must_use]
    pub const fn grid(&self) -> &Grid {
        &self.grid
    }
    fn entry(&mut self, direction: Direction, at: Instant, user: &U) -> Entry<U> {
        self.submitted += 1;
        Entry {
            at: Ticks::from(at).0 + self.transmit[direction.index()],
            number: self.submitted,
            user: *user,
        }
    }
    /// Frees the buffer of the request of a response. Returns the latest time at which the link must be pumped because
    /// of this credit.
    fn answered(&mut self, class: Class, at: Instant) -> Instant {
        // A response with data belongs to a Req, one without data to a RwD.
        let answered = match class {
            Class::Data => Class::NoData,
            Class::NoData => Class::Data,
        };
        let limits = self.spec.credits[0];
        let limit = [limits.no_data, limits.data][answered.index()];
        let [there, back] = &mut self.halves;
        let free = Ticks::from(at).0;
        if limit > 0 {
            back.free_credit(answered, free);
        }
        // A request may wait for this credit, which can leave before the response does.
        if there.credits.hand()[answered.index()] == 0 { back.bound(free) } else { Instant::NEVER }
    }
}

fn half<U: Copy>(spec: &LinkSpec, direction: Direction, layout: Layout, grid: Grid) -> Half<U> {
    let d = direction.index();
    let credits = [spec.credits[d].no_data, spec.credits[d].data];
    let correction = if layout == Layout::Standard { spec.correction } else { Span::ZERO };
    let failing = retry_probability(spec.bit_error_ratio);
    let wire = Wire {
        rules: Rules { direction, layout, multi: spec.multi_data_headers },
        grid,
        lag: (spec.flight + spec.receive[1 - d] + correction).as_ticks().0,
        flush: spec.credit_flush.as_ticks().0,
        drain: match spec.credits[d].release {
            Release::Answered => [NEVER; 2],
            Release::After(span) => credits.map(|n| if n == 0 { NEVER } else { span.as_ticks().0 }),
        },
        error_ratio: -((-failing).ln_1p() / FLIT_BITS as f64).exp_m1(),
    };
    let io = spec.io[d].bytes_per_second;
    let period =
        if io == 0 { 0 } else { LinkRate::bytes_per_second(io).ticks_for(layout.io_payload_bytes()).0 };
    Half::new(wire, credits, period)
}

impl<U: Copy> LinkLayer<U> for Link<U> {
    const SLOTS: u64 = SLOTS as u64;

    fn build(spec: LinkSpec) -> Self {
        Self::new(spec)
    }
    fn spec(&self) -> &LinkSpec {
        &self.spec
    }
    fn flits_before(&self, at: u64) -> u64 {
        self.grid.flits_before(at).div_ceil(GROUPS as u64)
    }
    fn flit_ticks(&self) -> u64 {
        self.grid.flit() * GROUPS as u64
    }
    fn part_ticks(&self) -> u64 {
        match self.spec.flits {
            FlitMode::Bytes256(Layout::LatencyOptimised) => self.flit_ticks() / 2,
            _ => self.flit_ticks(),
        }
    }
    fn correction(&self) -> Span {
        match self.spec.flits {
            FlitMode::Bytes256(Layout::Standard) => self.spec.correction,
            _ => Span::ZERO,
        }
    }
    fn activity(&self, direction: Direction) -> Activity {
        self.halves[direction.index()].activity()
    }
    fn waiting(&self, direction: Direction, class: Class) -> usize {
        self.halves[direction.index()].queues[class.index()].len()
    }
    fn credits(&self, direction: Direction, class: Class) -> u32 {
        self.halves[direction.index()].credits.hand()[class.index()]
    }
    fn credits_returning(&self, direction: Direction, class: Class) -> u32 {
        let d = direction.index();
        self.halves[d].credits.returning(class) + self.halves[1 - d].to_return.len(class) as u32
    }
    fn submit(&mut self, direction: Direction, class: Class, at: Instant, message: &U) -> Instant {
        let entry = self.entry(direction, at, message);
        let half = &mut self.halves[direction.index()];
        half.submit(class, entry);
        let bound = half.bound(entry.at);
        if direction == Direction::S2m && self.answers_release {
            self.answered(class, at).min(bound)
        } else {
            bound
        }
    }
    fn submit_io(&mut self, direction: Direction, at: Instant, message: &U) -> Instant {
        let entry = self.entry(direction, at, message);
        let half = &mut self.halves[direction.index()];
        half.submit_io(entry);
        half.bound(entry.at)
    }
    fn deadline(&self) -> Option<Instant> {
        let lacks_credits = self.halves.iter().any(Half::lacks_credits);
        self.halves.iter().filter_map(|half| half.deadline(lacks_credits)).min()
    }
    fn pump(&mut self, now: Instant, env: &mut impl Environment<U>) {
        let limit = Ticks::from(now).0;
        loop {
            let [there, back] = &mut self.halves;
            let (half, other) =
                if there.start().start <= back.start().start { (there, back) } else { (back, there) };
            let place = half.start();
            if place.start >= limit {
                break;
            }
            half.step(place, &mut FarEnd { other, env });
        }
    }
}
