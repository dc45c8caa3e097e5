//! The registers of configuration space that describe and control a link, each declared once.

mod map;
mod words;

pub use lanetwin_pcie::spec::config_words::BridgeControl;
pub use lanetwin_pcie::spec::link_words::{
    CorrectableErrors, EqualizationStatus, LinkCapabilities, LinkCapabilities2, LinkControl, LinkControl2,
    LinkControl3, LinkStatus, LinkStatus2, PowerControl,
};
pub use map::*;
pub use words::*;
