//! Stability cycles: a link is reset, retrained or put into a power state some thousand times, and checked each time.
//!
//! Every test has a proof that its action had an effect. Without the proof a cycle is NOT PERFORMED, which is neither a
//! pass nor a failure: a runner whose writes have no effect reports that instead of ten thousand passes.
//!
//! | test | proof |
//! |---|---|
//! | retraining | Link Bandwidth Management Status, cleared before, is set |
//! | change of speed | Current Link Speed is the rate that was asked for, there and back |
//! | equalisation | the rate was left and reached again; its status is complete with phases 1 to 3 |
//! | resets, power | the device lost a mark that was put into it, or the link was seen down |
//! | Link Disable | Data Link Layer Link Active is clear while disabled |
//! | D3hot | Power State reads back, there and back |
//! | L1 by ASPM | both ends keep the setting; the state, where the machine shows it |
//! | width | Negotiated Link Width is the width that was asked for, there and back |

mod bench;
mod errors;
mod identity;
mod margin;
mod power;
mod report;
mod reset;
mod runner;
mod saving;
mod test;
mod train;

pub use bench::{Bench, LinkState, Step, Stop, rate};
pub use errors::Tally;
pub use margin::LaneMargin;
pub use report::{Cycle, Failure, Power, Series, TestReport, Times};
pub use runner::{CyclePlan, Progress, Watcher};
pub use test::Test;
