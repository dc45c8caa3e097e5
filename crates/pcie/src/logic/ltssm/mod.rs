//! Link training: the state machine of a port, two ports with what is between them, what can go wrong.
//!
//! ```text
//!  numbers ── limits, counts, what ports take ───────────────┐
//!  channel ── eyes ──► probability ──► link: SimulatedLink ◄─┴─ port: the LTSSM, a total function
//!                                        │  registers of both ends, virtual time
//!                                        ▼
//!                                      failure: codes, outcomes
//! ```
//!
//! | module | is about |
//! |---|---|
//! | [`port`] | what a port becomes when it is told something; what it transmits |
//! | [`ordered_sets`] | what is on the wire while a link trains |
//! | [`numbers`] | times and counts, each with its source (`data/training.yaml`) |
//! | [`channel`] | the eyes of a link, given by the caller |
//! | [`probability`] | what an eye means for training, in closed form |
//! | [`link`] | two ports, up to two retimers, configuration space at both ends |
//! | [`failure`] | codes and outcomes |
//! | [`draw`] | chance by name |
//!
//! The idea, the state table and what is assumed: `docs/training.md`.
//!
//! Not here: stability cycles, of this link as of real ones (`lanetwin-probe`); where eyes come from; flit mode; lane
//! margining.
//!
//! ```
//! use lanetwin_pcie::logic::ltssm::channel::{Channel, LaneEye};
//! use lanetwin_pcie::logic::ltssm::link::{Facing, LinkConfig, SimulatedLink, Size};
//! use lanetwin_pcie::spec::link_words::{LinkStatus, express};
//! use lanetwin_units::{Generation, Span, Width};
//!
//! // x4 at 32 GT/s through a retimer; every eye is 20 mV high, 3 mV more are one standard deviation of noise
//! let channel = Channel::uniform(Width::X4, 2, LaneEye::new(20.0, 3.0));
//! let mut link = SimulatedLink::new(LinkConfig::new("slot", Generation::Gen5, channel), 1)?;
//! link.wait(Span::from_us(1_000_000));
//! // its PCI Express capability is at 0x70
//! let status = link.read_config(Facing::Downstream, 0x70 + express::LINK_STATUS, Size::Word);
//! let status = LinkStatus::from_raw(status as u16);
//! assert_eq!((status.active(), status.speed(), status.width()), (true, 5, 4));
//! # Ok::<(), lanetwin_pcie::logic::ltssm::link::BadLink>(())
//! ```

pub mod channel;
pub mod draw;
pub mod failure;
pub mod link;
pub mod numbers;
pub mod ordered_sets;
pub mod port;
pub mod probability;
mod state;

pub use numbers::Numbers;
pub use state::State;
