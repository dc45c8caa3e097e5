//! What the standards say. Data and total functions; nothing here happens.
//!
//! | module | is about |
//! |---|---|
//! | [`rate`] | line rates |
//! | [`frame`] | what a frame weighs on the wire |
//! | [`header`] | the frame header, to bytes and back |
//! | [`words`] | its words and those of FCP, bit by bit |
//! | [`fcp`] | the information units of an exchange, and their sizes |

pub mod fcp;
pub mod frame;
pub mod header;
pub mod rate;
pub mod words;
