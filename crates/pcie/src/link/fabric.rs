//! All links of one PCIe domain, and the handling of trains handed in.

use super::columns::Bus;
use super::egress::{Activity, Egress, Segment};
use super::lane::Lane;
use super::pace::Stretch;
use super::returns::{self, Returns};
use super::ring;
use super::sentinels::NEVER;
use super::spec::DllpMode;
use super::spec::{CLASSES, Class, Departures, EgressId, EndpointId, Environment, Train};
use super::trains::{Origin, RECORDED_HOPS, TrainId, Trains, UnderWay};
use lanetwin_units::{Instant, Ticks};

/// The path of the last TLP of a train: when the train was eligible, when this TLP started on each link, and when it
/// arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Journey<U> {
    /// The endpoint that sent the train.
    pub from: EndpointId,
    /// The endpoint that received it.
    pub to: EndpointId,
    /// The sender's data.
    pub user: U,
    /// When the train was eligible \[ticks\].
    pub ready: Ticks,
    /// Number of links; at most [`RECORDED_HOPS`] are recorded.
    pub hops: u8,
    /// The start of the last TLP on each of them \[ticks\].
    pub starts: [u64; RECORDED_HOPS],
    /// The arrival of its last byte \[ticks\].
    pub arrival: Ticks,
}

/// Called with every run of departures and its train.
pub type DepartureTap<U> = Box<dyn FnMut(&Departures, &Train<U>)>;

/// Input of the links from a device: all input from outside, apart from the positions of bit errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Submission<U> {
    /// A train was handed in: [`Fabric::submit`].
    Train {
        /// The device.
        endpoint: EndpointId,
        /// When the train is eligible for the wire.
        ready: Instant,
        /// The train.
        train: Train<U>,
    },
    /// Receive buffers were freed: [`Fabric::release`].
    Release {
        /// The device.
        endpoint: EndpointId,
        /// When they were freed.
        at: Instant,
        /// The class of their TLPs.
        class: Class,
        /// Number of TLPs.
        count: u16,
        /// Payload of each \[B\].
        payload: u16,
    },
}

/// Called with every submission, in the order of each device's calls.
pub type SubmissionTap<U> = Box<dyn FnMut(&Submission<U>)>;

/// All links of a PCIe domain.
pub struct Fabric<U> {
    /// The links, except for the egress that is deciding.
    pub(super) domain: Domain<U>,
    /// That egress: while it decides, it is here and a placeholder in its place, which saves a look-up in every step.
    pub(super) current: Box<Egress>,
    /// For each endpoint the egress to which its device hands in, and the number of trains handed in.
    pub(super) out: Vec<(u16, u64)>,
    pub(super) submission_tap: Option<SubmissionTap<U>>,
    /// Number of messages handed to each egress by its port.
    pub(super) messages: Vec<u64>,
    /// An egress with new TLPs that has not asked for its wake yet, and the tick of that wake.
    pub(super) asking: Option<(u16, u64)>,
}

/// All egresses except the current one, and their shared state.
pub(super) struct Domain<U> {
    /// Egresses of links, two for each, then the columns of switches.
    #[expect(clippy::vec_box, reason = "an egress goes into hand by its pointer")]
    pub(super) egresses: Vec<Box<Egress>>,
    /// Number of egresses of links.
    pub(super) on_links: usize,
    pub(super) buses: Vec<Bus>,
    pub(super) trains: Trains<U>,
    /// Whether no completion has relaxed ordering.
    pub(super) strictly_ordered: bool,
    pub(super) tlp_by_tlp: bool,
    pub(super) tap: Option<DepartureTap<U>>,
    pub(super) journeys: Option<Vec<Journey<U>>>,
    /// During a pump: the earliest tick of an event that is not decided yet.
    pub(super) soonest: u64,
    /// Memory for the inputs of a merge.
    pub(super) lanes: Vec<Lane>,
}

