//! Routing by address and by ID: how a tree of root ports, switches and endpoints is enumerated, and how a TLP finds
//! its way in it (PCIe Base §2.2.4, §7.5.1; PCI-to-PCI Bridge Architecture Specification 1.2 §3.2.5, §4).
//!
//! ```text
//!  TreeBuilder ── enumerate ──► Tree ── route ──► one step: at this router, through which port
//!   root ports,      │           │ ─── path ───► all steps: the links that are crossed, up and then down
//!   switches,        │           └─── Display ─► as `lspci -t` shows it
//!   endpoints,     Error: a loop, no bus number left, no address left
//!   links
//! ```
//!
//! What firmware and Linux do, in this order:
//!
//! 1. **Bus numbers**, depth first. The bus below a bridge takes the next number when the bridge is met (secondary),
//!    and the bridge forwards up to the highest that was given below it (subordinate). A switch has a bus inside, on
//!    which its ports that face down are devices 0, 1, 2 … in the order of their declaration; below any port there is
//!    device 0 only. An empty slot has a bus too.
//! 2. **Windows**, from the leaves up. A bridge has two: one below 4 GiB, and a 64-bit one for prefetchable memory. A
//!    BAR that is both 64-bit and prefetchable lies in the latter, every other in the former. What lies on one bus is
//!    packed by alignment, largest first, and the window that encloses it is rounded up to 1 MiB.
//! 3. **Addresses**, from the root down: the windows of the root ports begin at the start of the host's apertures.
//!
//! The routers then look at nothing but these registers.
//!
//! | what | at a router, from above | from below |
//! |---|---|---|
//! | memory request | the port whose window has the address, else Unsupported Request | the same among its peers, else upward |
//! | completion, message by ID | the port whose buses have the ID | the same among its peers, else upward |
//! | configuration request | as a completion | Unsupported Request: only the host configures |
//! | message to the root complex | – | upward |
//! | message from the root complex | through all ports | malformed |
//! | message, local or gathered | ends at the port | ends at the port |
//!
//! With ACS redirection on, a port sends what aims at a peer upward instead, and the root complex sends it down again.
//! A TLP never leaves through the port that it came in through: it is refused, unless it was redirected and the port
//! forwards upstream.
//!
//! Not here: I/O space, expansion ROMs and SR-IOV; BARs of switches and root ports; endpoints integrated into the root
//! complex; alternative routing IDs (ARI); non-transparent bridges; multicast; numbers that are kept free for hot-plug;
//! egress control, source validation and translated requests of ACS; translation by an IOMMU. When a TLP gets there is
//! the [`link`](crate::link)'s business, which routes by destination and takes the same links.
//!
//! ```
//! use lanetwin_pcie::logic::routing::{RouteKey, Bar, BarKind, Host, Source, TreeBuilder};
//! use lanetwin_pcie::spec::Bdf;
//!
//! let mut builder = TreeBuilder::new();
//! let slot = builder.root_port("slot");
//! let switch = builder.switch("switch");
//! builder.link(slot, switch);
//! for name in ["a", "b"] {
//!     let port = builder.downstream_port(switch, name);
//!     let drive = builder.endpoint(name, [[Bar::new(16 << 10, BarKind::Bits64).expect("a power of two")]]);
//!     builder.link(port, drive);
//! }
//! let tree = builder.enumerate(Host::default())?;
//! let path = tree.path(Source::Host, RouteKey::Configuration(Bdf::from_raw(0x0400))).expect("b is there");
//! assert_eq!(path.crossings.len(), 2); // root port to switch, switch to b
//! assert_eq!(tree.to_string(), "\
//! -[0000:00]-+-00.0  host
//!            \\-01.0-[01-04]----00.0-[02-04]--+-00.0-[03]----00.0  a
//!                                            \\-01.0-[04]----00.0  b
//! ");
//! # Ok::<(), lanetwin_pcie::logic::routing::Error>(())
//! ```

mod bridge;
mod declare;
mod enumerate;
mod pack;
mod path;
mod route;
mod show;

pub use bridge::Bridge;
pub use declare::{Bar, BarKind, Error, Host, NodeId, PortId, TreeBuilder};
pub use enumerate::{Function, Tree};
pub use pack::Space;
pub use path::{Crossing, Direction, End, Path, Refused, Source};
pub use route::{Refusal, RouteKey, Router, Side, Step};

#[cfg(test)]
mod tests;
