//! Trains in progress: kept from being handed in until the last TLP has arrived.

use super::spec::{EndpointId, Train};

/// An index in the slab of trains.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct TrainId(u32);

/// Largest number of links for which the starts of a TLP are recorded.
pub const RECORDED_HOPS: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct UnderWay<U> {
    pub train: Train<U>,
    pub from: EndpointId,
    pub sequence: u64,
    /// When the train was eligible, and when its last TLP started on each link \[ticks\].
    pub ready: u64,
    pub hops: u8,
    pub starts: [u64; RECORDED_HOPS],
}

#[derive(Clone, Debug)]
pub(super) struct Trains<U> {
    slots: Vec<UnderWay<U>>,
    free: Vec<TrainId>,
}

impl<U: Copy> Trains<U> {
    pub const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
    /// Adds the `sequence`-th train of an endpoint, eligible at `ready`.
    #[inline]
    pub fn put(&mut self, train: Train<U>, from: EndpointId, sequence: u64, ready: u64) -> TrainId {
        if let Some(id) = self.free.pop() {
            let slot = &mut self.slots[id.0 as usize];
            // starts left by the slot's previous train are beyond `hops`, and not read
            (slot.train, slot.from, slot.sequence, slot.ready, slot.hops) = (train, from, sequence, ready, 0);
            return id;
        }
        self.slots.push(UnderWay { train, from, sequence, ready, hops: 0, starts: [0; RECORDED_HOPS] });
        TrainId((self.slots.len() - 1) as u32)
    }
    #[inline]
    pub fn get(&self, id: TrainId) -> &UnderWay<U> {
        &self.slots[id.0 as usize]
    }
    #[inline]
    pub fn get_mut(&mut self, id: TrainId) -> &mut UnderWay<U> {
        &mut self.slots[id.0 as usize]
    }
    #[inline]
    pub fn remove(&mut self, id: TrainId) {
        self.free.push(id);
    }
    /// Number of trains in progress.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

/// The sender of a train, and its number there.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub endpoint: EndpointId,
    pub sequence: u64,
}
