use super::*;

fn operations(spec: KeyValue, count: usize) -> Vec<Vec<Step>> {
    let mut store = program(&spec, 1, Window::Whole, 5);
    let mut out = vec![Vec::new()];
    while out.len() <= count {
        let step = store.next(0).expect("there is no end");
        assert!(step.address < store.footprint());
        out.last_mut().expect("one is open").push(step);
        if step.ends {
            out.push(Vec::new());
        }
    }
    out.pop();
    out
}

const SMALL: KeyValue = KeyValue {
    keys: 1 << 16,
    key_bytes: 15,
    values: ValueSize::Fixed(32),
    sets: 0,
    gets: 1,
    popularity: Popularity::Even,
    clients: 10,
    pipeline: 1,
    exchange: Span::from_us(6),
    command: Span::from_us(1),
    operations: None,
};

#[test]
fn a_get_goes_from_bucket_to_entry_to_key() {
    let parts = parts(&SMALL, 1);
    let name = |address| parts.iter().rev().find(|part| part.first <= address).expect("a part").name;
    for operation in operations(SMALL, 200) {
        let names: Vec<_> = operation.iter().map(|step| name(step.address)).collect();
        assert_eq!((names[0], names[1], names[2]), ("client buffers", "hash table", "entries"));
        assert_eq!(*names.last().expect("a reply"), "client buffers");
        assert!(operation[2].depends && !operation[1].depends);
        assert_eq!((operation[0].think, operation[1].think), (SMALL.exchange, SMALL.command));
        let written = operation.iter().filter(|step| step.touch == Touch::Store);
        assert!(written.map(|step| name(step.address)).all(|name| name != "keys" && name != "entries"));
    }
}

/// An operation examines 1 + α/2 · 15/16 keys on average, here with α = 1.
#[test]
fn searches_follow_chains() {
    let parts = parts(&SMALL, 1);
    let entries = parts.iter().find(|part| part.name == "entries").expect("a part");
    // an entry of 24 B takes about a third of a line; one in four lies across two lines
    let in_entries =
        |step: &&Step| step.depends && (entries.first..entries.first + entries.bytes).contains(&step.address);
    let all = operations(SMALL, 20_000);
    let looked_at: usize = all.iter().map(|operation| operation.iter().filter(in_entries).count()).sum();
    let mean = looked_at as f64 / all.len() as f64;
    assert!((mean - 1.469).abs() < 0.02, "{mean}");
}

#[test]
fn sets_and_gets_keep_their_ratio() {
    let spec = KeyValue { sets: 1, gets: 10, values: ValueSize::Fixed(1000), ..SMALL };
    let long_writes = |operation: &&Vec<Step>| {
        operation.iter().filter(|step| step.touch == Touch::Store).count() > 15
            && operation.iter().filter(|step| step.touch == Touch::Load).count() > 15
    };
    let all = operations(spec, 11_000);
    // a GET loads the value and writes the reply; a SET loads the request and writes the value: both are long
    assert_eq!(all.iter().filter(long_writes).count(), all.len());
    let replies = |operation: &&Vec<Step>| operation.last().is_some_and(|last| last.touch == Touch::Store);
    assert_eq!(all.iter().filter(replies).count(), all.len());
    let parts = parts(&spec, 1);
    let values = parts.iter().find(|part| part.name == "values").expect("a part");
    let sets = all.iter().filter(|operation| {
        operation.iter().any(|step| {
            step.touch == Touch::Store && (values.first..values.first + values.bytes).contains(&step.address)
        })
    });
    let sets = sets.count();
    assert!(sets.abs_diff(1000) < 100, "{sets}");
}

#[test]
fn a_pipeline_shares_an_exchange() {
    let spec = KeyValue { pipeline: 4, ..SMALL };
    let thinks: Vec<u64> = operations(spec, 8).iter().map(|operation| operation[0].think.as_ps()).collect();
    let six = spec.exchange.as_ps();
    assert_eq!(thinks, [six, 0, 0, 0, six, 0, 0, 0]);
}

#[test]
fn popular_keys_are_asked_for_more_often() {
    let draws = |popularity| {
        let spec = KeyValue { popularity, keys: 10_000, ..SMALL };
        let mut keys = Keys::new(&spec, Stream::new(1, "kv", "keys"));
        let mut counts = vec![0_u32; 10_000];
        (0..100_000).for_each(|_| counts[keys.draw() as usize] += 1);
        counts
    };
    let even = draws(Popularity::Even);
    assert!(even.iter().all(|count| *count < 40));
    let zipf = draws(Popularity::Zipf { theta: 1.1 });
    let ratio = f64::from(zipf[0]) / f64::from(zipf[1]);
    assert!((ratio - libm::pow(2.0, 1.1)).abs() < 0.15, "{ratio}");
    let gauss = draws(Popularity::Gauss { deviation: 1.0 / 6.0 });
    let within: u32 = gauss[3333..6667].iter().sum();
    assert!(within.abs_diff(68_450) < 700, "{within} within one deviation, of a bell cut at three");
}

#[test]
fn an_end_is_an_end() {
    let mut store = program(&KeyValue { operations: Some(3), ..SMALL }, 2, Window::Whole, 1);
    for thread in 0..2 {
        let steps: Vec<Step> = std::iter::from_fn(|| store.next(thread)).collect();
        assert_eq!(steps.iter().filter(|step| step.ends).count(), 3);
    }
}

#[test]
fn all_mistakes_are_said_at_once() {
    let bad = KeyValue {
        keys: 0,
        key_bytes: 0,
        values: ValueSize::Even { least: 2, most: 1 },
        sets: 0,
        gets: 0,
        popularity: Popularity::Zipf { theta: 1.0 },
        clients: 0,
        ..SMALL
    };
    use BadKeyValue::{KeyBytes, Keys, NoClient, NoOperations, Theta, Values};
    assert_eq!(bad.check(), [Keys, KeyBytes, Values, NoOperations, NoClient, Theta]);
    assert_eq!(KeyValue::default().check(), []);
    let bell = KeyValue { popularity: Popularity::Gauss { deviation: f64::NAN }, ..SMALL };
    assert_eq!(bell.check(), [BadKeyValue::Deviation]);
    assert!(bad.check().iter().all(|wrong| wrong.to_string().len() > 10));
}
