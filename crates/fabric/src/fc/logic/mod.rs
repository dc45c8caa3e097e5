//! Fibre Channel state machines. Time is an argument; they read no clock.
//!
//! | module | is about |
//! |---|---|
//! | [`credits`] | buffer-to-buffer credits: one for each frame, back with R_RDY |
//! | [`transmitter`] | one direction of a link: frames in runs without a gap |
//! | [`receive_buffer`] | a buffer behind the credits, which withholds R_RDY while it is full |
//! | [`pace`] | something that passes data on at a rate of its own |

pub mod credits;
pub mod pace;
pub mod receive_buffer;
pub mod transmitter;
