use super::form::*;
use super::*;
use lanetwin_pcie::spec::Mps;
use lanetwin_units::{Generation, Width};

fn ask(name: &str, arguments: &[(&str, &str)]) -> Vec<Row> {
    let arguments = arguments.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
    calc(name, &arguments).unwrap_or_else(|found| panic!("{found:?}"))
}
fn value(rows: &[Row], name: &str, unit: &str) -> f64 {
    rows.iter().find(|row| row.name == name && row.unit == unit).map(|row| row.value).expect("the row")
}
fn near(a: f64, b: f64, within: f64) -> bool {
    (a - b).abs() <= within
}

/// Published figures: 15.754 GB/s for Gen5 x4 after coding; 13.27, 14.40, 15.05 GB/s of payload without DLLP and SKP.
#[test]
fn a_link_carries_what_is_published() {
    for (mps, published) in [("128B", 13.27), ("256B", 14.40), ("512B", 15.05)] {
        let rows = ask("link", &[("gen", "5"), ("width", "x4"), ("mps", mps), ("clocking", "off")]);
        assert!(near(value(&rows, "after coding", "GB/s"), 15.754, 0.0005));
        assert!(near(value(&rows, "payload", "GB/s"), published, 0.006), "{mps}: {rows:?}");
    }
    let sris = ask("link", &[("gen", "5"), ("width", "x4"), ("clocking", "sris")]);
    let share = 1.0 - value(&sris, "after SKP", "GB/s") / value(&sris, "after coding", "GB/s");
    assert!(near(share, 0.027, 0.001), "{share}");
}

/// IDT's report, Gen2 x4: 64 B on 20 B of overhead, both directions summed 24.38 Gb/s.
#[test]
fn efficiency_is_that_of_the_idt_report() {
    let rows = ask("tlp-efficiency", &[("size", "64B"), ("address", "32")]);
    assert!(near(value(&rows, "efficiency", "") * 32.0, 24.38, 0.005), "{rows:?}");
    let rows = ask("tlp-efficiency", &[("size", "1000B"), ("mps", "256B")]);
    assert_eq!(value(&rows, "TLPs", ""), 4.0);
}

/// The table of pcie-model: Gen3 x8 203 and 182 symbol times at 256 and 512 B, Gen1 x1 237 at 128 B.
#[test]
fn ack_limits_are_the_tables() {
    for (generation, width, mps, symbols) in
        [("3", "x8", "256B", 203.0), ("3", "x8", "512B", 182.0), ("1", "x1", "128B", 237.0)]
    {
        let rows = ask("ack-limit", &[("gen", generation), ("width", width), ("mps", mps)]);
        assert_eq!(value(&rows, "ACK latency limit", "symbol times"), symbols);
    }
}

#[test]
fn serialisation_is_exact() {
    // 512 B with 20 B around them at 4 B/ns after coding of 130/128
    let rows = ask("serialisation", &[("gen", "5"), ("width", "x4"), ("size", "492B"), ("address", "32")]);
    assert_eq!(value(&rows, "time", "ns"), 32.5);
    let read = ask("serialisation", &[("gen", "5"), ("width", "x4"), ("size", "492B"), ("kind", "MRd")]);
    assert_eq!(value(&read, "on the wire", "B"), 24.0);
}

/// The plateau that the reference model predicts: writes of whole MPS on Gen3 x8, 52.9 Gb/s; reads, 53.7.
#[test]
fn pcie_model_gives_its_own_plateaus() {
    let rows = ask("pcie-model", &[("gen", "3"), ("width", "x8"), ("size", "2KiB")]);
    assert!(near(value(&rows, "write", "Gb/s"), 52.9, 0.05), "{rows:?}");
    assert!(near(value(&rows, "read", "Gb/s"), 53.7, 0.05), "{rows:?}");
    let mixed = value(&rows, "read + write", "Gb/s");
    assert!(mixed < value(&rows, "write", "Gb/s"));
    let small = payload_rate(
        Direction::Read,
        Generation::Gen3,
        Width::X8,
        Mps::from_bytes(256).expect("a size"),
        512,
        1,
    );
    assert!(small > 0.0 && small < 3.0);
}

