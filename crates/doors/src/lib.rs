//! Emulation: a drive of a scenario in real time, with bytes, for unmodified programs.
//!
//! ```text
//!  a program ── door: in process, a socket ──► Engine ──► Twin ──► World (kernel, links, driver, drive)
//!                                               │  ▲        │
//!                                               │  └────────┘ when it is answered, in virtual time
//!                                               ▼
//!                                             Bytes: volatile write buffer ─► memory or a file
//! ```
//!
//! | module | is about |
//! |---|---|
//! | [`drive`] | which drive of a scenario is served, and what it says of itself |
//! | [`command`] | what a door can ask of it |
//! | [`twin`] | the drive in virtual time: when each command is answered |
//! | [`bytes`] | what it holds, what a loss of power leaves |
//! | [`file`] | a file that holds it |
//! | [`lateness`] | whether this machine keeps up |
//! | [`faults`] | what can be done to it while it runs |
//! | [`record`] | what was asked of it, for a run to replay |
//! | [`engine`] | twin and bytes together, time being an argument |
//! | [`local`] | the door in process: a thread that keeps the time |
//! | [`nbd`] | the Network Block Device protocol, without sockets |
//! | [`medium`] | what controllers ask of their medium, as commands for drives |
//! | [`fabric`] | NVMe/TCP: a subsystem without sockets, a host with them |
//! | [`vfio_user`] | vfio-user: a PCI function of a guest, without sockets; a driver of our own |
//! | [`fuse`] | a file in a folder, by the kernel's FUSE |
//! | [`server`] | the door for other processes: a thread with sockets that keeps the time |
//! | [`keys`] | secrets of hosts, in a file |
//! | [`powers`] | what hosts need to authenticate, computed by a thread |
//! | [`awake`] | cores that do not sleep while a drive is used |
//! | [`cores`] | a core for the door alone |
//! | [`listen`] | sockets that nobody but their owner can open |
//! | [`control`] | faults and power cuts from outside |
//!
//! Only [`local`] and [`server`] read a clock. Times of an emulated drive are the prediction of the world; the
//! deviation of this machine from it is reported with them ([`lateness`]).
//!
//! Not here: drives (the models crate), reading of scenarios (the plan crate).

pub mod awake;
pub mod bytes;
pub mod command;
pub mod control;
pub mod cores;
pub mod drive;
pub mod engine;
pub mod fabric;
pub mod faults;
pub mod file;
pub mod fuse;
pub mod keys;
pub mod lateness;
pub mod listen;
pub mod local;
pub mod medium;
pub mod nbd;
pub mod powers;
pub mod problem;
pub mod record;
pub mod server;
pub mod twin;
mod unit;
pub mod vfio_user;
