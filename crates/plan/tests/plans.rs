//! Is a plan complete, does it print as itself, and does no text make the reader panic?

use lanetwin_document::{Diagnostic, Origin};
use lanetwin_plan::{
    BlockCase, Catalogue, Checked, Files, FioCase, Load, Offered, Plan, Variant, check, check_with,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

const DEMO: &str = include_str!("../../../scenarios/demo.yaml");

fn read(text: &str, sets: &[&str]) -> Checked {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    check(Path::new("demo.yaml"), text, &sets, &Catalogue::built_in())
}
fn plan(text: &str, sets: &[&str]) -> Plan {
    let checked = read(text, sets);
    checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics))
}
fn places(found: &[Diagnostic]) -> Vec<String> {
    found
        .iter()
        .map(|found| format!("{} {}:{} {}", found.code, found.line, found.column, found.path))
        .collect()
}

#[test]
fn the_demo_becomes_what_it_says() {
    let plan = plan(DEMO, &[]);
    assert_eq!(plan.name, "demo");
    let names: Vec<&str> = plan.variants.iter().map(|variant| &*variant.name).collect();
    assert_eq!(names, ["as-is", "x4", "gen2"]);
    let links: Vec<String> = plan
        .variants
        .iter()
        .map(|v| format!("{} {} {}", v.links[0].generation, v.links[0].width, v.links[0].mps))
        .collect();
    // the card supports 512 B, the host 256 B: the hierarchy has the smaller
    assert_eq!(links, ["Gen3 x8 256", "Gen3 x4 256", "Gen2 x8 256"]);
    let variant = &plan.variants[0];
    assert_eq!(variant.port_name(variant.links[0].root), "host.slot0");
    assert_eq!(variant.port_name(variant.links[0].far()), "card.pcie");
    let read = &variant.workloads[0];
    let labels: Vec<&str> = read.cases.iter().map(|case| &*case.label).collect();
    assert_eq!(labels, ["64 B", "128 B", "256 B", "512 B", "1 KiB", "2 KiB"]);
    let axis: Vec<f64> = read.cases.iter().filter_map(|case| Some(case.axis.as_ref()?.value)).collect();
    assert_eq!(axis, [64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0]);
    assert!(matches!(read.cases[0].load, Load::Dma(dma) if dma.offered == Offered::Outstanding(64)));
}

#[test]
fn how_well_results_shall_be_known_is_a_share_with_or_without_a_sign() {
    for text in ["±2%", "2%", "0.02"] {
        let set = format!("run.until={text}");
        assert_eq!(plan(DEMO, &[&set]).run.until.map(|until| until.within), Some(0.02), "{text}");
    }
    assert_eq!(plan(DEMO, &[]).run.until, None);
    for text in ["±0%", "100%", "±two", "2us"] {
        let set = format!("run.until={text}");
        let found = read(DEMO, &[&set]).diagnostics;
        assert_eq!((found.len(), &*found[0].path), (1, "run.until"), "{text}: {found:#?}");
    }
}

#[test]
fn it_is_known_who_said_what() {
    let text = DEMO.replace("{part: nfp-6000}", "{part: nfp-6000, read.transaction: 12ns}");
    let plan = plan(&text, &["machine.card.done=7ns", "run.seed=9"]);
    let card = plan.variants[0].component("card").expect("the card");
    let origin = |name: &str| card.origins[name];
    assert_eq!(origin("read.transaction"), Origin::Scenario);
    assert_eq!(origin("done"), Origin::Set);
    assert_eq!(origin("tick"), Origin::Part);
    assert_eq!(origin("command"), Origin::Default);
    assert_eq!(plan.run.seed, 9);
    let width = |variant: usize| {
        plan.variants[variant].document.get("links")?.get("slot")?.get("width").map(|n| n.origin)
    };
    assert_eq!((width(0), width(1)), (Some(Origin::Scenario), Some(Origin::Variant)));
    assert!(card.params.0.len() == card.model.all_params().count(), "every parameter has a value");
    let assumed = plan.assumptions();
    let has = |part: &str, name: &str| assumed.iter().any(|one| one.part == part && one.parameter == name);
    assert!(has("nfp-6000", "issue") && has("nfp-6000", "cell") && !has("nfp-6000", "tick"));
    assert!(
        !has("nfp-6000", "read.transaction"),
        "what the scenario sets is the question, not an assumption"
    );
    // nothing rests on what changes nothing: there is neither an IOMMU nor a network
    let idle = ["iotlb.", "iommu.", "memory.slow-extra", "driver.rdma.", "driver.tcp.", "target."];
    let is_idle = |name: &str| idle.iter().any(|idle| name.starts_with(idle));
    assert!(!assumed.iter().any(|one| is_idle(&one.parameter)), "{assumed:?}");
    assert!(plan.not_modelled().iter().any(|text| text.contains("ber")));
}

