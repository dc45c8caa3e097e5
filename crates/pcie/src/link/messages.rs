//! Messages that ports of links send by themselves: error messages, and Set_Slot_Power_Limit.
//!
//! ```text
//!   device ─ submit ───────► [ inputs ] ┐
//!   a port ─ send_message ─► [ input  ] ┴═wire═►      TLPs like others: credits, order, replays
//! ```

use super::egress::Segment;
use super::fabric::{Fabric, digest_key};
use super::spec::{EgressId, EndpointId, Environment, Train};
use lanetwin_units::{Instant, Ticks};

impl<U: Copy> Fabric<U> {
    /// Sends a message of the port at the transmitting end of `egress`, whose endpoint is `port`. It is eligible for
    /// the wire at `ready`: at least the delay of messages after the present, and not before an earlier message of
    /// this port.
    ///
    /// # Panics
    /// If ports send no messages here ([`messages`](super::FabricBuilder::messages)), or if the train is not a single
    /// TLP.
    pub fn send_message(
        &mut self,
        (egress, port): (EgressId, EndpointId),
        ready: Instant,
        train: Train<U>,
        env: &mut impl Environment<U>,
    ) {
        let e = egress.index();
        let input = self.domain.egresses[e].message_input.expect("ports send messages here");
        assert_eq!(train.count, 1, "a message is a TLP");
        let sequence = self.messages[e];
        self.messages[e] += 1;
        let t = Ticks::from(ready).0;
        // messages have their own identifiers in the digest
        let named = EndpointId(MESSAGES | egress.0);
        let segment = Segment {
            eligible: t,
            spacing: 0,
            key: digest_key(named, sequence),
            train: self.domain.trains.put(train, port, MESSAGE_NUMBERS | sequence, t),
            count: 1,
            index: 0,
            train_count: 1,
            bytes: train.wire_bytes,
            units: train.payload.div_ceil(16),
            to: train.to.0,
            relaxed: false,
            singly: true,
            message: true,
            pace: 0,
        };
        let own = &mut self.domain.egresses[e];
        own.enqueue(usize::from(input), segment);
        let at = t.max(own.link_free);
        self.domain.ask_wake(e, at, env);
    }
}

/// Distinguishes messages of an egress from trains of an endpoint in the digest.
const MESSAGES: u16 = 1 << 15;
/// Numbers of messages are separate from those of the trains that the same endpoint hands in.
const MESSAGE_NUMBERS: u64 = 1 << 63;
