//! NVMe/TCP: data units in a stream of bytes.
//!
//! | module | content |
//! |---|---|
//! | [`stream`] | byte streams, with or without the data themselves |
//! | [`pdu`] | data units, and their encoding |
//! | [`reader`] | reader of data units from a stream |

pub mod pdu;
pub mod reader;
pub mod stream;

pub use pdu::{Framing, Pdu};
pub use reader::{Fault, Reader, Received, Side};
pub use stream::{Stream, Units};
