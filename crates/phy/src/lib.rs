//! The physical layer: will a link meet its loss budget, and how wide is the eye at its receiver?
//!
//! ```text
//!   .s4p ── touchstone ──► Network ── quality, pairing ──► differential two-port ─┐              ┌────► margins, what-if
//!                                                                                 ├─► Chain ─► segments
//!   parts/phy ── Library ──► packages, traces, vias, connectors, cables ──────────┘              └────► Transfer ─► Eye
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`touchstone`] | files of S-parameters, read and written |
//! | [`network`] | S-parameters: pairing, mixed mode, other references, other grids, cascades |
//! | [`quality`] | quality of data: passivity, reciprocity, causality, range |
//! | [`element`] | packages, traces, vias, connectors, cables, with numbers and their sources |
//! | [`gate`] | checks of a file before it is used as a channel |
//! | [`budget`] | loss budgets of each rate, margins, what-if, placement of retimers |
//! | [`eye`] | equalisation, the statistical eye and the bit error ratio at a receiver |
//!
//! This crate uses floats, as no time is simulated. Results are still the same on every machine: transcendentals come
//! from the pinned library, and sums have a fixed order.
//!
//! A user's error is a [`Finding`]: a code (`PH003`), a place, a message and a remedy.
//!
//! ```
//! use lanetwin_phy::budget::{Chain, Item, Verdict};
//! use lanetwin_phy::element::{Corner, Element, Length, Library};
//! use lanetwin_phy::DataRate;
//!
//! let chain = Chain::new(vec![
//!     Item::new("cpu", Element::Package("root-gen5".into())),
//!     Item::new("board", Element::Trace("low-loss".into(), Length::inches(12.0).unwrap())),
//!     Item::new("slot", Element::Connector("cem".into())),
//!     Item::new("ssd", Element::Package("endpoint-gen5".into())),
//! ])
//! .unwrap();
//! let margin = &chain.margins(Library::standard(), Corner::Nominal, DataRate::Gen5).unwrap()[0];
//! assert!((margin.loss_db - 24.0).abs() < 0.5);
//! assert_eq!(margin.verdict, Verdict::Fits);
//! ```

pub mod budget;
pub mod catalogue;
mod complex;
pub mod element;
pub mod eye;
pub mod gate;
mod matrix;
pub mod network;
mod problem;
pub mod quality;
mod quantity;
mod rate;
pub mod touchstone;
mod transfer;

pub use complex::{decibels, ratio};
pub use lanetwin_problems::Severity;
pub use problem::{CODES, Finding};
pub use rate::DataRate;
pub use transfer::Transfer;
