//! What a workload asks drives for, whatever its kind: the seam between the kinds of workload and who runs and tells
//! them.

use super::length::RunLength;
use super::offered::Offered;
use super::written::{AccessShape, written_at_once};
use lanetwin_kernel::Component;
use lanetwin_load::Slot;
use lanetwin_models::network_workers::NetworkTest;
use lanetwin_models::roles::nvme::QueuePriority;
use lanetwin_ports::Message;
use lanetwin_units::{Bytes, Span};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Requests of blocks that hosts make of drives in a case. A kind of workload makes these; nobody else has to know
/// which kind it was.
pub trait Blocks: Same + Debug + Send + Sync {
    /// Requests in flight on each target at most, or the rate at which they are offered to it.
    fn offered(&self) -> Offered;
    /// Of requests that come at a rate, how many are in flight on each target at most; no bound if none.
    fn most_in_flight(&self) -> Option<u32> {
        None
    }
    /// Requests that are measured, of all targets together.
    fn requests(&self) -> u64;
    /// Whether there are reads, and whether there are writes.
    fn kinds(&self) -> (bool, bool);
    /// Whether all requests of an asker follow one another, so that a drive that has lived through many of them was
    /// written from end to end.
    fn is_sequential(&self) -> bool {
        false
    }
    /// What its requests have in common, kind by kind: it tells how a drive looks that has lived with it.
    fn shapes(&self) -> Vec<AccessShape> {
        Vec::new()
    }
    /// How much is overwritten at once on a drive that has lived with it, at multiples of itself, if it says anything.
    fn written_at_once(&self) -> Option<Bytes> {
        written_at_once(&self.shapes())
    }
    /// Whether something it says itself keeps it from having in flight what it may have: a rate, pauses, delays.
    fn is_paced(&self) -> bool {
        false
    }
    /// The size of the largest request \[B\].
    fn largest(&self) -> u64;
    /// Who asks each target, if several do, or one by a name of its own; otherwise one does, called like the target.
    fn threads(&self) -> Vec<Thread> {
        Vec::new()
    }
    /// Which of the pairs each thread asks, by their places, given the host of each pair; none if each asks all.
    fn asks(&self, hosts: &[usize]) -> Option<Vec<Vec<usize>>> {
        let _ = hosts;
        None
    }
    /// Whose targets cannot be told among the pairs, given the host of each: each thread asks all then.
    fn unmatched(&self, hosts: &[usize]) -> Option<String> {
        let _ = hosts;
        None
    }
    /// What asks a target in a world: the one of [`Blocks::threads`], or the first if there are none.
    fn asker(&self, thread: usize, slot: Slot<'_>) -> Box<dyn Component<Message>>;
    /// How long it is measured, as far as it says so itself.
    fn timing(&self) -> Timing {
        Timing::default()
    }
    /// Whether all that ask do the same, so that it is a question how evenly they share.
    fn is_even(&self) -> bool {
        true
    }
    /// The same with clones that begin at places of their own, and no more requests than these, if several read one
    /// after another what is the same for all: none of what is otherwise.
    fn apart(&self, requests: u64) -> Option<Arc<dyn Blocks>> {
        let _ = requests;
        None
    }
    /// What programs at both ends of connections do, if the targets are hosts: a request is a message then, and its
    /// address the length of the reply.
    fn network(&self) -> Option<NetworkTest> {
        None
    }
    /// What it needs of a drive, of which the scenario is warned.
    fn demand(&self) -> Demand {
        Demand::default()
    }
    /// What is not simulated of what it asks for, in sentences.
    fn not_modelled(&self, of: LeftOut<'_>) -> Vec<String> {
        let _ = of;
        Vec::new()
    }
}

/// One of several that ask a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its own part of the path of what it has for itself, such as `2.0`.
    pub name: String,
    /// What its results are told as; several may be told as one.
    pub results_name: String,
    /// The namespace that it asks, the first being 0, if it says so.
    pub namespace: Option<u16>,
    /// The class of its queue, where the controller heeds classes.
    pub priority: QueuePriority,
    /// The engine that it asks by, if it says one that is modelled.
    pub engine: Option<&'static str>,
    /// The cores of its host that it may run on, if it says so.
    pub cores: Option<AllowedCores>,
}

/// Cores of a host that a thread may run on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllowedCores {
    /// Their numbers, ascending; at least one.
    pub numbers: Vec<u32>,
    /// Which of them it has, and round again; otherwise those that are allowed the same take them in turn.
    pub nth: Option<u32>,
}

/// How long something is measured, as far as it says so itself.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Timing {
    /// Whether it has a beginning and an end, and all of it is measured: there is no warm-up.
    pub is_whole: bool,
    /// How long it runs before it is measured, at most.
    pub ramp: Option<Span>,
    /// How long it is measured at most.
    pub longest: Option<Span>,
    /// How many operations are measured at most: of jobs that end.
    pub most: Option<u64>,
}

/// What requests need of a drive.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Demand {
    /// What one load has in flight at most, if that is known.
    pub depth: Option<u64>,
    /// Sizes of requests that should be whole blocks \[B\].
    pub sizes: Vec<u64>,
    /// How far addresses reach, if the drive is to be as large.
    pub span: Option<Bytes>,
    /// Who asks with a priority, if somebody does.
    pub priority: Option<String>,
    /// Who is to run on certain cores of its host, and on which.
    pub pinned: Vec<(String, Vec<u32>)>,
}

/// Which case it is whose omissions are told.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut<'a> {
    /// What the case is called.
    pub label: &'a str,
    /// How many pairs of a host and a target there are.
    pub pairs: usize,
    /// How often it is simulated.
    pub repeats: usize,
    /// Whether as long as somebody says.
    pub length: RunLength,
}

/// What every [`Blocks`] has by being a type: it can be compared, and known for what it is.
pub trait Same: Any {
    /// Whether the other is of the same type, and equal.
    fn is_same(&self, other: &dyn Blocks) -> bool;
    /// As what it is.
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
