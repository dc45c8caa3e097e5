//! The simulation kernel: time, order, connections, randomness and taps. It knows no device and no protocol.
//!
//! ```text
//!   Builder ── add, connect ──► Kernel ── step, run_until, inject ──► digest, taps, inspect
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
//! of the component and the token, last the wakes of foreseeing components (links). No result depends on the order in which events were scheduled, and inserting a
//! component reorders nothing else.
//!
//! **A run can be cut anywhere.** [`Kernel::run_until`] promises that nothing after its limit has been decided, so a
//! message may be injected at any later instant, and a sliced run ends with the digest of an unsliced one.
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
//! /// Sends a ping back after 5 ns, ten times.
//! struct Player;
//! impl Component<Ping> for Player {
//!     fn receive(&mut self, port: Port, ping: Ping, cx: &mut Context<'_, Ping>) {
//!         if ping.0 < 10 { cx.send(port, Span::from_ns(5), Ping(ping.0 + 1)); }
//!     }
//! }
//! let mut builder = Builder::new();
//! let a = builder.add("a", Box::new(Player));
//! let b = builder.add("b", Box::new(Player));
//! builder.connect((a, Port(0)), (b, Port(0)));
//! builder.connect((b, Port(0)), (a, Port(0)));
//! let serve = builder.entry((a, Port(0)));
//! let mut kernel = builder.seal();
//! kernel.inject(Instant::ZERO, serve, Ping(0));
//! kernel.run_until(Instant::NEVER);
//! assert_eq!(kernel.now(), Instant::from_ps(50_000));
//! ```

mod agenda;
mod builder;
mod component;
mod context;
mod kernel;
mod observe;
mod queue;
mod random;

pub use builder::Builder;
pub use component::{Component, ComponentId, Content, Port, Supply, SupplyKind};
pub use context::Context;
pub use kernel::{EntryId, Kernel};
pub use observe::{Observe, Recent, Tap};
pub use random::{Stream, hash_name, mix, mix_product};
