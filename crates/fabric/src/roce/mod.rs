//! RoCEv2: remote direct memory access (RDMA) over UDP, by reliable connections.
//!
//! | module | is about |
//! |---|---|
//! | [`spec`] | headers, opcodes, sizes, the MTU of a path |
//! | [`logic`] | the two sides of a queue pair: requester and responder, with go-back-N |
//! | [`throughput`] | what is left of a rate: closed forms |
//!
//! InfiniBand Architecture Specification, volume 1 (IBTA), its annexes A16 (RoCE) and A17 (RoCEv2).
//!
//! Not here: datagrams and unreliable connections, atomic operations, selective repeat, the cost of registering memory
//! (the host's), congestion control.

pub mod logic;
pub mod spec;
pub mod throughput;
