//! A drive with bytes behind fronts that have no PCIe: what was written is read back, whichever way it goes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod by_hand;
mod machine;
mod rig;
mod storms;
mod times;
