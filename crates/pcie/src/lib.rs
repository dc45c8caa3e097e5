//! PCI Express, Gen1 to Gen5: what the standard says, and the logic that obeys it. It knows no clock and no device.
//!
//! ```text
//!          address, length                              TLPs on the wire
//!  DMA ───────────────────► logic::split ──► MWr, MRd ───────────────────► link ──► …
//!                           logic::tags        │  ▲
//!                                              │  │   sizes, credits, times: spec
//!                                              ▼  │
//!                    completions ◄── logic::split ── a read request
//! ```
//!
//! * [`spec`]: packets to bytes and back, sizes, credits, timing; every constant with its source
//!   ([`spec::CONSTANTS`]).
//! * [`logic`]: splitting transfers, tags, enumeration and routing; training, what bit errors cost.
//! * [`link`]: a direction of a link, TLP by TLP or in trains.
//!
//! The layouts are those of PCI Express Base, non-flit mode.
//!
//! Not here: flit mode (Gen6 and later); configuration space, but for the registers that route and those that show a
//! link; the models of devices, which live on a higher floor.
//!
//! ```
//! use lanetwin_pcie::logic::split::{Alignment, writes};
//! use lanetwin_pcie::spec::{AddressWidth, Format, Mps, TlpKind};
//! use lanetwin_units::{Generation, LinkRate, Width};
//!
//! // How long does a 4 KiB write above 4 GiB keep a Gen4 x4 link busy, at MPS 256?
//! let (generation, mps) = (Generation::Gen4, Mps::from_bytes(256).expect("a legal MPS"));
//! let format = Format::new(TlpKind::MWr, AddressWidth::Bits64);
//! let bytes: u32 = writes(1 << 32, 4096, mps, Alignment::Aligned)
//!     .map(|piece| format.wire_bytes(generation, piece.dwords()))
//!     .sum();
//! assert_eq!(bytes, 16 * (24 + 256));
//! let time = LinkRate::pcie(generation, Width::X4).ticks_for(bytes.into());
//! assert_eq!(time.as_ps_floor().as_ps(), 568_750); // 4480 B · 130/128 at 8 GB/s
//! ```

pub mod link;
pub mod logic;
pub mod spec;
