//! How a transfer is cut into TLPs: by size limits, by boundaries, and by the page of 4 KiB.
//!
//! ```text
//!              page                          page
//!  ─────────────┼──────────────────────────────┼─────
//!     [head|step|step|rest][step|step| …  |step][step|tail]
//! ```
//!
//! A [`Pieces`] can be walked piece by piece ([`Iterator`]), or taken as at most [`MAX_RUNS`] runs of equal pieces
//! ([`Pieces::runs`]) in constant time: a 1 GiB write costs as much as a 4 KiB one.
//!
//! Laws, held by tests: no byte is lost or doubled; no piece crosses a page or exceeds its limit, counted in the dwords
//! it lies in; completions are cut at the Read Completion Boundary only; the runs are the pieces.
//!
//! ```
//! use lanetwin_pcie::logic::split::{Alignment, Run, writes};
//! use lanetwin_pcie::spec::Mps;
//! let mps = Mps::from_bytes(256).expect("a legal MPS");
//! let lengths: Vec<_> = writes(0x1040, 600, mps, Alignment::Aligned).map(|piece| piece.len()).collect();
//! assert_eq!(lengths, [192, 256, 152]);
//! let runs = writes(0, 1 << 20, mps, Alignment::Aligned).runs();
//! assert_eq!(runs.as_slice(), [Run { first_address: 0, len: 256, count: 4096 }]);
//! ```

use crate::spec::range::PAGE_BYTES;
use crate::spec::{ByteRange, Mps, Mrrs, Rcb};

/// The most runs of equal pieces that any transfer is cut into: head, pieces to the page's end, rest of the page,
/// pieces after it, tail.
pub const MAX_RUNS: usize = 5;

/// Where a requester cuts a transfer that one TLP cannot carry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Alignment {
    /// At addresses that are multiples of the limit: the first TLP is short, as most hardware does it.
    Aligned,
    /// As late as possible: each TLP is full until the page ends. After the first, they start at a dword.
    Packed,
}

/// Where a completer cuts the data of a read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CompletionCut {
    /// At multiples of MPS.
    Mps,
    /// At the last RCB that MPS allows, then every MPS bytes from there: the fewest completions.
    LastRcb,
    /// Once at the next RCB, then every MPS bytes from there.
    RcbThenMps,
    /// At every RCB: many small completions, as some root complexes do it.
    Rcb,
}

/// The memory writes that move `len` bytes to `address`.
///
/// # Panics
/// If the last byte's address does not fit in 64 bits.
#[must_use]
pub const fn writes(address: u64, len: u32, mps: Mps, alignment: Alignment) -> Pieces {
    Pieces::requests(address, len, mps.bytes(), alignment)
}

/// The memory reads that ask for `len` bytes from `address`.
///
/// # Panics
/// If the last byte's address does not fit in 64 bits.
#[must_use]
pub const fn reads(address: u64, len: u32, mrrs: Mrrs, alignment: Alignment) -> Pieces {
    Pieces::requests(address, len, mrrs.bytes(), alignment)
}

/// The completions that answer one memory read.
#[must_use]
pub const fn completions(request: ByteRange, rcb: Rcb, mps: Mps, cut: CompletionCut) -> Pieces {
    let (address, rcb, mps) = (request.address(), rcb.bytes(), mps.bytes());
    let past_rcb = (address % rcb as u64) as u16;
    let (head, step) = match cut {
        CompletionCut::Mps => (distance_to(address, mps), mps),
        CompletionCut::LastRcb => (if past_rcb > 0 { mps - past_rcb } else { 0 }, mps),
        CompletionCut::RcbThenMps => (distance_to(address, rcb), mps),
        CompletionCut::Rcb => (distance_to(address, rcb), rcb),
    };
    Pieces::new(address, request.len() as u32, head, step)
}

/// `count` equal pieces, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Run {
    /// The address of the first piece.
    pub first_address: u64,
    /// The length of each \[B\].
    pub len: u16,
    /// How many there are.
    pub count: u32,
}

/// A transfer cut into pieces. As an iterator it yields them in the order of their addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pieces {
    address: u64,
    left: u32,
    /// The length of the next piece, if it is not `step`: that of the head \[B\]. Zero when there is no head.
    head: u16,
    step: u16,
}

