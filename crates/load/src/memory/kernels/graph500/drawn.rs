//! A search that is not run: vertices, their neighbours and discoveries are drawn from the distributions of
//! [`super::levels`].
//!
//! The draws are distributed as in a search, and their means are exact. Some properties of a real search are lost: the
//! order within a level (a search finds well-connected vertices first; here all parts of a level are alike), that each
//! entry has a counterpart in the other vertex's list, and which vertices of two kinds are neighbours. A list is at the
//! address that it would have if all lists before it had the mean length.

use super::super::looped::{Loops, Tape};
use super::super::scramble::Scramble;
use super::super::steps::Writer;
use super::super::walk::LINE;
use super::levels::{Entries, Level, Levels, poisson, poisson_from_one};
use super::map::{INDEX, Map};
use crate::memory::Touch;
use lanetwin_kernel::{Stream, mix};
use std::ops::Range;

/// Number of vertices whose parents are brought into caches before a sample (assumed: 128 MiB of lines, more than most
/// caches hold; smaller caches keep fewer).
const POPULAR: usize = 1 << 21;
/// Maximum number of entries that are written to the tape at once; lists can have millions.
const PIECE: u64 = 256;

/// The search.
#[derive(Debug)]
pub(super) struct Drawn {
    levels: Vec<OfLevel>,
    scale: u32,
    mean_degree: f64,
    names: Scramble,
    map: Map,
    look_ps: u64,
    threads: u32,
    seed: u64,
    /// The vertices that are examined most often, the least popular first.
    popular: Vec<u32>,
}

/// The distributions of a level.
#[derive(Debug)]
struct OfLevel {
    /// Number of entries of all its vertices.
    entries: u64,
    /// Number of its vertices, and of those in levels before it.
    vertices: f64,
    before: f64,
    /// The kinds of its vertices; the kinds weighted by their entries.
    kinds: Table,
    entered: Table,
    lists: Vec<List>,
    /// For each kind of vertex, the mean number of entries to this level.
    pull: Vec<f64>,
}

/// The list of a vertex of a kind: mean numbers of entries to the level before and of others, and their kinds.
#[derive(Debug)]
struct List {
    back: f64,
    others: f64,
    to_back: Table,
    /// Of other entries: first the kinds in the same level, then those not found yet.
    to_others: Table,
}

/// A discrete distribution: running sums, scaled to 2⁶⁴.
#[derive(Debug)]
struct Table(Vec<u64>);

impl Table {
    fn new<'a>(weights: impl Iterator<Item = &'a f64>) -> Self {
        let mut sum = 0.0;
        let add = |weight: &f64| {
            sum += weight;
            sum
        };
        let sums: Vec<f64> = weights.map(add).collect();
        let scale = 2_f64.powi(64) / if sum > 0.0 { sum } else { 1.0 };
        // the cast saturates, so that no draw exceeds the last sum
        Self(sums.into_iter().map(|below| (below * scale) as u64).collect())
    }
    fn draw(&self, bits: u64) -> usize {
        self.0.partition_point(|below| *below <= bits).min(self.0.len() - 1)
    }
}

impl Drawn {
    pub(super) fn new(levels: Levels, map: Map, look_ps: u64, threads: u32, seed: u64) -> Self {
        let mut before = 0.0;
        let of_level = |level: Level| {
            let lists: Vec<Entries> =
                (0..levels.vertices.len()).map(|kind| levels.entries(level, kind)).collect();
            let weights: Vec<f64> =
                levels.found[level].iter().zip(&lists).map(|(found, list)| found * list.mean()).collect();
            let vertices = levels.found[level].iter().sum::<f64>();
            before += vertices;
            OfLevel {
                entries: (weights.iter().sum::<f64>() as u64).max(1),
                vertices,
                before: before - vertices,
                kinds: Table::new(levels.found[level].iter()),
                entered: Table::new(weights.iter()),
                lists: lists.iter().map(List::new).collect(),
                pull: levels.pull(level),
            }
        };
        let all: f64 = levels.vertices.iter().sum();
        let levels_drawn: Vec<OfLevel> = (0..levels.found.len()).map(of_level).collect();
        let entries = (map.parents - map.columns) / INDEX;
        Self {
            levels: levels_drawn,
            scale: levels.scale,
            mean_degree: entries as f64 / all,
            names: Scramble::new(levels.scale, seed),
            map,
            look_ps,
            threads,
            seed,
            popular: popular(levels.scale, &Scramble::new(levels.scale, seed)),
        }
    }
    pub(super) const fn levels(&self) -> usize {
        self.levels.len()
    }
    /// A vertex of a kind, all equally likely, by its new name.
    fn vertex(&self, kind: usize, stream: &mut Stream) -> u64 {
        let zeros = kind as u32 > self.scale / 2;
        let wanted = if zeros { self.scale - kind as u32 } else { kind as u32 };
        let (mut label, mut have) = (0_u64, 0);
        while have < wanted {
            // four bit positions from 64 random bits; their probabilities are exact to 2^-16
            let mut bits = stream.bits();
            for _ in 0..4 {
                let place = ((bits & 0xFFFF) * u64::from(self.scale)) >> 16;
                bits >>= 16;
                if have < wanted && label & (1 << place) == 0 {
                    label |= 1 << place;
                    have += 1;
                }
            }
        }
        let all = (1 << self.scale) - 1;
        self.names.apply(if zeros { label ^ all } else { label })
    }
}

