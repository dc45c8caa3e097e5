//! One connection, from the server's side.
//!
//! ```text
//!  greeting ─► client flags ─► options … ─► transmission: requests in, replies out, in any order ─► over
//! ```

use super::wire::*;
use crate::command::{Command, Ended, Kind};
use crate::drive::Facts;

/// The name of the export; the empty name is it, too.
pub const EXPORT: &str = "drive";
/// Maximum size of a request \[B\], reported as the maximum block size.
pub const MOST: u32 = 4 << 20;
/// The longest option that is read; a longer one ends the connection. `assumed`: names are at most 4096 B (`proto.md`).
const MOST_OPTION: u32 = 8192;
/// Number of options after which a connection is closed.
const MOST_OPTIONS: u32 = 64;

/// A request of a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The client's name for it.
    pub cookie: u64,
    /// Command.
    pub command: Command,
}

/// State of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Flags,
    Options,
    Transmission,
    Over,
}

/// A connection without its socket.
#[derive(Debug)]
pub struct Connection {
    facts: Facts,
    state: State,
    no_zeroes: bool,
    structured: bool,
    options: u32,
    input: Vec<u8>,
    /// Number of input bytes that have been processed.
    done: usize,
    output: Vec<u8>,
}

/// Reads a big-endian number at an offset that must exist.
macro_rules! number {
    ($bytes:expr, $from:expr, $type:ty) => {
        <$type>::from_be_bytes($bytes[$from..$from + size_of::<$type>()].try_into().expect("so many bytes"))
    };
}

