//! Asymmetric Namespace Access: its log and its event, which controllers without a fabric have as well.

pub use lanetwin_nvme::spec::ana::*;
