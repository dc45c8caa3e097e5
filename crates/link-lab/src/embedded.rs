//! Templates, as they were when the program was built.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