/// The law of the plan: its document is a scenario, and means the same.
fn assert_prints_as_itself(plan: &Plan) {
    assert_prints_as_itself_beside(plan, &Files::none());
}

fn assert_prints_as_itself_beside(plan: &Plan, files: &Files) {
    let text = plan.document().to_yaml();
    let again = check_with(Path::new("demo.yaml"), &text, &[], &Catalogue::built_in(), files);
    let errors: Vec<_> = again.diagnostics.iter().filter(|found| found.code.starts_with("SC0")).collect();
    assert!(errors.is_empty(), "{text}\n{errors:#?}");
    let again = again.plan.expect("no errors");
    let names = |variant: &Variant| variant.machine.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    for (one, other) in plan.variants.iter().zip(&again.variants) {
        // what the first variant lacks comes last, and what says places says others then
        if names(one) != names(other) {
            assert_eq!(BTreeSet::from_iter(names(one)), BTreeSet::from_iter(names(other)));
            continue;
        }
        assert_eq!((&one.machine, &one.links, &one.joins), (&other.machine, &other.links, &other.joins));
        assert_eq!(
            (&one.workloads, &one.network, &one.absences),
            (&other.workloads, &other.network, &other.absences)
        );
    }
    assert_eq!(plan.variants.len(), again.variants.len());
    assert_eq!((&plan.compare, &plan.run, &plan.about), (&again.compare, &again.run, &again.about));
    let cut = |text: &str| text.split("\norigins:").next().map(str::to_owned);
    let is_in_order =
        plan.variants.iter().zip(&again.variants).all(|(one, other)| names(one) == names(other));
    assert!(!is_in_order || cut(&text) == cut(&again.document().to_yaml()), "{text}");
}

#[test]
fn a_plan_prints_as_a_complete_scenario_of_the_same_plan() {
    assert_prints_as_itself(&plan(DEMO, &[]));
    for template in lanetwin_plan::templates() {
        assert_prints_as_itself(&plan(template.text, &[]));
    }
    let structural =
        "variants.more={machine: {host: {part: generic-host-gen4}, card: {model: dma-requester}}}";
    assert_prints_as_itself(&plan(DEMO, &[structural, "run.warm-up=100", "links.slot.ber=1e-12"]));
    let chain = "about: What do slow answers cost?\nmachine:\n  host: {part: generic-host-gen4}\n  slow: {model: delay, answer: 1.5us}\n  disk: {part: null-device}\nlinks:\n  chain: {from: slow.down, to: disk}\nworkloads:\n  rand: {block: {size: [4KiB, 8KiB], depth: [1, 2], read: 0.7}, on: host, target: slow}\nvariants:\n  slow: {}\n  direct: {machine.slow: null, links.chain: null, workloads.rand.target: disk}\n";
    let plan = plan(chain, &[]);
    assert_eq!((plan.variants[0].joins.len(), plan.variants[1].joins.len()), (1, 0));
    assert_eq!(plan.variants[0].workloads[0].cases.len(), 4);
    assert_prints_as_itself(&plan);
}

/// With what a plan is written with, `lanetwin run plan.yaml` runs it again.
#[test]
fn every_shipped_scenario_prints_as_itself() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = std::fs::read_dir(&folder).expect("the tree has scenarios");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let scenarios: Vec<_> = files.filter(|file| file.extension().is_some_and(|ext| ext == "yaml")).collect();
    assert!(scenarios.len() > 50, "{}", scenarios.len());
    for file in scenarios {
        let text = std::fs::read_to_string(&file).expect("a scenario can be read");
        let beside = Files::beside(&file).anywhere();
        let checked = check_with(&file, &text, &[], &Catalogue::built_in(), &beside);
        let plan = checked.plan.unwrap_or_else(|| panic!("{}: {:#?}", file.display(), checked.diagnostics));
        println!("{}", file.display());
        assert_prints_as_itself_beside(&plan, &beside);
    }
}