impl List {
    fn new(entries: &Entries) -> Self {
        Self {
            back: entries.back.iter().sum(),
            others: entries.same.iter().chain(&entries.onward).sum(),
            to_back: Table::new(entries.back.iter()),
            to_others: Table::new(entries.same.iter().chain(&entries.onward)),
        }
    }
}

/// The new names of the vertices with the most entries, the one with the most entries last. Their labels have the
/// fewest ones.
fn popular(scale: u32, names: &Scramble) -> Vec<u32> {
    let mut popular = vec![names.apply(0) as u32];
    for ones in 1..=scale {
        let mut label = (1_u64 << ones) - 1;
        while label < 1 << scale && popular.len() < POPULAR {
            popular.push(names.apply(label) as u32);
            // the next label with the same number of ones (Knuth, The Art of Computer Programming 4A, §7.1.3)
            let lowest = label & label.wrapping_neg();
            let carried = label + lowest;
            label = carried | (((carried ^ label) / lowest) >> 2);
        }
    }
    popular.reverse();
    popular
}

/// The progress of a thread in its entries.
#[derive(Debug)]
pub(super) struct Looking {
    stream: Stream,
    kind: usize,
    vertex: u64,
    /// Number of entries of the vertex that are left: to the level before, and others.
    back: u64,
    others: u64,
    /// Index of the next entry.
    entry: u64,
    column: Option<u64>,
    queue: Option<u64>,
    found: Option<u64>,
    /// Positions in the queue of the next vertex to take, and of the next one to be found.
    place: u64,
    next: u64,
    fresh: bool,
}

impl Default for Looking {
    fn default() -> Self {
        Self {
            stream: Stream::new(0, "", ""),
            kind: 0,
            vertex: 0,
            back: 0,
            others: 0,
            entry: 0,
            column: None,
            queue: None,
            found: None,
            place: 0,
            next: 0,
            fresh: true,
        }
    }
}

impl Drawn {
    /// Moves a thread to the first of some entries of a level, which may be in the middle of a list.
    fn arrive(&self, level: Level, trips: &Range<u64>, at: &mut Looking) {
        let of = &self.levels[level];
        *at = Looking {
            stream: Stream::new(mix(self.seed ^ mix(level as u64)) ^ trips.start, "graph500", "entries"),
            ..Looking::default()
        };
        let share = trips.start as f64 / of.entries as f64;
        at.place = (of.before + share * of.vertices) as u64;
        let next = self.levels.get(level + 1).map_or(0.0, |next| next.vertices);
        at.next = (of.before + of.vertices + share * next) as u64;
        at.kind = of.entered.draw(at.stream.bits());
        self.take(level, at);
        let skipped = at.stream.below(at.back + at.others);
        let backward = (skipped as f64 * at.back as f64 / (at.back + at.others) as f64) as u64;
        at.back -= backward;
        at.others -= (skipped - backward).min(at.others);
        at.entry += skipped;
    }
    /// Draws a vertex of the kind `at.kind`, and its list.
    fn take(&self, level: Level, at: &mut Looking) {
        let list = &self.levels[level].lists[at.kind];
        (at.back, at.others) = if list.back > 0.0 {
            (poisson_from_one(list.back, &mut at.stream), poisson(list.others, &mut at.stream))
        } else {
            (0, poisson_from_one(list.others, &mut at.stream))
        };
        at.vertex = self.vertex(at.kind, &mut at.stream);
        // the start of a list may be anywhere in a line
        at.entry = (at.vertex as f64 * self.mean_degree) as u64 + mix(at.vertex) % (LINE / INDEX);
        at.column = None;
        at.fresh = true;
    }
    /// Writes the steps that take the vertex from the queue and load its row start.
    fn open(&self, at: &mut Looking, out: &mut Writer<'_>) {
        let waits = out.forward(&mut at.queue, self.map.queued(at.place), Touch::Load, false);
        at.place += 1;
        let [start, end] = [at.vertex, at.vertex + 1].map(|vertex| self.map.start(vertex));
        out.step(start, Touch::Load, waits);
        if start / LINE != end / LINE {
            out.step(end, Touch::Load, false);
        }
    }
    /// Writes the steps that examine one neighbour; `share` is the share of the level that is done.
    fn look(&self, level: Level, share: f64, at: &mut Looking, out: &mut Writer<'_>) {
        let of = &self.levels[level];
        let list = &of.lists[at.kind];
        // a list near the end of the array must not run past it
        let column = self.map.column(at.entry).min(self.map.parents - INDEX);
        let waits = std::mem::take(&mut at.fresh);
        let fresh = out.forward(&mut at.column, column, Touch::Load, waits);
        at.entry += 1;
        let kinds = self.scale as usize + 1;
        let goes_back = at.stream.below(at.back + at.others) < at.back;
        let drawn = at.stream.bits();
        let (kind, is_onward) = if goes_back {
            at.back -= 1;
            (list.to_back.draw(drawn), false)
        } else {
            at.others -= 1;
            let index = list.to_others.draw(drawn);
            (index % kinds, index >= kinds)
        };
        let parent = self.map.parent(self.vertex(kind, &mut at.stream));
        out.step(parent, Touch::Load, fresh);
        // the vertex is found if no entry examined earlier leads to it
        if is_onward && at.stream.chance(libm::exp(-share * of.pull[kind])) {
            out.step(parent, Touch::Store, false);
            out.forward(&mut at.found, self.map.queued(at.next), Touch::Store, false);
            at.next += 1;
        }
        out.end();
        out.computed_ps += self.look_ps;
    }
}

