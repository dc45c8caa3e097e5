//! Virtual addresses of an application's data structures.

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
    /// Whether the simulated program accesses it. Structures for construction only are listed, too, after the program's
    /// footprint.
    pub touched: bool,
}

/// Data structures, one after the other from address 0; those that are not accessed come last.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    touched: Vec<Part>,
    idle: Vec<(&'static str, u64)>,
    end: u64,
}

impl Layout {
    /// Adds a structure of `bytes` bytes and returns its first address.
    pub(super) fn place(&mut self, name: &'static str, bytes: u64) -> u64 {
        let first = self.end;
        self.touched.push(Part { name, first, bytes, touched: true });
        self.end = (first + bytes).next_multiple_of(PAGE);
        first
    }
    /// Adds a structure that exists but is not accessed.
    pub(super) fn idle(&mut self, name: &'static str, bytes: u64) {
        self.idle.push((name, bytes));
    }
    /// All structures, by address.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut parts = self.touched.clone();
        let mut end = self.end;
        for (name, bytes) in &self.idle {
            parts.push(Part { name, first: end, bytes: *bytes, touched: false });
            end = (end + bytes).next_multiple_of(PAGE);
        }
        parts
    }
    /// The end of the last structure that is accessed \[B\].
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
        layout.idle("d", 10);
        assert_eq!((layout.place("e", 1), layout.end()), (16_384, 20_480));
        let parts = layout.parts();
        assert!(parts.is_sorted_by_key(|part| part.first));
        assert_eq!(
            parts.last().map(|part| (part.name, part.first, part.touched)),
            Some(("d", 20_480, false))
        );
        assert_eq!(parts.iter().map(|part| part.bytes).sum::<u64>(), 8205);
    }
}
