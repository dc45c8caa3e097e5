use super::*;
use proptest::prelude::*;

fn value(dimension: Dimension, text: &str) -> Result<Value, Mistake> {
    read(dimension, text).map(|(value, _)| value)
}

#[test]
fn sizes_are_iec_or_si_and_nothing_between() {
    let bytes = |text| value(Dimension::Size, text);
    assert_eq!(bytes("128KiB"), Ok(Value::Size(Bytes(131_072))));
    assert_eq!(bytes("128kB"), Ok(Value::Size(Bytes(128_000))));
    assert_eq!(bytes("1.5 GiB"), Ok(Value::Size(Bytes(3 << 29))));
    assert_eq!(bytes("0"), Ok(Value::Size(Bytes(0))));
    assert_eq!(bytes("128KB"), Err(Mistake::MixedPrefix));
    assert_eq!(bytes("512"), Err(Mistake::NoUnit));
    assert_eq!(bytes("0.5B"), Err(Mistake::TooFine));
    for wrong in ["", "B", "-5B", "5 bananas", "5kiB", "5 B B", "0x10B", "1_000B", "∞B", "5µB"] {
        assert_eq!(bytes(wrong), Err(Mistake::Form), "{wrong}");
    }
    assert!(matches!(bytes("99999999999999999999TB"), Err(Mistake::OutOfRange(..))));
}

#[test]
fn a_bare_suffix_is_binary_and_says_so() {
    let (value, caution) = read(Dimension::Size, "128k").expect("read");
    assert_eq!(value, Value::Size(Bytes(131_072)));
    assert_eq!(caution, Some(Caution { taken_as: "128KiB".into() }));
    assert_eq!(read(Dimension::Size, "k"), Err(Mistake::Form));
}

#[test]
fn rates_are_bytes_or_bits() {
    let rate = |text| value(Dimension::Rate, text);
    assert_eq!(rate("12.8GB/s"), Ok(Value::Rate(12_800_000_000)));
    assert_eq!(rate("16Gb/s"), Ok(Value::Rate(2_000_000_000)));
    assert_eq!(rate("1b/s"), Err(Mistake::TooFine));
    assert_eq!(rate("32GT/s"), Err(Mistake::Form));
    assert_eq!(rate("5GB"), Err(Mistake::Form));
}

#[test]
fn times_are_whole_picoseconds() {
    let time = |text| value(Dimension::Time, text);
    assert_eq!(time("60us"), Ok(Value::Time(Span::from_us(60))));
    assert_eq!(time("60µs"), time("60us"));
    assert_eq!(time("1.5ms"), time("1500us"));
    assert_eq!(time("0.5ps"), Err(Mistake::TooFine));
    assert_eq!(time("80"), Err(Mistake::NoUnit));
    assert_eq!(time("80NS"), Err(Mistake::Form));
}

#[test]
fn ratios_counts_flags_and_words() {
    assert_eq!(value(Dimension::Ratio, "2%"), Ok(Value::Ratio(0.02)));
    assert_eq!(value(Dimension::Ratio, "1e-12"), Ok(Value::Ratio(1e-12)));
    let beyond = |least: &str, most: &str| Err(Mistake::OutOfRange(least.into(), most.into()));
    for (text, least, most) in [
        ("101%", "0%", "100%"),
        ("-5%", "0%", "100%"),
        ("150 %", "0%", "100%"),
        ("1.01", "0", "1"),
        ("-0.5", "0", "1"),
    ] {
        assert_eq!(value(Dimension::Ratio, text), beyond(least, most), "{text}");
    }
    assert_eq!(value(Dimension::Ratio, "-"), Err(Mistake::Form));
    assert_eq!(value(Dimension::Ratio, "--1"), Err(Mistake::Form));
    assert_eq!(value(Dimension::Ratio, "-0"), Ok(Value::Ratio(0.0)));
    let count = Dimension::Count { least: 1, most: 32 };
    assert_eq!(value(count, "32"), Ok(Value::Count(32)));
    assert_eq!(value(count, "33"), Err(Mistake::OutOfRange("1".into(), "32".into())));
    assert_eq!(value(count, "-1"), Err(Mistake::OutOfRange("1".into(), "32".into())));
    assert_eq!(value(count, "3.5"), Err(Mistake::Form));
    assert_eq!(value(Dimension::Flag, "yes"), Err(Mistake::Form));
    assert_eq!(value(Dimension::Choice(&["64B", "128B"]), "128B"), Ok(Value::Choice("128B")));
    // PyYAML and other readers of YAML 1.1 write these for `on` and `off`
    assert_eq!(value(Dimension::Choice(&["on", "off"]), "true"), Ok(Value::Choice("on")));
    assert_eq!(value(Dimension::Choice(&["on", "off"]), "false"), Ok(Value::Choice("off")));
    assert_eq!(value(Dimension::Choice(&["64B", "128B"]), "true"), Err(Mistake::Form));
    let either = Dimension::ChoiceOrRatio(&["all", "none"]);
    assert_eq!(value(either, "none"), Ok(Value::Choice("none")));
    assert_eq!(value(either, "80%"), Ok(Value::Ratio(0.8)));
    assert_eq!(value(either, "101%"), beyond("0%", "100%"));
    assert_eq!(value(either, "nobody"), Err(Mistake::Form));
}

