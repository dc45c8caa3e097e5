use super::*;
use crate::complex::{ZERO, magnitude};
use crate::network::Network;
use num_complex::Complex64;
use proptest::prelude::*;

fn ok(text: &str, ports: usize) -> Network {
    read(text, Some(ports)).unwrap_or_else(|found| panic!("{found:?}\n{text}")).network
}

fn codes(text: &str, ports: usize) -> Vec<(&'static str, u32, u32)> {
    let found = match read(text, Some(ports)) {
        Ok(reading) => reading.warnings,
        Err(found) => found,
    };
    found.into_iter().map(|finding| (finding.code, finding.line, finding.column)).collect()
}

fn c(re: f64, im: f64) -> Complex64 {
    Complex64::new(re, im)
}

#[test]
fn names_say_the_number_of_ports() {
    assert_eq!(ports_of_name("a/b.c/line.s4p"), Some(4));
    assert_eq!(ports_of_name("LINE.S12P"), Some(12));
    for name in ["line.ts", "line", "line.sp", "line.s+4p", "line.s4px", "s4p"] {
        assert_eq!(ports_of_name(name), None, "{name}");
    }
}

#[test]
fn the_three_forms_of_a_number_mean_the_same() {
    for text in ["# GHz S RI\n1 0 0.1", "# GHz S MA\n1 0.1 90", "# GHz S DB\n1 -20 90"] {
        assert!(magnitude(ok(text, 1).at(0)[0] - c(0.0, 0.1)) < 1e-15, "{text}");
    }
}

#[test]
fn two_ports_come_column_by_column_and_more_row_by_row() {
    let two = ok("# Hz S RI\n5 11 0 21 0 12 0 22 0", 2);
    assert_eq!(two.at(0), [c(11.0, 0.0), c(12.0, 0.0), c(21.0, 0.0), c(22.0, 0.0)]);
    let three = ok("# Hz S RI\n5 11 0 12 0 13 0\n 21 0 22 0 23 0\n31 0 32 0 33 0", 3);
    assert_eq!(three.term(1, 2), [c(23.0, 0.0)]);
}

#[test]
fn however_rows_are_wrapped_they_are_the_same_numbers() {
    let head = "! remark\n# MHz S RI R 75 ! again\n";
    let numbers: Vec<String> =
        (0..66).map(|k| if k == 33 { "9".into() } else { format!("{k}e-2") }).collect();
    let wrapped = |width: usize| {
        let lines: Vec<String> = numbers.chunks(width).map(|words| words.join("  ")).collect();
        format!("{head}{}", lines.join(" ! end\r\n"))
    };
    let expected = ok(&wrapped(33), 4);
    assert_eq!(expected.frequencies(), [0.0, 9e6]);
    assert_eq!(expected.reference(), [75.0; 4]);
    for width in 1..=66 {
        assert_eq!(ok(&wrapped(width), 4), expected, "{width}");
    }
}

#[test]
fn line_ends_marks_and_old_exponents_are_understood() {
    let expected = ok("# Hz S RI\n1 0.001 0\n2 0.001 0\n", 1);
    for text in [
        "\u{feff}# Hz S RI\r\n1 0.001 0\r\n2 0.001 0",
        "# Hz S RI\r1 0.001 0\r2 0.001 0\r",
        "#HZ s ri\n\n1\t1.0D-3 0\n2 1d-3 +0 ! °\n",
    ] {
        assert_eq!(ok(text, 1), expected, "{text:?}");
    }
}

#[test]
fn noise_data_end_the_network_data_of_two_ports() {
    let text = "# GHz S RI\n1 0 0 1 0 1 0 0 0\n2 0 0 1 0 1 0 0 0\n1 2.5 0.3 90 0.4\n2 3 0.3 80 0.4\n";
    assert_eq!(ok(text, 2).frequencies(), [1e9, 2e9]);
    assert_eq!(codes(text, 2), [("PH111", 4, 1)]);
    // in a file that wraps its records, five numbers are half a record
    let wrapped = "# GHz S RI\n1 0 0 1 0\n 1 0 0 0\n1 0 0 1 0\n 1 0 0 0\n";
    assert_eq!(codes(wrapped, 2), [("PH009", 4, 1)]);
}

#[test]
fn without_an_option_line_the_defaults_of_the_format_hold() {
    let text = "1 0.5 0\n";
    assert_eq!((ok(text, 1).frequencies()[0], ok(text, 1).reference()[0]), (1e9, 50.0));
    assert_eq!(codes(text, 1), [("PH101", 0, 0)]);
    assert_eq!(codes("# Hz S RI\n# GHz\n1 0 0", 1), [("PH102", 2, 1)]);
}

const VERSION_2: &str = "[Version] 2.0\n# GHz S RI\n[Number of Ports] 3\n[Number of Frequencies] 1\n[Reference] 50 75\n 25\n[Begin Information]\n[Vendor's own] x\nprose\n[End Information]\n";

