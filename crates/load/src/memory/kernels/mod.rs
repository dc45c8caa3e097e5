//! Applications as programs: kernels that make the memory accesses of an algorithm, with or without its data.
//!
//! | module | application | exact | drawn at random |
//! |---|---|---|---|
//! | [`cg`] | the NPB's Conjugate Gradient | classes S to C | columns of D and E |
//! | [`mg`] | the NPB's Multi-Grid | all classes | nothing |
//! | [`graph500`] | a breadth-first search on a Kronecker graph | up to scale 20 | above scale 20 |
//! | [`kv`] | a key-value store like Redis | chains of its hash table | keys, operations |
//!
//! *Exact* means that a run of the real algorithm touches the same lines in the same order; tests compare the two. Each
//! application is a [`Kernel`], which has a program, data structures (parts) and a size.
//!
//! Not here: caches, prefetchers and the time that a line takes (the memory host), NUMA policies (placement).
//!
//! ```
//! use lanetwin_load::memory::kernels::{Kernel, Window};
//! use lanetwin_load::memory::kernels::npb::Class;
//!
//! let kernel = Kernel::cg(Class::E);
//! let window = Window::Stretches { count: 20, steps: 1000 };
//! let mut program = kernel.program(64, window, 1).expect("a kernel without mistakes");
//! assert_eq!(std::iter::from_fn(|| program.next(0)).count() as u64, program.warm_up() + 20_000);
//! let matrix = kernel.parts(64).into_iter().find(|part| part.name == "a").unwrap();
//! assert_eq!(matrix.bytes, 9_000_000 * 27 * 27 * 8);
//! ```

pub mod cg;
pub mod graph500;
pub mod kv;
mod layout;
mod looped;
pub mod mg;
pub mod npb;
mod scramble;
mod steps;
mod walk;
mod watch;
mod window;

use super::Program;
use graph500::{BadGraph, Graph500};
use kv::{BadKeyValue, KeyValue};
use lanetwin_units::Span;
pub use layout::Part;
use npb::Class;
use std::fmt;
pub use window::{Window, sampled};

/// The computing time of a floating-point operation (assumed: 200 ps, two per cycle at 2.4 GHz, as in loops that do not
/// wait for memory).
pub const FLOP: Span = Span::from_ps(200);
/// Maximum number of threads of a program.
const MOST_THREADS: u32 = 4096;

/// An application.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kernel {
    /// The NPB's Conjugate Gradient.
    Cg {
        /// The size of the problem.
        class: Class,
        /// The computing time of a floating-point operation.
        flop: Span,
    },
    /// The NPB's Multi-Grid.
    Mg {
        /// The size of the problem.
        class: Class,
        /// The computing time of a floating-point operation.
        flop: Span,
    },
    /// Graph500's search.
    Graph500(Graph500),
    /// A key-value store.
    KeyValue(KeyValue),
}

/// A problem of a kernel's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadKernel {
    /// No thread, or more than 4096.
    Threads,
    /// A window has no stretches, or stretches of 0 steps.
    Window,
    /// A problem of the graph.
    Graph(BadGraph),
    /// A problem of the store.
    KeyValue(BadKeyValue),
}

impl fmt::Display for BadKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads => write!(f, "a kernel has 1 to {MOST_THREADS} threads"),
            Self::Window => f.write_str("a window has at least one stretch, and a stretch at least one step"),
            Self::Graph(wrong) => wrong.fmt(f),
            Self::KeyValue(wrong) => wrong.fmt(f),
        }
    }
}
impl std::error::Error for BadKernel {}

