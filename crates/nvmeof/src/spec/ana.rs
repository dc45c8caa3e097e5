//! Asymmetric Namespace Access: its log and event, which controllers without a fabric also have.

pub use lanetwin_nvme::spec::ana::*;
