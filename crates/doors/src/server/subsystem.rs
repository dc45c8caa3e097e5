//! Actions of the NVMe/TCP subsystem, and reports to it.

use super::{Phase, Server};
use crate::command::{Command, Ended};
use crate::engine::Reply;
use crate::fabric::front::Outward;
use crate::powers::Powers;
use lanetwin_nvme::logic::Token;
use lanetwin_nvmeof::logic::authentication::{Power, Ring};
use lanetwin_units::{Instant, Span};
use std::collections::BTreeSet;
use std::io;

impl Server {
    /// From now on admits only these hosts over NVMe/TCP, after they have authenticated.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn admit(&mut self, ring: Ring) -> io::Result<()> {
        self.powers = Some(Powers::new(Power::compute)?);
        self.front.iter_mut().for_each(|front| front.admit(ring.clone()));
        Ok(())
    }
    pub(super) fn answer_front(&mut self, now: Instant, replies: Vec<Reply>) {
        let Some(front) = &mut self.front else { return };
        let out = replies.into_iter().flat_map(|reply| front.answered(now, reply)).collect();
        self.carry_out(now, out);
    }
    /// Carries out actions of the subsystem. Output of one connection is sent together, so that a host is woken once.
    pub(super) fn carry_out(&mut self, now: Instant, out: Vec<Outward>) {
        let mut with_output = BTreeSet::new();
        for outward in out {
            match outward {
                Outward::Send { connection, bytes } => {
                    let Some(peer) = self.peers.get_mut(&connection) else { continue };
                    peer.output.extend(bytes);
                    with_output.insert(connection);
                }
                Outward::Close { connection } => {
                    self.powers.iter_mut().for_each(|powers| powers.forget(connection));
                    let Some(peer) = self.peers.get_mut(&connection) else { continue };
                    (peer.is_closing, peer.since) = (true, now);
                    peer.send();
                    if peer.output.is_empty() {
                        self.peers.remove(&connection);
                    }
                }
                Outward::Ask { ticket, command } => self.ask_for_front(now, ticket, command),
                Outward::Raise { connection, power } => {
                    let powers = self.powers.as_mut().expect("only hosts that are admitted need powers");
                    powers.ask(connection, power);
                }
                Outward::Erase { unit } => self.engine.erase(unit),
                Outward::Tell { token } => self.tell_front(now, token),
            }
        }
        with_output.into_iter().for_each(|connection| self.send_to(connection));
    }
    fn tell_front(&mut self, now: Instant, token: Token) {
        let state = self.engine.state(now).telemetry();
        let out = self.front.as_mut().map_or_else(Vec::new, |front| front.told(now, token, &state));
        self.carry_out(now, out);
    }
    fn ask_for_front(&mut self, now: Instant, ticket: u64, command: Command) {
        if self.phase == Phase::Echo {
            let data = vec![0; command.request.bytes as usize];
            let reply = Reply { ticket, ended: Ended::Well, data, latency: Span::ZERO };
            return self.answer_front(now, vec![reply]);
        }
        self.numbers += 1;
        self.of_front.insert(self.numbers, ticket);
        self.engine.ask(now, self.numbers, command);
    }
    /// Tells the subsystem a power that was computed.
    pub(super) fn attend_powers(&mut self) {
        let Some((connection, value)) = self.powers.as_mut().and_then(Powers::take) else { return };
        let now = self.now();
        let out = self.front.as_mut().map_or_else(Vec::new, |front| front.raised(now, connection, value));
        self.carry_out(now, out);
    }
}
