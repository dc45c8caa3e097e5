//! Block loads, whatever their kind: the interface between the kinds of workload and the code that runs them and
//! reports results.

use super::length::RunLength;
use super::offered::Offered;
use super::written::{AccessShape, written_at_once};
use lanetwin_kernel::Component;
use lanetwin_load::Slot;
use lanetwin_models::network_workers::NetworkTest;
use lanetwin_models::roles::nvme::QueuePriority;
use lanetwin_models::verbs_programs::VerbsTest;
use lanetwin_ports::Message;
use lanetwin_units::{Bytes, Span};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Block requests of hosts to drives in a case. The kinds of workload implement it, and no other code needs to know the
/// kind.
pub trait Blocks: Same + Debug + Send + Sync {
    /// Requests in flight on each target at most, or the rate at which they are offered.
    fn offered(&self) -> Offered;
    /// Limit of requests in flight on each target, for requests that come at a rate; `None` if there is no limit.
    fn most_in_flight(&self) -> Option<u32> {
        None
    }
    /// Number of requests measured, over all targets together.
    fn requests(&self) -> u64;
    /// Whether there are reads, and whether there are writes.
    fn kinds(&self) -> (bool, bool);
    /// Whether the requests of each initiator are sequential, so that a drive in its lived state was written from end
    /// to end.
    fn is_sequential(&self) -> bool {
        false
    }
    /// The common size and order of its requests, by kind: they determine the lived state of a drive.
    fn shapes(&self) -> Vec<AccessShape> {
        Vec::new()
    }
    /// Size of the aligned units that are overwritten at once on a drive in its lived state; `None` if there are no
    /// requests.
    fn written_at_once(&self) -> Option<Bytes> {
        written_at_once(&self.shapes())
    }
    /// Whether its own settings keep it below the number in flight that is allowed: a rate, pauses, delays.
    fn is_paced(&self) -> bool {
        false
    }
    /// The size of the largest request \[B\].
    fn largest(&self) -> u64;
    /// The threads that send to each target, if there are several or if they have names of their own. If empty, one
    /// thread with the name of the target does.
    fn threads(&self) -> Vec<Thread> {
        Vec::new()
    }
    /// The indices of the pairs that each thread uses, given the host of each pair; `None` if each uses all.
    fn asks(&self, hosts: &[usize]) -> Option<Vec<Vec<usize>>> {
        let _ = hosts;
        None
    }
    /// The same load with threads whose requests are dealt out over the pairs that they use, given the host of each
    /// pair: each then has its share of one of them. `None` if there are none.
    fn dealt(&self, hosts: &[usize]) -> Option<Arc<dyn Blocks>> {
        let _ = hosts;
        None
    }
    /// The name of the file whose targets cannot be matched with the pairs, given the host of each; each thread then
    /// uses all. `None` if they can be matched.
    fn unmatched(&self, hosts: &[usize]) -> Option<String> {
        let _ = hosts;
        None
    }
    /// The component that sends requests to a target: that of a thread in [`Blocks::threads`], or the first if there
    /// are none.
    fn asker(&self, thread: usize, slot: Slot<'_>) -> Box<dyn Component<Message>>;
    /// Its own limits on the length of the measurement.
    fn timing(&self) -> Timing {
        Timing::default()
    }
    /// Whether all initiators have the same load, so that fairness between them is meaningful.
    fn is_even(&self) -> bool {
        true
    }
    /// The same load with clones that begin at different places, and at most `requests` requests, if several clones
    /// read the same data sequentially. `None` for other loads.
    fn apart(&self, requests: u64) -> Option<Arc<dyn Blocks>> {
        let _ = requests;
        None
    }
    /// The programs at both ends, if the targets are hosts. A request is then a message, and its address
    /// the length of the reply.
    fn network(&self) -> Option<Programs> {
        None
    }
    /// Its requirements on a drive; the scenario gets a warning if they are not met.
    fn demand(&self) -> Demand {
        Demand::default()
    }
    /// Features of the load that are not simulated, in sentences.
    fn not_modelled(&self, of: LeftOut<'_>) -> Vec<String> {
        let _ = of;
        Vec::new()
    }
}

/// The programs of a load whose targets are hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Programs {
    /// They send over sockets.
    Sockets(NetworkTest),
    /// They post work to queue pairs.
    QueuePairs(VerbsTest),
}

