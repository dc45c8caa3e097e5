//! The headers of captured TLPs, in the layout of the PCIe Base Specification (Transaction Layer, non-flit mode).
//!
//! Models send trains with an address, a size and the handle of a transfer; the other fields of a header are chosen
//! here:
//!
//! - **Requester ID, Completer ID**: port *n* of the machine is bus *n*, device 0, function 0; ports of switches are
//!   numbered after those of devices.
//! - **Tag**: the lowest free number when the read request starts. Models count tags but do not number them; no
//!   number exceeds the tags of a port. A tag is free again when the last completion starts on its last link.
//! - **Fmt**: the size of header that the link is charged for, as set by `port.address-bits`, whatever the address
//!   is.
//! - **Address**: that of the model; for a write to a device, the offset of the register.

use super::capture::TlpOnLink;
use lanetwin_pcie::link::EndpointId;
use lanetwin_pcie::spec::Dwords;
use lanetwin_pcie::spec::header::{
    Bdf, Completion, CompletionStatus, Content, Message, Part, Request, Tag, TlpHeader,
};
use lanetwin_pcie::spec::range::{ByteRange, PAGE_BYTES};
use lanetwin_pcie::spec::tlp::{TlpKind, Traffic};
use lanetwin_ports::{Attributes, said};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// While a header of four dwords is encoded, the upper half of its address must not be zero; the bit is cleared
/// afterwards.
const ABOVE_4_GIB: u64 = 1 << 63;
/// Index of the header byte that holds this bit.
const ABOVE_4_GIB_BYTE: usize = 8;
/// Size of a header of four dwords \[B\].
const FOUR_DW: u16 = 16;

/// Makes headers for TLPs in the order of their starts.
#[derive(Default)]
pub(super) struct Headers {
    requesters: BTreeMap<EndpointId, Tags>,
}

impl Headers {
    /// The header of the next TLP; `is_there` if the link ends at the TLP's destination.
    pub(super) fn next(&mut self, tlp: &TlpOnLink, is_there: bool) -> Vec<u8> {
        let content = match tlp.tlps.kind {
            TlpKind::MRd => Content::MemoryRead(self.read(tlp)),
            TlpKind::MWr => Content::MemoryWrite(request(tlp, number(0))),
            TlpKind::CplD | TlpKind::Cpl => Content::Completion(self.completion(tlp, is_there)),
            TlpKind::Msg | TlpKind::MsgD => Content::Message(message(tlp)),
        };
        let relaxed_ordering = tlp.tlps.attributes.has(Attributes::RELAXED);
        let traffic = Traffic { relaxed_ordering, ..Traffic::default() };
        let header = TlpHeader { traffic, ecrc: false, poisoned: false, content };
        let encoded = header.encode().expect("every field fits: they are of a TLP that was sent");
        let mut bytes = encoded.as_slice().to_vec();
        if matches!(content, Content::MemoryRead(_) | Content::MemoryWrite(_))
            && bytes.len() > ABOVE_4_GIB_BYTE + 4
        {
            bytes[ABOVE_4_GIB_BYTE] &= 0x7f;
        }
        bytes
    }

    /// A read request; it takes a tag on its first link.
    fn read(&mut self, tlp: &TlpOnLink) -> Request {
        let tags = self.requesters.entry(tlp.tlps.from).or_default();
        let name = (tlp.sequence, tlp.index);
        let known = tags.outstanding.iter().find(|request| request.name == name).map(|request| request.tag);
        let tag = known.unwrap_or_else(|| {
            let tag = tags.take();
            let range = range(tlp.address(), tlp.tlps.bytes);
            tags.outstanding.push(Outstanding { name, handle: tlp.tlps.handle, range, tag });
            tag
        });
        request(tlp, number(tag))
    }

    /// A completion; it frees its tag when it is the last of its request and on its last link.
    fn completion(&mut self, tlp: &TlpOnLink, is_there: bool) -> Completion {
        let piece = range(tlp.address(), tlp.tlps.bytes);
        let tags = self.requesters.entry(tlp.tlps.to).or_default();
        let is_it = |request: &Outstanding| {
            let asked = request.range;
            request.handle == tlp.tlps.handle
                && (asked.address()..=asked.last_address()).contains(&piece.address())
        };
        let place = tags.outstanding.iter().position(is_it);
        // once a requester has given a request up, a late completion finds no entry for it
        let (asked, tag) =
            place.map_or((piece, 0), |place| (tags.outstanding[place].range, tags.outstanding[place].tag));
        if let Some(place) = place.filter(|_| is_there && piece.last_address() >= asked.last_address()) {
            tags.outstanding.swap_remove(place);
            tags.free.push(Reverse(tag));
        }
        let part = match tlp.tlps.kind {
            TlpKind::Cpl => Part::without_data(asked),
            _ => {
                Part::of(asked, piece).or_else(|| Part::of(piece, piece)).expect("all of it is a part of it")
            }
        };
        Completion {
            completer: port(tlp.tlps.from),
            requester: port(tlp.tlps.to),
            tag: number(tag),
            status: CompletionStatus::SUCCESSFUL,
            part,
        }
    }
}

/// The tags of a requester.
#[derive(Default)]
struct Tags {
    outstanding: Vec<Outstanding>,
    free: BinaryHeap<Reverse<u16>>,
    /// The lowest tag that has never been taken.
    next: u16,
}

impl Tags {
    fn take(&mut self) -> u16 {
        self.free.pop().map_or_else(
            || {
                self.next += 1;
                self.next - 1
            },
            |Reverse(tag)| tag,
        )
    }
}

/// A read request that is not completely answered.
struct Outstanding {
    /// The number of the train at its port, and the index of the TLP in it.
    name: (u64, u16),
    /// The requester's handle of the transfer.
    handle: u32,
    range: ByteRange,
    tag: u16,
}

/// A memory request, with an address of the width that its header has.
fn request(tlp: &TlpOnLink, tag: Tag) -> Request {
    let range = range(tlp.address(), tlp.tlps.bytes);
    let address = match tlp.header_bytes() {
        FOUR_DW => range.address() | ABOVE_4_GIB,
        _ => range.address() & u64::from(u32::MAX),
    };
    let range = ByteRange::new(address, range.len()).expect("its place in a page is the same");
    Request { requester: port(tlp.tlps.from), tag, range }
}

/// The bytes of a TLP. Links carry legal TLPs only, apart from those without a size.
fn range(address: u64, bytes: u16) -> ByteRange {
    let most = PAGE_BYTES - address % PAGE_BYTES;
    let bytes = u64::from(bytes).clamp(1, most);
    ByteRange::new(address, bytes as u16).expect("it ends within its page")
}

/// A message of a port.
fn message(tlp: &TlpOnLink) -> Message {
    let (code, routing) = said(&tlp.tlps);
    Message {
        requester: port(tlp.tlps.from),
        tag: 0,
        code,
        routing,
        words: [0; 2],
        payload: Dwords(tlp.payload.div_ceil(4)),
    }
}

/// The Bus/Device/Function number of a port in headers.
pub(super) fn port(port: EndpointId) -> Bdf {
    Bdf::from_raw(port.0 << 8 | (port.0 >> 8) << 3)
}

/// A tag of ten bits. Tags that were never answered stay taken, so that numbers can exceed ten bits and wrap.
fn number(tag: u16) -> Tag {
    Tag::new(tag % 1024).expect("ten bits hold it")
}
