//! `docs/training.md` says what the code does: its tables are those of the code.

use lanetwin_pcie::logic::ltssm::failure::FailureCode;
use lanetwin_pcie::logic::ltssm::{Numbers, State};
use lanetwin_units::{NumberKind, Span};
use std::fmt::Write as _;

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/training.md");
    std::fs::read_to_string(path).expect("the page is there")
}

fn ms(span: Span) -> String {
    let us = span.as_ps() / 1_000_000;
    if us.is_multiple_of(1000) { format!("{}", us / 1000) } else { format!("{}", us as f64 / 1000.0) }
}

fn states() -> String {
    let numbers = Numbers::built_in();
    let mut table = String::from("| State | Limit, ms | May be followed by |\n|---|---|---|\n");
    for state in State::ALL {
        let limit = match numbers.limit(*state) {
            None => "–".to_owned(),
            Some([down, up]) if down == up => ms(down),
            Some([down, up]) => format!("{} / {}", ms(down), ms(up)),
        };
        let follows: Vec<&str> = state.follows().iter().map(|state| state.name()).collect();
        writeln!(table, "| {state} | {limit} | {} |", follows.join(", ")).expect("a string grows");
    }
    table
}

fn codes() -> String {
    let mut table = String::from("| Code | Means |\n|---|---|\n");
    for code in FailureCode::ALL {
        writeln!(table, "| `{code}` | {} |", code.meaning().replace('\n', " ")).expect("a string grows");
    }
    table
}

#[test]
fn the_tables_of_the_page_are_those_of_the_code() {
    let page = page();
    for table in [states(), codes()] {
        assert!(page.contains(&table), "docs/training.md should have this table:\n\n{table}");
    }
}

/// What the page says of assumed numbers: how many there are.
#[test]
fn the_page_counts_what_is_assumed() {
    let numbers = Numbers::origins();
    let assumed = numbers.iter().filter(|(_, _, number)| number.kind == NumberKind::Assumed).count();
    let says = format!("{assumed} of its {} numbers are `assumed`", numbers.len());
    assert!(page().contains(&says), "docs/training.md should say: {says}");
}
