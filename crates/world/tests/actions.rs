//! What is asked of a drive beside its load: does it do it, say so in its logs, and take the time that it takes?

use crate::tree::{plan, results};
use lanetwin_plan::check_text;
use lanetwin_stats::results::{ActionOutcome, Results};
use lanetwin_world::Options;

/// A drive of two namespaces of 128 MiB each, whose dies have 16 blocks of 5 ms to erase, under a light load on the
/// first.
fn asked(actions: &str) -> Results {
    asked_with("", actions)
}

fn asked_with(link: &str, actions: &str) -> Results {
    let text = format!(
        "about: What does a drive say?\nmachine:\n  cpu: {{part: generic-host-gen5}}\n  \
         ssd: {{model: nvme-ssd, capacity: 256MiB, namespaces: 2, nand.channels: 2, nand.chips: 1, nand.dies: 2, nand.planes: 1, nand.blocks: 32, \
         nand.pages: 192, nand.erase: 5ms, ftl.initial: sequential, buffer: 1MiB}}\nlinks:\n  \
         bay: {{from: cpu, to: ssd{link}}}\nworkloads:\n  load:\n    block: {{size: 4KiB, depth: 2, read: 50%, span: 64MiB, requests: 300}}\n    \
         on: cpu\n    target: ssd.ns1\n    actions: [{actions}]\nrun: {{repeats: 1, warm-up: 0}}\n"
    );
    results(&plan("actions.yaml", &text, &[]), &Options::default())
}

fn value(outcome: &ActionOutcome, name: &str) -> f64 {
    outcome
        .values
        .iter()
        .find(|value| value.name == name)
        .unwrap_or_else(|| panic!("no {name} in {outcome:?}"))
        .value
}

#[test]
fn smart_counts_what_the_hosts_have_done() {
    let found = asked("{at: 100us, do: smart-log}, {at: 2ms, do: smart-log}");
    let [early, late] = &found.actions[..] else { panic!("two logs: {:?}", found.actions) };
    assert!(early.success && late.success, "{early:?} {late:?}");
    let commands = |log: &ActionOutcome| value(log, "Host Read Commands") + value(log, "Host Write Commands");
    assert!(commands(late) > commands(early) + 10.0, "{early:?} {late:?}");
    // both kinds of command are 4 KiB; a unit is 512 000 B, rounded up
    let units = (value(late, "Host Read Commands") * 4096.0 / 512_000.0).ceil();
    assert_eq!(value(late, "Data Units Read"), units);
    let latency = late.latency_ns.expect("it has ended");
    assert!((1_000.0..100_000.0).contains(&latency), "{latency} ns");
    for none in ["Media and Data Integrity Errors", "Power Cycles", "Controller Busy Time"] {
        assert_eq!(value(late, none), 0.0, "{none}");
    }
}

#[test]
fn telemetry_counts_what_the_drive_has_done() {
    let found = asked(
        "{at: 100us, do: telemetry-log}, {at: 5ms, do: telemetry-log}, {at: 5ms, do: smart-log}, {at: 6ms, do: smart-log}",
    );
    let [early, late, smart, alone] = &found.actions[..] else { panic!("four logs: {:?}", found.actions) };
    assert!(early.success && late.success, "{early:?} {late:?}");
    let generation = "Telemetry Host-Initiated Data Generation Number";
    assert_eq!((value(early, generation), value(late, generation)), (1.0, 2.0));
    assert!(value(late, "Data Area 3 Last Block") > value(late, "Data Area 2 Last Block"));
    // all of both areas is here: the last key of the second is
    for key in ["host_bytes_written", "page_programs", "free_units"] {
        assert!(late.values.iter().any(|value| value.name == key), "{key} in {late:?}");
    }
    assert!(value(late, "host_bytes_written") > value(early, "host_bytes_written"), "{early:?} {late:?}");
    assert!(value(late, "time_ps") > value(early, "time_ps") + 4e9);
    // the counters are those of SMART, but for commands whose data are under way
    let commands = value(smart, "Host Read Commands") + value(smart, "Host Write Commands");
    let counted = value(late, "host_reads") + value(late, "host_writes");
    assert!((commands - counted).abs() <= 4.0, "{commands} and {counted}");
    assert!(early.latency_ns > alone.latency_ns, "4 KiB take longer than 512 B");
}