impl Connection {
    /// A connection to a drive, with the server's greeting to be sent.
    #[must_use]
    pub fn new(facts: Facts) -> Self {
        let mut output = Vec::new();
        output.extend(NBDMAGIC.to_be_bytes());
        output.extend(IHAVEOPT.to_be_bytes());
        output.extend((FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
        let (state, input) = (State::Flags, Vec::new());
        Self { facts, state, no_zeroes: false, structured: false, options: 0, input, done: 0, output }
    }
    /// Whether it is to be closed after its output has been sent.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }
    /// Whether requests can be sent.
    #[must_use]
    pub fn is_negotiated(&self) -> bool {
        self.state == State::Transmission
    }
    /// Output to send.
    pub const fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }
    /// Memory that it occupies \[B\].
    #[must_use]
    pub fn held(&self) -> usize {
        self.input.capacity() + self.output.capacity()
    }
    /// Bytes have come.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.state != State::Over {
            self.input.extend_from_slice(bytes);
        }
    }
    /// The next request, if a whole one has come.
    pub fn next_request(&mut self) -> Option<Asked> {
        loop {
            let found = match self.state {
                State::Over => return None,
                State::Flags => self.client_flags().map(|()| None),
                State::Options => self.option().map(|()| None),
                State::Transmission => self.request(),
            };
            let Some(found) = found else {
                self.tidy();
                return None;
            };
            if found.is_some() {
                return found;
            }
        }
    }
    /// Drops processed input.
    fn tidy(&mut self) {
        self.input.drain(..self.done);
        self.done = 0;
        if self.input.is_empty() {
            self.input.shrink_to(64 << 10);
        }
    }
    /// The next `bytes` bytes of input, if they have arrived.
    fn peek(&self, bytes: usize) -> Option<&[u8]> {
        self.input.get(self.done..)?.get(..bytes)
    }
    fn over(&mut self) {
        self.state = State::Over;
        self.input = Vec::new();
        self.done = 0;
    }

    fn client_flags(&mut self) -> Option<()> {
        let flags = number!(self.peek(4)?, 0, u32);
        self.done += 4;
        if flags & u32::from(FIXED_NEWSTYLE) == 0 || flags & !3 != 0 {
            self.over();
            return Some(());
        }
        self.no_zeroes = flags & u32::from(NO_ZEROES) != 0;
        self.state = State::Options;
        Some(())
    }

    fn option(&mut self) -> Option<()> {
        let head = self.peek(16)?;
        let (magic, option, length) = (number!(head, 0, u64), number!(head, 8, u32), number!(head, 12, u32));
        self.options += 1;
        if magic != IHAVEOPT || length > MOST_OPTION || self.options > MOST_OPTIONS {
            if magic == IHAVEOPT {
                self.reply_option(option, REP_ERR_TOO_BIG, &[]);
            }
            self.over();
            return Some(());
        }
        let Some(whole) = self.peek(16 + length as usize) else {
            self.options -= 1;
            return None;
        };
        let data = whole[16..].to_vec();
        self.done += 16 + length as usize;
        match option {
            OPT_EXPORT_NAME => self.export_name(&data),
            OPT_ABORT => {
                self.reply_option(option, REP_ACK, &[]);
                self.over();
            }
            OPT_LIST if data.is_empty() => {
                let name = [&(EXPORT.len() as u32).to_be_bytes()[..], EXPORT.as_bytes()].concat();
                self.reply_option(option, REP_SERVER, &name);
                self.reply_option(option, REP_ACK, &[]);
            }
            OPT_STRUCTURED_REPLY if data.is_empty() => {
                self.structured = true;
                self.reply_option(option, REP_ACK, &[]);
            }
            OPT_LIST | OPT_STRUCTURED_REPLY => self.reply_option(option, REP_ERR_INVALID, &[]),
            OPT_INFO | OPT_GO => self.info(option, &data),
            _ => self.reply_option(option, REP_ERR_UNSUP, &[]),
        }
        Some(())
    }
    fn reply_option(&mut self, option: u32, kind: u32, data: &[u8]) {
        self.output.extend(REPLY_MAGIC.to_be_bytes());
        self.output.extend(option.to_be_bytes());
        self.output.extend(kind.to_be_bytes());
        self.output.extend((data.len() as u32).to_be_bytes());
        self.output.extend_from_slice(data);
    }
    fn is_export(name: &[u8]) -> bool {
        name.is_empty() || name == EXPORT.as_bytes()
    }
    fn export_name(&mut self, name: &[u8]) {
        if !Self::is_export(name) {
            // the protocol has no other answer
            return self.over();
        }
        self.output.extend(self.facts.bytes.to_be_bytes());
        self.output.extend(TRANSMISSION.to_be_bytes());
        if !self.no_zeroes {
            self.output.extend([0; 124]);
        }
        self.state = State::Transmission;
    }
    /// `NBD_OPT_INFO` and `NBD_OPT_GO`: the length of a name, the name, the number of requests for information, those.
    fn info(&mut self, option: u32, data: &[u8]) {
        let length = if data.len() < 4 { usize::MAX } else { number!(data, 0, u32) as usize };
        let rest = length.checked_add(4).and_then(|from| data.get(from..));
        let is_whole = rest
            .is_some_and(|rest| rest.len() >= 2 && rest.len() == 2 + 2 * usize::from(number!(rest, 0, u16)));
        if !is_whole {
            return self.reply_option(option, REP_ERR_INVALID, &[]);
        }
        if !Self::is_export(&data[4..4 + length]) {
            return self.reply_option(option, REP_ERR_UNKNOWN, &[]);
        }
        let mut export = INFO_EXPORT.to_be_bytes().to_vec();
        export.extend(self.facts.bytes.to_be_bytes());
        export.extend(TRANSMISSION.to_be_bytes());
        self.reply_option(option, REP_INFO, &export);
        let mut sizes = INFO_BLOCK_SIZE.to_be_bytes().to_vec();
        for size in [self.facts.block, self.facts.block.max(4096), MOST] {
            sizes.extend(size.to_be_bytes());
        }
        self.reply_option(option, REP_INFO, &sizes);
        self.reply_option(option, REP_ACK, &[]);
        if option == OPT_GO {
            self.state = State::Transmission;
        }
    }

    fn request(&mut self) -> Option<Option<Asked>> {
        let head = self.peek(REQUEST_BYTES)?;
        let (magic, flags, kind) = (number!(head, 0, u32), number!(head, 4, u16), number!(head, 6, u16));
        let (cookie, first, bytes) = (number!(head, 8, u64), number!(head, 16, u64), number!(head, 24, u32));
        let data = if kind == CMD_WRITE { bytes } else { 0 };
        if magic != REQUEST_MAGIC || kind == CMD_DISC || data > MOST {
            self.over();
            return Some(None);
        }
        let whole = self.peek(REQUEST_BYTES + data as usize)?;
        let data = whole[REQUEST_BYTES..].to_vec();
        self.done += REQUEST_BYTES + data.len();
        let kind = match kind {
            CMD_READ if bytes <= MOST => Kind::Read,
            CMD_WRITE => Kind::Write,
            CMD_FLUSH => Kind::Flush,
            CMD_TRIM => Kind::Deallocate,
            CMD_WRITE_ZEROES => Kind::WriteZeroes,
            _ => {
                self.refuse(cookie, Errno::Invalid);
                return Some(None);
            }
        };
        let is_wrong = flags & !CMD_FLAGS != 0 || kind == Kind::Flush && (first, bytes) != (0, 0);
        let command = Command { fua: flags & CMD_FLAG_FUA != 0, data, ..Command::of(kind, first, bytes) };
        if is_wrong || self.facts.allow(command.request).is_err() {
            let is_beyond = first.checked_add(bytes.into()).is_none_or(|end| end > self.facts.bytes);
            let no_room = is_beyond && matches!(kind, Kind::Write | Kind::WriteZeroes);
            self.refuse(cookie, if no_room { Errno::NoSpace } else { Errno::Invalid });
            return Some(None);
        }
        Some(Some(Asked { cookie, command }))
    }

    /// A request has ended.
    pub fn reply(&mut self, cookie: u64, kind: Kind, first: u64, (ended, data): (Ended, &[u8])) {
        if !ended.is_well() {
            let errno = if ended == Ended::NoRoom { Errno::NoSpace } else { Errno::Io };
            return self.refuse(cookie, errno);
        }
        if !self.structured || kind != Kind::Read {
            return self.simple(cookie, 0, data);
        }
        let length = 8 + data.len() as u32;
        self.chunk(cookie, REPLY_TYPE_OFFSET_DATA, length);
        self.output.extend(first.to_be_bytes());
        self.output.extend_from_slice(data);
    }
    fn refuse(&mut self, cookie: u64, errno: Errno) {
        if self.structured {
            self.chunk(cookie, REPLY_TYPE_ERROR, 6);
            self.output.extend((errno as u32).to_be_bytes());
            self.output.extend(0_u16.to_be_bytes());
        } else {
            self.simple(cookie, errno as u32, &[]);
        }
    }
    fn simple(&mut self, cookie: u64, error: u32, data: &[u8]) {
        if self.structured {
            return self.chunk(cookie, REPLY_TYPE_NONE, 0);
        }
        self.output.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
        self.output.extend(error.to_be_bytes());
        self.output.extend(cookie.to_be_bytes());
        self.output.extend_from_slice(data);
    }
    fn chunk(&mut self, cookie: u64, kind: u16, length: u32) {
        self.output.extend(STRUCTURED_REPLY_MAGIC.to_be_bytes());
        self.output.extend(REPLY_FLAG_DONE.to_be_bytes());
        self.output.extend(kind.to_be_bytes());
        self.output.extend(cookie.to_be_bytes());
        self.output.extend(length.to_be_bytes());
    }
}

/// Errors of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Errno {
    /// EIO.
    Io = 5,
    /// EINVAL.
    Invalid = 22,
    /// ENOSPC.
    NoSpace = 28,
}
