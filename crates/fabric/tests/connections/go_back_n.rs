//! What go-back-N leaves of a channel that loses, beside what the closed form says.

use super::channel::{FLIGHT, Faults, SEND, World};
use lanetwin_fabric::roce::logic::packet::Operation;
use lanetwin_fabric::roce::logic::requester::{Limits, Lost, Requester, Work};
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_fabric::roce::throughput::go_back_n;

const LIMITS: Limits = Limits {
    mtu: PathMtu::B1024,
    reads: 16,
    ack_every: 16,
    window: 4096,
    timeout: 100_000,
    retries: 7,
    not_ready: 1_000,
    not_ready_retries: Some(2),
};

/// A long write; the channel that brings answers back loses as much as the other one.
#[test]
fn goodput_is_what_the_closed_form_says() {
    const PACKETS: u32 = 200_000;
    let write = Work { message: 1, operation: Operation::Write, bytes: PACKETS * 1024 };
    // from the start of a packet that is lost until the NAK of the one behind it has come: a packet each way, and two
    // flights; and one packet that is being sent then
    let in_flight = (2 * SEND + 2 * FLIGHT) as f64 / SEND as f64 + 1.5;
    for lost in [0_u64, 1, 2, 5, 10] {
        let faults = Faults { lost, doubled: 0, late: 0, seed: 7 };
        let (time, counts) = World::new(LIMITS, faults, 0, true).time(&[write]);
        let goodput = f64::from(PACKETS) * SEND as f64 / time as f64;
        let form = go_back_n(lost as f64 / 1000.0, in_flight);
        // a NAK that is lost, or a loss while another is made good, costs a timeout, which the form has not
        let timeouts = (counts.timeouts * LIMITS.timeout) as f64 / time as f64;
        let error = goodput / (form * (1.0 - timeouts)) - 1.0;
        println!(
            "{lost} ‰ lost: {goodput:.4} of the channel, {form:.4} by the form, {counts:?}, {timeouts:.3} timeouts"
        );
        assert!(error.abs() < 0.03, "{lost} ‰: {goodput}, not {form}; {counts:?}");
        assert!(goodput <= form * 1.01, "{lost} ‰: {goodput} is more than {form}");
    }
}

/// Nothing answers: as many timeouts as there are retries, then the connection is lost.
#[test]
fn a_cut_connection_is_given_up() {
    let mut requester = Requester::new(LIMITS, 0);
    requester.post(Work { message: 1, operation: Operation::Write, bytes: 10 });
    for timeout in 0..=7 {
        assert!(requester.send(timeout * LIMITS.timeout).is_some());
        let ended = requester.expire((timeout + 1) * LIMITS.timeout);
        assert_eq!(ended, if timeout < 7 { Ok(()) } else { Err(Lost::NoAnswer) });
    }
}
