//! What a page cache must do.

mod laws;
mod policies;
mod waiting;
mod warm;

use super::*;
use lanetwin_units::{Bytes, Span};

/// A small cache on a device of 64 pages.
fn config(frames: u64, ways: u32, policy: Policy) -> CacheConfig {
    CacheConfig {
        device: Bytes(64 * PAGE),
        capacity: Bytes(frames * PAGE),
        placement: Placement { ways, hashed: false },
        policy,
        fill: Fill { sector: Bytes(PAGE), forward: true },
        write: Write { fetch: true, early: false },
        registers: RegisterConfig { count: 4, targets: 4, hits_pass: true },
        write_backs: 4,
        cleaning: None,
        prefetch: None,
        announced: 16,
        half_life: Span::from_us(1),
        initial: Initial::Empty,
    }
}

/// Asks for a page and lets everything end at once; whether it was there.
fn visit(cache: &mut PageCache, page: u64, access: Access) -> bool {
    let before = cache.counters();
    let mut effects = Vec::new();
    cache.request(Instant::ZERO, Request { token: 0, access, address: page * PAGE }, &mut effects);
    let mut next = 0;
    while let Some(effect) = effects.get(next).copied() {
        next += 1;
        match effect {
            Effect::ReadDram { then: Then::End(job), .. }
            | Effect::WriteDram { then: Then::End(job), .. }
            | Effect::Fetch { job, .. }
            | Effect::WriteBack { job, .. } => {
                cache.ended(Instant::ZERO, job, Outcome::Success, &mut effects)
            }
            _ => {}
        }
    }
    let after = cache.counters();
    after.read_hits + after.write_hits > before.read_hits + before.write_hits
}

#[test]
fn every_mistake_is_told_at_once() {
    let mut config = config(128, 0, Policy::Lru);
    config.fill.sector = Bytes(100);
    config.cleaning = Some(Cleaning { high: 0.1, low: 0.2, at_once: 9 });
    config.initial = Initial::Warm { first: 1, size: Bytes(PAGE), dirty: 2.0, tables: Bytes(0) };
    let fields: Vec<_> = config.mistakes().into_iter().map(|mistake| mistake.field).collect();
    let wrong = [
        "capacity",
        "placement.ways",
        "fill.sector",
        "cleaning.low",
        "cleaning.at_once",
        "initial.size",
        "initial.dirty",
    ];
    assert_eq!(fields, wrong);
    assert!(PageCache::new(&config, 0).is_err());
}

#[test]
fn what_the_host_says_of_pages_is_done() {
    let mut cache = PageCache::new(&config(8, 8, Policy::Lru), 0).expect("no mistakes");
    let pages = |first, count| Pages { first, count };
    let mut effects = Vec::new();
    // four registers, two of them for others
    assert_eq!(cache.announce(Instant::ZERO, pages(0, 5), &mut effects), 5);
    assert_eq!(effects.len(), 2, "{effects:?}");
    assert_eq!((cache.status(pages(0, 64)), cache.registers_taken()), (2, 2));
    let mut next = 0;
    while let Some(effect) = effects.get(next).copied() {
        next += 1;
        if let Effect::Fetch { job, .. } = effect {
            cache.ended(Instant::ZERO, job, Outcome::Success, &mut effects);
        }
    }
    assert_eq!((cache.status(pages(0, 64)), cache.counters().ahead), (5, 5));
    assert!(visit(&mut cache, 3, Access::Read) && visit(&mut cache, 3, Access::Write));
    assert_eq!(cache.counters().ahead_used, 1);
    assert_eq!(cache.temperature(Instant::ZERO, pages(0, 5)), 2);
    assert_eq!(cache.temperature(Instant::ZERO + Span::from_us(1), pages(0, 5)), 1);
    assert_eq!(cache.temperatures(Instant::ZERO)[..3], [4, 0, 1]);
    effects.clear();
    // the dirty one is written back, the others just go; pages beyond the device are nobody's
    assert_eq!(cache.dismiss(Instant::ZERO, pages(2, 3), &mut effects), 3);
    assert_eq!(cache.dismiss(Instant::ZERO, pages(60, 1000), &mut effects), 0);
    assert!(matches!(effects[..], [Effect::ReadDram { lines: 64, .. }]), "{effects:?}");
    assert_eq!(cache.status(pages(0, 64)), 2);
    assert_eq!((cache.counters().clean_evictions, cache.counters().dirty_evictions), (2, 1));
}
