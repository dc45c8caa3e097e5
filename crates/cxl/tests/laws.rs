//! The link layer against a naive reference: one that looks at every flit time of both directions in turn, keeps
//! everything in plain lists and shares no code with the engine but the grid. On random links and random traffic every
//! message arrives at the same picosecond in both, whenever the engine is pumped; and both send the same flits.
//!
//! A failure prints its seed: `LANETWIN_SEED=n LANETWIN_LINKS=1 cargo test -p lanetwin-cxl --test laws`.

mod reference;
mod reference_256;

use lanetwin_cxl::logic::{
    Activity, Class, ClassCredits, Direction, Environment, FlitMode, IoLoad, Link, LinkLayer, LinkSpec,
    Release, flit_256,
};
use lanetwin_cxl::spec::flit_256::Layout;
use lanetwin_units::{Generation, Instant, Span, Width, mix};
use reference::Reference;

/// Links by default: some seconds without optimisation.
const LINKS: u64 = 2_000;

/// Random numbers by counting: the n-th of a seed.
pub struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0) % n
    }
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
    fn choice<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// What a sender hands to the link: when it does so, for when, and what.
#[derive(Clone, Copy, Debug)]
pub struct Handed {
    /// When it is handed in.
    pub now: u64,
    /// From when on it may be sent.
    pub at: u64,
    /// Which way.
    pub direction: Direction,
    /// None for CXL.io.
    pub class: Option<Class>,
}

/// Arrivals: direction, time \[ps\], number of the message.
type Arrivals = Vec<(Direction, u64, usize)>;

/// Bits between errors, the same in both programs: by direction and number of the draw, in proportion to the bits of a
/// flit.
pub fn clean_bits(seed: u64, direction: Direction, draw: u64, flit: u64) -> u64 {
    mix(seed ^ mix(draw * 2 + direction.index() as u64)) % (flit * 40)
}

struct Recorder {
    seed: u64,
    flit_bits: u64,
    draws: [u64; 2],
    now: Instant,
    arrivals: Arrivals,
}

impl Environment<usize> for Recorder {
    fn deliver(&mut self, direction: Direction, at: Instant, message: &usize) {
        assert!(at >= self.now, "an arrival in the past: {at:?} at {:?}", self.now);
        self.arrivals.push((direction, at.as_ps(), *message));
    }
    fn clean_bits(&mut self, direction: Direction, _ratio: f64) -> u64 {
        self.draws[direction.index()] += 1;
        clean_bits(self.seed, direction, self.draws[direction.index()], self.flit_bits)
    }
}

fn draw_spec(random: &mut Random) -> LinkSpec {
    let generation = random.choice(&[Generation::Gen3, Generation::Gen4, Generation::Gen5]);
    let width = random.choice(&[Width::X1, Width::X2, Width::X4, Width::X8, Width::X16]);
    let mut spec = LinkSpec::new(generation, width);
    spec.sync_header_bypass = !random.one_in(3);
    spec.skp = !random.one_in(3);
    spec.multi_data_headers = !random.one_in(4);
    spec.flight = Span::from_ps(random.below(5_000));
    spec.transmit = [(); 2].map(|()| Span::from_ps(random.choice(&[0, 700, 6_250])).min_one(random));
    spec.receive = [(); 2].map(|()| Span::from_ps(random.choice(&[0, 900, 6_250])));
    if random.one_in(2) {
        spec.bit_error_ratio = 1e-4;
    }
    spec.credit_flush = Span::from_ps(random.choice(&[0, 5_000, 32_000]));
    for (d, credits) in spec.credits.iter_mut().enumerate() {
        let counts = [0, 1, 2, 3, 7, 100];
        *credits = ClassCredits {
            no_data: random.choice(&counts),
            data: random.choice(&counts),
            release: if d == 0 && random.one_in(2) {
                Release::Answered
            } else {
                Release::After(Span::from_ps(random.choice(&[0, 20_000])))
            },
        };
    }
    for io in &mut spec.io {
        if random.one_in(4) {
            *io = IoLoad { bytes_per_second: 100_000_000 * (1 + random.below(5)) };
        }
    }
    spec
}

trait MinOne {
    fn min_one(self, random: &mut Random) -> Self;
}
impl MinOne for Span {
    /// Sometimes an odd number of picoseconds.
    fn min_one(self, random: &mut Random) -> Self {
        self + Self::from_ps(random.below(2))
    }
}

/// Bursts and gaps, handed in early or late, in the order in which they are handed in.
fn draw_traffic(random: &mut Random, flit_ps: u64) -> Vec<Handed> {
    let messages = 20 + random.below(150);
    let spacing = flit_ps * random.choice(&[1, 2, 8, 40]) / 2 + 1;
    let mut now = 0;
    let mut traffic = Vec::new();
    for _ in 0..messages {
        if !random.one_in(3) {
            now += random.below(spacing * 2);
        }
        let at = now + if random.one_in(3) { random.below(20 * flit_ps) } else { 0 };
        let direction = random.choice(&Direction::ALL);
        let class = if random.one_in(12) { None } else { Some(random.choice(&Class::ALL)) };
        traffic.push(Handed { now, at, direction, class });
    }
    traffic
}

