//! A component between the initiator of block requests and the disk, with one port to each side.

use lanetwin_kernel::Port;
use lanetwin_ports::{PortInfo, Protocol};

/// The ports of whatever stands there.
pub(crate) const PORTS: &[PortInfo] = &[
    PortInfo { name: "up", speaks: Protocol::Block, about: "towards the requester", many: false },
    PortInfo { name: "down", speaks: Protocol::Block, about: "towards the disk", many: false },
];

/// Port towards the initiator.
pub(crate) const UP: Port = Port(0);
/// Towards the disk.
pub(crate) const DOWN: Port = Port(1);

/// The port on the other side.
pub(crate) fn other(port: Port) -> Port {
    if port == UP { DOWN } else { UP }
}
