//! NVMe/TCP: data units in a stream of bytes.
//!
//! | module | is about |
//! |---|---|
//! | [`stream`] | bytes in order, kept or not |
//! | [`pdu`] | data units, and how they are written |
//! | [`reader`] | data units out of a stream that comes in any pieces |

pub mod pdu;
pub mod reader;
pub mod stream;

pub use pdu::{Framing, Pdu};
pub use reader::{Fault, Reader, Received, Side};
pub use stream::{Stream, Units};
