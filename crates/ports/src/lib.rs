//! Messages that cross ports, and declarations of devices.
//!
//! ```text
//!   load ──Dma──► requester ══Pcie══╗                 ══ Tlps: handed to the links, with lookahead
//!                                  Links              ── ordinary kernel channels
//!   driver ──Cpu──► root complex ══╝
//! ```
//!
//! The set of protocols is closed (it changes when a standards body meets), the set of devices is open (it changes
//! weekly): [`Message`] is one small enum, [`Model`] is one declaration in one file.
//!
//! Not here: any device (the models crate), any protocol rule (the protocol crates).

mod condition;
mod cores;
mod cxl_link;
mod cxl_port;
mod cxl_stages;
mod effect;
mod ethernet;
mod links;
mod memory;
mod message;
mod model;
mod pcie_port;
mod peers;
mod port_messages;
mod rdma;
mod route;
mod sockets;
pub mod usage;
mod ways;
mod wiring;

pub use condition::{Condition, Setting, WithoutEffect};
pub use cores::RunQueue;
pub use cxl_link::{CarriesLines, CxlLink, CxlLink256, CxlLinkOf, CxlLinkSpec, CxlLinkUse, OnLink};
pub use cxl_port::CXL_PORT;
pub use ethernet::{CableOutages, EthernetLine, EthernetSite};
pub use links::{Carried, Journey, LinkReport, Links, LinksBuilder};
pub use memory::{HostMemory, SharedMemory};
pub use message::{
    Attributes, BlockCommand, BlockCommandKind, Done, Hint, HintKind, Line, LineDone, Message, Operation,
    Release, Status, Tlps, Transfer,
};
pub use model::{
    Build, Capability, Dimension, HOST_SOFTWARE, LATENCY, Mistake, Model, Param, Params, PcieSite, PortInfo,
    Protocol, Site, Value, Way, is_latency_between_widths,
};
pub use pcie_port::{PCIE_DEVICE, PCIE_PORT};
pub use peers::{device_memory, device_of};
pub use port_messages::said;
pub use rdma::{DESTROYED, QueuePairId, Rdma, Receive, Sent, UnderWay, WorkCompletion, WorkRequest};
pub use route::{Crossing, way};
pub use sockets::{SocketEnds, SocketId, Sockets, socket_handle, socket_of};
pub use wiring::{WiredLink, Wiring};

/// The kernel, over this crate's message.
pub type Kernel = lanetwin_kernel::Kernel<Message>;
/// A machine under construction.
pub type Builder = lanetwin_kernel::Builder<Message>;
/// The interface of a component to the kernel while it handles an event.
pub type Context<'a> = lanetwin_kernel::Context<'a, Message>;