#[test]
fn what_fails_is_in_the_error_log() {
    let found = asked(
        "{at: 1ms, do: compare, size: 8KiB}, {at: 1ms, do: compare, namespace: 2, address: 1GiB}, {at: 2ms, do: write-zeroes, address: 512B, size: 1KiB}, \
         {at: 2ms, do: deallocate, size: 64KiB}, {at: 2ms, do: flush}, {at: 3ms, do: error-log}",
    );
    let [compare, beyond, zeroes, deallocate, flush, log] = &found.actions[..] else {
        panic!("{:?}", found.actions)
    };
    for good in [compare, zeroes, deallocate, flush, log] {
        assert!(good.success, "{good:?}");
    }
    assert_eq!(
        (&*beyond.status, beyond.status_code, beyond.success),
        ("LBA Out of Range", Some(0x80), false)
    );
    let [error] = &log.errors[..] else { panic!("one error: {:?}", log.errors) };
    let told = (error.count, error.opcode, &*error.status, error.namespace, error.lba);
    assert_eq!(told, (1, 0x05, "LBA Out of Range", 2, (1 << 30) / 512));
}

/// By hand: a sanitize erases 32 blocks of 5 ms in every die, a format of one of two namespaces as much as half of
/// them.
#[test]
fn erasing_takes_as_long_as_the_blocks_of_a_die_do() {
    let found =
        asked("{at: 1ms, do: format, namespace: 2, secure-erase: user-data}, {at: 200ms, do: format}");
    let [erase, quick] = &found.actions[..] else { panic!("{:?}", found.actions) };
    assert!(erase.success && quick.success, "{erase:?} {quick:?}");
    let ms = |outcome: &ActionOutcome| outcome.latency_ns.expect("it has ended") / 1e6;
    assert!((80.0..80.5).contains(&ms(erase)), "{} ms", ms(erase));
    assert!(ms(quick) < 0.5, "{} ms", ms(quick));
    let found = asked("{at: 1ms, do: sanitize}, {at: 2ms, do: sanitize-log}, {at: 300ms, do: sanitize-log}");
    let [sanitize, before, after] = &found.actions[..] else { panic!("{:?}", found.actions) };
    assert!(sanitize.success && before.success && after.success, "{sanitize:?} {before:?} {after:?}");
    assert!(ms(sanitize) < 0.5, "the command only begins it: {} ms", ms(sanitize));
    let operation = sanitize.operation_ns.expect("it has ended") / 1e6;
    assert!((160.0..161.0).contains(&operation), "{operation} ms");
    assert_eq!((value(before, "Sanitize Status"), value(after, "Sanitize Status")), (2.0, 1.0));
}

/// A format of another namespace leaves reads alone, and a sanitize refuses them until it is over.
#[test]
fn reads_and_writes_are_refused_while_a_drive_is_sanitized() {
    let failed = |actions: &str| {
        let found = asked(actions);
        let rows = found.rows.iter().filter(|row| row.metric.ends_with("failed"));
        rows.map(|row| row.value).fold(0.0, f64::max)
    };
    assert_eq!(failed("{at: 200us, do: format, namespace: 2, secure-erase: user-data}"), 0.0);
    assert!(failed("{at: 200us, do: sanitize}") > 10.0);
    assert!(failed("{at: 200us, do: format, namespace: 1, secure-erase: user-data}") > 10.0);
}

#[test]
fn two_sanitizes_at_once_are_one_too_many() {
    let found = asked("{at: 1ms, do: sanitize}, {at: 2ms, do: sanitize, method: crypto-erase}");
    let [first, second] = &found.actions[..] else { panic!("{:?}", found.actions) };
    assert!(first.success, "{first:?}");
    assert_eq!((&*second.status, second.success), ("Sanitize In Progress", false));
}

