//! Pointer chases: every load needs the address that the previous one returned, so that only latency is measured.
//!
//! ```text
//!  order          visits                                                        as
//!  stride         line 0, 1, 2, … and round again                               LMBench lat_mem_rd without -t
//!  random         all lines, in a random cycle                                  Intel MLC's latency thread
//!  page by page   the lines of a page in a random order, then another page      a chase that spares the TLB
//!  across pages   one line of every page, pages in a random order, then the     LMBench lat_mem_rd -t (McVoy and Staelin, lmbench 3,
//!                 next line of every page                                       lib_mem.c, thrash_initialize)
//! ```
//!
//! Every order is a single cycle through all lines: a chase returns to a line after all others. The order is computed,
//! not stored.

use super::permutation::Permutation;
use super::program::{Program, Step, Touch};
use lanetwin_kernel::Stream;
use lanetwin_units::Span;

/// A page of memory \[B\].
const PAGE: u64 = 4096;

/// The order in which a chase visits its lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChaseOrder {
    /// Ascending.
    Stride,
    /// A random cycle.
    Random,
    /// Pages in a random order, and within each its lines in a random order.
    PageByPage,
    /// Pages in a random order, one line of each; then again with another line.
    AcrossPages,
}

/// A pointer chase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChaseSpec {
    /// The size of the array \[B\].
    pub bytes: u64,
    /// Distance of pointers in the array \[B\]; at least the size of a pointer, and 64 B if every load has to be a
    /// different line.
    pub stride: u64,
    /// The order.
    pub order: ChaseOrder,
    /// Number of loads; `None` for no limit.
    pub count: Option<u64>,
}

/// Why a chase is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadChase {
    /// There is no room for a pointer.
    #[error("an array of {bytes} B has no room for a pointer every {stride} B")]
    NoRoom {
        /// The size of the array \[B\].
        bytes: u64,
        /// The stride \[B\].
        stride: u64,
    },
    /// An order by pages needs a stride that divides the page size.
    #[error("a stride of {0} B does not divide a page of 4 KiB, which this order goes by")]
    AcrossBoundaries(u64),
}

/// One thread that chases pointers.
#[derive(Clone, Debug)]
pub struct Chase {
    spec: ChaseSpec,
    way: Way,
    /// Number of pointers.
    places: u64,
    /// Its position in the cycle.
    at: u64,
    left: u64,
}

#[derive(Clone, Debug)]
enum Way {
    Stride,
    Random(Permutation),
    /// Whole pages, and the number of pointers per page. An incomplete last page is left out.
    Pages {
        pages: u64,
        order: Permutation,
        words: u64,
        within: Permutation,
        across: bool,
    },
}

impl Chase {
    /// A chase; its order depends on the seed and the path.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn new(spec: ChaseSpec, seed: u64, path: &str) -> Result<Self, BadChase> {
        let ChaseSpec { bytes, stride, order, count } = spec;
        if stride == 0 || bytes < stride {
            return Err(BadChase::NoRoom { bytes, stride });
        }
        let mut stream = Stream::new(seed, path, "chase");
        let by_pages = matches!(order, ChaseOrder::PageByPage | ChaseOrder::AcrossPages) && bytes >= PAGE;
        if by_pages && !PAGE.is_multiple_of(stride) {
            return Err(BadChase::AcrossBoundaries(stride));
        }
        let mut places = bytes / stride;
        let way = if by_pages {
            let (pages, words) = (bytes / PAGE, PAGE / stride);
            places = pages * words;
            let across = order == ChaseOrder::AcrossPages;
            let (order, within) =
                (Permutation::new(pages, &mut stream), Permutation::new(words, &mut stream));
            Way::Pages { pages, order, words, within, across }
        } else if order == ChaseOrder::Stride {
            Way::Stride
        } else {
            Way::Random(Permutation::new(places, &mut stream))
        };
        Ok(Self { spec, way, places, at: 0, left: count.unwrap_or(u64::MAX) })
    }
    /// Number of loads in a whole cycle.
    #[must_use]
    pub const fn cycle(&self) -> u64 {
        self.places
    }
    fn place(&self, at: u64) -> u64 {
        match &self.way {
            Way::Stride => at,
            Way::Random(permutation) => permutation.of(at),
            Way::Pages { pages, order, words, within, across } => {
                let (page, word) = if *across { (at % pages, at / pages) } else { (at / words, at % words) };
                order.of(page) * words + within.of(word)
            }
        }
    }
}

