//! Dynamic memory: DDR4 and DDR5 as timing tables, and the controllers that obey them.
//!
//! ```text
//!   offer(now, Request) ──► Machine ─┬─ bus 0: read queue, write queue ─► one command after another ─► banks
//!   next(), advance(now) ◄── Done    ├─ bus 1: …
//!                                    └─ …
//! ```
//!
//! | module | is about |
//! |---|---|
//! | [`spec`] | what JEDEC demands between commands, by speed bin, width and density |
//! | [`config`] | what a memory is made of, and every mistake in it at once |
//! | `clock` | edges of the command clock in picoseconds, without rounding errors that add up |
//! | `map` | which address is where |
//! | `queue` | requests that wait for their banks |
//! | `bank` | what commands have left behind in banks, bank groups and ranks |
//! | `refresh` | when cells are refreshed |
//! | `channel` | which command is next on one data bus, and when |
//! | `explain` | where the time of one read went |
//!
//! Time is an argument. A controller only catches up when it is called. Its commands before `now` do not depend on
//! later requests, so that a caller that calls rarely gets the same answers as one that calls at every clock, at less
//! cost: requests are stored before their data bus until an answer could be due. An answer is known when its command
//! is issued, which is CL and a burst before the end of its data: [`Done::at`] may be later than now.
//!
//! Not here: energy; training, thermal refresh rates, ECC, command errors; postponed refreshes; data.
//!
//! Tables, method, limits: `docs/dram.md`.

mod bank;
mod channel;
mod clock;
mod command;
pub mod config;
mod explain;
mod machine;
mod map;
mod queue;
mod refresh;
pub mod spec;

pub use clock::Clock;
pub use command::{Before, BusUse, Command, CommandKind, Counters, Done, Offer, Operation, Request};
pub use config::{
    BadDram, Config, Geometry, LINE, Mapping, Order, PagePolicy, Queues, Refresh, Turn, WriteAnswer,
};
pub use explain::ReadSteps;
pub use machine::Machine;
pub use refresh::lateness;
pub use spec::{Density, Speed, Timings, Width};
