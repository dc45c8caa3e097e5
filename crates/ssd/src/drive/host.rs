//! The host's side of a drive: registers, doorbells, connections and commands come in; what was asked for is reported
//! by token.

use super::Ssd;
use lanetwin_nvme::logic::subsystem::CommandInfo;
use lanetwin_nvme::logic::{
    Capsule, ConnectFault, Connection, ControllerChoice, PropertySize, Refused, Segment, Token,
};
use lanetwin_nvme::spec::{ControllerId, Doorbell, Nsid, SqId, Status};
use lanetwin_units::Instant;

/// What comes in by registers, doorbells and connections.
impl Ssd {
    /// A dword of a controller's registers; 0 where there is none.
    #[must_use]
    pub fn read_register(&self, controller: ControllerId, offset: u32) -> u32 {
        self.subsystem.read_register(controller, offset)
    }
    /// The host writes a dword of a controller's registers, doorbells included.
    #[inline]
    pub fn write_register(&mut self, now: Instant, controller: ControllerId, offset: u32, value: u32) {
        self.with_subsystem(|subsystem, effects| {
            subsystem.write_register(now, controller, offset, value, effects)
        });
    }
    /// The host rings a doorbell.
    #[inline]
    pub fn ring(&mut self, now: Instant, controller: ControllerId, doorbell: Doorbell, value: u32) {
        self.with_subsystem(|subsystem, effects| subsystem.ring(now, controller, doorbell, value, effects));
    }
    /// A property of a controller, as a fabric reads it.
    ///
    /// # Errors
    /// The status of a property that a fabric does not know.
    pub fn property(&self, controller: ControllerId, offset: u32, size: PropertySize) -> Result<u64, Status> {
        self.subsystem.property(controller, offset, size)
    }
    /// A fabric writes a property of a controller.
    ///
    /// # Errors
    /// The status of a property that a fabric does not write.
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
    /// Makes a queue pair whose commands are [handed in](Self::submit); the controller that has it.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn connect(
        &mut self,
        choice: ControllerChoice,
        connection: &Connection,
    ) -> Result<ControllerId, ConnectFault> {
        self.subsystem.connect(choice, connection)
    }
    /// The connection of a queue is lost, or ended; that of the admin queue resets the controller.
    pub fn disconnect(&mut self, now: Instant, controller: ControllerId, queue: SqId) {
        self.with_subsystem(|subsystem, effects| subsystem.disconnect(now, controller, queue, effects));
    }
    /// A command is handed in.
    ///
    /// # Errors
    /// Why it is not taken.
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
    /// A reset of a controller from outside, or its loss with its port. What it has under way is still to be reported.
    pub fn reset(&mut self, now: Instant, controller: ControllerId) {
        self.with_subsystem(|subsystem, effects| subsystem.reset(now, controller, effects));
    }
}

/// What is reported of an effect.
impl Ssd {
    /// The bytes of a fetch have come.
    #[inline]
    pub fn fetched(&mut self, now: Instant, token: Token, bytes: &[u8]) {
        self.with_subsystem(|subsystem, effects| subsystem.fetched(now, token, bytes, effects));
    }
    /// A transfer is done. One from the host that brought bytes is reported with [`Ssd::received`]: a drive with a
    /// store answers Data Transfer Error to a write of which it was not told the bytes.
    #[inline]
    pub fn transferred(&mut self, now: Instant, token: Token) {
        if let Some(buffers) = &mut self.buffers {
            buffers.forget(token);
        }
        self.with_subsystem(|subsystem, effects| subsystem.transferred(now, token, effects));
    }
    /// A transfer from the host is done, and these are its bytes.
    #[inline]
    pub fn received(&mut self, now: Instant, token: Token, data: &[u8]) {
        if let Some(buffers) = &mut self.buffers {
            buffers.put(token, data);
        }
        self.with_subsystem(|subsystem, effects| subsystem.transferred(now, token, effects));
        self.forget_if_lost(token);
    }
    /// What the controller has made is at the host.
    pub fn stored(&mut self, now: Instant, token: Token) {
        self.with_subsystem(|subsystem, effects| subsystem.stored(now, token, effects));
    }
    /// An effect could not be carried out: host memory did not answer, the link or the connection is down.
    pub fn failed(&mut self, now: Instant, token: Token) {
        if let Some(buffers) = &mut self.buffers {
            buffers.forget(token);
        }
        self.with_subsystem(|subsystem, effects| subsystem.failed(now, token, effects));
    }
}

/// What a front asks about an effect that it carries out.
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
    /// How large the blocks of a namespace are \[B\]; none if there is no such namespace.
    #[must_use]
    pub fn block_bytes(&self, nsid: Nsid) -> Option<u64> {
        self.subsystem.block_bytes(nsid)
    }
}
