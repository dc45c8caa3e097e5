//! Requests of a kernel for the file of a drive: whatever is asked, what the drive is asked is of whole blocks within
//! it, every answer tells its own length and belongs to a request, and nothing panics.

use crate::input::{All, Piece};
use arbitrary::Arbitrary;
use lanetwin_doors::command::{Command, Ended, Kind};
use lanetwin_doors::drive::Facts;
use lanetwin_doors::fuse::{Asked, Wanted, mount};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};
use std::os::fd::OwnedFd;

const FACTS: Facts = Facts { bytes: 1 << 20, block: 4096, is_volatile: true, buffer: 0, atomic: 4096 };
/// So many requests at most, so that answers fit into the socket.
const MOST: usize = 12;

/// A place: from the start, or from the end on.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Place {
    Start(u32),
    End(i16),
    Any(u64),
}

/// What is asked.
#[derive(Arbitrary, Debug)]
enum Request {
    Read { at: Place, bytes: u16 },
    Write { at: Place, bytes: u16, flags: u32, open: u32 },
    Allocate { at: Place, bytes: Place, mode: u8 },
    Sync { opcode: bool },
    Open { flags: u32 },
    Release { is_writable: bool },
    Lookup { name: Piece },
    Other { opcode: u8, node: u8, body: Piece },
}

impl Place {
    fn offset(self) -> u64 {
        match self {
            Self::Start(at) => at.into(),
            Self::End(at) => FACTS.bytes.wrapping_add_signed(at.into()),
            Self::Any(at) => at,
        }
    }
}

fn words(all: &[u64]) -> Vec<u8> {
    all.iter().flat_map(|word| word.to_le_bytes()).collect()
}
/// A message (Linux `include/uapi/linux/fuse.h`, `struct fuse_in_header`).
fn message(opcode: u32, unique: u64, node: u64, body: &[u8]) -> Vec<u8> {
    let length = 40 + body.len() as u64;
    let head = words(&[length | u64::from(opcode) << 32, unique, node, 0, 0]);
    [&head, body].concat()
}
fn of(request: Request, unique: u64) -> Vec<u8> {
    let (opcode, node, body) = match request {
        Request::Read { at, bytes } => (15, 2, words(&[1, at.offset(), u64::from(bytes) % 8192, 0, 0])),
        Request::Write { at, bytes, flags, open } => {
            let head = words(&[1, at.offset(), u64::from(bytes) | u64::from(flags) << 32, 0, open.into()]);
            (16, 2, [head, vec![7; bytes.into()]].concat())
        }
        Request::Allocate { at, bytes, mode } => {
            (43, 2, words(&[1, at.offset(), bytes.offset(), mode.into()]))
        }
        Request::Sync { opcode } => (if opcode { 20 } else { 25 }, 2, words(&[1, 0, 0])),
        Request::Open { flags } => (14, 2, words(&[flags.into()])),
        Request::Release { is_writable } => (18, 2, words(&[is_writable.into(), 0, 0])),
        Request::Lookup { name: Piece(name) } => (1, 1, [&name[..name.len().min(200)], &[0]].concat()),
        // but for those that begin and end, and those of which `fuser` takes a kernel's word for how long they are: it
        // ends the process if a write (16) or an attribute (21) is of another length, which no kernel sends
        Request::Other { opcode: 16 | 21 | 26 | 38, .. } => (3, 2, words(&[0, 0])),
        // for an ioctl, too, which says how much it brings
        Request::Other { opcode: 39, node, body: Piece(body) } => {
            let data = &body[..body.len().min(2000)];
            (39, u64::from(node), [words(&[1, 0, 0, data.len() as u64]), data.to_vec()].concat())
        }
        Request::Other { opcode, node, body: Piece(body) } => {
            (u32::from(opcode), u64::from(node), body[..body.len().min(2000)].to_vec())
        }
    };
    message(opcode, unique, node, &body)
}

/// The drive does what it is asked.
fn done(command: &Command) -> (Ended, Vec<u8>) {
    let request = command.request;
    assert!(FACTS.allow(request).is_ok(), "{request:?}");
    let data = if request.kind == Kind::Read { vec![9; request.bytes as usize] } else { Vec::new() };
    (Ended::Well, data)
}
fn answer(asked: Asked) {
    let mut answer = Some(asked.answer);
    let commands = match asked.wanted {
        Wanted::Commands(commands) => commands,
        Wanted::Patch(patch) => {
            let (_, blocks) = done(&patch.read());
            patch.write(blocks).into_iter().collect()
        }
    };
    assert!(!commands.is_empty());
    for command in commands {
        let (ended, data) = done(&command);
        answer = answer.take().expect("it waits for all of them").ended(ended, data);
    }
    assert!(answer.is_none(), "it is answered");
}

crate::input::promise!(|requests: All<Request>| {
    let (ours, theirs): (OwnedFd, OwnedFd) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("sockets");
    let tell = |bytes: &[u8]| send(&ours, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL).is_ok();
    // 7.31 with FUSE_ASYNC_DIO
    let init = [7_u32, 31, 1 << 17, 1 << 15].map(u32::to_le_bytes).concat();
    assert!(tell(&message(26, 1, 0, &init)));
    let (desk, session) = mount::hear(theirs, FACTS).expect("a session");
    let mut sent = 1;
    for request in requests.0.into_iter().take(MOST) {
        sent += 1;
        if !tell(&of(request, sent)) {
            break;
        }
    }
    // it hears this, whatever waits before it
    send(&ours, &message(38, sent + 1, 0, &[]), SendFlags::NOSIGNAL).ok();
    let _ = session.join().expect("no panic");
    desk.take().into_iter().for_each(answer);
    let mut buffer = vec![0; 1 << 17];
    while let Ok((_, length)) = recv(&ours, &mut buffer[..], RecvFlags::DONTWAIT) {
        if length == 0 {
            break;
        }
        let told = buffer.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let unique = buffer[8..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        assert_eq!((told as usize, (1..=sent + 1).contains(&unique)), (length, true));
    }
});