#[test]
fn halves_of_a_matrix_are_mirrored() {
    let lower = format!(
        "{VERSION_2}[Matrix Format] Lower\n[Network Data]\n1 11 0\n 21 0 22 0\n 31 0 32 0 33 0\n[End]\n"
    );
    let upper = format!(
        "{VERSION_2}[Matrix Format] upper\n[Network Data]\n1 11 0 21 0 31 0\n 22 0 32 0\n 33 0\n[End]\nprose"
    );
    let full = format!("{VERSION_2}[Network Data]\n1 11 0 21 0 31 0 21 0 22 0 32 0 31 0 32 0 33 0\n[End]\n");
    let expected = read(&full, None).unwrap();
    assert_eq!(expected.network.reference(), [50.0, 75.0, 25.0]);
    assert_eq!(expected.network.at(0)[7], c(32.0, 0.0));
    for text in [lower, upper] {
        assert_eq!(read(&text, None).unwrap(), expected, "{text}");
    }
}

#[test]
fn the_order_of_two_ports_in_version_2_is_what_the_file_says() {
    let text = |order: &str| {
        format!(
            "[Version] 2.0\n# Hz S RI\n[Number of Ports] 2\n{order}\n[Network Data]\n5 11 0 12 0 21 0 22 0\n[End]"
        )
    };
    let s12 = |order: &str| read(&text(order), None).unwrap().network.at(0)[1];
    assert_eq!(s12("[Two-Port Data Order] 12_21"), c(12.0, 0.0));
    assert_eq!(s12("[Two-Port Data Order] 21_12"), c(21.0, 0.0));
    assert_eq!(read(&text(""), None).unwrap_err()[0].code, "PH030");
}

#[test]
fn mixed_modes_become_single_ended_ports() {
    // SDD21 = SCC21 = 1 of a pair at 1, 2 and one at 3, 4: two wires, 1 to 3 and 2 to 4
    let text = "[Version] 2.0\n# Hz S RI\n[Number of Ports] 4\n[Mixed-Mode Order] D1,2 D3,4\n C1,2 C3,4\n[Network Data]\n\
        5 0 0 1 0 0 0 0 0  1 0 0 0 0 0 0 0  0 0 0 0 0 0 1 0  0 0 0 0 1 0 0 0\n[End]";
    let net = read(text, None).unwrap().network;
    for (to, from) in [(2, 0), (0, 2), (3, 1), (1, 3)] {
        assert!(magnitude(net.at(0)[to * 4 + from] - c(1.0, 0.0)) < 1e-15);
    }
    assert!(magnitude(net.at(0)[0]) + magnitude(net.at(0)[1]) < 1e-15);
    let wrong = text.replace("C3,4", "C3,3");
    assert_eq!(read(&wrong, None).unwrap_err()[0].code, "PH007");
}

/// A series resistor of 100 Ω: y = ±1/100 S, ±0.5 normalised to 50 Ω; all cells of S are 1/2.
#[test]
fn other_parameters_become_s_and_version_1_normalises_them() {
    let v1 = "# Hz Y RI R 50\n1 0.5 0 -0.5 0 -0.5 0 0.5 0";
    let v2 = "[Version] 2.0\n# Hz Y RI R 50\n[Number of Ports] 2\n[Two-Port Data Order] 12_21\n[Network Data]\n1 0.01 0 -0.01 0 -0.01 0 0.01 0";
    for net in [ok(v1, 2), read(v2, None).unwrap().network] {
        assert!(net.at(0).iter().all(|s| magnitude(s - c(0.5, 0.0)) < 1e-14), "{net:?}");
    }
    // a shunt resistor of 25 Ω: every z is 25 Ω, half of 50; S11 = −1/2, S21 = 1/2
    let shunt = ok("# Hz Z RI R 50\n1 0.5 0 0.5 0 0.5 0 0.5 0", 2);
    assert!(magnitude(shunt.at(0)[0] + 0.5) + magnitude(shunt.at(0)[1] - 0.5) < 1e-14);
    // an ideal transformer of 1:1 is h12 = 1, h21 = −1: a wire
    let wire = ok("# Hz H RI R 50\n1 0 0 -1 0 1 0 0 0", 2);
    assert!(magnitude(wire.at(0)[1] - 1.0) < 1e-14);
    assert_eq!(codes("# Hz H RI\n1 0 0", 1), [("PH013", 2, 0)]);
}

