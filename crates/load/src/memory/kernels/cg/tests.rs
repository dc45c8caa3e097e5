use super::super::watch::Lines;
use super::*;
use crate::memory::Program;
use std::collections::BTreeMap;

const FLOP: Span = Span::from_ps(200);

#[test]
fn class_s_has_the_published_zeta() {
    has_the_published_zeta(Class::S);
}

mod nightly {
    use super::*;

    #[test]
    #[ignore = "solves large systems of equations"]
    fn classes_w_and_a_have_the_published_zeta() {
        [Class::W, Class::A].into_iter().for_each(has_the_published_zeta);
    }
}

fn has_the_published_zeta(class: Class) {
    let verified = solve(class);
    assert!(verified.is_successful(), "{class}: {verified:?}");
}

#[test]
fn another_matrix_has_another_zeta() {
    let right = size(Class::S);
    let computed =
        solve::Solver::new(&Size { nonzero: 8, ..right }).run(15, &mut [super::super::watch::Nobody]);
    assert!((computed - right.zeta).abs() / right.zeta > 1e-6, "{computed}");
}

#[test]
fn the_program_of_class_s_touches_what_the_solver_touches() {
    let size = Size { iterations: 1, ..size(Class::S) };
    for threads in [1, 3] {
        let mut watches: Vec<Lines> = (0..threads).map(|_| Lines::default()).collect();
        solve::Solver::new(&size).run(size.iterations, &mut watches);
        let mut program = with_rows(size, Rows::kept(&size), FLOP, threads, Window::Whole, 1);
        for (thread, watch) in (0..).zip(&watches) {
            let mut seen = watch.seen.iter();
            while let Some(step) = program.next(thread) {
                assert_eq!(Some(&(step.address, step.touch)), seen.next());
                assert!(step.address < program.footprint());
            }
            assert_eq!(seen.next(), None, "thread {thread} of {threads}");
        }
    }
}

/// The compared properties of a stream: the steps in each structure, the lengths of rows, and for loads from p the
/// number of other lines of p between two touches of a line.
#[derive(Debug, Default)]
struct Shape {
    rows: u64,
    steps: BTreeMap<&'static str, u64>,
    /// Number of loads from p by the power of two of the reuse distance; `None` for the first touch of a line.
    distances: BTreeMap<Option<u32>, u64>,
    row_lengths: Vec<f64>,
}

fn shape(size: Size, rows: Rows, of_rows: u64) -> Shape {
    let row_lengths = (0..of_rows).map(|row| {
        let mut columns = Vec::new();
        rows.columns(row, &mut columns);
        columns.len() as f64
    });
    let mut shape = Shape { row_lengths: row_lengths.collect(), ..Shape::default() };
    let mut program = with_rows(size, rows, FLOP, 1, Window::Whole, 1);
    let parts = Map::new(&size).layout().parts();
    let mut recent: Vec<u64> = Vec::new();
    while shape.rows < of_rows {
        let step = program.next(0).expect("there are more rows");
        shape.rows += u64::from(step.ends);
        let part = parts
            .iter()
            .find(|part| (part.first..part.first + part.bytes.next_multiple_of(64)).contains(&step.address));
        let name = part.expect("a part").name;
        *shape.steps.entry(name).or_default() += 1;
        if name == "p" && step.touch == Touch::Load {
            let at = recent.iter().rposition(|line| *line == step.address);
            let distance = at.map(|at| recent.len() - 1 - at);
            *shape.distances.entry(distance.map(|distance| (distance + 1).ilog2())).or_default() += 1;
            at.map(|at| recent.remove(at));
            recent.push(step.address);
        }
    }
    shape
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    mean(&values.iter().map(|value| (value - centre).powi(2)).collect::<Vec<_>>()).sqrt()
}

/// Class W, whose p has 875 lines: 3000 rows, 240 thousand elements.
#[test]
fn drawn_rows_are_distributed_as_those_of_the_benchmark() {
    const ROWS: u64 = 3000;
    let size = size(Class::W);
    let real = shape(size, Rows::kept(&size), ROWS);
    let drawn = shape(size, Rows::drawn(&size, 7), ROWS);
    let off = |a: f64, b: f64| (a / b - 1.0).abs();
    // the standard deviation of a row's length is a third of its mean: that of the difference of two means of 3000
    // rows is 0.9 %
    assert!(off(mean(&drawn.row_lengths), mean(&real.row_lengths)) < 0.03);
    assert!(off(deviation(&drawn.row_lengths), deviation(&real.row_lengths)) < 0.06);
    let per_element = |shape: &Shape, name| shape.steps[name] as f64 / shape.row_lengths.iter().sum::<f64>();
    for name in ["a", "colidx", "p"] {
        assert!(off(per_element(&drawn, name), per_element(&real, name)) < 0.005, "{name}");
    }
    // the Kolmogorov distance between the distributions of reuse distances, in powers of two
    let share_below = |shape: &Shape, limit: u32| {
        let all: u64 = shape.distances.values().sum();
        let below: u64 = shape
            .distances
            .iter()
            .filter(|(power, _)| power.is_some_and(|power| power < limit))
            .map(|(_, n)| n)
            .sum();
        below as f64 / all as f64
    };
    for limit in 1..12 {
        let (a, b) = (share_below(&drawn, limit), share_below(&real, limit));
        assert!((a - b).abs() < 0.005, "below 2^{limit}: {a} {b}");
    }
    // rows are placed by their expected length
    let drawn = Rows::drawn(&size, 7);
    assert!(off(drawn.mean_length(), Rows::kept(&size).mean_length()) < 0.01);
}

#[test]
fn a_drawn_row_is_the_same_at_every_visit_and_another_with_another_seed() {
    let size = size(Class::E);
    let columns = |seed, row| {
        let mut out = Vec::new();
        Rows::drawn(&size, seed).columns(row, &mut out);
        out
    };
    assert_eq!(columns(1, 8_999_999), columns(1, 8_999_999));
    assert_ne!(columns(1, 8_999_999), columns(2, 8_999_999));
    assert!(columns(1, 5).is_sorted_by(|a, b| a < b));
    assert!(columns(1, 5).iter().all(|column| u64::from(*column) < size.rows));
}

/// Only a load from p right after a load of a line of indices may wait; for the others, the index is already loaded.
#[test]
fn gathers_wait_for_new_indices_alone() {
    let mut program = with_rows(size(Class::S), Rows::kept(&size(Class::S)), FLOP, 1, Window::Whole, 1);
    let parts = Map::new(&size(Class::S)).layout().parts();
    let indices = parts.iter().find(|part| part.name == "colidx").expect("it is a part");
    let mut before = None;
    let (mut waiting, mut lines) = (0, 0);
    for _ in 0..50_000 {
        let step = program.next(0).expect("more");
        let after_index =
            before.is_some_and(|address| (indices.first..indices.first + indices.bytes).contains(&address));
        lines += u32::from(after_index);
        waiting += u32::from(step.depends);
        assert!(!step.depends || after_index);
        before = Some(step.address);
    }
    assert!(waiting > 0 && waiting <= lines);
}
