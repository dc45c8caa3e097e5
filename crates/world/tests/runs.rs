//! Does a run keep its word: what it says of itself adds up, a run that is stopped says so, a run that breaks can be
//! brought back, and verdicts come from the variants and not from chance?

use crate::tree::{Nobody, plan, plan_of, results, scenarios};
use lanetwin_kernel::{Component, Port};
use lanetwin_models::{fixed_latency_disk, root_complex};
use lanetwin_plan::Plan;
use lanetwin_ports::{Build, Context, Message, Model, Params, Site};
use lanetwin_stats::Verdict;
use lanetwin_stats::results::{Results, Row};
use lanetwin_world::{Granularity, Options, Progress, Stopping, Watcher, replay, run};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

/// On a machine where every read takes equally long, the waterfall's total is that length, told by the load.
#[test]
fn a_waterfall_is_as_long_as_the_latency_it_explains() {
    let text = "
about: Where does a lonely read spend its time?
machine: {host: {part: generic-host-gen4}, card: {part: generic-dma-gen5}}
links: {slot: {from: host, to: card, skp: off, dllp: off}}
workloads: {read: {dma: {size: 512B, outstanding: 1, transfers: 200}, on: card}}
run: {repeats: 1}
";
    let results = results(&plan("lonely.yaml", text, &[]), &Options::default());
    let latency = results.rows.iter().find(|row| row.metric == "latency").expect("a latency");
    let [waterfall] = &results.waterfalls[..] else { panic!("{:#?}", results.waterfalls) };
    assert_eq!(latency.value, waterfall.total);
    let names: Vec<&str> = waterfall.stages.iter().map(|stage| &*stage.name).collect();
    for place in ["card", "slot card → host", "host", "slot host → card"] {
        assert!(names.iter().any(|name| name.starts_with(place)), "no stage of {place} in {names:?}");
    }
}

/// Stops a run after so many worlds; remembers which were done.
struct Impatient {
    patience: usize,
    done: Mutex<Vec<Progress>>,
}

impl Impatient {
    fn new(patience: usize) -> Self {
        Self { patience, done: Mutex::default() }
    }
}

impl Watcher for Impatient {
    fn progress(&self, progress: &Progress) {
        self.done.lock().expect("nobody panics here").push(progress.clone());
    }
    fn is_cancelled(&self) -> bool {
        self.done.lock().expect("nobody panics here").len() >= self.patience
    }
}

/// Asks the worlds to stop while the first of them runs.
#[derive(Default)]
struct Hasty(Stopping);

impl Watcher for Hasty {
    fn progress(&self, _: &Progress) {}
    fn is_cancelled(&self) -> bool {
        let stopping = self.0.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            stopping.ask();
        });
        false
    }
    fn stopping(&self) -> Stopping {
        self.0.clone()
    }
}

#[test]
fn a_world_that_would_go_on_for_days_stops_when_it_is_asked_to() {
    let file = scenarios().into_iter().find(|file| file.ends_with("block.yaml")).expect("the scenario");
    let plan = plan_of(&file, &["workloads.small.block.requests=100000000"]);
    let options = Options { threads: Some(1), ..Options::default() };
    let partial = run(&plan, &options, &Hasty::default()).expect("to be stopped is no fault");
    assert!(!partial.complete && partial.stopped.as_deref() == Some("interrupted"));
    assert!(partial.rows.is_empty(), "what is not finished is not told");
}

#[test]
fn a_run_that_is_stopped_has_the_rows_of_what_was_finished() {
    let file = scenarios().into_iter().find(|file| file.ends_with("wrappers.yaml")).expect("the scenario");
    let plan = plan_of(&file, &[]);
    let whole = results(&plan, &Options::default());
    assert!(whole.complete && whole.stopped.is_none());
    for threads in [1, 2] {
        for patience in [0, 1, 7, 23] {
            let watcher = Impatient::new(patience);
            let options = Options { threads: Some(threads), ..Options::default() };
            let partial = run(&plan, &options, &watcher).expect("nothing breaks");
            assert!(!partial.complete && partial.stopped.as_deref() == Some("interrupted"));
            let mut repeats: BTreeMap<(String, String, String), u32> = BTreeMap::new();
            for p in watcher.done.into_inner().expect("nobody panics here") {
                *repeats.entry((p.variant, p.workload, p.case)).or_default() += 1;
            }
            let finished = |r: &&Row| {
                let case = (r.variant.clone(), r.workload.clone(), r.case.clone());
                repeats.get(&case) == Some(&plan.run.repeats)
            };
            let expected: Vec<_> = whole.rows.iter().filter(finished).cloned().collect();
            assert_eq!(partial.rows, expected, "{threads} threads, {patience} worlds");
            let json = partial.to_json();
            assert_eq!(Results::from_json(&json, "partial").expect("a valid document"), partial);
        }
    }
}