#[test]
fn every_mistake_has_its_code_and_its_place() {
    for (text, ports, expected) in [
        ("# Hz S RI\n1 0 x.1\n2 y 0", 1, vec![("PH003", 2, 5), ("PH003", 3, 3)]),
        ("# Hz S RX\n1 0 0", 1, vec![("PH004", 1, 8)]),
        ("# Hz S MA DB\n1 0 0", 1, vec![("PH005", 1, 11)]),
        ("[Version] 2.0\n# Hz\n[Numbr of Ports] 1\n[Network Data]\n1 0 0", 1, vec![("PH006", 3, 1)]),
        ("  [Version] 3\n# Hz\n1 0 0", 1, vec![("PH007", 1, 3)]),
        ("# Hz S RI\n1 0 0\n2 0", 1, vec![("PH008", 3, 1)]),
        ("# Hz S RI\n2 0 0\n  2 0 0", 1, vec![("PH009", 3, 3)]),
        ("# Hz S RI\n", 1, vec![("PH010", 0, 0)]),
        ("", 1, vec![("PH010", 0, 0), ("PH101", 0, 0)]),
        ("# Hz S RI\n[Number of Frequencies] 2\n[Network Data]\n1 0 0", 1, vec![("PH011", 0, 0)]),
        ("# Hz S RI R 0\n1 0 0", 1, vec![("PH012", 0, 0)]),
        ("# Hz S RI R 50 50\n1 0 0", 1, vec![("PH012", 0, 0)]),
        ("# Hz S RI\n1 1e400 0", 1, vec![("PH014", 2, 3)]),
        ("# Hz S RI\n-1 0 0", 1, vec![("PH014", 2, 1)]),
        ("# Hz S DB\n1 1e9 0", 1, vec![("PH014", 2, 0)]),
        ("# Hz S RI\n1 nan 0", 1, vec![("PH003", 2, 3)]),
        ("# Hz S RI\n1 0 0", 500, vec![("PH027", 2, 0)]),
        ("# Hz S RI\n1 0 0", 0, vec![("PH002", 2, 0)]),
    ] {
        assert_eq!(codes(text, ports), expected, "{text:?}");
    }
}

#[test]
fn impedances_in_remarks_are_pointed_out_once() {
    let text = "# Hz S RI R 50\n1 0 0\n! Port Impedance 49.7 -0.1\n2 0 0\n! Port Impedance49.6 -0.1\n";
    assert_eq!(codes(text, 1), [("PH113", 3, 0)]);
}

#[test]
fn data_of_version_2_may_follow_the_header_at_once() {
    let text = "[Version] 2.0\n# MHz Z MA\n[Number of Ports] 1\n[Number of Frequencies] 2\n1 25 0\n2 100 0\n";
    let net = read(text, None).unwrap().network;
    assert!(magnitude(net.at(0)[0] + 1.0 / 3.0) < 1e-15 && magnitude(net.at(1)[0] - 1.0 / 3.0) < 1e-15);
}

#[test]
fn a_file_of_rubbish_is_not_read_to_its_end() {
    let text = format!("# Hz S RI\n{}", "rubbish all over\n".repeat(1000));
    assert!(read(&text, Some(1)).unwrap_err().len() <= 22);
}

#[test]
fn a_file_that_is_not_there_is_a_coded_error() {
    let nowhere = Path::new(env!("CARGO_MANIFEST_DIR")).join("nowhere.s4p");
    assert_eq!(read_file(&nowhere).unwrap_err()[0].code, "PH001");
}

fn any_network() -> impl Strategy<Value = Network> {
    let value = prop_oneof![-1e3..1e3, Just(0.0), Just(-0.0), 1e-300..1e-290, Just(f64::MIN_POSITIVE)];
    (1usize..=6, 1usize..=5, any::<bool>()).prop_flat_map(move |(ports, count, same)| {
        let cells = prop::collection::vec((value.clone(), value.clone()), ports * ports * count);
        let steps = prop::collection::vec(1e-3..1e9f64, count);
        let ohms = prop::collection::vec(1.0..200.0f64, ports);
        (cells, steps, ohms).prop_map(move |(cells, steps, ohms)| {
            let mut f = 0.0;
            let frequencies = steps
                .iter()
                .map(|step| {
                    f += step;
                    f
                })
                .collect();
            let reference = if same { vec![ohms[0]; ports] } else { ohms };
            let cells = cells.into_iter().map(|(re, im)| c(re, im)).collect();
            Network::new(frequencies, reference, cells).unwrap()
        })
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_to_the_last_bit(net in any_network()) {
        let text = write(&net);
        prop_assert_eq!(ok(&text, net.ports()), net, "{}", text);
    }

    #[test]
    fn no_text_panics_and_every_mistake_points_into_the_text(
        text in "([#\\[!0-9a-zA-Z.,\\-+ _]{0,30}[\\]]?\r?\n?){0,12}",
        ports in prop::option::of(0usize..5),
    ) {
        if let Err(found) = read(&text, ports) {
            let lines = text.split(['\r', '\n']).count() as u32;
            for finding in found {
                prop_assert!(finding.line <= lines && !finding.help.is_empty(), "{:?}", finding);
            }
        }
    }
}

#[test]
fn zero_stays_a_number_of_its_own() {
    assert_eq!(ok(&write(&Network::new(vec![0.0], vec![50.0], vec![ZERO]).unwrap()), 1).at(0), [ZERO]);
}
