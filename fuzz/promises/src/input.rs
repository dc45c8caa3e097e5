//! How bytes become the input of a promise.

use arbitrary::{Arbitrary, Result, Unstructured};

/// A function `holds` of bytes, which are read as the input of the closure.
macro_rules! promise {
    (|$input:ident: $type:ty| $body:expr) => {
        /// Panics if the promise is broken. Bytes that are no input break nothing.
        pub fn holds(bytes: &[u8]) {
            let Some($input) = $crate::input::read::<$type>(bytes) else { return };
            $body
        }
    };
}
pub(crate) use promise;

/// What these bytes are read as, if they are read.
pub fn read<'a, T: Arbitrary<'a>>(bytes: &'a [u8]) -> Option<T> {
    T::arbitrary_take_rest(Unstructured::new(bytes)).ok()
}

/// Some bytes: a `Vec` would take two for each, and end at every second.
#[derive(Debug)]
pub struct Piece(pub Vec<u8>);

impl<'a> Arbitrary<'a> for Piece {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let count = usize::from(u8::arbitrary(u)?);
        let length = if count < 192 { count % 64 } else { count % 64 * 16 };
        Ok(Self(u.bytes(length.min(u.len()))?.to_vec()))
    }
}

/// As many as the bytes that are left are read as.
#[derive(Debug)]
pub struct All<T>(pub Vec<T>);

impl<'a, T: Arbitrary<'a>> Arbitrary<'a> for All<T> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut all = Vec::new();
        while !u.is_empty() {
            all.push(u.arbitrary()?);
        }
        Ok(Self(all))
    }
}