impl Loops for Drawn {
    type Loop = Level;
    type Scratch = Looking;

    fn trips(&self, level: Level) -> u64 {
        self.levels[level].entries
    }
    fn weight(&self, _: Level) -> u64 {
        1
    }
    fn warm_up(&self, threads: u32) -> u64 {
        self.popular.len().div_ceil(threads as usize) as u64
    }
    /// A load of the parent of a popular vertex.
    fn warm(&self, step: u64, thread: u32, threads: u32) -> (u64, Touch) {
        let index = step * u64::from(threads) + u64::from(thread);
        let vertex = self.popular[(index as usize).min(self.popular.len() - 1)];
        (self.map.parent(u64::from(vertex)), Touch::Load)
    }
    fn write(&self, level: Level, trips: Range<u64>, first: bool, tape: &mut Tape<Looking>) -> u64 {
        let Tape { steps, scratch: at, trailing_ps, .. } = tape;
        let mut out = Writer::new(steps);
        if first {
            self.arrive(level, &trips, at);
            self.open(at, &mut out);
        }
        let chunk = self.levels[level].entries.div_ceil(u64::from(self.threads));
        let count = (trips.end - trips.start).min(PIECE);
        for done in 0..count {
            if at.back + at.others == 0 {
                at.kind = self.levels[level].kinds.draw(at.stream.bits());
                self.take(level, at);
                self.open(at, &mut out);
            }
            // all threads are assumed to be equally far: the same share of every chunk is left
            let share = 1.0 - (trips.end - trips.start - done) as f64 / chunk as f64;
            self.look(level, share.max(0.0), at, &mut out);
        }
        *trailing_ps = out.computed_ps;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::super::Graph500;
    use super::*;

    #[test]
    fn the_most_popular_vertices_come_last() {
        let names = Scramble::new(8, 1);
        let popular: Vec<u32> =
            popular(8, &names).iter().map(|name| names.invert(u64::from(*name)).count_ones()).collect();
        assert_eq!(popular.len(), 256, "each once: the permutation has no others");
        assert!(popular.is_sorted_by(|a, b| a >= b), "{popular:?}");
        assert_eq!(super::popular(29, &Scramble::new(29, 1)).len(), POPULAR);
    }

    #[test]
    fn labels_have_their_ones_anywhere() {
        let graph = Graph500::of_scale(21);
        let drawn = Drawn::new(Levels::new(&graph, 1), Map::new(&graph), 0, 1, 1);
        let mut stream = Stream::new(1, "test", "labels");
        for kind in [0, 1, 7, 15, 21] {
            let mut counts = [0_u32; 21];
            for _ in 0..10_000 {
                let label = drawn.names.invert(drawn.vertex(kind, &mut stream));
                assert_eq!(label.count_ones() as usize, kind);
                (0..21).for_each(|bit| counts[bit] += (label >> bit) as u32 & 1);
            }
            let expected = 10_000.0 * kind as f64 / 21.0;
            assert!(
                counts.iter().all(|count| (f64::from(*count) - expected).abs() < 250.0),
                "{kind}: {counts:?}"
            );
        }
    }
}
