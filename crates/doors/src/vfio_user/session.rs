//! A connection without its socket: bytes and files in, whole messages out, replies in return.

use super::function::Function;
use super::message::{Broken, Message};
use super::requests::perform;
use super::wire::{Code, Flags, HEADER_BYTES, Header, MOST_MESSAGE, Type};
use lanetwin_units::Instant;
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// A connection of a client.
#[derive(Default, Debug)]
pub struct Session {
    come: Vec<u8>,
    files: Vec<OwnedFd>,
    /// Versions are exchanged.
    is_open: bool,
}

impl Session {
    /// Number of bytes missing from the current message. No more may be read at once, since file descriptors come
    /// with the first bytes of their message.
    #[must_use]
    pub fn wants(&self) -> usize {
        let whole = self.header().map_or(HEADER_BYTES, |header| header.size() as usize);
        whole.saturating_sub(self.come.len())
    }
    /// Whether versions have been negotiated.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.is_open
    }
    /// Memory that it occupies \[B\].
    #[must_use]
    pub fn held(&self) -> usize {
        self.come.capacity()
    }
    fn header(&self) -> Option<Header> {
        self.come.first_chunk().map(|bytes| Header::from_bytes(*bytes))
    }
    /// At most as many bytes as are wanted have come, with files: the message, if it is whole now.
    ///
    /// # Errors
    /// It is none.
    pub fn push(&mut self, bytes: &[u8], files: Vec<OwnedFd>) -> Result<Option<Message>, Broken> {
        if bytes.len() > self.wants() {
            return Err(Broken);
        }
        self.come.extend_from_slice(bytes);
        self.files.extend(files);
        let Some(header) = self.header() else { return Ok(None) };
        let is_sound = (HEADER_BYTES as u32..=MOST_MESSAGE).contains(&header.size());
        // no requests are sent to a client
        if !is_sound || header.flags().kind() != Type::REQUEST {
            return Err(Broken);
        }
        if self.come.len() < header.size() as usize {
            return Ok(None);
        }
        let body = self.come.split_off(HEADER_BYTES);
        self.come.clear();
        Ok(Some(Message { header, body, files: std::mem::take(&mut self.files) }))
    }
    /// Executes the request of a message. Returns the bytes of the reply, if one is wanted.
    ///
    /// # Errors
    /// The first message does not negotiate a supported version.
    pub fn answer(
        &mut self,
        now: Instant,
        message: Message,
        function: &mut Function,
    ) -> Result<Vec<u8>, Broken> {
        let header = message.header;
        // information that a client needs first
        if self.is_open == (header.code() == Code::VERSION) {
            return Err(Broken);
        }
        let done = perform(now, message, function);
        self.is_open |= done.is_ok();
        if !self.is_open {
            return Err(Broken);
        }
        if header.flags().no_reply() {
            return Ok(Vec::new());
        }
        Ok(reply(header, done))
    }
}

/// A reply to a request.
fn reply(request: Header, done: Result<Vec<u8>, Errno>) -> Vec<u8> {
    let mut header = Header::ZERO;
    header.set_id(request.id());
    header.set_code(request.code());
    let flags = Flags::ZERO.with_kind(Type::REPLY).expect("a reply");
    header.set_flags(flags.with_error(done.is_err()).expect("a bit"));
    let body = done.unwrap_or_else(|error| {
        header.set_error(error.raw_os_error().unsigned_abs());
        Vec::new()
    });
    header.set_size((HEADER_BYTES + body.len()) as u32);
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend(body);
    bytes
}