/// A machine that nobody asks for anything is a plan, and says so.
#[test]
fn a_machine_without_workloads_is_a_plan() {
    let text = "about: What is there?\nmachine:\n  host: {part: generic-host-gen4}\n  card: {part: generic-dma-gen5}\nlinks:\n  slot: {from: host, to: card}\n";
    for text in [text.to_owned(), format!("{text}workloads:\n")] {
        let checked = read(&text, &[]);
        assert_eq!(places(&checked.diagnostics), ["SC111 1:1 "]);
        let plan = checked.plan.expect("a plan");
        assert!(plan.variants[0].workloads.is_empty() && plan.variants[0].links.len() == 1);
        assert_prints_as_itself(&plan);
    }
    // a section with nothing in it is still a slip of the pen
    assert_eq!(places(&read(&format!("{text}workloads: {{}}\n"), &[]).diagnostics), ["SC034 7:12 workloads"]);
}

#[test]
fn all_errors_come_at_once_each_at_its_place() {
    let text = "about: Everything is wrong.\nmachine:\n  host: {part: generic-host-gen4, port.mps: 100B}\n  card: {part: nfp-600}\n  c2: {part: generic-dma-gen5, issue: 5 bananas}\n  c3: {part: generic-dma-gen5}\nlinks:\n  one: {from: host, to: card, width: x3}\n  two: {from: host, to: c3, width: x3, gen: 7, mps: 0B, lenght: 2}\nworkloads:\n  read: {dma: {size: 0B}, on: nobody}\n  twice: {dma: {size: 64B}, on: c3}\n  twice: {dma: {size: 64B}, on: c3}\nvariants:\n  a: {links.three.width: x4}\ncompare: {baseline: b}\n";
    assert_eq!(
        places(&read(text, &["nonsense"]).diagnostics),
        [
            "SC025 3:3 machine.host.port.mps",
            "SC011 4:16 machine.card.part",
            "SC008 5:39 machine.c2.issue",
            "SC021 9:36 links.two.width",
            "SC022 9:45 links.two.gen",
            "SC025 9:53 links.two.mps",
            "SC005 9:57 links.two.lenght",
            "SC027 11:22 workloads.read.dma.size",
            "SC013 11:31 workloads.read.on",
            "SC004 13:3 twice",
            "SC030 15:7 links.three.width",
            "SC031 16:21 compare.baseline",
            "SC037 1:1 ",
        ]
    );
}

#[test]
fn a_mistake_of_a_variant_says_so() {
    let found = read(DEMO, &["variants.wide={links.slot.width: x16}"]).diagnostics;
    assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), ["SC023"]);
    assert!(found[0].message.ends_with("(in variant `wide`)"), "{}", found[0].message);
    assert_eq!(found[0].file, "--set variants.wide={links.slot.width: x16}");
}

