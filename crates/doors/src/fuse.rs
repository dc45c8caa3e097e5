//! The drive as a file of this machine, by FUSE: a folder with one file, `drive`, as large as the drive.
//!
//! ```text
//!  program, loop device ─► kernel ─► thread of FUSE ─► Desk ─► server's thread ─► Engine
//!                          kernel ◄──────── Answer ◄───────────────┘
//! ```
//!
//! Nothing is cached in between (`FOPEN_DIRECT_IO`), and any number of requests may be in progress (`FUSE_ASYNC_DIO`,
//! `FOPEN_PARALLEL_DIRECT_WRITES`).
//!
//! Not here: the folder's mount, which is [`mount`]'s; what is asked of the drive meanwhile, which is the server's.

mod desk;
mod file;
pub mod mount;

pub use desk::{Answer, Asked, Desk, Patch, Wanted};

/// The name of the file.
pub const FILE: &str = "drive";
