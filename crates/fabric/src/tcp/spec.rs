//! Sizes of headers, and the timers and limits of Linux.

use crate::ethernet::spec::header::IPV4_BYTES;

/// The header without options \[B\] (RFC 9293 §3.1).
pub const HEADER_BYTES: u32 = 20;
/// The timestamps option with its padding \[B\] (RFC 7323 §3.2, appendix A).
pub const TIMESTAMPS_BYTES: u32 = 12;
/// The most that an adapter cuts into segments, or joins out of them \[B\]: TSO and GRO of Linux
/// (`GSO_LEGACY_MAX_SIZE`, `include/linux/netdevice.h`).
pub const OFFLOAD_BYTES: u32 = 65_536;
/// The first congestion window, in segments (`TCP_INIT_CWND`, Linux `include/net/tcp.h`; RFC 6928).
pub const INITIAL_SEGMENTS: u32 = 10;
/// The shortest wait before something is sent again \[ps\] (`TCP_RTO_MIN`, Linux `include/net/tcp.h`: 200 ms).
pub const LEAST_TIMEOUT_PS: u64 = 200_000_000_000;
/// The wait as long as no round trip is known \[ps\] (RFC 6298 §2.1: 1 s).
pub const FIRST_TIMEOUT_PS: u64 = 1_000_000_000_000;
/// The longest wait \[ps\] (`TCP_RTO_MAX`, Linux `include/net/tcp.h`: 120 s).
pub const MOST_TIMEOUT_PS: u64 = 120_000_000_000_000;
/// How long an acknowledgement waits for data to be sent with \[ps\] (`TCP_DELACK_MIN`, Linux `include/net/tcp.h`: 40
/// ms).
pub const DELAYED_ACK_PS: u64 = 40_000_000_000;

/// The most payload of a segment in frames of this MTU \[B\], with `options` bytes of options.
///
/// # Panics
/// If the headers leave nothing.
#[must_use]
pub const fn segment_bytes(mtu: u32, options: u32) -> u32 {
    assert!(mtu > IPV4_BYTES + HEADER_BYTES + options, "headers leave something of a frame");
    mtu - IPV4_BYTES - HEADER_BYTES - options
}