const NAMED: &str = "
about: Is the name of a file enough?
machine: {host: {part: generic-host-gen4}, ssd: {part: generic-nvme-gen4}}
links: {bay: {from: host, to: ssd}}
workloads: {load: {fio: small.fio, on: host, target: ssd}}
variants: {as-is: {}, other: {workloads.load.fio: large.fio}}
files: {small.fio: \"[a]\\nrw=randread\\nbs=4k\\n\", large.fio: \"[b]\\nrw=randread\\nbs=8k\\n\"}
";

#[test]
fn a_section_can_be_the_name_of_its_file_alone() {
    let sizes = |sets: &[&str]| -> Vec<u64> {
        let plan = plan(NAMED, sets);
        let loads = plan.variants.iter().map(|variant| &variant.workloads[0].cases[0].load);
        loads
            .map(|load| load.blocks::<FioCase>().expect("a load of fio").jobs[0].job.settings.bs[0])
            .collect()
    };
    assert_eq!(sizes(&[]), [4096, 8192]);
    assert_eq!(sizes(&["workloads.load.fio=large.fio", "workloads.load.fio.requests=50"]), [8192, 8192]);
    // a file that is not there is told with the path of the section written out
    let found = read(&NAMED.replace("fio: small.fio", "fio: none.fio"), &[]).diagnostics;
    assert_eq!(found[0].path, "workloads.load.fio.file", "{found:#?}");
}

/// A global `filename` holds for jobs without their own, as every other key does.
#[test]
fn a_job_uses_the_namespace_of_its_own_file_or_of_the_global_one() {
    const PARTED: &str = "
about: Whose is the file?
machine: {host: {part: generic-host-gen4}, ssd: {part: samsung-pm1743, namespaces: 2}}
links: {bay: {from: host, to: ssd}}
workloads: {load: {fio: jobs.fio, on: host, target: ssd}}
files: {jobs.fio: \"[global]\\nfilename=/dev/nvme0n2\\nrw=randread\\nsize=1m\\n[a]\\n[b]\\nfilename=/dev/nvme0n1\\n\"}
";
    let of = |text: &str| -> Vec<Option<u16>> {
        let threads = plan(text, &[]).variants[0].workloads[0].cases[0].load.threads();
        threads.iter().map(|thread| thread.namespace).collect()
    };
    assert_eq!(of(PARTED), [Some(1), Some(0)]);
    assert_eq!(of(&PARTED.replace("filename=/dev/nvme0n2\\n", "")), [None, Some(0)]);
}

/// An option has one value; a list of them was left out, and the job had the default of fio.
#[test]
fn a_list_where_fio_has_one_value_is_refused() {
    let job = |options: &str| {
        let text = format!(
            "about: How many in flight?
machine: {{host: {{part: generic-host-gen4}}, ssd: {{part: generic-nvme-gen4}}}}
links: {{bay: {{from: host, to: ssd}}}}
workloads: {{load: {{fio: {{rw: randread, {options}}}, on: host, target: ssd}}}}
"
        );
        read(&text, &[]).diagnostics
    };
    assert!(job("bs: 4k, iodepth: 32").is_empty());
    let found = job("bs: [4k, 128k], iodepth: {a: 1}");
    let told: Vec<_> = found.iter().map(|one| (one.code, &*one.path, one.help.contains("`sweep`"))).collect();
    let [bs, iodepth] =
        ["workloads.load.fio.bs", "workloads.load.fio.iodepth"].map(|path| ("SC007", path, true));
    assert_eq!(told, [bs, iodepth], "{found:#?}");
}

/// As fio without `size` goes through all of a device: a drive of 100 GiB, two namespaces of 1.92 TB, both together.
#[test]
fn a_job_without_a_size_goes_through_its_smallest_target() {
    const DRIVES: &str = "\
about: How large is what a job goes through?
machine:
  host: {part: generic-host-gen4}
  small: {part: generic-tlc-gen4, capacity: 100GiB}
  parted: {part: samsung-pm1743, namespaces: 2}
links:
  one: {from: host, to: small}
  two: {from: host, to: parted}
workloads:
  load: {fio: {rw: randread, bs: 4k}, on: host, target: small}
";
    let capacity = |sets: &[&str]| {
        let loads = plan(DRIVES, sets).variants[0].workloads[0].cases[0].load.clone();
        loads.blocks::<FioCase>().expect("a load of fio").capacity.0
    };
    assert_eq!(capacity(&[]), 100 << 30);
    assert_eq!(capacity(&["workloads.load.target=parted"]), 1_920_000_000_000);
    assert_eq!(capacity(&["workloads.load.target=[parted, small]"]), 100 << 30);
    assert_eq!(capacity(&["machine.small.capacity=8GiB"]), 8 << 30);
    assert_eq!(capacity(&["workloads.load.fio.capacity=1GiB"]), 1 << 30);
    let span = |sets: &[&str]| {
        let blocks = "workloads.load={block: {size: 4KiB}, on: host, target: small}";
        let sets: Vec<&str> = std::iter::once(blocks).chain(sets.iter().copied()).collect();
        let loads = plan(DRIVES, &sets).variants[0].workloads[0].cases[0].load.clone();
        loads.blocks::<BlockCase>().expect("a load of blocks").span.0
    };
    assert_eq!(span(&[]), 100 << 30);
    assert_eq!(span(&["workloads.load.target=[parted, small]"]), 100 << 30);
    assert_eq!(span(&["workloads.load.block.span=8MiB"]), 8 << 20);
    assert_eq!(span(&["machine.small={part: generic-nvme-gen4}"]), 1 << 30);
}

#[test]
fn a_file_that_is_not_there_or_not_text_is_one_diagnostic() {
    let codes = |path: &Path| -> Vec<&'static str> {
        lanetwin_plan::check_path(path, &[]).expect_err("unreadable").iter().map(|found| found.code).collect()
    };
    assert_eq!(codes(Path::new("no/such/file.yaml")), ["SC002"]);
    let path = std::env::temp_dir().join(format!("lanetwin-not-text-{}.yaml", std::process::id()));
    std::fs::write(&path, [0xff, 0xfe, 0x00]).expect("a file");
    assert_eq!(codes(&path), ["SC002"]);
    std::fs::remove_file(&path).expect("the file goes");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "\\PC{0,200}", yaml in "([a-z.]{1,8}: ?[\\[{&*!|>'\"]?[a-z0-9, :]{0,12}[\\]}]?\n {0,4}){0,12}") {
        let _ = lanetwin_plan::check_text(&text);
        let _ = lanetwin_plan::check_text(&yaml);
    }

    /// The demo with a piece cut out, doubled or replaced: near to right, where the checks are.
    #[test]
    fn no_damaged_scenario_panics_and_no_plan_has_errors(
        from in 0..DEMO.len(), length in 0usize..40, with in prop_oneof![
            Just(String::new()), Just("null".into()), Just("[]".into()), Just("{}".into()), Just("0".into()),
            Just("18446744073709551615".into()), Just("host".into()), Just("x4".into()), "\\PC{0,6}"
        ]
    ) {
        let to = (from + length).min(DEMO.len());
        prop_assume!(DEMO.is_char_boundary(from) && DEMO.is_char_boundary(to));
        let text = format!("{}{with}{}", &DEMO[..from], &DEMO[to..]);
        let checked = read(&text, &[]);
        let errors = checked.diagnostics.iter().any(|found| found.code.starts_with("SC0"));
        prop_assert_eq!(checked.plan.is_none(), errors, "{}", text);
        for found in &checked.diagnostics {
            prop_assert!(found.line as usize <= text.lines().count() + 1, "{found}");
        }
    }
}