impl Kernel {
    /// CG of a class with the assumed computing time.
    #[must_use]
    pub const fn cg(class: Class) -> Self {
        Self::Cg { class, flop: FLOP }
    }
    /// MG of a class with the assumed computing time.
    #[must_use]
    pub const fn mg(class: Class) -> Self {
        Self::Mg { class, flop: FLOP }
    }
    /// Its program with this number of threads: the whole run, or a sample of it.
    ///
    /// # Errors
    /// All problems of its parameters.
    pub fn program(
        &self,
        threads: u32,
        window: Window,
        seed: u64,
    ) -> Result<Box<dyn Program>, Vec<BadKernel>> {
        let wrong = self.check(threads, window);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        Ok(match self {
            Self::Cg { class, flop } => Box::new(cg::program(*class, *flop, threads, window, seed)),
            Self::Mg { class, flop } => Box::new(mg::program(*class, *flop, threads, window, seed)),
            Self::Graph500(graph) => graph500::program(graph, threads, window, seed),
            Self::KeyValue(spec) => Box::new(kv::program(spec, threads, window, seed)),
        })
    }
    /// All problems of its parameters, with this number of threads and this window.
    #[must_use]
    pub fn check(&self, threads: u32, window: Window) -> Vec<BadKernel> {
        let mut wrong = Vec::new();
        if !(1..=MOST_THREADS).contains(&threads) {
            wrong.push(BadKernel::Threads);
        }
        if window.is_empty() {
            wrong.push(BadKernel::Window);
        }
        match self {
            Self::Cg { .. } | Self::Mg { .. } => {}
            Self::Graph500(graph) => wrong.extend(graph.check().into_iter().map(BadKernel::Graph)),
            Self::KeyValue(spec) => wrong.extend(spec.check().into_iter().map(BadKernel::KeyValue)),
        }
        wrong
    }
    /// Its data structures, by address. Only a store has more of them with more threads.
    ///
    /// # Panics
    /// If [`Self::check`] finds something wrong.
    #[must_use]
    pub fn parts(&self, threads: u32) -> Vec<Part> {
        assert_eq!(self.check(threads, Window::Whole), [], "a kernel without mistakes has parts");
        match self {
            Self::Cg { class, .. } => cg::parts(*class),
            Self::Mg { class, .. } => mg::parts(*class),
            Self::Graph500(graph) => graph500::parts(graph),
            Self::KeyValue(spec) => kv::parts(spec, threads),
        }
    }
    /// The size of all its data structures, including those that are not accessed \[B\].
    ///
    /// # Panics
    /// If [`Self::check`] finds something wrong.
    #[must_use]
    pub fn bytes(&self, threads: u32) -> u64 {
        self.parts(threads).iter().map(|part| part.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gb(kernel: Kernel) -> f64 {
        kernel.bytes(1) as f64 / 1e9
    }

    /// CG of class E: a run of NPB 3.4.3-OMP used 154 GB at its peak (notes on a CloudLab c6420, by `time -v`). The
    /// declared arrays have 160.9 GB; rows that are shorter than declared leave pages untouched. Others: the arrays
    /// that NPB 3.4 declares, u and r on all levels and v on the finest one, 8 B for each point.
    #[test]
    fn classes_have_their_sizes() {
        assert!((gb(Kernel::cg(Class::E)) / 154.0 - 1.0).abs() < 0.05, "{}", gb(Kernel::cg(Class::E)));
        let mg = |n: f64| {
            let levels = (1..=20).map(|level| n / f64::from(1 << (level - 1))).take_while(|n| *n >= 2.0);
            let all: f64 = levels.map(|n| (n + 2.0).powi(3)).sum();
            (2.0 * all + (n + 2.0).powi(3)) * 8.0 / 1e9
        };
        for (class, n) in [(Class::C, 512.0), (Class::D, 1024.0), (Class::E, 2048.0)] {
            let bytes = gb(Kernel::mg(class));
            assert!((bytes / mg(n) - 1.0).abs() < 1e-9, "{class}: {bytes}");
        }
        // the benchmark's problem of class mini needs about 100 GB besides its list of edges
        let search: u64 = graph500::parts(&Graph500::of_scale(29))
            .iter()
            .filter(|part| part.touched)
            .map(|part| part.bytes)
            .sum();
        assert!((100e9..200e9).contains(&(search as f64)), "{search}");
    }

    fn small() -> [Kernel; 4] {
        [
            Kernel::cg(Class::W),
            Kernel::mg(Class::S),
            Kernel::Graph500(Graph500::of_scale(10)),
            Kernel::KeyValue(KeyValue { keys: 1000, operations: Some(500), ..KeyValue::default() }),
        ]
    }

    fn large() -> [Kernel; 4] {
        [
            Kernel::cg(Class::E),
            Kernel::mg(Class::E),
            Kernel::Graph500(Graph500::of_scale(29)),
            Kernel::KeyValue(KeyValue { keys: 100_000_000, ..KeyValue::default() }),
        ]
    }

    #[test]
    fn a_window_is_as_long_as_it_says_and_stays_inside() {
        // a single row of MG in class E has 2800 steps
        let window = Window::Stretches { count: 2, steps: 5000 };
        for kernel in large() {
            let mut program = kernel.program(3, window, 1).expect("no mistakes");
            let parts = kernel.parts(3);
            let touched = |address| {
                parts.iter().any(|part| {
                    part.touched && (part.first / 64 * 64..part.first + part.bytes).contains(&address)
                })
            };
            for thread in 0..3 {
                let steps: Vec<_> = std::iter::from_fn(|| program.next(thread)).collect();
                assert_eq!(steps.len() as u64, 10_000 + program.warm_up(), "{kernel:?}");
                assert!(steps.iter().all(|step| touched(step.address) && step.address < program.footprint()));
                assert!(steps.iter().any(|step| step.ends), "{kernel:?} has operations");
            }
        }
    }

    #[test]
    fn a_seed_decides_everything_and_the_order_of_threads_nothing() {
        let window = Window::Stretches { count: 3, steps: 500 };
        for kernel in small().into_iter().chain(large()) {
            let program = |seed| kernel.program(2, window, seed).expect("no mistakes");
            let all = |seed, order: [u32; 2]| {
                let mut program = program(seed);
                let mut steps = order
                    .map(|thread| (thread, std::iter::from_fn(|| program.next(thread)).collect::<Vec<_>>()));
                steps.sort_by_key(|(thread, _)| *thread);
                steps
            };
            assert_eq!(all(1, [0, 1]), all(1, [1, 0]), "{kernel:?}");
            assert_ne!(all(1, [0, 1]), all(2, [0, 1]), "{kernel:?}");
        }
    }

    #[test]
    fn whole_runs_end() {
        for kernel in small() {
            if matches!(kernel, Kernel::Cg { .. }) {
                continue;
            }
            let mut program = kernel.program(2, Window::Whole, 1).expect("no mistakes");
            for thread in 0..2 {
                assert!(std::iter::from_fn(|| program.next(thread)).count() > 100, "{kernel:?}");
                assert_eq!(program.next(thread), None);
            }
        }
    }

    /// The share of stores in MG of class W: twenty stretches compared with the whole run.
    #[test]
    fn a_window_estimates_the_run_within_its_interval() {
        let share = |steps: &[crate::memory::Step]| {
            let stores = steps.iter().filter(|step| step.touch == crate::memory::Touch::Store).count();
            stores as f64 / steps.len() as f64
        };
        let kernel = Kernel::mg(Class::W);
        let mut whole = kernel.program(4, Window::Whole, 1).expect("no mistakes");
        let whole: Vec<_> = std::iter::from_fn(|| whole.next(0)).collect();
        let window = Window::Stretches { count: 40, steps: 2000 };
        let (mut covered, seeds) = (0, 10);
        for seed in 0..seeds {
            let mut program = kernel.program(4, window, seed).expect("no mistakes");
            let steps: Vec<_> = std::iter::from_fn(|| program.next(0)).collect();
            assert_eq!(program.warm_up(), 0, "rows are reused at once, planes never");
            let shares: Vec<f64> = steps.chunks(2000).map(share).collect();
            let means = sampled(&shares).expect("forty stretches");
            assert!(means.interval.width() < 0.15, "{means:?}");
            covered += u32::from(means.interval.contains(share(&whole)));
        }
        // with ten intervals of 95 %, seven or fewer that hold have a probability of 1 %
        assert!(covered >= 8, "{covered} of {seeds}");
    }

    #[test]
    fn all_mistakes_are_said_at_once() {
        let window = Window::Stretches { count: 0, steps: 1 };
        let graph = Kernel::Graph500(Graph500 { scale: 0, edge_factor: 0, ..Graph500::of_scale(1) });
        let said = graph.program(0, window, 1).expect_err("four mistakes");
        let wrong = [BadGraph::Scale, BadGraph::EdgeFactor].map(BadKernel::Graph);
        assert_eq!(said, [BadKernel::Threads, BadKernel::Window, wrong[0], wrong[1]]);
        let store = Kernel::KeyValue(KeyValue { keys: 0, ..KeyValue::default() });
        assert_eq!(store.check(1, Window::Whole), [BadKernel::KeyValue(BadKeyValue::Keys)]);
        assert!(said.iter().all(|wrong| wrong.to_string().len() > 10));
    }
}