#[test]
fn progress_counts_every_world_once() {
    let file = scenarios().into_iter().find(|file| file.ends_with("wrappers.yaml")).expect("the scenario");
    let plan = plan_of(&file, &["run.repeats=2"]);
    let watcher = Impatient::new(usize::MAX);
    run(&plan, &Options::default(), &watcher).expect("nothing breaks");
    let told = watcher.done.into_inner().expect("nobody panics here");
    let worlds: usize = plan.variants.iter().flat_map(|v| &v.workloads).map(|w| w.cases.len() * 2).sum();
    assert!(told.iter().all(|p| p.total == worlds), "{told:?}");
    let counts: BTreeSet<usize> = told.iter().map(|p| p.done).collect();
    assert_eq!(counts, (1..=worlds).collect());
}

const TWINS: &str = "
about: Is a variant that changes nothing told apart from one that does?
machine: {host: {part: generic-host-gen4, memory.jitter: 100ns}, card: {part: generic-dma-gen5}}
links: {slot: {from: host, to: card}}
workloads:
  read: {dma: {size: 4KiB, window: 1MiB, rate: [20Gb/s, 150Gb/s], transfers: 1000}, on: card}
  full: {dma: {size: 4KiB, window: 1MiB, outstanding: 64, transfers: 1000}, on: card}
variants:
  one: {}
  other: {}
  half: {links.slot.width: x8}
compare: {baseline: one, equivalent_within: 2%}
run: {repeats: 5}
";

/// Variants share their random numbers: the same machine gives the same samples, however much they scatter.
#[test]
fn twins_are_equivalent_without_any_change_and_half_the_width_is_worse() {
    let results = results(&plan("twins.yaml", TWINS, &[]), &Options::default());
    let scatter = results.rows.iter().any(|r| r.samples.windows(2).any(|pair| pair[0] != pair[1]));
    assert!(scatter, "chance plays a part in this run");
    let (twins, half): (Vec<_>, Vec<_>) = results.verdicts.iter().partition(|v| v.variant == "other");
    assert!(!twins.is_empty() && !half.is_empty());
    for v in twins {
        assert_eq!((v.change, v.low, v.high), (0.0, Some(0.0), Some(0.0)), "{v:?}");
        assert_eq!(v.verdict, Verdict::Equivalent, "{v:?}");
    }
    for v in half.iter().filter(|v| v.workload == "full") {
        assert_eq!(v.verdict, Verdict::Worse, "{v:?}");
    }
    let late = half.iter().find(|v| v.case.contains("150") && v.metric == "latency").expect("its verdict");
    assert_eq!(late.verdict, Verdict::Worse, "{late:?}");
}

const CERTAIN: &str = "
about: Two cards without chance behind a wide uplink and a narrow one.
machine:
  host: {part: generic-host-gen4}
  sw: {part: generic-switch-gen4}
  a: {part: generic-dma-gen5}
  b: {part: generic-dma-gen5}
links:
  up: {from: host, to: sw}
  bay-a: {from: sw, to: a}
  bay-b: {from: sw, to: b}
workloads:
  write: {dma: {operation: write, size: 4KiB, pattern: sequential, window: 1MiB}, on: [a, b], target: host}
variants:
  whole: {}
  half: {links.up.width: x8}
compare: {baseline: whole, equivalent_within: 2%}
";

/// Nothing is inconclusive where other random numbers change nothing: even what has no parts to differ is certain.
#[test]
fn what_is_without_chance_has_a_verdict() {
    let results = results(&plan("certain.yaml", CERTAIN, &[]), &Options::default());
    assert!(results.rows.iter().all(|row| row.n == 1 && row.low.is_some() && row.high.is_some()));
    let of = |metric: &str| {
        let found = results.verdicts.iter().find(|verdict| verdict.metric == metric);
        found.unwrap_or_else(|| panic!("a verdict on {metric}")).verdict
    };
    assert_eq!((of("throughput"), of("fairness")), (Verdict::Worse, Verdict::Equivalent));
}

