//! What a loss, a mark and a slow program cost, by the numbers of the standards.

use crate::channel::{Line, Takes, World};
use lanetwin_fabric::tcp::logic::congestion::Algorithm;
use lanetwin_fabric::tcp::logic::connection::{Connection, Limits};
use lanetwin_fabric::tcp::spec::{DELAYED_ACK_PS, LEAST_TIMEOUT_PS};

const LIMITS: Limits =
    Limits { segment: 1448, offload: 65_536, buffer: 1 << 20, algorithm: Algorithm::Cubic };
const MS: u64 = 1_000_000_000;

/// How long a stream of so many segments takes that loses some, by number.
fn took(segments: u64, loses: &[u64]) -> (u64, World) {
    let mut world = World::new(LIMITS, Line::RIGHT, 0);
    world.loses = loses.to_vec();
    world.ends[0].offer(0, segments * 1448);
    while world.ends[1].receiver().expected() < segments * 1448 {
        assert!(world.step(), "a stream goes on");
    }
    (world.now, world)
}

#[test]
fn a_lost_segment_costs_a_round_trip_and_a_lost_tail_a_wait() {
    let (whole, _) = took(400, &[]);
    let (one, world) = took(400, &[50]);
    let counts = world.ends[0].sender().counts();
    assert_eq!((counts.gaps, counts.timeouts, counts.again), (1, 0, 1448));
    assert!(one - whole < MS, "{one} {whole}");
    // nothing comes behind the last, so that nobody tells of it; what came before was acknowledged late, and the wait
    // began anew
    let (tail, world) = took(400, &[400]);
    let counts = world.ends[0].sender().counts();
    assert_eq!((counts.gaps, counts.timeouts, counts.again), (0, 1, 1448));
    assert!(
        (LEAST_TIMEOUT_PS..LEAST_TIMEOUT_PS + DELAYED_ACK_PS + 2 * MS).contains(&(tail - whole)),
        "{}",
        tail - whole
    );
}

#[test]
fn several_gaps_of_a_window_are_one_loss_to_the_window() {
    let (_, world) = took(400, &[50, 53, 57, 58]);
    let counts = world.ends[0].sender().counts();
    assert_eq!((counts.gaps, counts.timeouts, counts.again), (1, 0, 4 * 1448));
}

#[test]
fn an_acknowledgement_waits_for_a_second_segment_or_for_40_ms() {
    let [mut host, mut target] = [Connection::new(LIMITS, 0), Connection::new(LIMITS, 0)];
    host.offer(0, 1448);
    target.receive(MS, &host.send(0).expect("a segment"));
    assert_eq!(target.send(MS), None, "it waits");
    assert_eq!(target.deadline(), Some(MS + DELAYED_ACK_PS));
    let alone = target.send(MS + DELAYED_ACK_PS).expect("it is due");
    assert_eq!(alone.bytes, 0);
    host.receive(2 * MS + DELAYED_ACK_PS, &alone);
    host.offer(50 * MS, 2896);
    target.receive(51 * MS, &host.send(50 * MS).expect("two segments as one"));
    assert!(target.send(51 * MS).is_some(), "two segments are acknowledged at once");
    // an answer takes it along
    host.offer(60 * MS, 72);
    target.receive(61 * MS, &host.send(60 * MS).expect("a request"));
    target.offer(61 * MS, 24);
    let answer = target.send(61 * MS).expect("an answer");
    assert_eq!((answer.bytes, answer.ack.near(4416)), (24, 1448 + 2896 + 72));
    assert_eq!(target.send(61 * MS), None);
}

#[test]
fn no_segment_has_bytes_of_two_messages_unless_it_is_sent_again() {
    let [mut host, mut target] = [Connection::new(LIMITS, 0), Connection::new(LIMITS, 0)];
    let sent = |host: &mut Connection, now| -> Vec<u32> {
        std::iter::from_fn(|| host.send(now)).map(|segment| segment.bytes).collect()
    };
    host.offer_message(0, 72);
    host.offer_message(0, 3000);
    host.offer(0, 100);
    host.offer(0, 200);
    assert_eq!(sent(&mut host, 0), [72, 3000, 300], "what is no message is joined");
    // nothing of it has come: the segments that go again are whole
    let again = host.deadline().expect("it waits for acknowledgements");
    host.expire(again);
    let first = host.send(again).expect("it goes again");
    assert_eq!(first.bytes, 1448);
    target.receive(again + MS, &first);
    assert_eq!(target.available(), 1448);
}

