//! A train: equal frames one after another, of one flow, as one thing.

use lanetwin_units::id;

id! {
    /// The port of a machine that frames begin or end at: what a MAC address names.
    Station(u16) => "s";
}

impl Station {
    /// Whoever is at the other end of the line: the address of MAC control frames, which no switch forwards (IEEE 802.3
    /// annex 31B, 01-80-C2-00-00-01).
    pub const NEIGHBOUR: Self = Self(u16::MAX);
}

/// The class of a frame: priority and congestion mark.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Class(u8);

impl Class {
    const CAPABLE: u8 = 1 << 3;
    const MARKED: u8 = 1 << 4;

    /// Best effort of this priority, 0 to 7 (Priority Code Point, 802.1Q §6.9.3); not ECN-capable.
    ///
    /// # Panics
    /// If there is no such priority.
    #[must_use]
    pub const fn of_priority(priority: u8) -> Self {
        assert!(priority < 8, "802.1Q has eight priorities");
        Self(priority)
    }
    /// The same, ECN-capable: where a queue is long it is marked.
    #[must_use]
    pub const fn ecn_capable(self) -> Self {
        Self(self.0 | Self::CAPABLE)
    }
    /// The same, marked: congestion experienced (CE).
    #[must_use]
    pub const fn marked(self) -> Self {
        Self(self.0 | Self::MARKED)
    }
    /// 0 to 7; more goes first.
    #[must_use]
    pub const fn priority(self) -> u8 {
        self.0 & 7
    }
    /// Whether it can be marked.
    #[must_use]
    pub const fn is_ecn_capable(self) -> bool {
        self.0 & Self::CAPABLE != 0
    }
    /// Whether it has been marked.
    #[must_use]
    pub const fn is_marked(self) -> bool {
        self.0 & Self::MARKED != 0
    }
    /// As a number, for digests.
    #[must_use]
    pub const fn raw(self) -> u8 {
        self.0
    }
}

/// Consecutive equal frames. The i-th starts `i × spacing_ps` after the first, and its first word is `words[0] + i`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Train {
    /// Whom the frames come from.
    pub from: Station,
    /// Whom they go to.
    pub to: Station,
    /// Number of frames.
    pub count: u16,
    /// The size of each, from destination to check sequence \[B\].
    pub bytes: u16,
    /// Time between starts \[ps\]; meaningless for a single frame.
    pub spacing_ps: u32,
    /// Priority and congestion mark.
    pub class: Class,
    /// Distinguishes flows between the same stations on equally long paths: hashed source port.
    pub entropy: u8,
    /// Content of the packet in a frame, for its protocol; the first word numbers the frames.
    pub words: [u32; 3],
}

impl Train {
    /// The first `count` frames.
    #[must_use]
    pub const fn first(self, count: u16) -> Self {
        Self { count, ..self }
    }
    /// The frames after the first `count`.
    #[must_use]
    pub const fn after(self, count: u16) -> Self {
        let [number, a, b] = self.words;
        let words = [number.wrapping_add(count as u32), a, b];
        Self { count: self.count - count, words, ..self }
    }
    /// When the frame of this index starts, if the first starts at `start` \[ps\].
    #[must_use]
    pub const fn start_of(&self, start: u64, frame: u16) -> u64 {
        start + frame as u64 * self.spacing_ps as u64
    }
    /// Whether the first frame of `next` continues this train, apart from its time.
    #[must_use]
    pub fn continues_with(&self, next: &Self) -> bool {
        let [number, a, b] = self.words;
        next.words == [number.wrapping_add(self.count.into()), a, b]
            && (next.from, next.to) == (self.from, self.to)
            && (next.bytes, next.class, next.entropy) == (self.bytes, self.class, self.entropy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAIN: Train = Train {
        from: Station(1),
        to: Station(2),
        count: 5,
        bytes: 1518,
        spacing_ps: 123_040,
        class: Class::of_priority(3),
        entropy: 0,
        words: [7, 8, 9],
    };

    #[test]
    fn parts_of_a_train_continue_each_other() {
        let (first, rest) = (TRAIN.first(2), TRAIN.after(2));
        assert!(first.continues_with(&rest) && !rest.continues_with(&first));
        assert_eq!((rest.count, rest.words, rest.start_of(1_000, 2)), (3, [9, 8, 9], 247_080));
        assert!(!first.continues_with(&Train { class: rest.class.marked(), ..rest }));
    }

    #[test]
    fn a_class_says_what_it_was_made_of() {
        let class = Class::of_priority(5).ecn_capable();
        assert_eq!((class.priority(), class.is_ecn_capable(), class.is_marked()), (5, true, false));
        assert_eq!((class.marked().priority(), class.marked().is_marked()), (5, true));
    }
}
