//! What the standard makes happen: pure functions and machines, told the time and never asking for it.
//!
//! | module | is about |
//! |---|---|
//! | [`bit_errors`] | what a bit error ratio costs a working link: replays, recoveries, throughput |
//! | [`ltssm`] | how a link trains, fails, sleeps and comes back |
//! | [`routing`] | how a tree is enumerated, and how a TLP finds its way in it |
//! | [`split`] | how a DMA becomes TLPs, and a read request completions |
//! | [`tags`] | the tags a requester has, and who holds them |

pub mod bit_errors;
pub mod ltssm;
pub mod routing;
pub mod split;
pub mod tags;
