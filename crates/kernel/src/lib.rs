//! The simulation kernel: time, order, connections, randomness and taps. It knows no device and no protocol.
//!
//! ```text
//!   Builder ── add, connect ──► Kernel ── inject, step, run_until, take_out ──► digest, taps, inspect
//!                                  │
//!        ┌─────────────────────────┴───────────────────────────┐
//!        │ at each instant: 1. every message is delivered      │
//!        │                  2. components wake                  │
//!        │                  3. foreseeing components decide     │
//!        └─────────────────────────────────────────────────────┘
//! ```
//!
//! **Order is a function of time stamps and names.** Events at the same picosecond happen in the order (phase, rank,
//! sequence): first all deliveries, ordered by the paths of the channel's two ends, then all wakes, ordered by the path
//! of the component and the token, last the wakes of foreseeing components (links). No result depends on the order in
//! which events were scheduled, and inserting a component reorders nothing else.
//!
//! **A run can be cut anywhere.** [`Kernel::run_until`] promises that nothing after its limit has been decided, so a
//! message may be injected at any later instant, and a sliced run ends with the digest of an unsliced one.
//!
//! **Programs drive it.** A program sends messages through an entry ([`Kernel::inject`]) and receives those of
//! components from an exit ([`Kernel::take_out`]). Neither shows how the run was cut.
//!
//! ```
//! use lanetwin_kernel::{Builder, Component, Content, Context, Port};
//! use lanetwin_units::{Instant, Span};
//!
//! #[derive(Clone, Copy)]
//! struct Ping(u32);
//! impl Content for Ping {
//!     fn content(&self) -> u64 { u64::from(self.0) }
//! }
//! /// Passes on what comes in at one port out of the other, 5 ns later.
//! struct Repeater;
//! impl Component<Ping> for Repeater {
//!     fn receive(&mut self, port: Port, ping: Ping, cx: &mut Context<'_, Ping>) {
//!         cx.send(Port(1 - port.0), Span::from_ns(5), ping);
//!     }
//! }
//! let mut builder = Builder::new();
//! let a = builder.add("a", Box::new(Repeater));
//! let b = builder.add("b", Box::new(Repeater));
//! builder.join((a, Port(1)), (b, Port(0)));
//! let into = builder.entry((a, Port(0)));
//! let out_of = builder.exit((b, Port(1)));
//! let mut kernel = builder.seal();
//!
//! // ten pings, each sent 1 ns after the one before has come out
//! kernel.inject(Instant::ZERO, into, Ping(0));
//! let mut arrivals = Vec::new();
//! while let Some(next) = kernel.next_event() {
//!     kernel.run_until(next);
//!     let emitted: Vec<_> = kernel.take_out().collect();
//!     for ping in emitted {
//!         assert_eq!(ping.exit, out_of);
//!         arrivals.push(ping.at.as_ps() / 1000);
//!         if ping.message.0 < 9 {
//!             kernel.inject(ping.at + Span::from_ns(1), into, Ping(ping.message.0 + 1));
//!         }
//!     }
//! }
//! assert_eq!(arrivals, (0..10).map(|i| 10 + 11 * i).collect::<Vec<u64>>());
//! ```

mod agenda;
mod builder;
mod component;
mod context;
mod ids;
mod kernel;
mod observe;
mod outside;
mod queue;
mod random;
mod report;
mod trail;

pub use builder::Builder;
pub use component::{Component, Content, Role, role_of};
pub use context::Context;
pub use ids::{ComponentId, Port};
pub use kernel::Kernel;
pub use observe::{Observe, Recent, Tap};
pub use outside::{Emitted, EntryId, ExitId};
pub use random::{Stream, hash_name, mix, mix_product};
pub use report::{Derivation, Metric, Reading, Report, ReportEntry, State, Supply, SupplyKind};
pub use trail::{Begun, LOST, Stage, Trail, UNMARKED};
