//! A client with one or several requests in progress, for measurements and tests of a server.

use super::wire::*;
use std::io::{self, Read, Write};

/// A connection that has been negotiated, with structured replies.
#[derive(Debug)]
pub struct Client<S> {
    stream: S,
    /// Size of the export \[B\].
    pub bytes: u64,
    /// The least and the most that a request can be about \[B\].
    pub sizes: (u32, u32),
    cookie: u64,
}

/// A reply: the cookie, the data or the error (errno).
pub type Answer = (u64, Result<Vec<u8>, u32>);

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the server speaks no NBD: {what}"))
}

impl<S: Read + Write> Client<S> {
    /// Negotiates.
    ///
    /// # Errors
    /// The stream breaks, or the peer does not speak the protocol.
    pub fn connect(mut stream: S, export: &str) -> io::Result<Self> {
        let greeting: [u8; 18] = read(&mut stream)?;
        if greeting[..8] != NBDMAGIC.to_be_bytes() || greeting[8..16] != IHAVEOPT.to_be_bytes() {
            return Err(wrong("no greeting"));
        }
        stream.write_all(&u32::from(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes())?;
        let mut client = Self { stream, bytes: 0, sizes: (0, 0), cookie: 0 };
        client.option(OPT_STRUCTURED_REPLY, &[])?;
        let mut go = (export.len() as u32).to_be_bytes().to_vec();
        go.extend_from_slice(export.as_bytes());
        go.extend([0, 0]);
        client.option(OPT_GO, &go)?;
        Ok(client)
    }
    fn option(&mut self, option: u32, data: &[u8]) -> io::Result<()> {
        let mut out = IHAVEOPT.to_be_bytes().to_vec();
        out.extend(option.to_be_bytes());
        out.extend((data.len() as u32).to_be_bytes());
        out.extend_from_slice(data);
        self.stream.write_all(&out)?;
        loop {
            let head: [u8; 20] = read(&mut self.stream)?;
            let kind = u32::from_be_bytes([head[12], head[13], head[14], head[15]]);
            let length = u32::from_be_bytes([head[16], head[17], head[18], head[19]]);
            let mut data = vec![0; length.min(1 << 16) as usize];
            self.stream.read_exact(&mut data)?;
            let four = |from: usize| {
                data.get(from..from + 4)
                    .map_or(0, |four| four.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
            };
            match (kind, data.first_chunk().map(|kind| u16::from_be_bytes(*kind))) {
                (REP_ACK, _) => return Ok(()),
                (REP_INFO, Some(INFO_EXPORT)) => self.bytes = u64::from(four(2)) << 32 | u64::from(four(6)),
                (REP_INFO, Some(INFO_BLOCK_SIZE)) => self.sizes = (four(2), four(10)),
                (REP_INFO, _) => {}
                _ => return Err(wrong(&format!("option {option} was answered with {kind:#x}"))),
            }
        }
    }

    /// Asks; the cookie of the answer.
    ///
    /// # Errors
    /// The stream breaks.
    pub fn ask(&mut self, kind: Ask, first: u64, bytes: u32, data: &[u8]) -> io::Result<u64> {
        let (kind, flags) = match kind {
            Ask::Read => (CMD_READ, 0),
            Ask::Write { fua } => (CMD_WRITE, if fua { CMD_FLAG_FUA } else { 0 }),
            Ask::Flush => (CMD_FLUSH, 0),
            Ask::Trim => (CMD_TRIM, 0),
            Ask::WriteZeroes => (CMD_WRITE_ZEROES, 0),
        };
        self.cookie += 1;
        let mut out = REQUEST_MAGIC.to_be_bytes().to_vec();
        out.extend(flags.to_be_bytes());
        out.extend(kind.to_be_bytes());
        out.extend(self.cookie.to_be_bytes());
        out.extend(first.to_be_bytes());
        out.extend(bytes.to_be_bytes());
        out.extend_from_slice(data);
        self.stream.write_all(&out)?;
        Ok(self.cookie)
    }
    /// The next answer.
    ///
    /// # Errors
    /// The stream breaks, or the peer does not speak the protocol.
    pub fn answer(&mut self) -> io::Result<Answer> {
        let head: [u8; 20] = read(&mut self.stream)?;
        if head[..4] != STRUCTURED_REPLY_MAGIC.to_be_bytes() {
            return Err(wrong("no structured reply"));
        }
        let kind = u16::from_be_bytes([head[6], head[7]]);
        let cookie = u64::from_be_bytes(head[8..16].try_into().expect("eight bytes"));
        let length = u32::from_be_bytes([head[16], head[17], head[18], head[19]]);
        let mut data = vec![0; length as usize];
        self.stream.read_exact(&mut data)?;
        Ok((
            cookie,
            match kind {
                REPLY_TYPE_NONE => Ok(Vec::new()),
                REPLY_TYPE_OFFSET_DATA if data.len() >= 8 => Ok(data.split_off(8)),
                REPLY_TYPE_ERROR if data.len() >= 4 => {
                    Err(u32::from_be_bytes([data[0], data[1], data[2], data[3]]))
                }
                _ => return Err(wrong("an unknown chunk")),
            },
        ))
    }
    /// Sends a request and waits for the answer; no other request may be in progress.
    ///
    /// # Errors
    /// As [`Client::ask`] and [`Client::answer`].
    pub fn one(
        &mut self,
        kind: Ask,
        first: u64,
        bytes: u32,
        data: &[u8],
    ) -> io::Result<Result<Vec<u8>, u32>> {
        self.ask(kind, first, bytes, data)?;
        Ok(self.answer()?.1)
    }
}

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// `NBD_CMD_READ`.
    Read,
    /// `NBD_CMD_WRITE`.
    Write {
        /// With `NBD_CMD_FLAG_FUA`.
        fua: bool,
    },
    /// `NBD_CMD_FLUSH`.
    Flush,
    /// `NBD_CMD_TRIM`.
    Trim,
    /// `NBD_CMD_WRITE_ZEROES`.
    WriteZeroes,
}

fn read<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}
