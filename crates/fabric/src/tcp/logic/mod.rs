//! The state machine of a connection. Time is an argument; it reads no clock.
//!
//! ```text
//!  offer ─► sender ── segments, as large as an adapter cuts them ──►  receiver ─► delivered, in order, once
//!             ▲                                                         │
//!             └── ACK: how far, SACK: what beyond, window, echo of marks ◄┘
//! ```
//!
//! | module | is about |
//! |---|---|
//! | [`segment`] | what segments say |
//! | [`ranges`] | what has come of a stream, with gaps |
//! | [`rtt`] | how long a round trip takes, and when to give a segment up |
//! | [`congestion`] | how much may be on its way: slow start, CUBIC, DCTCP |
//! | [`sender`] | one direction: who sends, and sends again |
//! | [`receiver`] | the same: who takes in, and acknowledges |
//! | [`connection`] | both directions of one end |

pub mod congestion;
pub mod connection;
pub mod ranges;
pub mod receiver;
pub mod rtt;
pub mod segment;
pub mod sender;
