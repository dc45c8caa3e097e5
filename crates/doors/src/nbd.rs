//! The Network Block Device protocol, without sockets: bytes in, requests and bytes out.
//!
//! Newstyle negotiation with `NBD_OPT_GO`, structured replies, flush, FUA, trim, write zeroes, several connections to
//! one export. Source: the protocol's text, `doc/proto.md` of NetworkBlockDevice/nbd, by the names that it uses.
//!
//! Not here: TLS, meta contexts (block status), resize, which are answered as unsupported.

pub mod client;
pub mod connection;
mod wire;
