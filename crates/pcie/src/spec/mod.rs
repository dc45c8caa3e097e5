//! What the standard says: packets, credits, sizes, times. Data and total functions; nothing here happens.
//!
//! | module | is about |
//! |---|---|
//! | [`constants`] | every number, with its source |
//! | [`size`] | [`Mps`], [`Mrrs`], [`Rcb`], [`Dwords`] |
//! | [`range`] | [`ByteRange`]: what one request can ask for |
//! | [`tlp`] | kinds of TLP, and their size on the wire |
//! | [`header`] | TLP headers, to bytes and back |
//! | [`header_words`] | their dwords, bit by bit |
//! | [`config_words`] | the registers that route: of bridges, BARs and Access Control Services |
//! | [`link_words`] | the registers that show and move a link: speed, width, training, equalisation, errors, power |
//! | [`dllp`] | Ack, Nak, InitFC, UpdateFC; sequence numbers |
//! | [`extension`] | retimers and redrivers |
//! | [`flow_control`] | classes and credits |
//! | [`timing`] | ACK latency, replay, SKP, UpdateFC |

pub mod config_words;
pub mod constants;
pub mod dllp;
pub mod extension;
mod fc_class;
pub mod flow_control;
pub mod header;
pub mod header_words;
pub mod link_words;
pub mod range;
pub mod size;
pub mod timing;
pub mod tlp;

pub use constants::{CONSTANTS, Confidence, Constant, Source};
pub use dllp::{Dllp, SequenceNumber};
pub use extension::{Extension, ExtensionKind};
pub use fc_class::FcClass;
pub use flow_control::{Credits, DataCredits, HeaderCredits};
pub use header::{Bdf, Tag, TlpHeader};
pub use range::{BadRange, ByteRange};
pub use size::{Dwords, Mps, Mrrs, Rcb};
pub use timing::Clocking;
pub use tlp::{AddressWidth, Format, TlpKind, Traffic};