impl Programs {
    /// Whether requests are answered by the other program.
    #[must_use]
    pub const fn reply(self) -> bool {
        match self {
            Self::Sockets(test) => test.replies,
            Self::QueuePairs(test) => test.ping_pong,
        }
    }
}

/// One of several threads that use a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its component in the paths of its own streams and objects, such as `2.0`.
    pub name: String,
    /// Name of its results, which several threads may share.
    pub results_name: String,
    /// The namespace that it uses, from 0; `None` if it does not set one.
    pub namespace: Option<u16>,
    /// The priority class of its queue, for controllers that support classes.
    pub priority: QueuePriority,
    /// The I/O engine that it uses, if it sets one that is modelled.
    pub engine: Option<&'static str>,
    /// The cores of its host that it may run on, if it sets any.
    pub cores: Option<AllowedCores>,
}

impl Thread {
    /// So many connections of a load, each with results of its own; none if one has those of the load.
    pub(crate) fn side_by_side(connections: u32, what: &str) -> Vec<Self> {
        let one = |number: u32| Self {
            name: number.to_string(),
            results_name: format!("{what} {number}"),
            namespace: None,
            priority: QueuePriority::MEDIUM,
            engine: None,
            cores: None,
        };
        if connections > 1 { (1..=connections).map(one).collect() } else { Vec::new() }
    }
}

/// Cores of a host on which a thread may run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllowedCores {
    /// Their numbers, ascending; at least one.
    pub numbers: Vec<u32>,
    /// Index of its core in this list, modulo the length of the list. `None`: threads with the same list take the cores
    /// in turn.
    pub nth: Option<u32>,
}

/// A load's own limits on the length of its measurement.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Timing {
    /// Whether it has a beginning and an end and is measured as a whole, without warm-up.
    pub is_whole: bool,
    /// Maximum time before the measurement.
    pub ramp: Option<Span>,
    /// Maximum length of the measurement.
    pub longest: Option<Span>,
    /// Maximum number of operations measured, for jobs that end.
    pub most: Option<u64>,
}

/// Requirements of requests on a drive.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Demand {
    /// Maximum number in flight of one load, if known.
    pub depth: Option<u64>,
    /// Sizes of requests, which should be multiples of the block size \[B\].
    pub sizes: Vec<u64>,
    /// What else should be whole blocks, as places of requests follow from it.
    pub steps: Vec<Step>,
    /// Range of addresses, if the drive has to be that large.
    pub span: Option<Bytes>,
    /// The job that sets a priority, if one does.
    pub priority: Option<String>,
    /// Jobs that are pinned to cores of their host, with those cores.
    pub pinned: Vec<(String, Vec<u32>)>,
}

/// Something that decides where requests begin: an offset, what lies between them, an entry of a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// How much it is \[B\].
    pub bytes: u64,
    /// What it is, with a size of this: `the offset of job `a`, 100 B,`.
    pub what: String,
    /// What else an author may have meant.
    pub hint: &'static str,
}

/// The case whose omissions are reported.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut<'a> {
    /// Label of the case.
    pub label: &'a str,
    /// Number of pairs of a host and a target.
    pub pairs: usize,
    /// Number of simulated repeats.
    pub repeats: usize,
    /// Whether the length is given.
    pub length: RunLength,
}

/// Comparison and downcasting of [`Blocks`].
pub trait Same: Any {
    /// Whether the other has the same type and an equal value.
    fn is_same(&self, other: &dyn Blocks) -> bool;
    /// For downcasting to its type.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Blocks + PartialEq> Same for T {
    fn is_same(&self, other: &dyn Blocks) -> bool {
        other.as_any().downcast_ref::<T>().is_some_and(|other| self == other)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl PartialEq for dyn Blocks {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}
