//! `(cpu)`: several drivers on one host. The CPU port of a root complex is one; every driver has its own.
//!
//! ```text
//!  driver of load 0 ─┐
//!  driver of load 1 ─┼─ (cpu) ─ root complex        doorbells as they come, signals to the driver whose handle they carry,
//!  driver of load 2 ─┘                        or whose device they are from
//! ```
//!
//! Several jobs on a device that takes requests directly are joined in the same way: `(jobs)`. In the opposite
//! direction, `(queues)` joins the queues through which a device, in place of the host, accesses a drive; the device
//! numbers its requests like several loads.
//!
//! It takes no time and limits nothing: sharing of the host's cores is not modelled here.

use lanetwin_kernel::{Component, Port};
use lanetwin_load::Handles;
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{Context, Message};
use lanetwin_units::Span;
use std::collections::BTreeMap;

/// The port of the root complex, or of the device.
pub const HOST: Port = Port(0);

/// The port of the driver of a load.
#[must_use]
pub const fn of_load(load: u32) -> Port {
    Port(load as u16 + 1)
}

/// Leads signals to their drivers.
#[derive(Debug)]
pub struct SharedPort {
    /// Number of loads: the handle determines the driver.
    pub loads: u32,
    /// The ports of drivers that serve all loads of a device: theirs are all signals of the device.
    pub devices: BTreeMap<EndpointId, Port>,
}

impl Component<Message> for SharedPort {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        let of_handle =
            |handle| if port == HOST { of_load(Handles::place(handle, self.loads)) } else { HOST };
        let to = match message {
            Message::Mmio { .. } => HOST,
            Message::Block(transfer) => of_handle(transfer.handle),
            Message::Command(command) => of_handle(command.handle),
            Message::Signal { handle, from } => {
                let of_device = self.devices.get(&from).copied();
                of_device.unwrap_or_else(|| of_load(Handles::place(handle, self.loads)))
            }
            Message::BlockDone(done) => of_handle(done.handle),
            _ => unreachable!("drivers and root complexes exchange doorbells and signals, not {message:?}"),
        };
        cx.send(to, Span::ZERO, message);
    }
}