/// Nothing of it costs a run that asks for nothing: its digest is on record. What is asked changes what the links
/// carry.
#[test]
fn a_log_crosses_the_links() {
    let digest = |actions: &str| asked(actions).digest;
    assert_ne!(digest(""), digest("{at: 100us, do: smart-log}"));
    assert_eq!(digest("{at: 100us, do: smart-log}"), digest("{at: 100us, do: smart-log}"));
}

/// Two hosts on a dual-port drive: what one asks is lost with its port, and the other is answered.
#[test]
fn a_command_whose_path_is_lost_is_told_so() {
    let text = "about: Who is answered?\nmachine:\n  a: {part: generic-host-gen5}\n  b: {part: generic-host-gen5}\n  \
        ssd: {model: nvme-ssd, dual-port: true, port.width: 4, ftl.initial: sequential, capacity: 1GiB, nand.blocks: 16, nand.pages: 96}\nlinks:\n  \
        one: {from: a, to: ssd.pcie, width: x2, down: [{at: 1ms, for: 1ms}]}\n  two: {from: b, to: ssd.pcie2, width: x2}\nworkloads:\n  \
        load:\n    block: {size: 4KiB, span: 64MiB, depth: 2, requests: 300}\n    on: [a, b]\n    target: ssd\n    actions:\n      \
        - {at: 900us, do: format, secure-erase: user-data}\n      - {at: 1500us, do: smart-log, on: b}\n      - {at: 1500us, do: smart-log, on: a}\nrun: {repeats: 1}\n";
    let found = results(&plan("lost.yaml", text, &[]), &Options::default());
    let [format, b, a] = &found.actions[..] else { panic!("{:?}", found.actions) };
    assert_eq!(
        (&*format.status, format.success, format.latency_ns),
        ("the path was lost before it ended", false, None)
    );
    assert!(b.success && b.host == "b", "{b:?}");
    assert!(a.success && a.host == "a", "it waits for the controller to be ready again: {a:?}");
}

#[test]
fn what_no_command_can_say_is_an_error_with_its_place() {
    let codes = |action: &str| -> Vec<String> {
        let text = format!(
            "about: What can be asked?\nmachine:\n  cpu: {{part: generic-host-gen5}}\n  ssd: {{model: nvme-ssd, namespaces: 2, block: 4KiB}}\n  \
             other: {{model: nvme-ssd}}\nlinks:\n  bay: {{from: cpu, to: ssd}}\n  next: {{from: cpu, to: other}}\nworkloads:\n  \
             load: {{block: {{size: 4KiB}}, on: cpu, target: [ssd, other], actions: [{action}]}}\n"
        );
        check_text(&text).into_iter().map(|found| format!("{} {}", found.code, found.path)).collect()
    };
    let path = |code: &str, key: &str| [format!("{code} workloads.load.actions.{key}")].to_vec();
    for right in [
        "namespace: 2, do: format",
        "do: format, namespace: all",
        "do: compare, size: 2MiB, target: other",
        "do: flush, on: cpu",
    ] {
        assert!(
            codes(&format!("{{at: 1ms, {right}}}")).is_empty(),
            "{right}: {:?}",
            codes(&format!("{{at: 1ms, {right}}}"))
        );
    }
    for (wrong, code, key) in [
        ("do: format, namespace: 3", "SC088", "namespace"),
        ("do: flush, namespace: all", "SC088", "namespace"),
        ("do: flush, namespace: 2, target: other", "SC088", "namespace"),
        ("do: compare, size: 6KiB", "SC088", "size"),
        ("do: compare, size: 4MiB", "SC088", "size"),
        ("do: write-zeroes, size: 512MiB", "SC088", "size"),
        ("do: deallocate, address: 512B", "SC088", "address"),
        ("do: smart-log, size: 4KiB", "SC005", "size"),
        ("do: sanitise", "SC010", "do"),
        ("do: flush, target: cpu", "SC013", "target"),
        ("do: flush, on: ssd", "SC013", "on"),
    ] {
        assert_eq!(codes(&format!("{{at: 1ms, {wrong}}}")), path(code, key), "{wrong}");
    }
}
