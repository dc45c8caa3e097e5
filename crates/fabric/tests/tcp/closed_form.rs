//! What a line that does nothing wrong carries: payload over what frames take, at every MTU.

use crate::channel::{Line, World};
use lanetwin_fabric::ethernet::spec::header::IPV4_BYTES;
use lanetwin_fabric::ethernet::spec::wire_bytes;
use lanetwin_fabric::ethernet::spec::{Tagging, frame_bytes};
use lanetwin_fabric::tcp::logic::congestion::Algorithm;
use lanetwin_fabric::tcp::logic::connection::Limits;
use lanetwin_fabric::tcp::spec::{HEADER_BYTES, OFFLOAD_BYTES, TIMESTAMPS_BYTES, segment_bytes};

/// 100 Gb/s: a byte in 80 ps.
const BYTE_PS: u64 = 80;

/// The share of a line that a long stream leaves as payload, in frames of this MTU.
fn carried(mtu: u32, bytes: u64) -> f64 {
    let segment = segment_bytes(mtu, TIMESTAMPS_BYTES);
    let limits = Limits { segment, offload: OFFLOAD_BYTES, buffer: 4 << 20, algorithm: Algorithm::Cubic };
    let headers = IPV4_BYTES + HEADER_BYTES + TIMESTAMPS_BYTES;
    let overhead = wire_bytes(frame_bytes(headers + segment, Tagging::Untagged)) - segment;
    let mut world = World::new(limits, Line { byte: BYTE_PS, overhead, ..Line::RIGHT }, 0);
    let offer = |world: &mut World, upto: u64| {
        world.ends[0].offer(world.now, bytes);
        while world.ends[1].receiver().expected() < upto {
            assert!(world.step(), "a stream goes on");
        }
        world.now
    };
    // slow start is over when the first part has come
    let began = offer(&mut world, bytes);
    let ended = offer(&mut world, 2 * bytes);
    assert_eq!(world.ends[0].sender().counts().again, 0);
    bytes as f64 * BYTE_PS as f64 / (ended - began) as f64
}

#[test]
fn a_stream_leaves_of_a_line_what_its_frames_do_at_every_mtu() {
    for mtu in (576..=9000).step_by(324).chain([1500, 4200, 9000]) {
        let segment = segment_bytes(mtu, TIMESTAMPS_BYTES);
        let frame = wire_bytes(frame_bytes(mtu, Tagging::Untagged));
        let form = f64::from(segment) / f64::from(frame);
        // the flight of the line, once, is not the stream's
        let found = carried(mtu, 200 << 20);
        assert!((found / form - 1.0).abs() < 1e-3, "MTU {mtu}: {found:.5}, {form:.5}");
    }
}
