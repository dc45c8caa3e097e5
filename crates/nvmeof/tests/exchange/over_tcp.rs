//! What connections of TCP make of a line that does nothing wrong: the goodput that the closed form tells.

use lanetwin_fabric::ethernet::spec::{Rate, Tagging};
use lanetwin_fabric::tcp::logic::congestion::Algorithm;
use lanetwin_fabric::tcp::logic::connection::{Connection, Limits};
use lanetwin_fabric::tcp::logic::segment::{Segment, Seq};
use lanetwin_fabric::tcp::spec::OFFLOAD_BYTES;
use lanetwin_nvme::logic::Direction;
use lanetwin_nvmeof::spec::tcp::DigestTypes;
use lanetwin_nvmeof::throughput::{Segments, TIMESTAMPS_BYTES, TcpWay};
use std::collections::BTreeMap;

/// A byte at 100 Gb/s, and the way of a segment \[ps\].
const BYTE_PS: u64 = 80;
const FLIGHT_PS: u64 = 2_000_000;

/// When a stream of so many bytes has arrived, and when half of it had \[ps\].
fn arrived(segments: Segments, bytes: u64) -> [u64; 2] {
    let limits = Limits {
        segment: segments.most(),
        offload: OFFLOAD_BYTES,
        buffer: 2 << 20,
        algorithm: Algorithm::Cubic,
    };
    let mut ends = [Connection::new(limits, 0), Connection::new(limits, 0)];
    ends[0].offer(0, bytes);
    let (mut now, mut free, mut sent, mut half) = (0, 0, 0, None);
    let mut flying: BTreeMap<(u64, u64), (usize, Segment)> = BTreeMap::new();
    while ends[1].receiver().expected() < bytes {
        while free <= now
            && let Some(whole) = ends[0].send(now)
        {
            free = now;
            for at in (0..whole.bytes.max(1)).step_by(segments.most() as usize) {
                let part = (whole.bytes - at).min(segments.most());
                free += segments.wire(part) * BYTE_PS;
                sent += 1;
                let seq = Seq::of(whole.seq.near(ends[0].sender().next()) + u64::from(at));
                flying.insert((free + FLIGHT_PS, sent), (1, Segment { seq, bytes: part, ..whole }));
            }
        }
        while let Some(answer) = ends[1].send(now) {
            sent += 1;
            flying.insert((now + FLIGHT_PS, sent), (0, answer));
        }
        let arrival = flying.keys().next().map(|(at, _)| *at);
        let line = ends[0].can_send(now).then_some(free);
        now = [arrival, line].into_iter().flatten().min().expect("a stream goes on");
        while let Some(entry) = flying.first_entry().filter(|entry| entry.key().0 <= now) {
            let (to, segment) = entry.remove();
            ends[to].receive(now, &segment);
            let there = ends[to].available();
            ends[to].take(there);
        }
        if 2 * ends[1].receiver().expected() >= bytes {
            half.get_or_insert((now, ends[1].receiver().expected()));
        }
    }
    assert_eq!(ends[0].sender().counts().again, 0, "nothing is lost");
    let (at, there) = half.expect("half of it came");
    // slow start is over with half of it
    [now - at, bytes - there]
}

#[test]
fn connections_carry_the_goodput_of_the_closed_form_with_digests_and_without() {
    for mtu in [576_u32, 1000, 1500, 2000, 4200, 6000, 9000] {
        let segments = Segments { mtu, options: TIMESTAMPS_BYTES, tagging: Tagging::Untagged };
        for digests in [0, 1, 2, 3] {
            let way = TcpWay {
                digests: DigestTypes::from_raw(digests),
                success: digests == 1,
                capsule_data: 8192,
                most_data: 131_072,
            };
            for (direction, bytes) in [(Direction::ToHost, 4096), (Direction::FromHost, 131_072)] {
                let each = way.stream(direction, bytes).busier();
                let [took, stream] = arrived(segments, each * (48_000_000 / each));
                let data = stream as f64 * f64::from(bytes) / each as f64;
                let found = data / (took as f64 * 1e-12);
                let told = way.goodput(Rate::G100, segments, direction, bytes) as f64;
                assert!((found / told - 1.0).abs() < 1e-3, "MTU {mtu}, digests {digests}: {found} {told}");
            }
        }
    }
}
