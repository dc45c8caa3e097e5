//! Host and target as total functions on state. Nothing here waits, reads a clock or uses a socket.
//!
//! | module | content |
//! |---|---|
//! | [`data`] | data as bytes or as lengths |
//! | [`authentication`] | DH-HMAC-CHAP, both sides |
//! | [`establish`] | immediate establishment of connections |
//! | [`tcp`] | NVMe/TCP data units in a byte stream |
//! | [`host`] | host: queues, associations, logs |
//! | [`target`] | target: connections, associations, discovery, transfers |

pub mod authentication;
pub mod data;
pub mod establish;
pub mod host;
pub mod target;
pub mod tcp;

pub use data::Data;
