//! How long a channel takes: read, made differential, brought to a grid, cascaded. Not a test: it prints times.
//!
//! `cargo bench -p lanetwin-phy`. An eye may take 8 ms of a core if 250 channels a second are to be had from two.

use lanetwin_phy::budget::{Chain, Item};
use lanetwin_phy::element::{Axis, Corner, Element, Length, Library};
use lanetwin_phy::network::{Grid, Network, Pairing};
use lanetwin_phy::quality::Quality;
use lanetwin_phy::{DataRate, touchstone};
use std::hint::black_box;
use std::time::Instant;

/// The fastest of many rounds: what else runs on the machine only slows a round down.
fn timed<T>(what: &str, mut work: impl FnMut() -> T) {
    let (mut best, begin) = (f64::INFINITY, Instant::now());
    while begin.elapsed().as_millis() < 700 {
        let start = Instant::now();
        black_box(work());
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{what:<60} {:9.3} ms", best * 1e3);
}

/// Processor, board, two vias, slot, card, cable with its ends, bay, board, drive: 11 lines, 4 capacitances.
fn chain() -> Option<Chain> {
    let trace = |name: &str, inches| Some(Element::Trace(name.into(), Length::inches(inches).ok()?));
    Chain::new(vec![
        Item::new("cpu", Element::Package("root-gen5".into())),
        Item::new("board", trace("low-loss", 13.0)?),
        Item::new("via-1", Element::Via("via".into())),
        Item::new("slot", Element::Connector("cem".into())),
        Item::new("card", trace("low-loss", 3.0)?),
        Item::new("via-2", Element::Via("via".into())),
        Item::new("cable", Element::Cable("twinax-30awg".into(), Length::metres(0.5).ok()?)),
        Item::new("bay", Element::Connector("edsff".into())),
        Item::new("drive", Element::Package("endpoint-gen5".into())),
    ])
    .ok()
}

fn main() {
    let library = Library::standard();
    let chain = chain().expect("the names differ");
    for (step, last) in [(10e6, 40e9), (10e6, 64e9), (20e6, 40e9)] {
        let axis = Axis::new(Grid::new(step, last).expect("a grid"));
        let label = format!("transfer of a parametric chain, {} MHz to {} GHz", step / 1e6, last / 1e9);
        timed(&label, || chain.transfer(0, library, Corner::Nominal, &axis, 100.0));
    }
    timed("margins of the chain at Gen5", || chain.margins(library, Corner::Nominal, DataRate::Gen5));
    timed("placements of up to two retimers", || {
        chain.placements("generic-gen5", 2, &[], (library, Corner::Nominal, DataRate::Gen5))
    });

    // a file of 4 ports as large as the common ones: 4001 frequencies, made of two of the chains
    let axis = Axis::new(Grid::new(10e6, 40e9).expect("a grid"));
    let (two, _) = chain.segment_network(0, library, Corner::Nominal, &axis, 50.0).expect("a channel");
    let cells: Vec<_> = (0..two.frequencies().len()).flat_map(|at| side_by_side(two.at(at))).collect();
    let four = Network::new(two.frequencies().to_vec(), vec![50.0; 4], cells).expect("a network");
    let text = touchstone::write(&four);
    println!("a file of {:.1} MB:", text.len() as f64 / 1e6);
    timed("read", || touchstone::read(&text, Some(4)));
    if let Some(file) = std::env::args().find(|word| word.ends_with("p") && word.contains(".s")) {
        timed(&format!("read {file}"), || touchstone::read_file(file.as_ref()));
    }
    timed("find the pairing", || Pairing::detect(&four));
    timed("make differential", || four.differential(&Pairing::low_near()));
    timed("quality", || Quality::of(&four));
    let line = four.differential(&Pairing::low_near()).expect("a lane");
    let other = Grid::new(12.5e6, 64e9).expect("a grid");
    timed("bring the two-port to another grid (12.5 MHz to 64 GHz)", || line.on_grid(other));
}

/// Two lines without coupling: 1 to 3 and 2 to 4.
fn side_by_side(s: &[num_complex::Complex64]) -> Vec<num_complex::Complex64> {
    let zero = num_complex::Complex64::new(0.0, 0.0);
    let mut cells = vec![zero; 16];
    for line in 0..2 {
        for (to, from) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            cells[(line + 2 * to) * 4 + line + 2 * from] = s[to * 2 + from];
        }
    }
    cells
}
