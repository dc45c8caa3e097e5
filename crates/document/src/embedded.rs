//! Pages of errors, embedded at build time.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
