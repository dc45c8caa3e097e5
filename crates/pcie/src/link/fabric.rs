//! Every link of one PCIe domain, and what becomes of what is handed in.

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

/// The way of the last TLP of a train: when the train was eligible, when that TLP started on each link, when it was
/// there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Journey<U> {
    /// The endpoint that the train left from.
    pub from: EndpointId,
    /// The endpoint that it went to.
    pub to: EndpointId,
    /// What the sender gave along.
    pub user: U,
    /// When the train was eligible \[ticks\].
    pub ready: Ticks,
    /// How many links it went over; at most [`RECORDED_HOPS`] are recorded.
    pub hops: u8,
    /// The start of the last TLP on each of them \[ticks\].
    pub starts: [u64; RECORDED_HOPS],
    /// The arrival of its last byte \[ticks\].
    pub arrival: Ticks,
}

/// Is told of every run of departures, and of the train that they are of.
pub type DepartureTap<U> = Box<dyn FnMut(&Departures, &Train<U>)>;

/// What a device tells its link: all that the links learn from outside, apart from where bits are corrupted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Submission<U> {
    /// It has handed in a train: [`Fabric::submit`].
    Train {
        /// Which device.
        endpoint: EndpointId,
        /// When the train is eligible for the wire.
        ready: Instant,
        /// The train.
        train: Train<U>,
    },
    /// It has freed buffers of its own: [`Fabric::release`].
    Release {
        /// Which device.
        endpoint: EndpointId,
        /// When they are free.
        at: Instant,
        /// The class of the TLPs that were in them.
        class: Class,
        /// How many TLPs.
        count: u16,
        /// The payload of each \[B\].
        payload: u16,
    },
}

/// Is told of everything that devices tell their links, each in the order in which it said it.
pub type SubmissionTap<U> = Box<dyn FnMut(&Submission<U>)>;

/// All links of a PCIe domain.
pub struct Fabric<U> {
    /// The links, but for the egress that decides just now.
    pub(super) domain: Domain<U>,
    /// That egress: while one decides, it is here and an empty one in its place, so that it need not be looked up in
    /// every step.
    pub(super) current: Box<Egress>,
    /// For each endpoint the egress that its device hands in to, and how many trains it has handed in.
    pub(super) out: Vec<(u16, u64)>,
    pub(super) submission_tap: Option<SubmissionTap<U>>,
    /// How many messages each egress has been given by its port.
    pub(super) messages: Vec<u64>,
    /// An egress with something new that has not asked for a wake yet, and for when it will \[ticks\].
    pub(super) asking: Option<(u16, u64)>,
}

/// All egresses but the one in hand, and what they share.
pub(super) struct Domain<U> {
    /// Those of links, two for each, then the columns of switches.
    #[expect(clippy::vec_box, reason = "an egress goes into hand by its pointer")]
    pub(super) egresses: Vec<Box<Egress>>,
    /// How many of them belong to links.
    pub(super) on_links: usize,
    pub(super) buses: Vec<Bus>,
    pub(super) trains: Trains<U>,
    /// No completion has relaxed ordering.
    pub(super) strictly_ordered: bool,
    pub(super) tlp_by_tlp: bool,
    pub(super) tap: Option<DepartureTap<U>>,
    pub(super) journeys: Option<Vec<Journey<U>>>,
    /// During a pump: the earliest tick at which anything can happen that is not decided yet.
    pub(super) soonest: u64,
    /// Room for the inputs of a merge.
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
    /// Decides one TLP at a time. The departures are the same, only slower to compute.
    pub fn set_tlp_by_tlp(&mut self, on: bool) {
        self.domain.tlp_by_tlp = on;
    }
    /// Shows every departure to `tap` from now on.
    pub fn set_tap(&mut self, tap: Option<DepartureTap<U>>) {
        self.domain.tap = tap;
    }
    /// Shows everything that devices hand in and free to `tap` from now on.
    pub fn set_submission_tap(&mut self, tap: Option<SubmissionTap<U>>) {
        self.submission_tap = tap;
    }
    /// Records the way of every train from now on, or stops recording.
    pub fn record_journeys(&mut self, on: bool) {
        self.domain.journeys = on.then(Vec::new);
    }
    /// The journeys recorded so far; forgets them.
    pub fn take_journeys(&mut self) -> Vec<Journey<U>> {
        self.domain.journeys.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// A device hands in a train that is eligible for the wire at `ready`, not before anything it handed in earlier.
    ///
    /// # Panics
    /// If the train is empty, or its destination cannot be reached from here; if it has relaxed ordering, and the links
    /// are [`strictly_ordered`](FabricBuilder::strictly_ordered).
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

    /// An egress wants to be woken at tick `at`. That can wait until the device has handed in all that it has at this
    /// instant, unless two egresses want it.
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

    /// Nothing more will be handed in or freed by whatever happens just now: to be called after each group of
    /// [`Fabric::submit`] and [`Fabric::release`]. What can be decided already, is.
    #[inline]
    pub fn settle(&mut self, now: Instant, env: &mut impl Environment<U>) {
        if let Some((e, t)) = self.asking.take() {
            self.decide_early(usize::from(e), t, now, env);
        }
    }

    /// A device that drains by itself has freed the buffers of `count` TLPs at `at`.
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

    /// How many egresses belong to links: two for each.
    #[must_use]
    pub fn egress_count(&self) -> usize {
        self.domain.on_links
    }
    /// How many columns switches have; they are the egresses behind those of links, by switch and port.
    #[must_use]
    pub fn column_count(&self) -> usize {
        self.domain.egresses.len() - self.domain.on_links
    }
    /// What an egress has done so far.
    #[must_use]
    pub fn activity(&self, egress: EgressId) -> Activity {
        self.domain.egresses[egress.index()].done
    }
    /// The wire time of the DLLPs that an egress had to carry so far, and of one SKP and its period \[ticks\].
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
    /// What an egress has sent between the outages that were said: one for each that it has come to.
    #[must_use]
    pub fn stretches(&self, egress: EgressId) -> &[Stretch] {
        &self.domain.egresses[egress.index()].overhead.stretches
    }
    /// How many trains are under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.domain.trains.len()
    }
    /// Header and data credits of a class that the transmitter holds or that are on their way back to it; `None` if
    /// they are infinite. When nothing is under way they are what the receiver advertised.
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
    /// All departures so far, as 64 bits: equal for equal schedules.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.domain.egresses.iter().enumerate().fold(0, |sum: u64, (e, egress)| {
            sum.rotate_left(7) ^ egress.done.digest.wrapping_mul(2 * e as u64 + 1)
        })
    }
    /// Shows the state of every egress by name, for people.
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

/// Wire time of what a link sends on its own account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OverheadTime {
    /// All DLLPs so far \[ticks\].
    pub dllps: u64,
    /// One SKP ordered set \[ticks\], as they are at the end.
    pub skp: u64,
    /// From one SKP to the next \[ticks\], if there are any.
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

/// An odd number that names a train in the digest.
pub(super) const fn digest_key(from: EndpointId, sequence: u64) -> u64 {
    let x = (sequence ^ ((from.0 as u64) << 48)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) | 1
}
