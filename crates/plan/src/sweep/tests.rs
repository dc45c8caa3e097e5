use super::*;

const BASE: &str = "about: x\nmachine:\n  host: {part: generic-host-gen4}\n  card: {part: generic-dma-gen5}\nlinks:\n  slot: {from: host, to: card}\nworkloads:\n  read: {dma: {size: 64B, outstanding: 4}, on: card}\n";

fn of(section: &str) -> Result<Design, Vec<&'static str>> {
    asked(section, &Asked::default())
}

fn asked(section: &str, asked: &Asked) -> Result<Design, Vec<&'static str>> {
    let found = design_of("scenario.yaml", &format!("{BASE}{section}"), asked);
    found.map_err(|found| found.into_iter().map(|diagnostic| diagnostic.code).collect())
}

fn texts(axis: &Axis) -> Vec<&str> {
    axis.values.iter().map(|value| &*value.text).collect()
}

fn vary(texts: &[&str]) -> Asked {
    Asked { vary: texts.iter().map(|text| (*text).to_owned()).collect(), ..Asked::default() }
}

#[test]
fn lists_and_ranges_make_every_combination() {
    let design = of(
        "sweep:\n  links.slot.width: [x4, x8]\n  workloads.read.dma.outstanding: {from: 1, to: 256, times: 4}\n",
    );
    let design = design.expect("a sweep");
    assert_eq!(texts(&design.axes[1]), ["1", "4", "16", "64", "256"]);
    assert_eq!(design.axes[0].values[1].number, Some(8.0));
    assert_eq!(design.points.len(), 10);
    assert_eq!(design.points[0], [0, 0]);
    assert_eq!(design.points[6], [1, 1]);
}

#[test]
fn ranges_reach_their_ends() {
    let values = |range: &str| {
        let design = of(&format!("sweep: {{workloads.read.dma.size: {range}}}\n")).expect("a sweep");
        texts(&design.axes[0]).join(" ")
    };
    assert_eq!(values("{from: 64B, to: 1KiB, times: 2}"), "64B 128B 256B 512B 1KiB");
    assert_eq!(values("{from: 64B, to: 1000B, times: 2}"), "64B 128B 256B 512B");
    assert_eq!(values("{from: 1KiB, to: 4KiB, step: 1KiB}"), "1KiB 2KiB 3KiB 4KiB");
    assert_eq!(values("{from: 1, to: 1000, points: 4, spacing: logarithmic}"), "1 10 100 1000");
    assert_eq!(values("{from: 1, to: 3, points: 9}"), "1 2 3");
    assert_eq!(values("{from: 10%, to: 30%, step: 10%}"), "0.1 0.2 0.3");
    assert_eq!(values("{from: 80ns, to: 80ns, step: 1ns}"), "80ns");
}

#[test]
fn zipped_paths_go_together() {
    let section = "sweep:\n  zip: {links.slot.width: [x4, x8], links.slot.gen: [4, 3]}\n  workloads.read.dma.outstanding: [1, 2, 3]\n";
    let design = of(section).expect("a sweep");
    assert_eq!(design.points.len(), 6);
    assert!(design.points.iter().all(|point| point[1] == point[2]), "{:?}", design.points);
}

#[test]
fn other_values_of_a_path_keep_its_name_and_what_they_cost() {
    let section = "sweep:\n  links.slot.width: {name: slot, values: [x4, x8], cost: [4, 8]}\n";
    let costs = |axis: &Axis| axis.values.iter().map(|value| value.cost).collect::<Vec<_>>();
    let design = asked(section, &vary(&["links.slot.width=x8,x16"])).expect("a sweep");
    assert_eq!((&*design.axes[0].name, costs(&design.axes[0])), ("slot", vec![Some(8.0), None]));
    assert!(design.cheapest.is_some());
    let zip = ["links.slot.width=x4,x8", "links.slot.gen=4,5"].map(String::from).to_vec();
    let design = asked(section, &Asked { zip, ..Asked::default() }).expect("together, not twice");
    assert_eq!((design.axes.len(), design.points.len()), (2, 2));
    assert_eq!(costs(&design.axes[0]), [Some(4.0), Some(8.0)]);
    let design = asked(section, &vary(&["links.slot.width=x16"])).expect("a sweep");
    assert!(design.cheapest.is_none(), "no value has a cost");
}