/// A device with a bug: it panics at the message after so many.
struct Fuse {
    device: Box<dyn Component<Message>>,
    left: u32,
}

impl Component<Message> for Fuse {
    fn receive(&mut self, port: Port, message: Message, cx: &mut Context<'_>) {
        assert!(self.left > 0, "{BLOWN}{}", state_of(&*self.device));
        self.left -= 1;
        self.device.receive(port, message, cx);
    }
    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        self.device.wake(token, cx);
    }
    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        self.device.inspect(see);
    }
    fn digest(&self) -> u64 {
        self.device.digest()
    }
    fn stages(&self) -> Vec<String> {
        self.device.stages()
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }
}

const FUSE: u32 = 700;
const BLOWN: &str = "the fuse has blown: ";

/// All that a device shows of itself.
fn state_of(device: &dyn Component<Message>) -> String {
    let mut state = Vec::new();
    device.inspect(&mut |name, value| state.push(format!("{name} = {value}")));
    state.join(", ")
}

fn fused(model: &Model, params: &Params, site: &Site) -> Box<dyn Component<Message>> {
    let device = model.component(params, site).expect("a device is a component");
    Box::new(Fuse { device, left: FUSE })
}

const fn with_a_fuse(
    sound: &'static Model,
    build: fn(&Params, &Site) -> Box<dyn Component<Message>>,
) -> Model {
    let Model { name, about, ports, params, drains_itself, has_memory, .. } = *sound;
    let build = Build::Component(build);
    Model { name, about, ports, params, drains_itself, has_memory, build, ..Model::DEFAULT }
}

static DISK: Model = with_a_fuse(&fixed_latency_disk::MODEL, |p, s| fused(&fixed_latency_disk::MODEL, p, s));
static HOST: Model = with_a_fuse(&root_complex::MODEL, |p, s| fused(&root_complex::MODEL, p, s));

/// The short workload does not reach the bug; both have a case of the same name.
const BREAKS: &str = "
about: Can a bug be brought back?
machine: {host: {part: generic-host-gen4}, disk: {part: fixed-latency-device}}
workloads:
  short: {block: {size: 4KiB, depth: 4, requests: 20}, on: host, target: disk}
  long: {block: {size: 4KiB, depth: 4, requests: 5000}, on: host, target: disk}
run: {repeats: 2}
";

/// Over a link, with all that happens there.
const BREAKS_BEHIND_A_LINK: &str = "
about: Can a bug behind a link be brought back?
machine: {host: {part: generic-host-gen4, iommu: true}, card: {part: generic-dma-gen5}}
links: {slot: {from: host, to: card, ber: 1e-6}}
workloads:
  short: {dma: {size: 64B, outstanding: 1, transfers: 3}, on: card}
  long: {dma: {operation: mixed, size: 4KiB, window: 64KiB, transfers: 5000}, on: card}
run: {repeats: 2}
";

/// The same plan, with a bug in one of its components.
fn with_a_bug(plan: &Plan, component: &str, model: &'static Model) -> Plan {
    let mut plan = plan.clone();
    for variant in &mut plan.variants {
        variant.machine.iter_mut().filter(|c| c.name == component).for_each(|c| c.model = model);
    }
    plan
}

#[test]
fn a_run_that_breaks_leaves_a_capsule_that_leads_back_to_one_event_before() {
    for granularity in [Granularity::Train, Granularity::Tlp] {
        let options = Options { granularity, ..Options::default() };
        assert_replays(BREAKS, "disk", &DISK, &options);
        assert_replays(BREAKS_BEHIND_A_LINK, "host", &HOST, &options);
    }
}

