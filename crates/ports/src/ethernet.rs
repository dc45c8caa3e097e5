//! An Ethernet port in its place: the line that it is at the end of, and who it is to others.

use lanetwin_fabric::ethernet::logic::Station;
use lanetwin_fabric::ethernet::spec::Line;

/// A line, as both of its ends know it.
pub type EthernetLine = Line;

/// An Ethernet port in its place.
///
/// Its peer's port is joined to it directly: what starts at `t` is sent as a message that arrives at `t` and
/// [`Line::delay`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EthernetSite {
    /// The line behind the port.
    pub line: EthernetLine,
    /// Who the port is, if frames begin and end there; none for a port of a switch.
    pub station: Option<Station>,
    /// The largest payload of a frame \[B\].
    pub mtu: u32,
    /// Whether every frame is a message of its own. It changes no result.
    pub frame_by_frame: bool,
}
