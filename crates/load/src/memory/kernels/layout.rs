//! Where the data structures of an application lie in its virtual addresses.

/// Data structures begin on a page of their own \[B\] (assumed: large arrays come straight from the operating system).
const PAGE: u64 = 4096;

/// One data structure of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Its name in the application.
    pub name: &'static str,
    /// Its first virtual address \[B\].
    pub first: u64,
    /// Its size \[B\].
    pub bytes: u64,
    /// Whether the simulated program touches it; what only builds the data is counted, but not touched.
    pub touched: bool,
}

/// Data structures, one behind the other from address 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    parts: Vec<Part>,
    end: u64,
}

impl Layout {
    /// Appends a structure of so many bytes and returns its first address.
    pub(super) fn place(&mut self, name: &'static str, bytes: u64) -> u64 {
        self.push(name, bytes, true)
    }
    /// As [`Self::place`], for what is there but not touched.
    pub(super) fn idle(&mut self, name: &'static str, bytes: u64) {
        self.push(name, bytes, false);
    }
    fn push(&mut self, name: &'static str, bytes: u64, touched: bool) -> u64 {
        let first = self.end;
        self.parts.push(Part { name, first, bytes, touched });
        self.end = (first + bytes).next_multiple_of(PAGE);
        first
    }
    /// All structures, by address.
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }
    /// The first address behind the last one \[B\].
    pub(super) const fn end(&self) -> u64 {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_do_not_share_a_page() {
        let mut layout = Layout::default();
        assert_eq!((layout.place("a", 1), layout.place("b", 4096), layout.place("c", 4097)), (0, 4096, 8192));
        assert_eq!(layout.end(), 16_384);
        assert_eq!(layout.parts().iter().map(|part| part.bytes).sum::<u64>(), 8194);
    }
}
