//! The path of a read: buffer, read-ahead data, map, pages.

use super::layout::{Page, Site};
use super::map::UNMAPPED;
use super::on_bus::OnBus;
use super::{Flash, Owner};
use crate::config::{Rules, UNIT};
use crate::nand::machine::{Op, Queue, Work};
use crate::request::Kind;

impl Flash {
    /// Least time from the hand-over of a request to its end \[ps\]; for reads it is longer if there have been only
    /// reads.
    #[inline]
    pub fn least(&self, kind: Kind, only_reads: bool) -> u64 {
        let answer = match kind {
            // every unit is on a page, and none is elsewhere
            Kind::Read if only_reads && self.all_on_pages && !self.has_read_ahead() => return self.shortest,
            Kind::Read | Kind::Trim | Kind::WriteZeroes => self.hit_latency,
            Kind::Write | Kind::Flush => self.buffer_latency,
        };
        answer.min(self.shortest)
    }

    /// Whether any data have been read ahead.
    fn has_read_ahead(&self) -> bool {
        self.counters.read_ahead_units > 0
    }

    /// Starts a read, unless its translation pages have to be read first.
    #[inline]
    pub(super) fn read(&mut self, now: u64, id: u32) {
        self.open[id as usize].extra = self.hit_latency;
        if self.translation.is_some() && self.miss(now, id) {
            return;
        }
        self.read_pages(now, id);
    }

    /// Looks the units of a request up in the mapping cache. Returns whether translation pages have to be read.
    fn miss(&mut self, now: u64, id: u32) -> bool {
        let open = self.open[id as usize];
        let units = open.first / UNIT..(open.first + open.bytes).div_ceil(UNIT);
        let mut missing = 0;
        let mut unit = units.start;
        while unit < units.end {
            let translation = self.translation.as_mut().expect("there is one");
            let (hit, next) = translation.look_up(unit);
            if !hit {
                missing += 1;
                self.read_translation(now, unit, Owner::Translation(id));
            }
            unit = next;
        }
        // the part counted by `part_done` stands for the translations
        self.open[id as usize].left += missing;
        missing > 0
    }

    /// Notes that a translation page has been read; after the last one the read itself begins.
    pub(super) fn translated(&mut self, now: u64, id: u32) {
        self.open[id as usize].left -= 1;
        if self.open[id as usize].left == 1 {
            self.read_pages(now, id);
        }
    }

    /// Reads the translation page of a unit, which is on a die of the unit's pool determined by its number.
    fn read_translation(&mut self, now: u64, unit: u64, owner: Owner) {
        let pool = &self.pools[self.pool_of(unit)];
        let page = unit / super::translation::ENTRIES;
        let die = pool.first_die + (page % u64::from(pool.dies)) as u32;
        let page = Page { die, block: die * self.layout.blocks, plane: 0, page: 0 };
        self.put_page(now, page, UNIT, owner, Queue::Front, self.times.read(0));
    }

    /// Looks a unit up for a write, which does not wait for the result.
    #[inline]
    pub(super) fn look_up_unawaited(&mut self, now: u64, unit: u64) {
        if let Some(translation) = &mut self.translation
            && !translation.look_up(unit).0
        {
            self.read_translation(now, unit, Owner::Nobody);
        }
    }

    /// Reads the rest of a unit that is written partially.
    pub(super) fn read_unit_for_nobody(&mut self, now: u64, unit: u64) {
        if let Some(place) = self.place(unit) {
            self.put_read(now, place, UNIT, Owner::Nobody, Queue::Front);
        }
    }

    /// Reads the pages of a request, units of one page together.
    #[inline]
    fn read_pages(&mut self, now: u64, id: u32) {
        let open = self.open[id as usize];
        let (first, end) = (open.first / UNIT, (open.first + open.bytes).div_ceil(UNIT));
        let mut unit = first;
        let held = self.hold();
        while unit < end {
            let Some(page) = self.page_to_read(unit, id) else {
                unit += 1;
                continue;
            };
            let mut next = unit + 1;
            while next < end && self.is_on(next, page) {
                next += 1;
            }
            let bytes = if self.rules == Rules::Mqsim {
                (open.first + open.bytes).min(next * UNIT) - open.first.max(unit * UNIT)
            } else {
                (next - unit) * UNIT
            };
            self.open[id as usize].left += 1;
            let array = self.sensing(page);
            self.put_page(now, page, bytes, Owner::Read(id), Queue::Front, array);
            unit = next;
        }
        self.let_go(now, held);
        self.look_ahead(now, id);
        self.part_done(now, id);
    }

