//! Loads: components that send requests to devices and count the answers.
//!
//! ```text
//!              ┌────────────── Load<Dma> or Load<Block> ──────────────┐
//!  Workload ──►│ arrivals ─► address, operation ─► Message out of port 0
//!              │ results  ◄─ latency, bytes ◄───── answer into port 0  │
//!              └──────────────────────────────────────────────────────┘
//! ```
//!
//! A [`Workload`] defines the requests ([`Mix`], size, [`Pattern`] over a span) and their times ([`Arrivals`]: a number
//! outstanding, or a rate). A load sends requests from the start of the run. [`Load::reset`] starts counting at the end
//! of the warm-up, and [`Load::results`] returns the counts since then.
//!
//! Several loads in one machine use [`Handles`] that do not clash. Their counts over the same window can be merged
//! ([`Results::merge`]).
//!
//! **Counting.** An operation counts when its answer arrives, with its whole latency. The integral of the number
//! outstanding and the sum of the times outstanding are computed independently, in integers, and are equal over every
//! part of the run ([`Results::little`]): Little's law as an identity.
//!
//! [`iometer`] reads configurations of Iometer and writes its results; [`fio`] does the same for fio. [`memory`] has
//! programs that load and store lines of memory.
//!
//! Not here: the length of the warm-up, intervals and verdicts (the stats crate).
//!
//! ```
//! use lanetwin_kernel::{Component, Port};
//! use lanetwin_load::{Arrivals, BlockLoad, Mix, Pattern, Workload};
//! use lanetwin_ports::{Builder, Context, Done, Message, Status};
//! use lanetwin_units::{Instant, Span};
//!
//! /// Answers after 80 µs.
//! struct Disk;
//! impl Component<Message> for Disk {
//!     fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
//!         let Message::Block(request) = message else { return };
//!         let done = Done { handle: request.handle, status: Status::Ok };
//!         cx.send(port, Span::from_us(80), Message::BlockDone(done));
//!     }
//! }
//! let mut builder = Builder::new();
//! let workload = Workload {
//!     mix: Mix::Reads, bytes: 4096, unit: 4096, span: 1 << 30, pattern: Pattern::Random,
//!     arrivals: Arrivals::Closed { outstanding: 4 }, count: Some(1000),
//! };
//! let load = builder.add("load", Box::new(BlockLoad::new(workload, 1, "load")));
//! let disk = builder.add("disk", Box::new(Disk));
//! builder.join((load, Port(0)), (disk, Port(0)));
//! let mut kernel = builder.seal();
//! kernel.run_until(Instant::NEVER);
//! assert_eq!(kernel.now(), Instant::ZERO + Span::from_us(1000 / 4 * 80));
//! let end = kernel.now();
//! let results = kernel.component::<BlockLoad>(load).unwrap().results(end);
//! assert_eq!((results.reads.completed, results.little.area_ps), (1000, 1000 * 80_000_000));
//! ```

mod addresses;
mod conversation;
mod findings;
pub mod fio;
mod handles;
mod intervals;
pub mod iometer;
mod load;
pub mod memory;
mod requests;
mod results;
mod role;
mod slot;
mod source;
mod stages;
mod stepped;
mod tally;
pub mod trace;
mod workload;

pub use conversation::{Conversation, Exchange};
pub use findings::{Finding, Severity};
pub use handles::Handles;
pub use intervals::{Intervals, Moved};
pub use load::{Block, BlockLoad, Dma, DmaLoad, Load, LoadProtocol, MOST_AT_ONCE, MOST_OUTSTANDING};
pub use requests::{Gate, Request, Requests};
pub use results::{Little, Replies, Results, Side};
pub use role::{CountsOperations, GaveUp};
pub use slot::Slot;
pub use stages::{StageSum, StageTimes, every as followed_every};
pub use stepped::{SteppedLoad, Steps};
pub use tally::{Answered, Tally};
pub use workload::{Arrivals, BadWorkload, Mix, Pattern, Workload};
