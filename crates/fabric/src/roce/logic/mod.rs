//! State machines of both sides of a reliable connection's queue pair. Time is an argument; they read no clock.
//!
//! ```text
//!  requester                                   responder
//!  SEND, WRITE  ── First … Middle … Last ──►   in order, each byte once
//!               ◄──────────── ACK ──────────   for what asks for it, coalesced
//!  READ         ───────── request ─────────►
//!               ◄── First … Middle … Last ──   as fast as its memory answers
//!               ◄── NAK (out of sequence) ──   the requester goes back to it, and sends all behind it again
//!               ◄── RNR NAK ────────────────   no receive was posted: it waits, then goes back
//! ```
//!
//! | module | is about |
//! |---|---|
//! | [`dcqcn`] | how fast may be sent after congestion |
//! | [`packet`] | what packets say |
//! | [`requester`] | who sends work |
//! | [`responder`] | who carries it out |

pub mod dcqcn;
pub mod packet;
pub mod requester;
pub mod responder;
