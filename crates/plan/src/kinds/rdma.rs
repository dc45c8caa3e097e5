//! `rdma:` – programs of hosts that post RDMA to those of other hosts, as the tests of perftest do.

use crate::cases::{ARRIVALS, is_brisk, offered, sizes, spread};
use crate::kind::{Asked, Kind, Place, Who};
use crate::plan::{Blocks, LeftOut, Load, Offered, Programs, Thread};
use crate::values::{count, sample, size, span};
use crate::words::{Field, Holds, count as whole, field, optional, required};
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_document::quantity;
use lanetwin_kernel::Component;
use lanetwin_load::{BlockLoad, Conversation, Exchange, Slot};
use lanetwin_models::verbs_programs::{VerbsOperation, VerbsTest};
use lanetwin_ports::{Dimension, Message, Value};
use lanetwin_units::Bytes;

pub(crate) const KIND: Kind = Kind {
    name: "rdma",
    about: "programs of hosts that post RDMA to those of others",
    keys: KEYS,
    who: Who::QueuePairs,
    rounds: false,
    file: None,
    read,
};

/// The most that a message has (InfiniBand Architecture Specification, volume 1, §9.7.7: 2^31 B; here within the memory
/// of a queue pair).
const MOST_BYTES: u64 = 256 << 20;
/// The most data within a work request that adapters take \[B\].
const MOST_INLINE: u64 = 1024;

const KEYS: &[Field] = &[
    required("operation", Holds::One(Dimension::Choice(&["write", "read", "send"])), "RDMA WRITE, RDMA READ, or SEND into a receive of the target"),
    required("size", Holds::Many(Dimension::Size), "bytes a message"),
    field("ping-pong", Holds::One(Dimension::Flag), "false", "the target answers each message with one of the same operation and size, and a request is done when that is seen: half of it is what `ib_write_lat` and `ib_send_lat` call latency"),
    field("depth", Holds::Many(whole(1, 65_536)), "1", "work requests under way on each queue pair, a new one for each that is done"),
    optional("rate", Holds::Many(Dimension::Rate), "payload offered to each queue pair, whether or not it can be served; instead of `depth`"),
    field("arrivals", ARRIVALS, "poisson", "how the requests of a `rate` are spaced"),
    field("connections", Holds::One(whole(1, 1024)), "1", "queue pairs to each target, side by side"),
    field("inline", Holds::One(Dimension::Size), "220B", "the most data that a work request itself carries, so that the adapter need not read them (mlx5 and perftest's latency tests: 220B)"),
    field("post", Holds::One(Dimension::Time), "60ns", "the CPU time to post a work request or a receive (assumed)"),
    field("poll", Holds::One(Dimension::Time), "40ns", "the CPU time to poll a completion, or to see that memory has been written (assumed)"),
    optional("requests", Holds::One(whole(1, 100_000_000)), "requests that are measured in a case, of all queue pairs together; otherwise 10000, or more until it is steady"),
];

/// The messages between programs of hosts.
#[derive(Clone, Copy, PartialEq, Debug)]
struct RdmaCase {
    size: Bytes,
    offered: Offered,
    connections: u32,
    test: VerbsTest,
    requests: u64,
}

fn read(fields: &mut Fields<'_>, _: Place<'_>, reports: &mut Reports) -> Option<Asked> {
    let operation = match fields.one("operation", reports) {
        Some(Said { value: Value::Choice("read"), .. }) => Some(VerbsOperation::Read),
        Some(Said { value: Value::Choice("send"), .. }) => Some(VerbsOperation::Send),
        Some(_) => Some(VerbsOperation::Write),
        None => None,
    };
    let sizes = sizes(fields, reports);
    let ping_pong = match fields.one("ping-pong", reports) {
        Some(Said { value: Value::Flag(flag), .. }) => Some(flag),
        _ => None,
    };
    let offered = offered(fields, "depth", reports);
    let connections = count(fields, "connections", reports);
    let inline = size(fields, "inline", reports);
    let (post, poll) = (span(fields, "post", reports), span(fields, "poll", reports));
    let requests = sample(fields, "requests", reports);
    let (operation, sizes, ping_pong, offered) = (operation?, sizes?, ping_pong?, offered?);
    is_brisk(fields, &sizes, &offered, reports);
    if operation == VerbsOperation::Read && ping_pong {
        fields.fault("ping-pong", Common::Exclusive { one: "operation: read", other: "ping-pong" }, reports);
        return None;
    }
    let largest = sizes.iter().copied().max().unwrap_or_default();
    for (key, bytes, most) in [("size", largest, MOST_BYTES), ("inline", inline?, MOST_INLINE)] {
        if bytes.0 > most {
            let [text, most] = [bytes, Bytes(most)].map(|bytes| quantity::written(Value::Size(bytes)));
            fields.fault(key, Common::OutOfRange { text, least: "0B".into(), most }, reports);
            return None;
        }
    }
    let (connections, requests, inline) = (connections? as u32, requests?, inline?.0 as u32);
    let test = VerbsTest { operation, ping_pong, inline, post: post?, poll: poll? };
    let cases = spread(fields, "depth", &sizes, &offered, reports, |size, offered| {
        Load::of_blocks(RdmaCase { size, offered, connections, test, requests })
    })?;
    Some(Asked::of(cases))
}

impl Blocks for RdmaCase {
    fn offered(&self) -> Offered {
        self.offered
    }
    fn requests(&self) -> u64 {
        self.requests
    }
    fn kinds(&self) -> (bool, bool) {
        let reads = self.test.operation == VerbsOperation::Read;
        (reads, !reads)
    }
    fn largest(&self) -> u64 {
        self.size.0
    }
    fn threads(&self) -> Vec<Thread> {
        Thread::side_by_side(self.connections, "queue pair")
    }
    fn asker(&self, _: usize, slot: Slot<'_>) -> Box<dyn Component<Message>> {
        let request = self.size.0 as u32;
        let reads = if self.test.operation == VerbsOperation::Read { 1.0 } else { 0.0 };
        let exchange = Exchange { request, reply: 0, reads, transactions: None };
        let requests = Box::new(Conversation::new(exchange, slot.seed, slot.path));
        let arrivals = self.offered.arrivals(request);
        Box::new(BlockLoad::of(requests, arrivals, slot.seed, slot.path).in_slot(slot))
    }
    fn network(&self) -> Option<Programs> {
        Some(Programs::QueuePairs(self.test))
    }
    fn not_modelled(&self, _: LeftOut<'_>) -> Vec<String> {
        vec!["Programs poll: completion events, atomics and unreliable transports of RDMA are not there.".to_owned()]
    }
}