fn assert_replays(text: &str, component: &str, model: &'static Model, options: &Options) {
    let sound = plan("breaks.yaml", text, &[]);
    let crash = run(&with_a_bug(&sound, component, model), options, &Nobody).expect_err("it breaks");
    let capsule = crash.capsule;
    assert_eq!((&*capsule.component, &*capsule.workload), (component, "long"));
    let to = format!("-> {component}");
    assert!(capsule.recent.last().is_some_and(|last| last.contains(&to)), "{:?}", capsule.recent);
    let again = serde_json::from_str(&serde_json::to_string(&capsule).expect("JSON")).expect("a capsule");
    assert_eq!(*capsule, again);

    let state = replay(&again).expect("it can be replayed");
    let of = |name: &str| state.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
    assert_eq!(of("kernel/events"), Some((capsule.events - 1).to_string()));
    // The device looks as it did when the message came that broke it, and all others are shown, too.
    let prefix = format!("{component}/");
    let device: Vec<String> = state
        .iter()
        .filter_map(|(name, value)| Some(format!("{} = {value}", name.strip_prefix(&prefix)?)))
        .collect();
    assert!(!device.is_empty(), "{state:?}");
    assert_eq!(capsule.message, format!("{BLOWN}{}", device.join(", ")));
    let ns: f64 = of("kernel/now").and_then(|now| now.strip_suffix(" ns")?.parse().ok()).expect("a time");
    let broke = capsule.time_ps as f64 / 1e3;
    assert!(ns <= broke && ns > 0.9 * broke, "stopped at {ns} ns, broke at {broke} ns");
    let components = sound.variants[0].machine.len() + 1;
    let shown: BTreeSet<&str> = state.iter().filter_map(|(name, _)| name.split('/').next()).collect();
    assert!(shown.len() > components, "{shown:?}");
}

#[test]
fn a_capsule_of_another_version_or_another_scenario_is_refused() {
    let sound = plan("breaks.yaml", BREAKS, &[]);
    let broken = with_a_bug(&sound, "disk", &DISK);
    let crash = run(&broken, &Options::default(), &Nobody).expect_err("the disk breaks");
    let mut capsule = *crash.capsule;
    capsule.case = "5 KiB".into();
    assert!(replay(&capsule).expect_err("no such case").contains("does not have"));
    capsule.text = "about: nothing".into();
    assert!(replay(&capsule).expect_err("no scenario").contains("does not check"));
    capsule.version = "0.0.0".into();
    assert!(replay(&capsule).expect_err("another version").contains("0.0.0"));
    assert!(Path::new(&capsule.path).ends_with("breaks.yaml"));
}

/// A machine that nobody asks for anything runs nothing, and its results say so.
#[test]
fn without_workloads_nothing_is_run() {
    let text = "about: What is there?\nmachine:\n  host: {part: generic-host-gen4}\n  card: {part: generic-dma-gen5}\nlinks:\n  slot: {from: host, to: card}\nvariants: {wide: {}, narrow: {links.slot.width: x1}}\n";
    let results = results(&plan("empty.yaml", text, &[]), &Options::default());
    assert!(results.complete && results.rows.is_empty() && results.verdicts.is_empty());
    assert_eq!(results.cost.events, 0);
    assert_eq!(results.warnings.iter().map(|warning| &*warning.code).collect::<Vec<_>>(), ["SC111"]);
    assert!(!results.plan["links"]["slot"].is_null());
}

/// Reads of 20 µs, one at a time: a warm-up of 50 of them is 1 ms, and so are the 50 that are measured.
#[test]
fn what_happens_while_nothing_is_measured_is_told() {
    let text = |down: &str| {
        format!(
            "
about: Does anybody see that the link is down?
machine: {{host: {{part: generic-host-gen4}}, disk: {{model: block-endpoint, latency: 20us}}}}
links: {{bay: {{from: host, to: disk}}}}
workloads: {{w: {{block: {{size: 4KiB, depth: 1, requests: 50}}, on: host, target: disk}}}}
variants: {{up: {{}}, down: {{links.bay.down: [{down}]}}}}
run: {{repeats: 1, warm-up: 50}}
"
        )
    };
    let told = |down: &str| {
        let results = results(&plan("unseen.yaml", &text(down), &[]), &Options::default());
        let of_run = results.warnings.into_iter().filter(|warning| warning.code.starts_with("RU"));
        of_run.map(|warning| (warning.code, warning.path, warning.message)).collect::<Vec<_>>()
    };
    for unseen in ["{at: 10us, for: 5us}", "{at: 1s, for: 5us}"] {
        let [(code, path, message)] = &told(unseen)[..] else { panic!("{unseen}: one warning") };
        assert_eq!((&**code, &**path), ("RU101", "links.bay.down"));
        assert!(message.starts_with("`bay` is down at ") && message.contains("`down`"), "{message}");
    }
    for seen in ["{at: 1500us, for: 5us}", "{at: 10us, for: 5us}, {at: 1500us, for: 5us}"] {
        assert!(told(seen).is_empty(), "{seen}");
    }
}
