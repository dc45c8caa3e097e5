//! `network:` – programs of hosts that send to programs of other hosts over TCP: a stream, transactions, connections.

use crate::cases::{ARRIVALS, is_brisk, offered, sizes, spread};
use crate::kind::{Asked, Kind, Place, Who};
use crate::plan::{Blocks, Demand, LeftOut, Load, Offered, Programs, Thread};
use crate::values::{count, sample, size, span};
use crate::words::{Field, Holds, count as whole, field, optional, required};
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_document::quantity;
use lanetwin_kernel::Component;
use lanetwin_load::{BlockLoad, Conversation, Exchange, Slot};
use lanetwin_models::network_workers::NetworkTest;
use lanetwin_ports::{Dimension, Message, Value};
use lanetwin_units::Bytes;

pub(crate) const KIND: Kind = Kind {
    name: "network",
    about: "programs of hosts that send to those of others over TCP",
    keys: KEYS,
    who: Who::Peers,
    rounds: false,
    file: None,
    read,
};

/// Messages are smaller than this: a request gives the size of its reply in 30 bits.
const MOST_BYTES: u64 = 1 << 30;

const KEYS: &[Field] = &[
    required("size", Holds::Many(Dimension::Size), "bytes a request"),
    field("reply", Holds::One(Dimension::Size), "0B", "bytes that the other program answers with; without a reply a request is done when it has room in the send buffer"),
    field(
        "depth",
        Holds::Many(whole(1, 65_536)),
        "1",
        "requests under way on each connection, a new one for each that is done",
    ),
    optional(
        "rate",
        Holds::Many(Dimension::Rate),
        "payload offered to each connection, whether or not it can be served; instead of `depth`",
    ),
    field("arrivals", ARRIVALS, "poisson", "how the requests of a `rate` are spaced"),
    field("read", Holds::One(Dimension::Ratio), "0%", "the share of requests that the program of the target makes"),
    field("connections", Holds::One(whole(1, 1024)), "1", "connections to each target, side by side"),
    optional(
        "transactions",
        Holds::One(whole(1, 1_000_000)),
        "requests of a connection, which is closed then and opened anew; otherwise it stays open",
    ),
    field("send-buffer", Holds::One(Dimension::Size), "4MiB", "the send buffer of a socket (Linux, tcp_wmem)"),
    field(
        "opening",
        Holds::One(Dimension::Time),
        "20us",
        "the CPU time of each end to open a connection and to close it, together, where there are `transactions`",
    ),
    optional(
        "requests",
        Holds::One(whole(1, 100_000_000)),
        "requests that are measured in a case, of all connections together; otherwise 10000, or more until it is steady",
    ),
];

/// The messages between programs of hosts.
#[derive(Clone, Copy, PartialEq, Debug)]
struct NetworkCase {
    size: Bytes,
    reply: Bytes,
    offered: Offered,
    /// The share of requests that the program at the target sends.
    read: f64,
    connections: u32,
    transactions: Option<u32>,
    test: NetworkTest,
    requests: u64,
}

fn read(fields: &mut Fields<'_>, _: Place<'_>, reports: &mut Reports) -> Option<Asked> {
    let sizes = sizes(fields, reports);
    let reply = size(fields, "reply", reports);
    let offered = offered(fields, "depth", reports);
    let read = match fields.one("read", reports) {
        Some(Said { value: Value::Ratio(ratio), .. }) => Some(ratio),
        _ => None,
    };
    let connections = count(fields, "connections", reports);
    let transactions = fields.written("transactions").is_some().then(|| count(fields, "transactions", reports));
    let (buffer, opening) = (size(fields, "send-buffer", reports), span(fields, "opening", reports));
    let requests = sample(fields, "requests", reports);
    let (sizes, reply, offered) = (sizes?, reply?, offered?);
    is_brisk(fields, &sizes, &offered, reports);
    let largest = sizes.iter().copied().max().unwrap_or_default();
    for (key, bytes) in [("size", largest), ("reply", reply)] {
        if bytes.0 >= MOST_BYTES {
            let [text, most] = [bytes, Bytes(MOST_BYTES - 1)].map(|bytes| quantity::written(Value::Size(bytes)));
            fields.fault(key, Common::OutOfRange { text, least: "1B".into(), most }, reports);
            return None;
        }
    }
    // a value that is given has to be valid
    let transactions = transactions.map_or(Some(None), |said| said.map(|count| Some(count as u32)))?;
    let (read, connections, requests) = (read?, connections? as u32, requests?);
    let test = NetworkTest { send_buffer: buffer?.0, opening: opening?, replies: reply.0 > 0 };
    let cases = spread(fields, "depth", &sizes, &offered, reports, |size, offered| {
        Load::of_blocks(NetworkCase { size, reply, offered, read, connections, transactions, test, requests })
    })?;
    Some(Asked::of(cases))
}

impl Blocks for NetworkCase {
    fn offered(&self) -> Offered {
        self.offered
    }
    fn requests(&self) -> u64 {
        self.requests
    }
    fn kinds(&self) -> (bool, bool) {
        (self.read > 0.0, self.read < 1.0)
    }
    fn largest(&self) -> u64 {
        self.size.0
    }
    fn threads(&self) -> Vec<Thread> {
        Thread::side_by_side(self.connections, "connection")
    }
    fn asker(&self, _: usize, slot: Slot<'_>) -> Box<dyn Component<Message>> {
        let request = self.size.0 as u32;
        let exchange =
            Exchange { request, reply: self.reply.0 as u32, reads: self.read, transactions: self.transactions };
        let requests = Box::new(Conversation::new(exchange, slot.seed, slot.path));
        let arrivals = self.offered.arrivals(request);
        Box::new(BlockLoad::of(requests, arrivals, slot.seed, slot.path).in_slot(slot))
    }
    fn network(&self) -> Option<Programs> {
        Some(Programs::Sockets(self.test))
    }
    fn demand(&self) -> Demand {
        Demand::default()
    }
    fn not_modelled(&self, _: LeftOut<'_>) -> Vec<String> {
        vec![
            "What waits in a socket is not joined into full segments: each message ends one, as with TCP_NODELAY."
                .to_owned(),
        ]
    }
}
