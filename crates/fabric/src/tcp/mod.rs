//! TCP: the timing of byte streams over a network that loses packets.
//!
//! | module | is about |
//! |---|---|
//! | [`spec`] | sizes of headers, the timers and limits of Linux |
//! | [`logic`] | a connection: sender, receiver, loss recovery, congestion control |
//!
//! Not here: setting up and closing connections, urgent data, Nagle's algorithm beyond whole segments, pacing, what
//! segments cost a core.

pub mod logic;
pub mod spec;
