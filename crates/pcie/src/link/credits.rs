//! Credits and replay buffer room of an egress, and the known returns of both.

use super::class_masks::bits;
use super::class_masks::class_mask;
use super::egress::Egress;
use super::returns::Returns;
use super::sentinels::NEVER;
use super::spec::CLASSES;

impl Egress {
    /// Whether there are enough credits for a TLP of this class at `t`.
    #[inline]
    pub fn has_credits(&mut self, class: usize, units: u16, t: u64) -> bool {
        let units = i64::from(units);
        if self.header_credits[class] >= 1 && self.data_credits[class] >= units {
            return true;
        }
        self.take_credits(class, t);
        self.header_credits[class] >= 1 && self.data_credits[class] >= units
    }

    /// Takes the returned credits of a class that are due at `t`.
    #[inline(never)]
    fn take_credits(&mut self, class: usize, t: u64) {
        let mut rings = self.live & class_mask(class);
        while rings != 0 {
            let ring = rings.trailing_zeros() as usize;
            rings &= rings - 1;
            if self.returns[ring].next() <= t {
                let (headers, data) = self.returns[ring].take_due(t);
                self.header_credits[class] += headers;
                self.data_credits[class] += data;
                self.rest_if_done(ring);
            }
        }
    }

    /// One bit for each class with a TLP that could be sent at `t` but for credits, without classes already known to
    /// be starved. Takes no credits.
    pub fn want_of_credits(&self, t: u64) -> u8 {
        let mut want = 0;
        for input in bits(self.occupied) {
            let class = input % CLASSES;
            if self.finite[class] && (want | self.starved) & (1 << class) == 0 && self.head[input] <= t {
                let units = self.inputs[input].front().map_or(0, |segment| i64::from(segment.units));
                let (headers, data) = self.credits_at(class, t);
                want |= u8::from(headers < 1 || data < units) << class;
            }
        }
        want
    }

    /// The header and data credits of a class that are available or due at `t`.
    fn credits_at(&self, class: usize, t: u64) -> (i64, i64) {
        let current = (self.header_credits[class], self.data_credits[class]);
        let due = bits(self.live & class_mask(class)).map(|ring| self.returns[ring].due(t));
        due.fold(current, |(headers, data), (n, weight)| (headers + n, data + weight))
    }

    /// The tick before which every return of credits of the starved classes is already known. A ring has one writer,
    /// which writes in the order of time, so that further returns come after those it holds.
    pub fn returns_known(&self) -> u64 {
        let starved =
            (0..CLASSES).filter(|c| self.starved & (1 << c) != 0).fold(0, |mask, c| mask | class_mask(c));
        let mut least = NEVER;
        for i in bits(self.live & starved) {
            if self.owed[i] != 0 {
                least = least.min(self.returns[i].last().map_or(0, |t| t + 1));
            }
        }
        least
    }

    /// The next known return of credits of this class.
    pub fn next_credit(&self, class: usize) -> u64 {
        bits(self.live & class_mask(class)).map(|i| self.returns[i].next()).min().unwrap_or(NEVER)
    }

    /// Notes that credits will return through this ring.
    #[inline]
    pub fn expect_return(&mut self, ring: usize, count: u32) {
        self.owed[ring] += count;
        self.live |= 1 << ring;
    }

    /// Adds a return of credits to this ring.
    #[inline]
    pub fn put_return(&mut self, ring: usize, returns: Returns) {
        self.live |= 1 << ring;
        self.returns[ring].push(returns);
    }

    #[inline]
    pub fn rest_if_done(&mut self, ring: usize) {
        if self.owed[ring] == 0 && self.returns[ring].front().is_none() {
            self.live &= !(1 << ring);
        }
    }

    /// The only ring that returns credits of this class. Returns `None` if there are several.
    #[inline]
    pub fn only_returns(&self, class: usize) -> Option<usize> {
        let rings = self.live & class_mask(class);
        (rings != 0 && rings & (rings - 1) == 0).then(|| rings.trailing_zeros() as usize)
    }

    /// One bit for each class with waiting TLPs.
    #[inline]
    pub fn holds(&self) -> u128 {
        if self.ingress.len() == 1 {
            return self.occupied;
        }
        (0..CLASSES).fold(0, |held, class| held | u128::from(self.occupied & class_mask(class) != 0) << class)
    }

    /// Whether the replay buffer has room for this many wire bytes at `t`.
    #[inline]
    pub fn has_room(&mut self, bytes: u16, t: u64) -> bool {
        let bytes = i64::from(bytes);
        if self.replay_room >= bytes {
            return true;
        }
        self.replay_room += self.replay_returns.take_due(t).1;
        self.replay_room >= bytes
    }
}
