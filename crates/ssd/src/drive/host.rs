//! The host's side of a drive: it takes registers, doorbells, connections and commands, and reports of effects by
//! token.

use super::Ssd;
use lanetwin_nvme::logic::subsystem::CommandInfo;
use lanetwin_nvme::logic::{
    Capsule, ConnectFault, Connection, ControllerChoice, PropertySize, Refused, Segment, Token,
};
use lanetwin_nvme::spec::{ControllerId, Doorbell, Nsid, SqId, Status};
use lanetwin_units::Instant;

/// Registers, doorbells and connections.
impl Ssd {
    /// A dword of a controller's registers; 0 if there is no register.
    #[must_use]
    pub fn read_register(&self, controller: ControllerId, offset: u32) -> u32 {
        self.subsystem.read_register(controller, offset)
    }
    /// Writes a dword of a controller's registers, doorbells included.
    #[inline]
    pub fn write_register(&mut self, now: Instant, controller: ControllerId, offset: u32, value: u32) {
        self.with_subsystem(|subsystem, effects| {
            subsystem.write_register(now, controller, offset, value, effects)
        });
    }
    /// Rings a doorbell.
    #[inline]
    pub fn ring(&mut self, now: Instant, controller: ControllerId, doorbell: Doorbell, value: u32) {
        self.with_subsystem(|subsystem, effects| subsystem.ring(now, controller, doorbell, value, effects));
    }
    /// A property of a controller, as Property Get reads it.
    ///
    /// # Errors
    /// The status for a property that does not exist over fabrics.
    pub fn property(&self, controller: ControllerId, offset: u32, size: PropertySize) -> Result<u64, Status> {
        self.subsystem.property(controller, offset, size)
    }
    /// Writes a property of a controller, as Property Set does.
    ///
    /// # Errors
    /// The status for a property that cannot be written over fabrics.
    pub fn set_property(
        &mut self,
        now: Instant,
        controller: ControllerId,
        offset: u32,
        value: u64,
    ) -> Result<(), Status> {
        self.with_subsystem(|subsystem, effects| {
            subsystem.set_property(now, controller, (offset, value), effects)
        })
    }
    /// Makes a queue pair whose commands are [submitted](Self::submit) as capsules. Returns its controller.
    ///
    /// # Errors
    /// Why the connection is refused.
    pub fn connect(
        &mut self,
        choice: ControllerChoice,
        connection: &Connection,
    ) -> Result<ControllerId, ConnectFault> {
        self.subsystem.connect(choice, connection)
    }
    /// Ends the connection of a queue; that of the admin queue resets the controller.
    pub fn disconnect(&mut self, now: Instant, controller: ControllerId, queue: SqId) {
        self.with_subsystem(|subsystem, effects| subsystem.disconnect(now, controller, queue, effects));
    }
    /// Submits a command capsule.
    ///
    /// # Errors
    /// Why it is refused.
    #[inline]
    pub fn submit(
        &mut self,
        now: Instant,
        controller: ControllerId,
        queue: SqId,
        capsule: Capsule,
    ) -> Result<(), Refused> {
        self.with_subsystem(|subsystem, effects| subsystem.submit(now, controller, (queue, capsule), effects))
    }
    /// Sets the Keep Alive Timer of a controller \[ms\], as Connect does; 0 switches it off.
    pub fn set_keep_alive(&mut self, now: Instant, controller: ControllerId, ms: u32) {
        self.with_subsystem(|subsystem, effects| subsystem.set_keep_alive(now, controller, ms, effects));
    }
    /// Resets a controller from outside, or because its port is lost. Its pending effects are still to be reported.
    pub fn reset(&mut self, now: Instant, controller: ControllerId) {
        self.with_subsystem(|subsystem, effects| subsystem.reset(now, controller, effects));
    }
}

/// Reports about effects.
impl Ssd {
    /// Reports the bytes of a fetch.
    #[inline]
    pub fn fetched(&mut self, now: Instant, token: Token, bytes: &[u8]) {
        self.with_subsystem(|subsystem, effects| subsystem.fetched(now, token, bytes, effects));
    }
    /// Reports that a transfer is complete. One from the host with bytes is reported by [`Ssd::received`] instead: a
    /// drive with a store completes a write without its bytes with Data Transfer Error.
    #[inline]
    pub fn transferred(&mut self, now: Instant, token: Token) {
        if let Some(buffers) = &mut self.buffers {
            buffers.forget(token);
        }
        self.with_subsystem(|subsystem, effects| subsystem.transferred(now, token, effects));
    }
    /// Reports that a transfer from the host is complete, with its bytes.
    #[inline]
    pub fn received(&mut self, now: Instant, token: Token, data: &[u8]) {
        if let Some(buffers) = &mut self.buffers {
            buffers.put(token, data);
        }
        self.with_subsystem(|subsystem, effects| subsystem.transferred(now, token, effects));
        self.forget_if_lost(token);
    }
    /// Reports that the data of a store effect are at the host.
    pub fn stored(&mut self, now: Instant, token: Token) {
        self.with_subsystem(|subsystem, effects| subsystem.stored(now, token, effects));
    }
    /// Reports that an effect could not be carried out: host memory did not answer, or the link or the connection is
    /// down.
    pub fn failed(&mut self, now: Instant, token: Token) {
        if let Some(buffers) = &mut self.buffers {
            buffers.forget(token);
        }
        self.with_subsystem(|subsystem, effects| subsystem.failed(now, token, effects));
    }
}

/// Queries about effects that are being carried out.
impl Ssd {
    /// The data of a transfer to the host that is not yet reported; empty without a store.
    #[must_use]
    pub fn data(&self, token: Token) -> &[u8] {
        self.buffers.as_ref().map_or(&[], |buffers| buffers.get(token))
    }
    /// The bytes of a store effect that is not yet reported.
    #[must_use]
    pub fn content(&self, token: Token) -> &[u8] {
        self.subsystem.content(token)
    }
    /// The pieces of host memory of an effect that is not yet reported, in order.
    pub fn segments(&self, token: Token) -> impl Iterator<Item = Segment> + '_ {
        self.subsystem.segments(token)
    }
    /// The command that a token belongs to.
    #[inline]
    #[must_use]
    pub fn command(&self, token: Token) -> Option<CommandInfo> {
        self.subsystem.command(token)
    }
    /// Size of the blocks of a namespace \[B\]. Returns `None` if there is no such namespace.
    #[must_use]
    pub fn block_bytes(&self, nsid: Nsid) -> Option<u64> {
        self.subsystem.block_bytes(nsid)
    }
}
