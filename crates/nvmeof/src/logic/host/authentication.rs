//! Authentication of the host of a queue, after Connect and before all other commands (Base 2.0 §8.13).

use super::config::HostTransport;
use super::effect::{Failure, Io, QueueEffect, Transfer};
use super::queue::{MESSAGE_NAME, Queue, Stage};
use crate::logic::authentication::host::{Host, Step};
use crate::logic::authentication::proof::Names;
use crate::logic::authentication::{Keys, Random, Terms};
use crate::spec::authentication::{AuthenticationCommand, PROTOCOL};
use crate::spec::fabrics::{FABRICS_OPCODE, FabricsType};
use lanetwin_nvme::spec::Command;

/// Size of the buffer for a message of the controller \[B\], as in Linux.
const ROOM: u32 = 4096;

impl Queue {
    /// Sets the secrets for authentication.
    pub fn prove_with(&mut self, keys: Keys) {
        let names = Names { host: self.config.host.nqn.clone(), subsystem: self.config.subsystem.clone() };
        self.prover = Some(Box::new(Host::new(Terms::all(), keys, names, self.config.number.0)));
    }
    /// Whether the host has authenticated.
    #[must_use]
    pub fn has_proved(&self) -> bool {
        self.is_live() && self.prover.as_ref().is_some_and(|prover| prover.has_begun())
    }
    /// Starts authentication after Connect if the controller requires it, or if the host requires the subsystem to
    /// authenticate.
    pub(super) fn authenticate(&mut self, is_asked: bool, effects: &mut Vec<QueueEffect>) {
        let is_tcp = matches!(self.config.transport, HostTransport::Tcp(_));
        match self.prover.as_mut().filter(|prover| is_tcp && (is_asked || prover.wants_proof())) {
            Some(prover) => {
                self.stage = Stage::Authenticating;
                let step = prover.begin();
                self.go_through(step, effects);
            }
            None if is_asked => self.fail(Failure::AuthenticationRequired, effects),
            None => self.go_live(effects),
        }
    }
    fn go_live(&mut self, effects: &mut Vec<QueueEffect>) {
        self.stage = Stage::Live;
        effects.push(QueueEffect::Connected { controller: self.to });
    }
    /// A message has been sent, or received if `has_come`.
    pub(super) fn message_ended(&mut self, has_come: bool, effects: &mut Vec<QueueEffect>) {
        let message = core::mem::take(&mut self.message);
        let Some(prover) = self.prover.as_mut() else { return };
        let step = if has_come { prover.take(&message) } else { prover.sent() };
        self.go_through(step, effects);
    }
    /// Takes the random numbers that [`QueueEffect::Draw`] requested.
    pub fn drawn(&mut self, random: &Random, effects: &mut Vec<QueueEffect>) {
        let step = self.prover.as_mut().filter(|_| self.stage == Stage::Authenticating);
        let Some(step) = step.map(|prover| prover.drawn(random)) else { return };
        self.go_through(step, effects);
    }
    fn go_through(&mut self, step: Step, effects: &mut Vec<QueueEffect>) {
        let (kind, transfer) = match step {
            Step::Send(message) => (FabricsType::AUTHENTICATION_SEND, Transfer::ToController(message.into())),
            Step::Receive => (FabricsType::AUTHENTICATION_RECEIVE, Transfer::FromController(ROOM)),
            Step::Draw => return effects.push(QueueEffect::Draw),
            Step::Done => return self.go_live(effects),
            Step::Failed(why) => return self.fail(Failure::NotAuthenticated(why), effects),
        };
        let mut command = AuthenticationCommand::ZERO;
        command.set_opcode(FABRICS_OPCODE);
        command.set_kind(kind);
        command.set_protocol(PROTOCOL);
        command.set_bytes(transfer.bytes());
        let command = Command::from_bytes(*command.as_bytes());
        let io = Io { command, name: MESSAGE_NAME, transfer, address: self.config.buffer };
        if self.post(io, effects).is_err() {
            self.fail(Failure::Lost, effects);
        }
    }
}
