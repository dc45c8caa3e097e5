//! Is a device that declares metrics, marks stages, checks its parameters and names its driver told of like any other?
//! The device is the template of `cargo xtask new-model`: nothing outside its file knows it.

use crate::tree::{plan, results};
use lanetwin_plan::check_text;
use lanetwin_stats::results::Results;
use lanetwin_units::Better;
use lanetwin_world::Options;

const LINKED: &str = "
about: What does a new device say of itself?
machine:
  host: {part: generic-host-gen4}
  metered: {model: template-model, port.gen: 4, port.width: x4}
links:
  slot: {from: host, to: metered.pcie}
workloads:
  w: {block: {size: 4KiB, depth: 8, read: 70%, requests: 400}, on: host, target: metered}
run: {repeats: 2}
";

const DIRECT: &str = "
about: What does a new device say of itself that is asked without a link?
machine:
  host: {part: generic-host-gen4}
  metered: {model: template-model, direct: true}
workloads:
  w: {block: {size: 4KiB, depth: 8, requests: 400}, on: host, target: metered}
run: {repeats: 2}
";

fn run(text: &str) -> Results {
    results(&plan("metered.yaml", text, &[]), &Options::default())
}

/// The length of a stage of the waterfall \[ns\].
fn stage(results: &Results, name: &str) -> f64 {
    let stages = &results.waterfalls[0].stages;
    let found = stages.iter().find(|stage| stage.name == name);
    found.unwrap_or_else(|| panic!("{name} is not among {stages:?}")).value
}

#[test]
fn its_stages_are_in_the_waterfall_which_is_exact() {
    for text in [LINKED, DIRECT] {
        let results = run(text);
        assert!(results.waterfalls[0].is_exact());
        assert_eq!(stage(&results, "metered: command"), 1000.0);
        assert!((8000.0..=12_000.0).contains(&stage(&results, "metered: work")));
        assert!(stage(&results, "metered: queue for a worker") > 0.0, "eight are asked for, four worked on");
    }
}

#[test]
fn its_counters_are_rows_and_stand_in_the_table_of_components() {
    for text in [LINKED, DIRECT] {
        let results = run(text);
        let of = |metric: &str| {
            let found =
                results.components.iter().find(|one| (&*one.component, &*one.metric) == ("metered", metric));
            found.unwrap_or_else(|| panic!("{metric} is not among {:?}", results.components))
        };
        let served = of("requests served");
        assert_eq!((&*served.unit, served.better), ("k/s", Better::Higher));
        // four workers of 10 us each
        assert!((360.0..440.0).contains(&served.value), "{served:?}");
        assert_eq!(
            (of("mean size of a request").value, of("mean size of a request").better),
            (4096.0, Better::Neither)
        );
        assert!(of("workers, in use").value > 90.0);
        let row = results.rows.iter().find(|row| row.metric == "requests served").expect("a row");
        assert_eq!(
            (row.device.as_deref(), row.samples.len(), row.better),
            (Some("metered"), 2, Better::Higher)
        );
        assert!(!results.rows.iter().any(|row| row.metric == "unexpected messages"), "none is no news");
        assert_eq!(results.bottlenecks[0].name, "metered: workers");
    }
}

#[test]
fn its_driver_is_the_one_it_names() {
    let results = run(LINKED);
    assert!(results.components.iter().any(|one| one.component == "driver" && one.metric == "cores, in use"));
    assert!(!run(DIRECT).components.iter().any(|one| one.component == "driver"));
}

#[test]
fn its_cross_check_of_parameters_is_a_mistake_of_the_author() {
    let wrong = LINKED.replace("port.width: x4", "port.width: x4, work.least: 13us");
    let checked = check_text(&wrong);
    let told: Vec<String> = checked.iter().map(|one| format!("{one:?}")).collect();
    assert!(told.iter().any(|one| one.contains("work.least") && one.contains("work.most")), "{told:?}");
}
