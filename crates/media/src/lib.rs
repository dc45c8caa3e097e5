//! The medium behind the controller of an NVMe drive: flash or 3D XPoint, and the flash translation layer (FTL).
//!
//! ```text
//!   submit(now, Request) ──► Drive ─┬─ write buffer ── FTL ── NAND: channels, chips, dies, planes
//!   advance(now)         ◄── Done   └─ 3D XPoint: partitions that are read and written in place
//! ```
//!
//! | module | is about |
//! |---|---|
//! | [`config`] | what a drive is made of, and every mistake in it at once |
//! | [`dram`] | dynamic memory, which is behind no NVMe controller but has the same shape: tables, and a machine that obeys them |
//! | [`drive`] | the object that a device model owns |
//! | [`page_cache`] | a cache of pages in front of such a drive: memory with flash behind it |
//!
//! Time is an argument: this crate knows no clock, no event queue and no protocol. The same configuration, seed and
//! calls give the same answers on every machine.
//!
//! Not here: queues, commands and status codes of NVMe; the link; firmware times per command (the device model).
//!
//! Methods, tables and limits: `docs/flash.md`.

pub mod config;
mod counters;
mod cross_point;
mod divisor;
pub mod dram;
pub mod drive;
mod ftl;
mod limits;
mod mistakes;
mod nand;
pub mod page_cache;
mod power;
mod random;
mod request;
mod spare;
pub mod theory;
mod timers;

pub use config::{BadDrive, DriveConfig};
pub use counters::{Buffered, Counters, Stocks};
pub use drive::Drive;
pub use request::{CommandExtent, Done, Kind, Outcome, Request};
pub use spare::Spare;