/// How far it is from `address` to the next multiple of `boundary`, zero if it is one \[B\].
const fn distance_to(address: u64, boundary: u16) -> u16 {
    (address.wrapping_neg() % boundary as u64) as u16
}

const fn min(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}

impl Pieces {
    const fn requests(address: u64, len: u32, limit: u16, alignment: Alignment) -> Self {
        let head = match alignment {
            Alignment::Aligned => distance_to(address, limit),
            // the limit counts dwords, and the first one may be only partly meant
            Alignment::Packed if !address.is_multiple_of(4) => limit - (address % 4) as u16,
            Alignment::Packed => 0,
        };
        Self::new(address, len, head, limit)
    }

    const fn new(address: u64, left: u32, head: u16, step: u16) -> Self {
        assert!(
            left == 0 || address.checked_add(left as u64 - 1).is_some(),
            "a transfer ends within 64 bits"
        );
        Self { address, left, head, step }
    }

    /// Bytes up to the end of the page.
    const fn page_left(&self) -> u64 {
        PAGE_BYTES - self.address % PAGE_BYTES
    }

    /// The length of the next piece.
    const fn next_len(&self) -> u16 {
        let limit = if self.head > 0 { self.head } else { self.step };
        min(limit as u64, min(self.left as u64, self.page_left())) as u16
    }

    /// Goes past `count` pieces of `len` bytes.
    const fn skip_pieces(&mut self, len: u16, count: u32) {
        self.head = 0;
        self.left -= len as u32 * count;
        self.address = self.address.wrapping_add(len as u64 * count as u64); // past the last one, it may wrap to zero
    }

    /// How many pieces of length `len`, that of the next, follow each other at least.
    ///
    /// A page holds a whole number of steps, so full pieces that start at a multiple of `step` go on through all pages,
    /// and others up to the end of theirs.
    const fn equal_pieces(&self, len: u16) -> u32 {
        if len != self.step || self.head > 0 {
            return 1;
        }
        let through_pages = self.address.is_multiple_of(len as u64);
        let reach = if through_pages { self.left as u64 } else { min(self.left as u64, self.page_left()) };
        (reach / len as u64) as u32
    }

    /// The pieces as runs of equal ones, as long as they can be.
    #[must_use]
    pub fn runs(mut self) -> Runs {
        let mut runs = Runs::default();
        // most transfers are one piece
        let len = self.next_len();
        if u32::from(len) == self.left && len > 0 {
            runs.runs[0] = Run { first_address: self.address, len, count: 1 };
            runs.len = 1;
            return runs;
        }
        while self.left > 0 {
            let len = self.next_len();
            let run = Run { first_address: self.address, len, count: self.equal_pieces(len) };
            self.skip_pieces(len, run.count);
            runs.push(run);
        }
        runs
    }

    /// How many pieces there are.
    #[must_use]
    pub fn count_pieces(self) -> u32 {
        self.runs().as_slice().iter().map(|run| run.count).sum()
    }
}

impl Iterator for Pieces {
    type Item = ByteRange;

    fn next(&mut self) -> Option<ByteRange> {
        if self.left == 0 {
            return None;
        }
        let piece = ByteRange::new(self.address, self.next_len()).expect("a piece ends with its page");
        self.skip_pieces(piece.len(), 1);
        Some(piece)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.count_pieces() as usize;
        (count, Some(count))
    }
}
impl ExactSizeIterator for Pieces {}
impl core::iter::FusedIterator for Pieces {}

/// At most [`MAX_RUNS`] runs, in the order of their addresses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Runs {
    runs: [Run; MAX_RUNS],
    len: usize,
}

impl Runs {
    /// The runs.
    #[must_use]
    pub fn as_slice(&self) -> &[Run] {
        &self.runs[..self.len]
    }
    /// Appends a run, or lengthens the last one by it.
    fn push(&mut self, run: Run) {
        if let Some(last) = self.len.checked_sub(1).map(|last| &mut self.runs[last])
            && last.len == run.len
        {
            last.count += run.count;
            return;
        }
        self.runs[self.len] = run;
        self.len += 1;
    }
}

impl Run {
    /// The pieces of the run, in order.
    pub fn pieces(self) -> impl Iterator<Item = ByteRange> {
        (0..u64::from(self.count)).map(move |i| {
            let address = self.first_address + i * u64::from(self.len);
            ByteRange::new(address, self.len).expect("a run is made of pieces")
        })
    }
}

#[cfg(test)]
mod tests;