impl Program for Chase {
    fn threads(&self) -> u32 {
        1
    }
    fn footprint(&self) -> u64 {
        self.spec.bytes
    }
    fn next(&mut self, thread: u32) -> Option<Step> {
        self.left = self.left.checked_sub(1)?;
        self.warm(thread)
    }
    fn warm(&mut self, _: u32) -> Option<Step> {
        let address = self.place(self.at) * self.spec.stride;
        self.at = if self.at + 1 == self.places { 0 } else { self.at + 1 };
        Some(Step { think: Span::ZERO, address, touch: Touch::Load, depends: true, ends: false, sets: false })
    }
    fn reuse(&self) -> Option<u64> {
        (self.spec.stride >= 64).then_some(self.places * 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(bytes: u64, stride: u64, order: ChaseOrder) -> Vec<u64> {
        let mut chase = Chase::new(ChaseSpec { bytes, stride, order, count: None }, 3, "chase").unwrap();
        (0..chase.cycle()).map(|_| chase.next(0).unwrap().address).collect()
    }

    #[test]
    fn every_order_visits_every_line_once_in_a_cycle() {
        for order in [ChaseOrder::Stride, ChaseOrder::Random, ChaseOrder::PageByPage, ChaseOrder::AcrossPages]
        {
            for bytes in [64, 640, 4096, 40_960] {
                let mut visited = cycle(bytes, 64, order);
                visited.sort_unstable();
                assert!(visited.into_iter().eq((0..bytes / 64).map(|i| i * 64)), "{order:?} {bytes}");
            }
        }
    }

    #[test]
    fn orders_by_pages_stay_in_a_page_or_leave_it_at_once() {
        let pages = |order| cycle(64 * PAGE, 64, order).iter().map(|a| a / PAGE).collect::<Vec<_>>();
        let changes = |pages: &[u64]| pages.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(changes(&pages(ChaseOrder::PageByPage)), 63);
        assert_eq!(changes(&pages(ChaseOrder::AcrossPages)), 64 * 64 - 1);
        assert_eq!(pages(ChaseOrder::AcrossPages)[..64], pages(ChaseOrder::AcrossPages)[64..128]);
    }

    #[test]
    fn a_chase_ends_after_its_count_and_depends_on_its_seed() {
        let spec = ChaseSpec { bytes: 1 << 20, stride: 64, order: ChaseOrder::Random, count: Some(5) };
        let all = |seed| {
            let mut chase = Chase::new(spec, seed, "chase").unwrap();
            std::iter::from_fn(|| chase.next(0)).collect::<Vec<_>>()
        };
        assert_eq!((all(1).len(), all(1) == all(1), all(1) == all(2)), (5, true, false));
        assert!(all(1).iter().all(|step| step.depends && step.touch == Touch::Load));
    }

    #[test]
    fn what_makes_no_chase_is_said() {
        let spec = |bytes, stride, order| ChaseSpec { bytes, stride, order, count: None };
        let wrong = |spec| Chase::new(spec, 1, "chase").map(|_| ()).unwrap_err();
        assert_eq!(wrong(spec(63, 64, ChaseOrder::Stride)), BadChase::NoRoom { bytes: 63, stride: 64 });
        assert_eq!(wrong(spec(8192, 96, ChaseOrder::AcrossPages)), BadChase::AcrossBoundaries(96));
    }
}
