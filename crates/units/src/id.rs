//! Identifiers: a separate type for each kind of object, so that two kinds cannot be confused.

/// Declares identifier types: `id! { /// doc  Name(u32) => "prefix"; }`.
///
/// An identifier has an order, equality and a short `Debug` (`e3`); it has no arithmetic.
#[macro_export]
macro_rules! id {
    ($($(#[$doc:meta])* $name:ident($int:ty) => $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $int);
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl $name {
            /// The identifier as an index into a table of its kind.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    id! {
        /// A submission queue.
        Sq(u16) => "sq";
    }

    #[test]
    fn an_identifier_prints_short_and_indexes() {
        assert_eq!(format!("{:?}", Sq(3)), "sq3");
        assert_eq!(Sq(3).index(), 3);
    }
}
