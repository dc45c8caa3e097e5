//! State of an adapter, and its work in progress.

use super::counts::Counts;
use super::flow::Flow;
use super::pair::Heard;
use super::pairs::Pairs;
use super::params::Rules;
use super::paused::Paused;
use crate::agenda::Agenda;
use crate::requests::{self, Requests};
use crate::slab::Slab;
use lanetwin_fabric::ethernet::logic::{Class, Train};
use lanetwin_fabric::tcp::logic::segment::Segment;
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{
    CableOutages, EthernetSite, QueuePairId, Rdma, RunQueue, SocketId, Sockets, WorkRequest,
};
use lanetwin_units::Instant;
use std::collections::{BTreeMap, VecDeque};

lanetwin_kernel::stages! {
    after requests::STAGES;
    WORK = "work request",
    SEND = "queue for sending",
    TRANSMIT = "transmit",
    QUEUE = "queue for the line",
    LINE = "line",
    RECEIVE = "receive",
}

/// The device.
#[derive(Debug)]
pub struct RoceNic {
    pub(super) rules: Rules,
    /// `None` if it is not plugged in and receives no doorbells.
    pub(super) requests: Option<Requests>,
    /// `None` if no cable is plugged in.
    pub(super) site: Option<EthernetSite>,
    /// Outages of its cable.
    pub(super) outages: CableOutages,
    pub(super) class: Class,
    /// `None` if it ignores pause frames.
    pub(super) paused: Option<Paused>,
    pub(super) rdma: Rdma,
    pub(super) pairs: Pairs,
    /// Effects of a packet; kept for its memory.
    pub(super) heard: Heard,
    /// Work requests that are being understood, one after another.
    pub(super) understood: VecDeque<(QueuePairId, WorkRequest)>,
    /// Empty lists of work requests, kept for their room.
    pub(super) spare_work: Vec<Vec<WorkRequest>>,
    /// The lane that sent last.
    pub(super) turn: (QueuePairId, usize),
    pub(super) sockets: Sockets,
    pub(super) flows: BTreeMap<SocketId, Flow>,
    /// The same of sockets, and whether it is their turn.
    pub(super) flow_turn: SocketId,
    pub(super) flows_next: bool,
    /// Reads of host memory in progress, by their handles on the link.
    pub(super) reads: Slab<Reading>,
    /// When the line can take the next frame.
    pub(super) line_free: Instant,
    /// Time of its next check; in the past if none is planned.
    pub(super) line_planned: Instant,
    /// When the next work request can be started.
    pub(super) engine_free: Instant,
    /// The core of the target software inside; `None` if there is none.
    pub(super) engine: Option<RunQueue>,
    /// The tail of each submission queue that it drives, by its drive and the offset of its doorbell.
    pub(super) tails: BTreeMap<(EndpointId, u64), u32>,
    pub(super) agenda: Agenda<Task>,
    pub(super) counts: Counts,
}

/// A scheduled action.
#[derive(Debug)]
pub(super) enum Task {
    /// The next work request has been understood.
    Begin,
    /// The last bit of a frame came, `rx.latency` ago.
    Hear(Train),
    /// The line may be able to take a frame.
    Line,
    /// A queue pair may be able to send, or has waited for too long.
    Look(QueuePairId),
    /// A descriptor of TCP has been understood.
    Cut(SocketId, Box<Segment>),
    /// A faulty adapter asks for a pause.
    Storm,
    /// Frames that are joined have waited for long enough.
    Joined(SocketId),
}

/// A read of host memory in progress.
#[derive(Debug)]
pub(super) struct Reading {
    /// Bytes still to arrive \[B\].
    pub(super) left: u32,
    pub(super) what: Read,
}

/// Purpose of a read.
#[derive(Debug)]
pub(super) enum Read {
    Work(QueuePairId, Vec<WorkRequest>),
    Payload {
        pair: QueuePairId,
        lane: usize,
        number: u64,
    },
    Segments(SocketId, Vec<Segment>),
    Piece(SocketId, u64),
    /// A completion entry of a drive that the adapter drives, with the signal that announced it.
    Entry {
        handle: u32,
        from: EndpointId,
    },
}