#[test]
fn the_canonical_form_is_the_one_a_person_would_choose() {
    let form = |dimension, text| written(value(dimension, text).expect("read"));
    assert_eq!(form(Dimension::Time, "1500ns"), "1.5us");
    assert_eq!(form(Dimension::Time, "13333ps"), "13.333ns");
    assert_eq!(form(Dimension::Time, "0ns"), "0ps");
    assert_eq!(form(Dimension::Size, "2048B"), "2KiB");
    let as_meant =
        ["1kB", "2GB", "26GB", "1TB", "1500GB", "64KiB", "1536MiB", "25GiB", "125KiB", "1000GiB", "1003B"];
    as_meant.iter().for_each(|text| assert_eq!(form(Dimension::Size, text), **text));
    assert_eq!(form(Dimension::Rate, "16Gb/s"), "2GB/s");
    assert_eq!(form(Dimension::Rate, "12800MB/s"), "12.8GB/s");
    assert_eq!(label(Value::Size(Bytes(64))), "64 B");
    assert_eq!(label(Value::Size(Bytes(2_048))), "2 KiB");
    assert_eq!(label(Value::Size(Bytes(2_000_000_000))), "2 GB");
    assert_eq!(label(Value::Count(7)), "7");
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(number: u64, ratio in 0.0..=1.0f64, flag: bool) {
        let all = [
            (Dimension::Time, Value::Time(Span::from_ps(number))),
            (Dimension::Size, Value::Size(Bytes(number))),
            (Dimension::Rate, Value::Rate(number)),
            (Dimension::Count { least: 0, most: u64::MAX }, Value::Count(number)),
            (Dimension::Ratio, Value::Ratio(ratio)),
            (Dimension::Flag, Value::Flag(flag)),
        ];
        for (dimension, value) in all {
            let text = written(value);
            prop_assert_eq!(read(dimension, &text), Ok((value, None)), "{}", text);
        }
    }

    #[test]
    fn round_numbers_read_back_too(mantissa in 0u64..10_000, power in 0u32..12) {
        let number = mantissa * 10_u64.pow(power);
        for (dimension, value) in
            [(Dimension::Time, Value::Time(Span::from_ps(number))), (Dimension::Rate, Value::Rate(number))]
        {
            let text = written(value);
            prop_assert!(text.len() <= 9, "{text}");
            prop_assert_eq!(read(dimension, &text), Ok((value, None)));
        }
    }

    #[test]
    fn no_text_panics(text in ".{0,24}", number in "[0-9.eE+-]{0,12}(k|KiB|us|GB/s|%|x)?") {
        let dimensions = [
            Dimension::Time, Dimension::Size, Dimension::Rate, Dimension::Ratio, Dimension::Flag,
            Dimension::Count { least: 0, most: 9 }, Dimension::Choice(&["a"]),
            Dimension::ChoiceOrRatio(&["a"]),
        ];
        for dimension in dimensions {
            let _ = read(dimension, &text);
            let _ = read(dimension, &number);
        }
    }
}

#[test]
fn sizes_beside_each_other_are_rounded_while_they_differ() {
    let told = |a, b| beside(Bytes(a), Bytes(b));
    let of = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(told(157_113_320 << 10, 64 << 30), of("149.8 GiB", "64 GiB"));
    assert_eq!(told(100 << 40, 64 << 30), of("100 TiB", "64 GiB"));
    assert_eq!(told((64 << 30) + 4096, 64 << 30), of("67108868 KiB", "64 GiB"));
    assert_eq!(told((64 << 30) + 8192, (64 << 30) + 4096), of("67108872 KiB", "67108868 KiB"));
    assert_eq!(told(0, 1), of("0 B", "1 B"));
}
