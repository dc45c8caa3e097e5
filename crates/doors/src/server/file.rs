//! Requests that come by a file: taken from its desk, answered when all commands of one have ended.

use super::of_file::Patching;
use super::{Entrance, Phase, Server};
use crate::command::{Command, Ended};
use crate::engine::Reply;
use crate::fuse::{Answer, Asked, Wanted};
use lanetwin_units::Instant;

impl Server {
    /// Sends requests queued by the file.
    pub(super) fn attend_desk(&mut self) {
        let Entrance::File(mounted) = &self.sockets.entrance else { return };
        let now = self.now();
        for Asked { wanted, answer } in mounted.desk().take() {
            match wanted {
                _ if self.phase == Phase::Echo => echo(&wanted, answer),
                Wanted::Patch(patch) => self.of_file.patches.push_back((patch, answer)),
                Wanted::Commands(commands) => {
                    self.of_file.numbers += 1;
                    self.of_file.answers.insert(self.of_file.numbers, answer);
                    for command in commands {
                        let ticket = self.ask_for_file(now, command);
                        self.of_file.tickets.insert(ticket, self.of_file.numbers);
                    }
                }
            }
        }
        self.next_patch(now);
    }
    fn ask_for_file(&mut self, now: Instant, command: Command) -> u64 {
        self.numbers += 1;
        self.engine.ask(now, self.numbers, command);
        self.numbers
    }
    /// Delivers a reply. Returns it if it does not belong to the file.
    pub(super) fn answer_file(&mut self, now: Instant, reply: Reply) -> Option<Reply> {
        if let Some(patching) = self.of_file.patching.take_if(|one| one.ticket == reply.ticket) {
            self.patch_on(now, patching, reply);
            return None;
        }
        let of_file = &mut self.of_file;
        let Some(number) = of_file.tickets.remove(&reply.ticket) else { return Some(reply) };
        let answer = of_file.answers.remove(&number)?.ended(reply.ended, reply.data)?;
        of_file.answers.insert(number, answer);
        None
    }
    /// Begins with the next write of parts of blocks, if none is in progress.
    fn next_patch(&mut self, now: Instant) {
        if self.of_file.patching.is_some() {
            return;
        }
        if let Some((patch, answer)) = self.of_file.patches.pop_front() {
            let ticket = self.ask_for_file(now, patch.read());
            self.of_file.patching = Some(Patching { ticket, to_write: Some(patch), answer });
        }
    }
    fn patch_on(&mut self, now: Instant, patching: Patching, reply: Reply) {
        let Patching { to_write, answer, .. } = patching;
        let write = to_write.and_then(|patch| patch.write(reply.data)).filter(|_| reply.ended.is_well());
        match write {
            Some(command) => {
                let ticket = self.ask_for_file(now, command);
                self.of_file.patching = Some(Patching { ticket, to_write: None, answer });
            }
            None => {
                // whoever waits for a write waits for one end
                let _ = answer.ended(reply.ended, Vec::new());
                self.next_patch(now);
            }
        }
    }
}

/// Answers at once: the door measures itself.
fn echo(wanted: &Wanted, answer: Answer) {
    let commands = match wanted {
        Wanted::Commands(commands) => &commands[..],
        Wanted::Patch(patch) => &[patch.read()],
    };
    let mut open = Some(answer);
    for command in commands {
        let data = vec![0; command.request.bytes as usize];
        open = open.and_then(|answer| answer.ended(Ended::Well, data));
    }
}
