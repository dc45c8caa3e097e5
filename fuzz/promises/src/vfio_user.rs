//! Serving vfio-user: any messages, with any files, are answered or end the connection, never with a panic, however
//! they are cut; every reply is one message that its header tells of; when the client is gone and the drive has
//! answered, nothing is held of it.

use crate::input::{All, Piece};
use arbitrary::Arbitrary;
use lanetwin_doors::command::Ended;
use lanetwin_doors::drive::Facts;
use lanetwin_doors::engine::Reply;
use lanetwin_doors::medium::ForDrives;
use lanetwin_doors::vfio_user::function::Function;
use lanetwin_doors::vfio_user::link::LinkSeen;
use lanetwin_doors::vfio_user::session::Session;
use lanetwin_doors::vfio_user::wire::{Code, HEADER_BYTES, Header, MOST_MESSAGE};
use lanetwin_nvme::spec::Command;
use lanetwin_nvme::spec::command::CommandDword0;
use lanetwin_units::{Generation, Instant, Span, Width};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

/// Entries of the admin queue.
const ENTRIES: u32 = 32;

const FACTS: Facts = Facts { bytes: 1 << 20, block: 512, is_volatile: true, buffer: 0, atomic: 512 };
const LINK: LinkSeen = LinkSeen {
    capable: (Generation::Gen5, Width::X4),
    trained: (Generation::Gen4, Width::X2),
    payload: 512,
    has_common_clock: true,
    retimers: 1,
};

/// What a client sends.
#[derive(Arbitrary, Debug)]
enum Sent {
    /// A message whose header tells its size.
    Whole { code: u8, body: Piece, file: File },
    /// A dword of a region: what drivers do most.
    Register { offset: u16, value: u32 },
    /// A command is put into the admin queue, and rung for.
    Command { opcode: u8, nsid: u8, pages: [u8; 2], words: [u32; 3] },
    /// A page of memory is written by the guest, so that queues have something in them.
    Memory { page: u8, bytes: Piece },
    /// Whatever.
    Bytes(Piece),
    /// The drive answers what it was asked.
    Answers,
}

/// What comes beside it.
#[derive(Arbitrary, Debug)]
enum File {
    None,
    Memory,
    Pipe,
}

struct Client {
    session: Session,
    function: Function,
    memory: std::fs::File,
    asked: Vec<(u64, u32)>,
    now: Instant,
    /// The tail of the admin queue, in page 0.
    tail: u32,
}

impl Client {
    fn send(&mut self, mut bytes: &[u8], mut files: Vec<OwnedFd>) -> bool {
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at(self.session.wants().min(bytes.len()));
            bytes = rest;
            let Ok(come) = self.session.push(piece, std::mem::take(&mut files)) else { return false };
            assert!(self.session.held() <= 2 * MOST_MESSAGE as usize);
            let Some(message) = come else { continue };
            let Ok(reply) = self.session.answer(self.now, message, &mut self.function) else { return false };
            if let Some(head) = reply.first_chunk() {
                assert_eq!(Header::from_bytes(*head).size() as usize, reply.len());
            }
        }
        for one in self.function.take() {
            if let ForDrives::Ask { ticket, command } = one {
                assert!(FACTS.allow(command.request).is_ok());
                self.asked.push((ticket, command.request.bytes));
            }
        }
        true
    }
    fn write(&mut self, offset: u64, value: u32) -> bool {
        let head = [offset.to_le_bytes(), (4_u64 << 32).to_le_bytes()].concat();
        self.send(&message(10, &[&head[..], &value.to_le_bytes()].concat()), Vec::new())
    }
    fn command(&mut self, entry: &Command) -> bool {
        let at = u64::from(self.tail) * 64;
        self.memory.write_all_at(entry.as_bytes(), at).expect("memory");
        self.tail = (self.tail + 1) % ENTRIES;
        self.write(0x1000, self.tail)
    }
    fn answer(&mut self) {
        for (ticket, bytes) in std::mem::take(&mut self.asked) {
            let data = vec![0; bytes as usize];
            let reply = Reply { ticket, ended: Ended::Well, data, latency: Span::ZERO };
            self.function.answered(self.now, reply);
        }
    }
}

fn message(code: u16, body: &[u8]) -> Vec<u8> {
    let mut header = Header::ZERO;
    header.set_code(Code(code));
    header.set_size((HEADER_BYTES + body.len()) as u32);
    [header.as_bytes(), body].concat()
}

fn files(memory: &std::fs::File, kind: &File) -> Vec<OwnedFd> {
    match kind {
        File::None => Vec::new(),
        File::Memory => memory.try_clone().map(OwnedFd::from).into_iter().collect(),
        File::Pipe => std::io::pipe().map(|(read, _)| OwnedFd::from(read)).into_iter().collect(),
    }
}

crate::input::promise!(|input: (bool, All<Sent>)| {
    let (is_started, All(sent)) = input;
    let memory = rustix::fs::memfd_create("fuzz", rustix::fs::MemfdFlags::CLOEXEC).expect("memory");
    rustix::fs::ftruncate(&memory, 16 << 12).expect("its size");
    let function = Function::new("fuzz", FACTS, &LINK).expect("a function");
    let (session, memory, now) = (Session::default(), memory.into(), Instant::ZERO);
    let mut client = Client { session, function, memory, asked: Vec::new(), now, tail: 0 };
    // what fuzzing would take long to find: versions, memory from 0 on
    let map = [32_u64 | 3 << 32, 0, 0, 16 << 12].map(u64::to_le_bytes).concat();
    assert!(client.send(&message(1, &[0, 0, 1, 0]), Vec::new()));
    let beside = files(&client.memory, &File::Memory);
    assert!(client.send(&message(2, &map), beside));
    // AQA, ASQ, ACQ, CC: a controller whose admin queues are in pages 0 and 2
    if is_started {
        for (offset, value) in [(0x24, 0x001f_001f), (0x28, 0), (0x30, 0x2000), (0x14, 0x0046_0001)] {
            assert!(client.write(offset, value));
        }
    }
    for one in sent {
        client.now += Span::from_us(100);
        let goes_on = match one {
            Sent::Whole { code, body: Piece(body), file } => {
                let beside = files(&client.memory, &file);
                client.send(&message(code.into(), &body), beside)
            }
            Sent::Register { offset, value } => client.write(offset.into(), value),
            Sent::Command { opcode, nsid, pages, words } => {
                let mut entry = Command::ZERO;
                entry.set_dword0(CommandDword0::from_raw(opcode.into()));
                entry.set_nsid_number(nsid.into());
                let [first, second] = pages.map(|page| u64::from(page) << 11);
                entry.set_prp1(first);
                entry.set_prp2(second);
                let [cdw10, cdw11, cdw12] = words;
                entry.set_cdw10(cdw10);
                entry.set_cdw11(cdw11);
                entry.set_cdw12(cdw12);
                client.command(&entry)
            }
            Sent::Memory { page, bytes: Piece(bytes) } => {
                let at = u64::from(page % 16) << 12;
                let bytes = &bytes[..bytes.len().min(4096)];
                client.memory.write_all_at(bytes, at).expect("memory");
                true
            }
            Sent::Bytes(Piece(bytes)) => client.send(&bytes, Vec::new()),
            Sent::Answers => {
                client.answer();
                true
            }
        };
        client.function.wake(client.now);
        if !goes_on {
            break;
        }
    }
    client.function.lost(client.now);
    client.send(&[], Vec::new());
    client.answer();
    assert!(client.function.is_at_rest());
});