#[test]
fn a_program_that_takes_nothing_stops_the_stream_and_is_asked_again() {
    let limits = Limits { buffer: 20_000, ..LIMITS };
    let mut world = World::new(limits, Line::RIGHT, 0);
    world.ends[0].offer(0, 100_000);
    world.takes = Takes::Nothing;
    while world.now < 2000 * MS {
        assert!(world.step(), "the sender asks for room");
    }
    let stopped = world.ends[0].sender().counts();
    assert_eq!((world.ends[1].available(), world.ends[0].outstanding()), (20_000, 80_000));
    assert!((3..=10).contains(&stopped.probes), "{stopped:?}");
    world.takes = Takes::All;
    world.take(1);
    while world.ends[0].outstanding() > 0 {
        assert!(world.step(), "it goes on: {:?}", world.ends);
    }
    assert_eq!(world.ends[0].sender().counts().timeouts, 0);
}

/// A sender that has filled the window of its peer and asks for more; and the peer.
fn asking(buffer: u32) -> [Connection; 2] {
    let limits = Limits { buffer, ..LIMITS };
    let [mut host, mut target] = [Connection::new(limits, 0), Connection::new(limits, 0)];
    host.offer(0, 10_000);
    while target.available() < buffer.into() {
        let now = host.deadline().unwrap_or(0);
        host.expire(now);
        target.receive(now, &host.send(now).expect("there is room"));
        host.receive(now, &target.send(now + DELAYED_ACK_PS).expect("it is acknowledged"));
    }
    [host, target]
}

#[test]
fn a_probe_goes_into_room_that_nobody_was_told_of() {
    let [mut host, mut target] = asking(1506);
    target.take(100);
    let later = host.deadline().expect("it asks for room");
    host.expire(later);
    let probe = host.send(later).expect("a byte");
    assert_eq!((probe.bytes, probe.seq.near(0)), (1, 1506));
    target.receive(later, &probe);
    target.take(1);
    assert_eq!(target.available(), 1406, "there was room for it");
}

#[test]
fn a_byte_for_which_there_was_no_room_goes_with_the_next_not_after_a_wait() {
    let [mut host, mut target] = asking(1506);
    let later = host.deadline().expect("it asks for room");
    host.expire(later);
    target.receive(later, &host.send(later).expect("a byte"));
    target.take(1506);
    host.receive(later, &target.send(later).expect("it is answered"));
    let next = host.send(later).expect("there is room now");
    assert_eq!((next.seq.near(0), next.bytes), (1506, 1448));
    assert_eq!((host.sender().counts().again, host.sender().counts().timeouts), (0, 0));
}

#[test]
fn a_probe_is_acknowledged_though_something_was_said_before_it_came() {
    let [mut host, mut target] = asking(1506);
    let later = host.deadline().expect("it asks for room");
    host.expire(later);
    let probe = host.send(later).expect("a byte");
    target.offer(later, 24);
    host.receive(later, &target.send(later).expect("an answer that is on its way already"));
    target.take(100);
    target.receive(later, &probe);
    host.receive(later, &target.send(later + DELAYED_ACK_PS).expect("it is acknowledged"));
    assert_eq!(host.outstanding(), 10_000 - 1507);
}

/// A line that marks a share of segments: CUBIC slows down by three tenths each round trip, DCTCP as much as is marked.
#[test]
fn dctcp_slows_down_less_than_cubic_where_few_are_marked() {
    let window = |algorithm| {
        let limits = Limits { algorithm, buffer: 8 << 20, ..LIMITS };
        let mut world = World::new(limits, Line { marked: 10, seed: 77, ..Line::RIGHT }, 0);
        world.ends[0].offer(0, 60 << 20);
        let (mut sum, mut steps) = (0, 0);
        while world.ends[0].outstanding() > 0 {
            assert!(world.step());
            sum += world.ends[0].sender().congestion().window();
            steps += 1;
        }
        let counts = world.ends[0].sender().counts();
        assert!(counts.slowed > 0 && counts.again == 0, "{counts:?}");
        sum / steps
    };
    let (cubic, dctcp) = (window(Algorithm::Cubic), window(Algorithm::Dctcp));
    assert!(dctcp > cubic * 3 / 2, "{dctcp} {cubic}");
}
