//! The tags of a requester: each is held by one outstanding request, and comes back with its last completion.
//!
//! ```text
//!             take              launch                   redeem
//!  TagPool ─────────► HeldTag ─────────► Tag in a TLP ─────────► TagPool
//!                     must be used       in_flight() names it    UnexpectedCompletion if nobody holds it
//! ```
//!
//! Tags are handed out in the order in which they came back, the longest unused first: the same in every run, and a
//! late completion meets its own tag as late as possible.
//!
//! Not here: when a completion is late (the requester's timer).
//!
//! ```
//! use lanetwin_pcie::logic::tags::{TagPool, TagWidth};
//! let mut pool = TagPool::new(TagWidth::FIVE);
//! let tag = pool.take().expect("32 are free").launch();
//! assert_eq!(pool.in_flight().collect::<Vec<_>>(), [tag]);
//! pool.redeem(tag)?;
//! assert!(pool.redeem(tag).is_err()); // a second completion is unexpected
//! # Ok::<(), lanetwin_pcie::logic::tags::UnexpectedCompletion>(())
//! ```

use crate::spec::Tag;
use crate::spec::constants::{TAGS_5_BIT, TAGS_8_BIT, TAGS_10_BIT};
use core::fmt;
use core::ops::Range;
use std::collections::VecDeque;

/// Which tags a requester may use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TagWidth {
    first: u16,
    count: u16,
}

impl TagWidth {
    /// Five bits: 0 to 31.
    pub const FIVE: Self = Self { first: 0, count: TAGS_5_BIT as u16 };
    /// Eight bits (Extended Tag): 0 to 255.
    pub const EIGHT: Self = Self { first: 0, count: TAGS_8_BIT as u16 };
    /// Ten bits (10-Bit Tag Requester): 256 to 1023, so that a completer that knows only eight bits shows itself.
    pub const TEN: Self = Self { first: 256, count: TAGS_10_BIT as u16 };

    /// The width of so many bits: 5, 8 or 10.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match bits {
            5 => Some(Self::FIVE),
            8 => Some(Self::EIGHT),
            10 => Some(Self::TEN),
            _ => None,
        }
    }
    /// How many tags there are: 32, 256 or 768.
    #[must_use]
    pub const fn count(self) -> u16 {
        self.count
    }
    const fn numbers(self) -> Range<u16> {
        self.first..self.first + self.count
    }
}

/// A tag that has been taken and is on no TLP yet.
///
/// It must be [launched](Self::launch) or [given back](TagPool::give_back). In a debug build, dropping it panics with
/// its number; in a release build it is lost, and [`TagPool::in_flight`] names it.
#[must_use = "a tag that is taken and not launched is lost"]
#[derive(Debug)]
pub struct HeldTag(Tag);

impl HeldTag {
    /// Its number.
    #[must_use]
    pub const fn tag(&self) -> Tag {
        self.0
    }
    /// Puts the tag on a TLP. From here the completion brings it back.
    #[must_use = "the tag belongs on a TLP"]
    pub fn launch(self) -> Tag {
        let tag = self.0;
        core::mem::forget(self); // the obligation is the pool's now, which has the tag as in flight
        tag
    }
}

impl Drop for HeldTag {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            debug_assert!(false, "{:?} was taken, and neither launched nor given back", self.0);
        }
    }
}

/// A completion for a tag that no request holds (Unexpected Completion): a fault of the modelled world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnexpectedCompletion(pub Tag);

impl fmt::Display for UnexpectedCompletion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unexpected completion: no request holds {:?}", self.0)
    }
}
impl core::error::Error for UnexpectedCompletion {}

/// The tags of one requester.
#[derive(Clone, Debug)]
pub struct TagPool {
    free: VecDeque<Tag>,
    /// Bit *n* is set while tag *n* is out.
    out: [u64; 16],
    width: TagWidth,
}

