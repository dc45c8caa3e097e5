//! Throughput at a line rate, in closed form, for comparison with measurements and simulations.

use super::spec::{Kind, PathMtu, packet_bytes, packets};
use crate::ethernet::spec::{Rate, Tagging, wire_bytes};
use crate::ethernet::throughput::portion;

/// Kind of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// A SEND.
    Send,
    /// A SEND with invalidate.
    SendInvalidate,
    /// An RDMA WRITE.
    Write,
    /// The responses to an RDMA READ.
    ReadResponse,
}

impl Message {
    /// The kinds of its packets, by place; of one that is both first and last the larger one.
    #[must_use]
    pub const fn kind(self, first: bool, last: bool) -> Kind {
        match self {
            Self::Send => Kind::Plain,
            Self::SendInvalidate if last => Kind::Invalidating,
            Self::Write if first => Kind::Addressed,
            Self::ReadResponse if first || last => Kind::Acknowledging,
            Self::SendInvalidate | Self::Write | Self::ReadResponse => Kind::Plain,
        }
    }
}

/// Bytes of a line that a message occupies, from its first frame to the end of its last \[B\].
#[must_use]
pub fn message_bytes(message: Message, bytes: u32, mtu: PathMtu, tagging: Tagging) -> u64 {
    let (count, full) = (packets(bytes, mtu), mtu.bytes());
    let frame = |packet: u32| {
        let payload = (bytes - packet * full).min(full);
        let kind = message.kind(packet == 0, packet + 1 == count);
        u64::from(wire_bytes(packet_bytes(kind, payload, tagging)))
    };
    let middle = u64::from(wire_bytes(packet_bytes(Kind::Plain, full, tagging)));
    match count {
        1 => frame(0),
        _ => frame(0) + u64::from(count - 2) * middle + frame(count - 1),
    }
}

/// Payload that messages of this size carry one after another \[B/s\], rounded down.
///
/// ```
/// use lanetwin_fabric::{ethernet::spec::{Rate, Tagging}, roce::spec::PathMtu, roce::throughput::{Message, goodput}};
///
/// // RDMA WRITEs of 1 MiB at 100 Gb/s: with packets of 1024 B 92.6 % of the line, with 4096 B 98.0 %.
/// let goodput = |mtu| goodput(Rate::G100, Message::Write, 1 << 20, mtu, Tagging::Untagged);
/// assert_eq!(goodput(PathMtu::B1024), 11_573_073_391);
/// assert_eq!(goodput(PathMtu::B4096), 12_254_483_986);
/// ```
#[must_use]
pub fn goodput(rate: Rate, message: Message, bytes: u32, mtu: PathMtu, tagging: Tagging) -> u64 {
    portion(rate, bytes.into(), message_bytes(message, bytes, mtu, tagging))
}

/// Share of the packets sent that are new, if each packet is lost with probability `loss` and a requester resends
/// everything from a lost packet on: the `in_flight` packets sent until it learns of the loss are in vain (Bertsekas
/// and Gallager, "Data Networks", §2.4.1, go-back-n with a window that keeps the line busy).
#[must_use]
pub fn go_back_n(loss: f64, in_flight: f64) -> f64 {
    (1.0 - loss) / (1.0 - loss + loss * in_flight)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum over packets is what each of them takes.
    #[test]
    fn a_message_is_its_packets() {
        for bytes in [0, 1, 1023, 1024, 1025, 4096, 100_000] {
            let plain = |payload| u64::from(wire_bytes(packet_bytes(Kind::Plain, payload, Tagging::Tagged)));
            let (whole, rest) = (bytes / 1024, bytes % 1024);
            let tail = if rest > 0 || bytes == 0 { plain(rest) } else { 0 };
            let sum = u64::from(whole) * plain(1024) + tail;
            assert_eq!(
                message_bytes(Message::Send, bytes, PathMtu::B1024, Tagging::Tagged),
                sum,
                "{bytes} B"
            );
        }
    }

    /// 128 KiB in packets of 4096 B: 32 packets of 4178 B on the wire; a write's first has 16 B more, the first and
    /// last response of a read have 4 B more each.
    #[test]
    fn messages_by_hand() {
        let bytes = |message| message_bytes(message, 128 << 10, PathMtu::B4096, Tagging::Untagged);
        assert_eq!(bytes(Message::Send), 32 * 4178);
        assert_eq!(bytes(Message::SendInvalidate), 32 * 4178 + 4);
        assert_eq!(bytes(Message::Write), 32 * 4178 + 16);
        assert_eq!(bytes(Message::ReadResponse), 32 * 4178 + 8);
    }
}
