//! A vfio-user guest: its messages, its drive, and changes of the drive.

use super::peer::{PeerKind, Socket};
use super::{Phase, Server};
use crate::command::Ended;
use crate::engine::Reply;
use crate::medium::ForDrives;
use crate::vfio_user::session::Session;
use crate::vfio_user::wire::MOST_FDS;
use lanetwin_units::{Instant, Span};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

/// Number of messages of a guest that are answered in one turn.
const MOST_AT_ONCE: usize = 64;

impl Server {
    /// Reads and answers messages of a guest's client. Returns whether it is still connected.
    pub(super) fn hear_guest(
        &mut self,
        now: Instant,
        socket: &Socket,
        session: &mut Session,
        output: &mut Vec<u8>,
    ) -> bool {
        self.follow_link(now);
        for _ in 0..MOST_AT_ONCE {
            let mut room = vec![0; session.wants()];
            let (count, files) = match receive(socket, &mut room) {
                Ok((0, _)) => return false,
                Ok(come) => come,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(_) => return false,
            };
            let Some(guest) = &mut self.guest else { return false };
            let answer = match session.push(&room[..count], files) {
                Ok(Some(message)) => session.answer(now, message, &mut guest.function),
                Ok(None) => continue,
                Err(broken) => Err(broken),
            };
            let Ok(bytes) = answer else { return false };
            output.extend(bytes);
        }
        self.ask_for_guest(now);
        true
    }
    /// Sends the controller's requests to the drive.
    pub(super) fn ask_for_guest(&mut self, now: Instant) {
        while let Some(guest) = &mut self.guest {
            let wanted = guest.function.take();
            if wanted.is_empty() {
                return;
            }
            for one in wanted {
                match one {
                    ForDrives::Erase { unit } => self.engine.erase(unit),
                    ForDrives::Tell { token } => {
                        guest.function.told(now, token, &self.engine.state(now).telemetry());
                    }
                    ForDrives::Ask { ticket, command } if self.phase == Phase::Echo => {
                        let data = vec![0; command.request.bytes as usize];
                        let reply = Reply { ticket, ended: Ended::Well, data, latency: Span::ZERO };
                        guest.function.answered(now, reply);
                    }
                    ForDrives::Ask { ticket, command } => {
                        self.numbers += 1;
                        guest.tickets.insert(self.numbers, ticket);
                        self.engine.ask(now, self.numbers, command);
                    }
                }
            }
        }
    }
    /// Hands a reply on; itself, if it is not the guest's.
    pub(super) fn answer_guest(&mut self, now: Instant, reply: Reply) -> Option<Reply> {
        let Some(guest) = &mut self.guest else { return Some(reply) };
        let Some(ticket) = guest.tickets.remove(&reply.ticket) else { return Some(reply) };
        guest.function.answered(now, Reply { ticket, ..reply });
        self.ask_for_guest(now);
        None
    }
    /// Time has come.
    pub(super) fn wake_guest(&mut self, now: Instant) {
        self.follow_link(now);
        if let Some(guest) = &mut self.guest {
            guest.function.wake(now);
        }
        self.ask_for_guest(now);
    }
    /// The drive is away while its link is down, or it is pulled out.
    fn follow_link(&mut self, now: Instant) {
        let is_away = self.is_removed || self.engine.is_link_lost(now, 0);
        if let Some(guest) = &mut self.guest {
            guest.function.set_away(now, is_away);
        }
    }
    /// The drive is reset from outside.
    pub(super) fn reset_guest(&mut self, now: Instant) {
        if let Some(guest) = &mut self.guest {
            guest.function.reset(now);
        }
        self.ask_for_guest(now);
    }
    /// A connection is gone, perhaps the guest's.
    pub(super) fn lost_guest(&mut self, now: Instant, number: u32) {
        if let Some(guest) = self.guest.as_mut().filter(|guest| guest.peer == Some(number)) {
            guest.peer = None;
            guest.function.lost(now);
        }
        self.ask_for_guest(now);
    }
    /// Whether a connection's client has not negotiated its version.
    pub(super) const fn is_dumb(kind: &PeerKind) -> bool {
        matches!(kind, PeerKind::VfioUser(session) if !session.is_open())
    }
}

/// Receives data, with file descriptors.
fn receive(socket: &Socket, into: &mut [u8]) -> Result<(usize, Vec<OwnedFd>), Errno> {
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut beside = RecvAncillaryBuffer::new(&mut room);
    let come = recvmsg(socket.as_fd(), &mut [IoSliceMut::new(into)], &mut beside, RecvFlags::CMSG_CLOEXEC)?;
    let mut files = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(come) = message {
            files.extend(come);
        }
    }
    Ok((come.bytes, files))
}
