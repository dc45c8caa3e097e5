//! Who waits behind whom.

use super::*;

/// A cache of 16 pages on a device of 64, with two registers of two targets.
fn cache(hits_pass: bool) -> PageCache {
    let mut config = config(16, 16, Policy::Lru);
    config.registers = RegisterConfig { count: 2, targets: 2, hits_pass };
    PageCache::new(&config, 0).expect("no mistakes")
}

fn read(cache: &mut PageCache, token: u32, page: u64, line: u64) -> Vec<Effect> {
    let mut effects = Vec::new();
    let address = page * PAGE + line * LINE;
    cache.request(Instant::ZERO, Request { token, access: Access::Read, address }, &mut effects);
    effects
}

fn fetch_of(effects: &[Effect]) -> Option<Job> {
    effects.iter().find_map(|effect| match effect {
        Effect::Fetch { job, .. } => Some(*job),
        _ => None,
    })
}

/// The tokens that are answered, at once or from the cache.
fn answered(effects: &[Effect]) -> Vec<u32> {
    let token = |effect: &Effect| match effect {
        Effect::Answer { token, .. } | Effect::ReadDram { then: Then::Answer(token), .. } => Some(*token),
        _ => None,
    };
    effects.iter().filter_map(token).collect()
}

fn end(cache: &mut PageCache, job: Option<Job>) -> Vec<Effect> {
    let mut effects = Vec::new();
    cache.ended(Instant::ZERO, job.expect("it was fetched"), Outcome::Success, &mut effects);
    effects
}

#[test]
fn a_register_without_targets_stops_nobody_else_where_hits_pass() {
    let mut cache = cache(true);
    assert!(!visit(&mut cache, 9, Access::Read));
    let first = fetch_of(&read(&mut cache, 1, 0, 0));
    read(&mut cache, 2, 0, 1);
    // no target is left
    assert!(read(&mut cache, 3, 0, 2).is_empty());
    // another page has a register, a page that is there is read, and so is the other one when it has come
    let second = fetch_of(&read(&mut cache, 4, 1, 0));
    assert_eq!(answered(&read(&mut cache, 5, 9, 3)), [5]);
    assert_eq!(answered(&end(&mut cache, second)), [4]);
    assert_eq!(answered(&read(&mut cache, 6, 1, 7)), [6]);
    let effects = end(&mut cache, first);
    assert_eq!(answered(&effects), [1, 2, 3]);
    assert!(
        matches!(effects.last(), Some(Effect::ReadDram { then: Then::Answer(3), .. })),
        "what had no target is read from the cache: {effects:?}"
    );
    assert_eq!((cache.waiting(), cache.counters().waited), (0, 1));
}

#[test]
fn who_waits_for_a_register_goes_on_with_the_first_of_its_page() {
    let mut cache = cache(true);
    let jobs = [0, 1].map(|page| fetch_of(&read(&mut cache, page, page.into(), 0)));
    // no register is left: of three pages, the second is asked for again behind the third
    for (token, page) in [(2, 2), (3, 3), (4, 2)] {
        assert!(read(&mut cache, token, page, token.into()).is_empty());
    }
    assert_eq!(cache.waiting(), 3);
    let third = fetch_of(&end(&mut cache, jobs[0]));
    assert_eq!(
        cache.waiting(),
        1,
        "the page of the first has a register, and whoever else wants it waits there"
    );
    assert_eq!(answered(&end(&mut cache, third)), [2, 4]);
}

#[test]
fn where_nothing_passes_everybody_waits_in_order() {
    let mut cache = cache(false);
    assert!(!visit(&mut cache, 9, Access::Read));
    let first = fetch_of(&read(&mut cache, 1, 0, 0));
    read(&mut cache, 2, 0, 1);
    for (token, page) in [(3, 0), (4, 9), (5, 0)] {
        assert!(read(&mut cache, token, page, token.into()).is_empty(), "{token} passes");
    }
    assert_eq!(answered(&end(&mut cache, first)), [1, 2, 3, 4, 5]);
}