impl<U: Copy> Fabric<U> {
    pub(super) fn new(
        egresses: Vec<Egress>,
        on_links: usize,
        buses: Vec<Bus>,
        out: Vec<u16>,
        strictly_ordered: bool,
    ) -> Self {
        let domain = Domain {
            egresses: egresses.into_iter().map(Box::new).collect(),
            on_links,
            buses,
            trains: Trains::new(),
            strictly_ordered,
            tlp_by_tlp: false,
            tap: None,
            journeys: None,
            soonest: NEVER,
            lanes: Vec::new(),
        };
        let out = out.into_iter().map(|e| (e, 0)).collect();
        Self {
            domain,
            current: Box::new(Egress::placeholder()),
            out,
            submission_tap: None,
            messages: vec![0; on_links],
            asking: None,
        }
    }
    /// Switches to deciding one TLP at a time. The departures are the same, but slower to compute.
    pub fn set_tlp_by_tlp(&mut self, on: bool) {
        self.domain.tlp_by_tlp = on;
    }
    /// Calls `tap` with every departure from now on.
    pub fn set_tap(&mut self, tap: Option<DepartureTap<U>>) {
        self.domain.tap = tap;
    }
    /// Calls `tap` with every submission from now on.
    pub fn set_submission_tap(&mut self, tap: Option<SubmissionTap<U>>) {
        self.submission_tap = tap;
    }
    /// Starts or stops recording the journeys of trains.
    pub fn record_journeys(&mut self, on: bool) {
        self.domain.journeys = on.then(Vec::new);
    }
    /// Takes the journeys recorded so far.
    pub fn take_journeys(&mut self) -> Vec<Journey<U>> {
        self.domain.journeys.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Hands in a train of a device, eligible for the wire at `ready`, which must not be before that of an earlier
    /// train.
    ///
    /// # Panics
    /// If the train is empty, or its destination cannot be reached from here; or if it has relaxed ordering although
    /// the links are [`strictly_ordered`](FabricBuilder::strictly_ordered).
    pub fn submit(
        &mut self,
        endpoint: EndpointId,
        ready: Instant,
        train: Train<U>,
        env: &mut impl Environment<U>,
    ) {
        assert!(train.count > 0, "a train has at least one TLP");
        assert!(
            !(train.relaxed && self.domain.strictly_ordered),
            "a relaxed completion, against the promise"
        );
        let out = &mut self.out[endpoint.index()];
        let (e, sequence) = *out;
        out.1 += 1;
        let most = self.domain.egresses[usize::from(e)].payload_max;
        assert!(
            u64::from(train.payload) <= most,
            "a payload of {} B on a link with MPS {most} B",
            train.payload
        );
        if let Some(tap) = &mut self.submission_tap {
            tap(&Submission::Train { endpoint, ready, train });
        }
        let t = Ticks::from(ready).0;
        let mut segment = Segment {
            eligible: t,
            spacing: 0,
            key: digest_key(endpoint, sequence),
            train: TrainId::default(),
            count: train.count,
            index: 0,
            train_count: train.count,
            bytes: train.wire_bytes,
            units: train.payload.div_ceil(16),
            to: train.to.0,
            relaxed: train.relaxed,
            singly: train.singly,
            message: false,
            pace: 0,
        };
        if self.send_at_once(usize::from(e), &segment, &train, Origin { endpoint, sequence }, env) {
            return;
        }
        segment.train = self.domain.trains.put(train, endpoint, sequence, t);
        let egress = &mut self.domain.egresses[usize::from(e)];
        egress.enqueue(usize::from(train.class), segment);
        let at = t.max(egress.link_free);
        if at < egress.wake {
            self.defer_wake(e, at, env);
        }
    }

    /// Defers the wake of an egress at tick `at` until the device has handed in everything of this instant, unless a
    /// second egress wants a wake, too.
    #[inline]
    fn defer_wake(&mut self, e: u16, at: u64, env: &mut impl Environment<U>) {
        if let Some((other, t)) = self.asking.filter(|asking| asking.0 != e) {
            self.domain.ask_wake(usize::from(other), t, env);
            self.domain.ask_wake(usize::from(e), at, env);
            self.asking = None;
        } else if self.asking.is_none_or(|asking| at < asking.1) {
            self.asking = Some((e, at));
        }
    }

    /// Ends a group of calls of [`Fabric::submit`] and [`Fabric::release`] at an instant, and decides what can
    /// already be decided.
    #[inline]
    pub fn settle(&mut self, now: Instant, env: &mut impl Environment<U>) {
        if let Some((e, t)) = self.asking.take() {
            self.decide_early(usize::from(e), t, now, env);
        }
    }

    /// Notes that a device that drains its buffer itself has freed the buffers of `count` TLPs at `at`.
    pub fn release(
        &mut self,
        endpoint: EndpointId,
        at: Instant,
        class: Class,
        (count, payload): (u16, u16),
        env: &mut impl Environment<U>,
    ) {
        if let Some(tap) = &mut self.submission_tap {
            tap(&Submission::Release { endpoint, at, class, count, payload });
        }
        let e = usize::from(self.out[endpoint.index()].0 ^ 1);
        let egress = &mut self.domain.egresses[e];
        let class = usize::from(class);
        if !egress.finite[class] {
            return;
        }
        egress.owed[class] -= u32::from(count);
        let t = Ticks::from(at).0 + egress.credit_latency;
        let weight = u32::from(payload.div_ceil(16));
        egress.put_return(class, Returns { at: t, spacing: 0, count: u32::from(count), weight });
        if egress.starved & (1 << class) != 0 {
            let at = t.max(egress.link_free);
            self.domain.ask_wake(e, at, env);
        }
    }

    /// Number of egresses of links: two for each.
    #[must_use]
    pub fn egress_count(&self) -> usize {
        self.domain.on_links
    }
    /// Number of columns of switches; they follow the egresses of links, by switch and port.
    #[must_use]
    pub fn column_count(&self) -> usize {
        self.domain.egresses.len() - self.domain.on_links
    }
    /// Counters of an egress.
    #[must_use]
    pub fn activity(&self, egress: EgressId) -> Activity {
        self.domain.egresses[egress.index()].done
    }
    /// Wire time of the DLLPs that an egress has had to carry so far, and of one SKP, and the SKP period \[ticks\].
    #[must_use]
    pub fn overhead(&self, egress: EgressId) -> OverheadTime {
        let own = &self.domain.egresses[egress.index()];
        let theirs = &self.domain.egresses[usize::from(own.opposite)];
        let off = theirs.overhead.mode == DllpMode::Off;
        let period = own.overhead.period;
        OverheadTime {
            dllps: if off { 0 } else { theirs.dllp_time() },
            skp: own.overhead.skp,
            skp_period: (period != NEVER).then_some(period),
        }
    }
    /// Traffic of an egress between declared outages: one entry for each outage that it has reached.
    #[must_use]
    pub fn stretches(&self, egress: EgressId) -> &[Stretch] {
        &self.domain.egresses[egress.index()].overhead.stretches
    }
    /// Number of trains in progress.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.domain.trains.len()
    }
    /// Header and data credits of a class that the transmitter holds or that are being returned to it; `None` if
    /// infinite. When no TLP is in progress, they are those that the receiver advertised.
    #[must_use]
    pub fn credits(&self, egress: EgressId, class: Class) -> Option<(u64, u64)> {
        let own = &self.domain.egresses[egress.index()];
        let c = usize::from(class);
        own.finite[c].then(|| {
            own.returns.iter().skip(c).step_by(CLASSES).map(returns::ReturnRing::pending).fold(
                (own.header_credits[c].unsigned_abs(), own.data_credits[c].unsigned_abs()),
                |(h, d), (n, w)| (h + n, d + w),
            )
        })
    }
    /// A 64-bit digest of all departures so far; equal for equal schedules.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.domain.egresses.iter().enumerate().fold(0, |sum: u64, (e, egress)| {
            sum.rotate_left(7) ^ egress.done.digest.wrapping_mul(2 * e as u64 + 1)
        })
    }
    /// Shows the state of every egress, for debugging.
    pub fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        for (e, egress) in self.domain.egresses.iter().enumerate() {
            let queued: usize =
                egress.inputs.iter().flat_map(ring::Ring::iter).map(|s| usize::from(s.count)).sum();
            see(&format!("egress{e}/queued"), format!("{queued} TLPs"));
            see(&format!("egress{e}/free-at"), Ticks(egress.link_free).as_ps_ceil().to_string());
            for (c, name) in ["posted", "non-posted", "completion"].into_iter().enumerate() {
                if egress.finite[c] {
                    let credits =
                        format!("{} headers, {} data", egress.header_credits[c], egress.data_credits[c]);
                    see(&format!("egress{e}/credits/{name}"), credits);
                }
            }
            see(&format!("egress{e}/sent"), format!("{} TLPs", egress.done.tlps));
        }
    }
}

/// Wire time of a link's overhead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OverheadTime {
    /// All DLLPs so far \[ticks\].
    pub dllps: u64,
    /// One SKP ordered set \[ticks\], at the present pace.
    pub skp: u64,
    /// SKP period \[ticks\], if there are any.
    pub skp_period: Option<u64>,
}

impl<U: Copy> UnderWay<U> {
    pub(super) fn journey(&self, to: EndpointId, arrival: u64) -> Journey<U> {
        Journey {
            from: self.from,
            to,
            user: self.train.user,
            ready: Ticks(self.ready),
            hops: self.hops,
            starts: std::array::from_fn(|hop| if hop < self.hops.into() { self.starts[hop] } else { 0 }),
            arrival: Ticks(arrival),
        }
    }
}

/// An odd number that identifies a train in the digest.
pub(super) const fn digest_key(from: EndpointId, sequence: u64) -> u64 {
    let x = (sequence ^ ((from.0 as u64) << 48)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) | 1
}