/// Runs the engine. Pumps it when it asks for it, and now and then besides.
fn engine<L: LinkLayer<usize>>(
    seed: u64,
    spec: LinkSpec,
    traffic: &[Handed],
    busy: bool,
    end: u64,
) -> (Arrivals, [Activity; 2]) {
    let mut link = L::build(spec);
    let flit_bits = if spec.flits == FlitMode::Bytes68 { 544 } else { reference_256::FLIT_BITS };
    let mut env = Recorder { seed, flit_bits, draws: [0; 2], now: Instant::ZERO, arrivals: Vec::new() };
    let mut random = Random(seed ^ 0x1234);
    let mut next = 0;
    let mut wake = Instant::NEVER;
    loop {
        let hand_in = traffic.get(next).map_or(Instant::NEVER, |handed| Instant::from_ps(handed.now));
        if hand_in <= wake && hand_in != Instant::NEVER {
            let Handed { at, direction, class, .. } = traffic[next];
            let at = Instant::from_ps(at);
            let bound = match class {
                Some(class) => link.submit(direction, class, at, &next),
                None => link.submit_io(direction, at, &next),
            };
            wake = wake.min(bound);
            next += 1;
            if busy && random.one_in(3) {
                env.now = hand_in;
                link.pump(hand_in, &mut env);
            }
        } else if wake.as_ps() <= end {
            env.now = wake;
            link.pump(wake, &mut env);
            wake = link.deadline().unwrap_or(Instant::NEVER);
        } else {
            break;
        }
    }
    env.now = Instant::ZERO;
    link.pump(Instant::from_ps(end), &mut env);
    env.arrivals.sort_unstable();
    (env.arrivals, Direction::ALL.map(|direction| link.activity(direction)))
}

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn engine_and_reference_agree_on_random_links() {
    let first = from_environment("LANETWIN_SEED", 0);
    let mut arrived = 0;
    for seed in first..first + from_environment("LANETWIN_LINKS", LINKS) {
        let mut random = Random(mix(seed));
        let spec = draw_spec(&mut random);
        let flit_ps = Link::<usize>::new(spec).grid().flit() / 1024;
        let traffic = draw_traffic(&mut random, flit_ps);
        // Time for everything that can be sent, and some retries.
        let end = traffic.iter().map(|handed| handed.at).max().unwrap_or(0) + 2_000 * flit_ps;
        let mut naive = Reference::new(seed, spec, &traffic);
        naive.run(end);
        let expected = (naive.arrivals(), naive.activities());
        for busy in [false, true] {
            let got = engine::<Link<usize>>(seed, spec, &traffic, busy, end);
            assert_eq!(got.0, expected.0, "LANETWIN_SEED={seed}: arrivals, {spec:?}");
            assert_eq!(got.1, expected.1, "LANETWIN_SEED={seed}: flits, {spec:?}");
        }
        in_order(&traffic, &expected.0, seed);
        arrived += expected.0.len();
    }
    assert!(arrived > 50 * LINKS as usize || first != 0, "the traffic is not all stuck: {arrived}");
}

#[test]
fn engine_and_reference_agree_on_random_links_with_flits_of_256_bytes() {
    let first = from_environment("LANETWIN_SEED", 0);
    let mut arrived = 0;
    for seed in first..first + from_environment("LANETWIN_LINKS", LINKS) {
        let mut random = Random(mix(seed));
        let mut spec = draw_spec(&mut random);
        let layout = random.choice(&[Layout::Standard, Layout::LatencyOptimised]);
        spec.flits = FlitMode::Bytes256(layout);
        spec.generation = random.choice(&[spec.generation, Generation::Gen6]);
        spec.correction = Span::from_ps(random.choice(&[0, 2_000]));
        let flit_ps = flit_256::Link::<usize>::new(spec).flit_ticks() / 1024;
        let traffic = draw_traffic(&mut random, flit_ps / 4);
        // Time for everything that can be sent, and some retries.
        let end = traffic.iter().map(|handed| handed.at).max().unwrap_or(0) + 800 * flit_ps;
        let mut naive = reference_256::Reference::new(seed, spec, &traffic);
        naive.run(end);
        let expected = (naive.arrivals(), naive.activities());
        for busy in [false, true] {
            let got = engine::<flit_256::Link<usize>>(seed, spec, &traffic, busy, end);
            assert_eq!(got.0, expected.0, "LANETWIN_SEED={seed}: arrivals, {spec:?}");
            assert_eq!(got.1, expected.1, "LANETWIN_SEED={seed}: flits, {spec:?}");
        }
        in_order(&traffic, &expected.0, seed);
        arrived += expected.0.len();
    }
    assert!(arrived > 50 * LINKS as usize || first != 0, "the traffic is not all stuck: {arrived}");
}

/// Within a channel messages arrive in the order of their times; of equal times in that in which they were handed in.
/// None arrives twice.
fn in_order(traffic: &[Handed], arrivals: &Arrivals, seed: u64) {
    for direction in Direction::ALL {
        for class in [None, Some(Class::NoData), Some(Class::Data)] {
            let mut sent: Vec<_> = (0..traffic.len())
                .filter(|n| traffic[*n].direction == direction && traffic[*n].class == class)
                .collect();
            sent.sort_by_key(|n| (traffic[*n].at, *n));
            let mut times: Vec<(u64, usize)> = Vec::new();
            for (_, at, n) in arrivals.iter().filter(|(d, ..)| *d == direction) {
                if traffic[*n].class == class {
                    let place = sent.iter().position(|other| other == n).expect("it was sent");
                    times.push((*at, place));
                }
            }
            times.sort_unstable_by_key(|(_, place)| *place);
            assert!(times.is_sorted(), "LANETWIN_SEED={seed}: {direction:?} {class:?} overtakes itself");
            let places: Vec<_> = times.iter().map(|(_, place)| *place).collect();
            assert_eq!(places, (0..places.len()).collect::<Vec<_>>(), "LANETWIN_SEED={seed}: one is missing");
        }
    }
}
