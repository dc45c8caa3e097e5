//! Miss-status holding registers: lines being fetched, and the reads that wait for them.

use super::set::At;

/// A waiting read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) token: u32,
    pub(super) line: u32,
}

/// Lines of a page that are being fetched.
#[derive(Clone, Debug)]
pub(super) struct Miss {
    pub(super) at: At,
    pub(super) page: u32,
    pub(super) lines: u64,
    pub(super) targets: Vec<Target>,
    /// Reads beyond the targets: they are read from the cache when it has the lines.
    pub(super) behind: Vec<Target>,
    most_targets: usize,
    /// Whether the fetch has not been started because the page is still being written to the medium.
    pub(super) blocked: bool,
}

impl Miss {
    /// Whether one more read can be answered as soon as the lines arrive.
    pub(super) const fn has_room(&self) -> bool {
        self.targets.len() < self.most_targets
    }
}

/// All registers, each with the same number of targets.
#[derive(Debug)]
pub(super) struct Registers {
    misses: Vec<Option<Miss>>,
    free: Vec<u32>,
    most_targets: usize,
    /// Emptied lists of targets, kept to be reused.
    spare: Vec<Vec<Target>>,
}

impl Registers {
    pub(super) fn new(count: u32, targets: u32) -> Self {
        Self {
            misses: vec![None; count as usize],
            free: (0..count).rev().collect(),
            most_targets: targets as usize,
            spare: Vec::new(),
        }
    }
    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }
    pub(super) const fn free(&self) -> usize {
        self.free.len()
    }
    pub(super) const fn count(&self) -> usize {
        self.misses.len()
    }
    /// Takes a register; one must be free. Returns its number.
    pub(super) fn take(&mut self, at: At, page: u32, lines: u64, blocked: bool) -> u32 {
        let number = self.free.pop().expect("a register is free");
        let targets = self.spare.pop().unwrap_or_default();
        let (behind, most_targets) = (self.spare.pop().unwrap_or_default(), self.most_targets);
        self.misses[number as usize] = Some(Miss { at, page, lines, targets, behind, most_targets, blocked });
        number
    }
    /// The register that fetches a line of a page.
    pub(super) fn find(&mut self, page: u32, line: u32) -> Option<&mut Miss> {
        let brings = |miss: &&mut Miss| miss.page == page && miss.lines >> line & 1 != 0;
        self.misses.iter_mut().flatten().find(brings)
    }
    /// Unblocks the registers that wait until a page has been written to the medium.
    pub(super) fn unblock(&mut self, page: u32) -> Vec<u32> {
        let mut freed = Vec::new();
        for (number, miss) in (0..).zip(&mut self.misses) {
            if let Some(miss) = miss.as_mut().filter(|miss| miss.blocked && miss.page == page) {
                miss.blocked = false;
                freed.push(number);
            }
        }
        freed
    }
    pub(super) fn get(&self, number: u32) -> Option<&Miss> {
        self.misses.get(number as usize)?.as_ref()
    }
    /// Frees a register.
    pub(super) fn release(&mut self, number: u32) -> Option<Miss> {
        let miss = self.misses.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(miss)
    }
    /// Keeps the lists of a register to be reused.
    pub(super) fn recycle(&mut self, miss: Miss) {
        for mut list in [miss.behind, miss.targets] {
            list.clear();
            self.spare.push(list);
        }
    }
}