    /// The page with a unit, if it has to be read.
    #[inline]
    fn page_to_read(&mut self, unit: u64, id: u32) -> Option<Page> {
        if self.buffer.known > 0 && self.buffer.get(unit as u32).is_some() {
            self.counters.buffer_hits += 1;
            self.open[id as usize].extra = self.hit_latency + self.buffer_latency;
            return None;
        }
        if let Some(ahead) = &mut self.ahead
            && let Some(ready) = ahead.hit(unit, id)
        {
            self.counters.read_ahead_hits += 1;
            self.open[id as usize].left += u32::from(!ready);
            return None;
        }
        let page = self.page_of_unit(unit);
        if page.is_none() {
            self.note_unwritten(unit);
        }
        page
    }

    /// Counts a unit without a page, unless it is being written to one.
    #[cold]
    #[inline(never)]
    fn note_unwritten(&mut self, unit: u64) {
        self.counters.unwritten_units_read += u64::from(self.place(unit).is_none());
    }

    /// Whether a unit has to be read and is on this page.
    fn is_on(&mut self, unit: u64, page: Page) -> bool {
        self.buffer.get(unit as u32).is_none()
            && self.ahead.as_ref().is_none_or(|ahead| !ahead.holds(unit))
            && self.page_of_unit(unit) == Some(page)
    }

    /// The page with a unit. Returns `None` if the unit is unmapped or not yet programmed.
    #[inline]
    fn page_of_unit(&mut self, unit: u64) -> Option<Page> {
        match self.map.get(unit as u32) {
            Some(UNMAPPED) => None,
            Some(place) => {
                let block = self.layout.block_of(place);
                let on_its_way =
                    (place - self.layout.first(block)) as u32 >= self.blocks.all[block as usize].programmed;
                (!on_its_way).then(|| self.layout.page_of(place))
            }
            None if self.rules == Rules::Mqsim => Some(self.touch.page(&self.layout, unit)),
            None => self.seat(unit).map(|place| self.layout.page_of(place)),
        }
    }

    /// Reads ahead of a request that belongs to a sequence.
    fn look_ahead(&mut self, now: u64, id: u32) {
        let open = self.open[id as usize];
        let Some(mut ahead) = self.ahead.take() else { return };
        let units_of = |first: u64, bytes: u64| first / UNIT..(first + bytes).div_ceil(UNIT);
        let read = units_of(open.first, open.bytes);
        let command = open.part_of.map_or_else(|| read.clone(), |of| units_of(of.first, of.bytes));
        let range = ahead.note(&read, &command, self.units);
        let mut unit = range.start;
        while unit < range.end {
            let held = self.buffer.get(unit as u32).is_some() || ahead.holds(unit);
            let Some(page) = self.page_of_unit(unit).filter(|_| !held) else {
                unit += 1;
                continue;
            };
            let mut next = unit + 1;
            while next < range.end && !ahead.holds(next) && self.is_on(next, page) {
                next += 1;
            }
            let entry = ahead.expect(unit, (next - unit) as u32);
            self.counters.read_ahead_units += next - unit;
            let array = self.sensing(page);
            self.put_page(now, page, (next - unit) * UNIT, Owner::Ahead(entry), Queue::Front, array);
            unit = next;
        }
        self.ahead = Some(ahead);
    }

    /// Notes that data read ahead have arrived.
    pub(super) fn read_ahead_done(&mut self, now: u64, entry: u32) {
        let Some(mut ahead) = self.ahead.take() else { return };
        ahead.arrived(entry, |id| self.part_done(now, id));
        self.ahead = Some(ahead);
    }

    /// tR of a page.
    #[inline]
    fn sensing(&self, page: Page) -> u64 {
        match self.ftl.slc {
            Some(slc) if self.blocks.all[page.block as usize].slc => slc.read.as_ps(),
            _ => self.times.read(page.page),
        }
    }

    /// Puts the read of a place into a queue of its die.
    pub(super) fn put_read(&mut self, now: u64, place: u64, bytes: u64, owner: Owner, queue: Queue) {
        let page = self.layout.page_of(place);
        let array = self.sensing(page);
        self.put_page(now, page, bytes, owner, queue, array);
    }

    #[inline]
    fn put_page(&mut self, now: u64, page: Page, bytes: u64, owner: Owner, queue: Queue, array: u64) {
        let Site { server, die, plane } = self.layout.site(page.die, page.plane);
        if self.usual.bytes != bytes {
            self.usual = OnBus::new(bytes, &self.times);
        }
        self.counters.bus_bytes += self.usual.framed;
        // these operations only lead to the end of a request, which takes the look-up time in addition
        let heard_after = if let Owner::Read(_) | Owner::Ahead(_) = owner { self.hit_latency } else { 0 };
        let op = Op {
            owner: owner.pack(),
            server,
            work: Work::Read,
            die,
            plane,
            page: page.page,
            bus_in: 0,
            transfers: 1,
            array,
            bus_out: self.usual.time,
            when_loaded: None,
            heard_after,
        };
        self.machine.put(now, op, queue);
    }
}
