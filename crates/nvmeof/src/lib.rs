//! NVMe over Fabrics: capsules, associations, discovery, NVMe/TCP and NVMe/RDMA, of both host and target. It uses no
//! clock, socket, adapter or medium.
//!
//! ```text
//!   host::Controller ── Connect, properties, queues ──┐                ┌── target::Target ── Submit, Connect … ──► a controller
//!         │ commands                                  │                │        ▲                                 (nvme, ssd)
//!         ▼                                           │    capsules    │        └── HostEffect: Transfer, Respond ◄──┘
//!   host::Queue ◄── answers, R2T, C2HData ────────────┴────────────────┴── R2T, C2HData, RDMA READ and WRITE
//!         │ ▲                                                                     │ ▲
//!         ▼ │   tcp: a stream of bytes                      rdma: work requests   ▼ │
//!   ──────────────────────── whoever has a socket, an adapter, a simulated network ────────────────────────
//! ```
//!
//! * [`spec`]: Fabrics commands, the discovery log, NVMe/TCP data units, private data of RDMA connections, ANA.
//! * [`logic`]: host and target as total functions on state. They take events and append effects to be carried out.
//! * [`throughput`]: closed forms of the bytes that commands take on an Ethernet line.
//!
//! Data are bytes or, where only time matters, lengths ([`logic::Data`]); the same code handles both.
//!
//! Sources: NVM Express over Fabrics 1.1 (NVMe-oF 1.1), whose commands Base Specification 2.0 (Base 2.0) has taken
//! over; NVMe/TCP Transport Specification 1.0 (TCP Transport 1.0); NVMe/RDMA Transport Specification 1.0 (RDMA
//! Transport 1.0). Where a section has no number here, its title is given. Offsets and values agree with SPDK
//! `nvmf_spec.h` and Linux `nvme-tcp.h`, `nvme-rdma.h` as far as these go.
//!
//! Not here: TLS, and a secure channel after authentication, both of which are refused; NVMe/FC; a host's choice
//! between several paths.

pub mod logic;
pub mod spec;
pub mod throughput;