/// By hand, Gen4 x4: 256 B on the wire take 32.5 ns, a header of 24 B 3.046875 ns.
#[test]
fn a_switch_takes_its_latency_and_what_the_wires_take() {
    let rows =
        ask("switch", &[("gen", "4"), ("in", "x4"), ("out", "x4"), ("latency", "100ns"), ("size", "232B")]);
    assert!(near(value(&rows, "cut-through", "ns"), 103.046_875, 1e-9), "{rows:?}");
    assert!(near(value(&rows, "store-and-forward", "ns"), 132.5, 1e-9));
    assert!(near(value(&rows, "cut-through, last", "ns"), 103.046_875 + 4.0 * 32.5, 1e-9));
    let rows =
        ask("switch", &[("gen", "4"), ("in", "x4"), ("out", "x16"), ("latency", "100ns"), ("size", "232B")]);
    assert!(near(value(&rows, "cut-through", "ns"), 100.0 + 32.5 - 8.125, 1e-9), "a faster output waits");
}

#[test]
fn credits_cover_the_round_trip() {
    // 1 us at 7.877 GB/s are 7877 B: 29 TLPs of 280 B
    let rows = ask("credits", &[("gen", "3"), ("width", "x8"), ("rtt", "1us")]);
    assert_eq!((value(&rows, "header credits", "PH"), value(&rows, "data credits", "PD")), (29.0, 464.0));
    let none = ask("credits", &[("gen", "3"), ("width", "x8"), ("rtt", "0")]);
    assert_eq!(value(&none, "header credits", "PH"), 1.0);
}

#[test]
fn littles_law_goes_round() {
    let rows = ask("littles-law", &[("size", "64B"), ("latency", "500ns"), ("outstanding", "32")]);
    assert!(near(value(&rows, "throughput", "GB/s"), 4.096, 1e-9), "{rows:?}");
    let rows = ask("littles-law", &[("size", "64B"), ("latency", "500ns"), ("rate", "4.096GB/s")]);
    assert!(near(value(&rows, "in flight", "transfers"), 32.0, 1e-9));
    let rows = ask("littles-law", &[("size", "64B"), ("outstanding", "32"), ("rate", "4.096GB/s")]);
    assert!(near(value(&rows, "latency", "ns"), 500.0, 1e-9));
}

#[test]
fn what_is_wrong_is_said() {
    let codes = |name: &str, arguments: &[(&str, &str)]| -> Vec<&'static str> {
        let arguments = arguments.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
        calc(name, &arguments).expect_err("a mistake").into_iter().map(|found| found.code).collect()
    };
    assert_eq!(codes("lnik", &[]), ["SC010"]);
    assert_eq!(codes("link", &[("gen", "9"), ("widht", "x4")]), ["SC005", "SC006", "SC009"]);
    assert_eq!(codes("littles-law", &[("size", "64B")]), ["SC006"]);
    assert_eq!(codes("littles-law", &[("size", "0B"), ("latency", "1ns"), ("rate", "1B/s")]), ["SC009"]);
    let all = [("size", "64B"), ("latency", "1ns"), ("rate", "1B/s"), ("outstanding", "1")];
    assert_eq!(codes("littles-law", &all), ["SC033"]);
}

#[test]
fn every_form_describes_itself_and_survives_extremes() {
    for form in FORMS {
        let text = serde_json::to_string(form).expect("JSON");
        assert!(text.contains("looks_like") && form.about.ends_with('.') && !form.formula.is_empty());
    }
    for size in ["0B", "1B", "16EiB", "16777215TiB"] {
        let arguments = |size: &str| {
            [("gen", "1"), ("width", "x1"), ("size", size)].map(|(a, b)| (a.to_owned(), b.to_owned())).into()
        };
        for form in ["serialisation", "pcie-model"] {
            if let Ok(rows) = calc(form, &arguments(size)) {
                assert!(rows.iter().all(|row| row.value.is_finite()), "{form} {size}: {rows:?}");
            }
        }
    }
}