#[test]
fn samples_have_a_point_in_each_part_and_a_seed() {
    let section = |seed| {
        format!(
            "sweep:\n  workloads.read.dma.outstanding: {{from: 1, to: 100}}\n  links.slot.width: [x4, x8]\n  sample: {{points: 20, seed: {seed}}}\n"
        )
    };
    let (one, same, other) = (of(&section(1)), of(&section(1)), of(&section(2)));
    assert_eq!(one, same);
    assert_ne!(one, other);
    let design = one.expect("a sweep");
    assert_eq!(design.points.len(), 20);
    let wide = design.points.iter().filter(|point| point[1] == 1).count();
    assert_eq!(wide, 10);
    let numbers: Vec<f64> = design.axes[0].values.iter().filter_map(|value| value.number).collect();
    assert!(numbers.iter().any(|n| *n < 7.0) && numbers.iter().any(|n| *n > 94.0), "{numbers:?}");
}

#[test]
fn the_command_line_says_it_in_short() {
    let design = asked("", &vary(&["links.slot.width=x4,x8", "workloads.read.dma.outstanding=1..8*2"]));
    let design = design.expect("a sweep");
    assert_eq!(texts(&design.axes[1]), ["1", "2", "4", "8"]);
    let replaced = asked("sweep: {links.slot.width: [x1, x2]}\n", &vary(&["links.slot.width=[x16]"]));
    assert_eq!(texts(&replaced.expect("a sweep").axes[0]), ["x16"]);
    let stepped = asked("", &vary(&["workloads.read.dma.size=1KiB..3KiB+1KiB"])).expect("a sweep");
    assert_eq!(texts(&stepped.axes[0]), ["1KiB", "2KiB", "3KiB"]);
    let drawn = Asked { sample: Some(5), ..vary(&["workloads.read.dma.outstanding=1..50"]) };
    assert_eq!(asked("", &drawn).expect("a sweep").points.len(), 5);
}

#[test]
fn costs_go_with_values_and_ask_for_the_cheapest() {
    let section = "sweep: {links.slot.width: {values: [x4, x8], cost: [4, 8]}, cheapest: {at_least: 90%, unit: lanes}}\n";
    let design = of(section).expect("a sweep");
    assert_eq!(design.axes[0].values[1].cost, Some(8.0));
    let cheapest = design.cheapest.expect("a question");
    assert_eq!((cheapest.at_least, &*cheapest.of, &*cheapest.unit), (0.9, "throughput", "lanes"));
    assert_eq!(of("sweep: {links.slot.width: [x4]}\n").expect("a sweep").cheapest, None);
}

#[test]
fn several_paths_take_one_value_and_have_a_name() {
    let section = "sweep:\n  links.slot.gen, links.slot.mps: {name: both, values: ['1', '2']}\n";
    let axis = of(section).expect("a sweep").axes.remove(0);
    assert_eq!((&*axis.name, axis.paths.len()), ("both", 2));
}

#[test]
fn what_is_wrong_has_its_code() {
    let cases = [
        ("", "SW001"),
        ("sweep: {}\n", "SW001"),
        ("sweep: {links.slto.width: [x4]}\n", "SC030"),
        ("sweep: {run.seed: [1, 2]}\n", "SC040"),
        ("sweep: {links.slot.width: []}\n", "SC034"),
        ("sweep: {links.slot.width: {from: 8, to: 4, step: 1}}\n", "SW002"),
        ("sweep: {links.slot.width: {from: 0, to: 4, times: 2}}\n", "SW002"),
        ("sweep: {links.slot.width: {from: 1, to: 200000, step: 1}}\n", "SW003"),
        ("sweep: {zip: {links.slot.width: [x4], links.slot.gen: [3, 4]}}\n", "SW004"),
        ("sweep: {links.slot.width: {values: [x4, x8], cost: [1]}}\n", "SW005"),
        ("sweep: {links.slot.width: [x4], zip: {links.slot.width: [x8]}}\n", "SW006"),
        ("sweep: {workloads.read.dma.size: {from: 64B, to: 1KiB}}\n", "SW007"),
        ("sweep: {links.slot.width: {from: x4, to: x8, times: 2}}\n", "SW008"),
        ("sweep: {links.slot.width: {values: [x4], form: 1}}\n", "SC005"),
    ];
    for (section, code) in cases {
        assert_eq!(of(section).err(), Some(vec![code]), "{section}");
    }
    assert_eq!(asked("", &vary(&["links.slot.width"])).err(), Some(vec!["SW009"]));
}

#[test]
fn too_many_combinations_are_not_counted_one_by_one() {
    let section = "sweep:\n  workloads.read.dma.outstanding: {from: 1, to: 9999, step: 1}\n  workloads.read.dma.size: {from: 1B, to: 99999B, step: 1B}\n";
    assert_eq!(of(section).err(), Some(vec!["SW003"]));
}