/// A switch has 25 pairs of widths. Those without a latency of their own say nothing, and are not in the plan.
#[test]
fn a_plan_tells_of_pairs_of_widths_only_what_was_said() {
    let text = "
about: Which pairs?
machine:
  host: {part: generic-host-gen4}
  sw: {model: switch, latency.x8-x8: 90ns}
  card: {part: generic-dma-gen5}
links: {up: {from: host, to: sw}, bay: {from: sw, to: card}}
workloads: {read: {dma: {size: 64B}, on: card}}
variants:
  as-is: {}
  more: {machine.sw.latency.x4-x8: 80ns}
  fewer: {machine.sw.latency.x8-x8: null}
";
    let plan = plan(text, &[]);
    let pairs = |variant: usize| -> Vec<&str> {
        let machine = plan.variants[variant].document.get("machine").expect("a machine");
        let keys = machine.get("sw").expect("a switch").entries().iter().map(|entry| &*entry.key);
        keys.filter(|key| key.starts_with("latency.")).collect()
    };
    assert_eq!(pairs(0), ["latency.x8-x8"]);
    assert_eq!(pairs(1), ["latency.x4-x8", "latency.x8-x8"]);
    assert_eq!(pairs(2), [""; 0]);
    assert_prints_as_itself(&plan);
}

/// A box of drives in a few lines, and the same written out.
const NUMBERED: &str = "about: x
machine:
  host: {part: generic-host-gen4}
  box: {part: generic-switch-gen4}
  ssd1..3: {part: samsung-pm9a3}
links:
  up: {from: host, to: box}
  bay1..3: {from: box, to: ssd1..3}
workloads:
  w: {fio: {rw: randread, bs: 4k}, on: host, target: ssd1..3}
variants:
  as-is: {}
  narrow: {links.bay2..3.width: x2}
";

#[test]
fn numbered_names_are_the_plan_that_is_written_out() {
    let written_out = NUMBERED
        .replace("  ssd1..3: {part: samsung-pm9a3}\n", &(1..4).map(drive).collect::<String>())
        .replace("  bay1..3: {from: box, to: ssd1..3}\n", &(1..4).map(bay).collect::<String>())
        .replace("target: ssd1..3", "target: [ssd1, ssd2, ssd3]")
        .replace("links.bay2..3.width: x2", "links.bay2.width: x2, links.bay3.width: x2");
    fn drive(number: u32) -> String {
        format!("  ssd{number}: {{part: samsung-pm9a3}}\n")
    }
    fn bay(number: u32) -> String {
        format!("  bay{number}: {{from: box, to: ssd{number}}}\n")
    }
    let sets = ["machine.ssd1..2.ftl.initial=empty"];
    let (short, long) = (plan(NUMBERED, &sets), plan(&written_out, &sets));
    // but for the places that it was written at
    let told = |plan: &Plan| plan.document().to_yaml().split("\norigins:").next().map(str::to_owned);
    assert_eq!(told(&short), told(&long));
    assert_prints_as_itself(&short);
}

#[test]
fn what_is_wrong_with_a_numbered_entry_is_said_once() {
    let text = NUMBERED.replace("samsung-pm9a3", "samsung-pm9a3, firmwear: 1");
    assert_eq!(places(&read(&text, &[]).diagnostics), ["SC005 5:34 machine.ssd1.firmwear"]);
    let text = NUMBERED.replace("to: ssd1..3", "to: ssd1..4");
    assert_eq!(
        places(&read(&text, &[]).diagnostics).first().map(String::as_str),
        Some("NA002 8:28 links.bay1..3.to")
    );
}