impl TagPool {
    /// All tags of `width`, free.
    #[must_use]
    pub fn new(width: TagWidth) -> Self {
        Self { free: numbers(width.numbers()).collect(), out: [0; 16], width }
    }
    /// The tag that has been free the longest; none if all are out.
    pub fn take(&mut self) -> Option<HeldTag> {
        let tag = self.free.pop_front()?;
        let (word, bit) = place(tag);
        self.out[word] |= bit;
        Some(HeldTag(tag))
    }
    /// Takes back a tag that was not launched. It goes to the end of the queue, like any other.
    ///
    /// # Panics
    /// If it comes from another pool.
    pub fn give_back(&mut self, held: HeldTag) {
        self.redeem(held.launch()).expect("a held tag is given back to the pool it was taken from");
    }
    /// Takes back the tag of a request whose last completion has come.
    ///
    /// # Errors
    /// If no request holds it; the pool is as before.
    pub fn redeem(&mut self, tag: Tag) -> Result<(), UnexpectedCompletion> {
        let (word, bit) = place(tag);
        if self.out[word] & bit == 0 {
            return Err(UnexpectedCompletion(tag));
        }
        self.out[word] &= !bit;
        self.free.push_back(tag);
        Ok(())
    }
    /// Which tags this pool has.
    #[must_use]
    pub const fn width(&self) -> TagWidth {
        self.width
    }
    /// How many tags can be taken.
    #[must_use]
    pub fn available(&self) -> u16 {
        self.free.len() as u16
    }
    /// How many tags are out.
    #[must_use]
    pub fn outstanding(&self) -> u16 {
        self.width.count - self.available()
    }
    /// The tags that are out, in order of their numbers: after the last completion, those that were lost.
    pub fn in_flight(&self) -> impl Iterator<Item = Tag> {
        numbers(self.width.numbers()).filter(|&tag| {
            let (word, bit) = place(tag);
            self.out[word] & bit != 0
        })
    }
}

fn numbers(range: Range<u16>) -> impl Iterator<Item = Tag> {
    range.map(|number| Tag::new(number).expect("no width has more than ten bits"))
}

/// Where a tag's bit is.
const fn place(tag: Tag) -> (usize, u64) {
    (tag.number() as usize / 64, 1 << (tag.number() % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const WIDTHS: [(u64, u16, u16); 3] = [(5, 32, 0), (8, 256, 0), (10, 768, 256)];

    #[test]
    fn every_tag_can_be_out_once() {
        for (bits, count, first) in WIDTHS {
            let mut pool = TagPool::new(TagWidth::from_bits(bits).unwrap());
            let tags: Vec<_> = std::iter::from_fn(|| pool.take().map(HeldTag::launch)).collect();
            assert_eq!(
                tags.iter().map(|tag| tag.number()).collect::<Vec<_>>(),
                (first..first + count).collect::<Vec<_>>()
            );
            assert_eq!((pool.available(), pool.outstanding(), pool.width().count()), (0, count, count));
            assert!(pool.in_flight().eq(tags.iter().copied()));
            tags.into_iter().for_each(|tag| pool.redeem(tag).unwrap());
            assert_eq!((pool.outstanding(), pool.in_flight().count()), (0, 0));
        }
        assert_eq!(TagWidth::from_bits(9), None);
    }

    #[test]
    fn a_tag_nobody_holds_is_unexpected() {
        let mut pool = TagPool::new(TagWidth::TEN);
        for number in [0, 255, 256, 1023] {
            let tag = Tag::new(number).unwrap();
            assert_eq!(pool.redeem(tag), Err(UnexpectedCompletion(tag)));
        }
        assert_eq!(pool.available(), 768);
        let text = UnexpectedCompletion(Tag::new(7).unwrap()).to_string();
        assert_eq!(text, "unexpected completion: no request holds tag7");
    }

    #[test]
    fn a_tag_can_be_given_back_unused() {
        let mut pool = TagPool::new(TagWidth::FIVE);
        let held = pool.take().unwrap();
        assert_eq!(held.tag().number(), 0);
        pool.give_back(held);
        assert_eq!((pool.outstanding(), pool.take().unwrap().launch().number()), (0, 1));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "tag0 was taken, and neither launched nor given back")]
    fn a_lost_tag_is_found_where_it_is_lost() {
        drop(TagPool::new(TagWidth::FIVE).take());
    }

    proptest! {
        /// Against a model: a queue of free tags and a set of those that are out.
        #[test]
        fn tags_are_conserved_and_come_back_in_order(steps in prop::collection::vec(any::<(bool, prop::sample::Index)>(), 0..400)) {
            let mut pool = TagPool::new(TagWidth::FIVE);
            let (mut free, mut out) = ((0..32).collect::<VecDeque<u16>>(), BTreeSet::new());
            for (take, which) in steps {
                if take {
                    let tag = pool.take().map(HeldTag::launch);
                    prop_assert_eq!(tag.map(Tag::number), free.pop_front());
                    out.extend(tag.map(Tag::number));
                } else if !out.is_empty() {
                    let number = *which.get(&out.iter().copied().collect::<Vec<_>>());
                    prop_assert!(pool.redeem(Tag::new(number).unwrap()).is_ok());
                    out.remove(&number);
                    free.push_back(number);
                }
                prop_assert_eq!(usize::from(pool.available()), free.len());
                prop_assert!(pool.in_flight().map(Tag::number).eq(out.iter().copied()));
            }
        }
    }
}
