//! Addresses and types of operations: the random choices of a load, each from a stream of its own.

use crate::requests::{Request, Requests};
use crate::workload::{Mix, Pattern, Workload};
use lanetwin_kernel::Stream;
use lanetwin_ports::Operation;
use lanetwin_units::Instant;

/// The operations of a load, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Operations {
    workload: Workload,
    /// Number of different addresses.
    addresses: u64,
    /// Number of operations made.
    made: u64,
    places: Stream,
    kinds: Stream,
}

impl Operations {
    pub(crate) fn new(workload: Workload, seed: u64, path: &str) -> Self {
        let stream = |purpose| Stream::new(seed, path, purpose);
        let (places, kinds) = (stream("addresses"), stream("operations"));
        Self { addresses: workload.places(), workload, made: 0, places, kinds }
    }
}

impl Requests for Operations {
    fn next(&mut self, _: Instant) -> Option<Request> {
        let Workload { mix, bytes, unit, pattern, count, .. } = self.workload;
        if count.is_some_and(|count| self.made >= count) {
            return None;
        }
        let operation = match mix {
            Mix::Reads => Operation::Read,
            Mix::Writes => Operation::Write,
            Mix::Alternating if self.made.is_multiple_of(2) => Operation::Read,
            Mix::Alternating => Operation::Write,
            Mix::Share { reads } if self.kinds.chance(reads) => Operation::Read,
            Mix::Share { .. } => Operation::Write,
        };
        let place = match pattern {
            Pattern::Random => self.places.below(self.addresses),
            Pattern::Sequential => self.made % self.addresses,
        };
        self.made += 1;
        Some(Request { operation, address: place * u64::from(unit), bytes })
    }
    fn made(&self) -> u64 {
        self.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Arrivals;
    use std::collections::BTreeMap;

    const WORKLOAD: Workload = Workload {
        mix: Mix::Alternating,
        bytes: 63,
        unit: 64,
        span: 640,
        pattern: Pattern::Sequential,
        arrivals: Arrivals::Closed { outstanding: 1 },
        count: Some(12),
    };

    fn all(workload: Workload, seed: u64) -> Vec<Request> {
        let mut operations = Operations::new(workload, seed, "load");
        std::iter::from_fn(|| operations.next(Instant::ZERO)).collect()
    }

    #[test]
    fn sequential_addresses_go_round_and_operations_alternate() {
        let addresses: Vec<_> = all(WORKLOAD, 1).iter().map(|t| t.address / 64).collect();
        assert_eq!(addresses, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
        let reads: Vec<_> = all(WORKLOAD, 1).iter().map(|t| t.operation == Operation::Read).collect();
        assert_eq!(reads[..4], [true, false, true, false]);
    }

    #[test]
    fn random_addresses_cover_the_span_evenly_and_depend_on_the_seed() {
        let random = Workload { pattern: Pattern::Random, count: Some(10_000), ..WORKLOAD };
        let mut counts = BTreeMap::new();
        for transfer in all(random, 1) {
            assert_eq!((transfer.address % 64, transfer.bytes), (0, 63));
            *counts.entry(transfer.address / 64).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        assert!(counts.values().all(|count| count.abs_diff(1000) < 150), "{counts:?}");
        assert_eq!(all(random, 1), all(random, 1));
        assert_ne!(all(random, 1), all(random, 2));
    }

    #[test]
    fn the_share_of_reads_is_kept_and_does_not_move_the_addresses() {
        let mixed = |reads| Workload {
            mix: Mix::Share { reads },
            pattern: Pattern::Random,
            count: Some(10_000),
            ..WORKLOAD
        };
        let reads = |all: &[Request]| all.iter().filter(|t| t.operation == Operation::Read).count();
        let [none, some, every] = [0.0, 0.7, 1.0].map(|share| all(mixed(share), 1));
        assert_eq!([reads(&none), reads(&every)], [0, 10_000]);
        assert!(reads(&some).abs_diff(7_000) < 200);
        let addresses = |all: &[Request]| all.iter().map(|t| t.address).collect::<Vec<_>>();
        assert_eq!(addresses(&some), addresses(&every));
        let only_reads = all(Workload { mix: Mix::Reads, ..mixed(1.0) }, 1);
        assert_eq!(addresses(&some), addresses(&only_reads));
    }
}
