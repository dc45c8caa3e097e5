//! Writer of Touchstone files: version 1, real and imaginary parts, Hz; version 2 if ports have different references.

use crate::network::Network;
use num_complex::Complex64;
use std::fmt::Write as _;

/// Writes a network as a Touchstone file. Reading the text gives the same network, to the last bit.
#[must_use]
pub fn write(network: &Network) -> String {
    let ports = network.ports();
    let mut text = String::from("! written by lanetwin\n");
    let first = network.reference()[0];
    let same = network.reference().iter().all(|ohm| *ohm == first);
    if same {
        let _ = writeln!(text, "# Hz S RI R {first}");
    } else {
        let list: Vec<String> = network.reference().iter().map(f64::to_string).collect();
        let order = if ports == 2 { "[Two-Port Data Order] 21_12\n" } else { "" };
        let _ = write!(
            text,
            "[Version] 2.0\n# Hz S RI\n[Number of Ports] {ports}\n{order}[Number of Frequencies] {}\n[Reference] {}\n[Network Data]\n",
            network.frequencies().len(),
            list.join(" "),
        );
    }
    for (index, f) in network.frequencies().iter().enumerate() {
        let _ = write!(text, "{f}");
        push_record(&mut text, network.at(index), ports);
    }
    if !same {
        text.push_str("[End]\n");
    }
    text
}

/// Two ports in one line, column by column; more of them row by row, four cells a line.
fn push_record(text: &mut String, s: &[Complex64], ports: usize) {
    let mut put = |z: Complex64| {
        let _ = write!(text, " {:e} {:e}", z.re, z.im);
    };
    if ports <= 2 {
        (0..ports).for_each(|column| (0..ports).for_each(|row| put(s[row * ports + column])));
        text.push('\n');
        return;
    }
    for row in s.chunks_exact(ports) {
        for cells in row.chunks(4) {
            for z in cells {
                let _ = write!(text, " {:e} {:e}", z.re, z.im);
            }
            text.push('\n');
        }
    }
}
