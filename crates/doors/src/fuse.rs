//! The drive as a file of this machine, by FUSE: a folder with one file, `drive`, as large as the drive.
//!
//! ```text
//!  program, loop device ─► kernel ─► thread of FUSE ─► Desk ─► server's thread ─► Engine
//!                          kernel ◄──────── Answer ◄───────────────┘
//! ```
//!
//! There is no cache in between (`FOPEN_DIRECT_IO`), and any number of requests may be in progress (`FUSE_ASYNC_DIO`,
//! `FOPEN_PARALLEL_DIRECT_WRITES`).
//!
//! Not here: mounting of the folder ([`mount`]); requests to the drive (the server).

mod desk;
mod file;
pub mod mount;

pub use desk::{Answer, Asked, Desk, Patch, Wanted};

/// The name of the file.
pub const FILE: &str = "drive";
