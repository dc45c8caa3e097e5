//! The logic of both sides: total functions on state. Nothing here waits, reads a clock or touches a socket.
//!
//! | module | is about |
//! |---|---|
//! | [`data`] | data as bytes or as lengths |
//! | [`authentication`] | DH-HMAC-CHAP: both sides of it |
//! | [`establish`] | connections that are made at once |
//! | [`tcp`] | data units in a stream of bytes |
//! | [`host`] | the side of hosts: queues, associations, logs |
//! | [`target`] | the side of controllers: connections, associations, discovery, transfers |

pub mod authentication;
pub mod data;
pub mod establish;
pub mod host;
pub mod target;
pub mod tcp;

pub use data::Data;
