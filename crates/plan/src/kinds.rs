//! The kinds of workload: one file, one kind.
//!
//! A new kind is one file here and one word in the list below. What it asks for is a [`Load`](crate::plan::Load): by
//! DMA, of blocks (any type that is [`Blocks`](crate::plan::Blocks)) or of memory.

use crate::kind::Kind;

/// Declares the modules of the kinds and the list of them.
macro_rules! kinds {
    ($($name:ident),* $(,)?) => {
        $(pub(crate) mod $name;)*

        /// Every kind, in the order in which they are told of.
        pub(crate) const KINDS: &[Kind] = &[$($name::KIND),*];
    };
}

kinds! {
    dma,
    block,
    fio,
    iometer,
    pts,
    memory,
}
