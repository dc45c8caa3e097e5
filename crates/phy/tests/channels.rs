//! Public channels: files that anybody can download, and that may not be shipped.
//!
//! They are looked for in the folder that LANETWIN_CHANNELS names, by file name; what is not there is skipped and said
//! so. Sources on GitHub, and the losses of SDD21 by scikit-rf 2.2.0 (but for the file that it refuses, whose option
//! line was put in order for it):
//!
//! | file | repository |
//! |---|---|
//! | TEC_Whisper27in_THRU_G14G15_07202016, C2M__Z100_IL14_WC_BOR_H_L_H_THRU | savob/statopt-python, `channels/` |
//! | TEC_Whisper42p8in_…, Case4_FM_…, peters_01_0605_… | StanfordVLSI/dragonphy2, `data/channel_sparam/` |
//! | CABLE1_… | OpenSNPTools/openSNPQual, `example_touchstone/` |
//! | WavePulserDemoBoard, Sparq_demo_16, HDMICableSENoDeembedding | Nubis-Communications/SignalIntegrity |
//! | diff_dut, diff_2xthru, diff_fdf | scikit-rf/scikit-rf, `doc/source/examples/networktheory/ieeep370deembedding/` |
//! | example2_THRU | capn-freako/PyChOpMarg, `chnl_data/` |

use lanetwin_phy::network::{Grid, Network, Pairing};
use lanetwin_phy::quality::{Grade, Quality, check_range};
use lanetwin_phy::{DataRate, touchstone};
use std::path::PathBuf;

/// File, ports in the order P near, N near, P far, N far (from 1), whether P and N are exchanged, loss at 4, 8 and 16
/// GHz.
type Channel = (&'static str, [usize; 4], bool, [Option<f64>; 3]);

const ODD: [usize; 4] = [1, 3, 2, 4];
const LOW: [usize; 4] = [1, 2, 3, 4];
const CROSSED: [usize; 4] = [1, 2, 4, 3];

const THROUGH: [Channel; 16] = [
    ("TEC_Whisper27in_THRU_G14G15_07202016", ODD, false, [Some(8.372), Some(14.779), Some(27.285)]),
    ("C2M__Z100_IL14_WC_BOR_H_L_H_THRU", ODD, false, [Some(3.599), Some(5.459), Some(8.350)]),
    ("example2_THRU", ODD, false, [Some(9.947), Some(16.508), Some(28.515)]),
    ("TEC_Whisper42p8in_Meg6_THRU_C8C9", ODD, false, [Some(11.468), Some(18.721), Some(31.760)]),
    ("TEC_Whisper42p8in_Nelco6_THRU_C8C9", ODD, false, [Some(18.635), Some(33.068), Some(60.407)]),
    ("Case4_FM_13SI_20_T_D13_L6", ODD, false, [Some(17.571), Some(33.386), None]),
    ("peters_01_0605_B1_thru", ODD, false, [Some(10.559), Some(15.927), None]),
    ("peters_01_0605_B12_thru", ODD, false, [Some(13.083), Some(21.752), None]),
    ("peters_01_0605_T20_thru", ODD, false, [Some(21.358), Some(45.615), None]),
    ("CABLE1_TX_pair", ODD, false, [Some(6.454), Some(11.111), Some(22.672)]),
    ("CABLE1_RX_pair", ODD, false, [Some(6.789), Some(12.854), Some(22.935)]),
    ("WavePulserDemoBoard", CROSSED, true, [Some(2.969), Some(4.897), Some(8.574)]),
    ("Sparq_demo_16", LOW, false, [Some(4.9), Some(8.1), Some(16.2)]),
    ("HDMICableSENoDeembedding", CROSSED, true, [Some(9.660), Some(17.165), Some(30.505)]),
    ("diff_dut", LOW, false, [Some(0.7), Some(1.5), None]),
    ("diff_2xthru", LOW, false, [None, None, None]),
];

/// A file of the folder, or nothing, and a word why.
fn channel(name: &str) -> Option<Network> {
    let Some(folder) = std::env::var_os("LANETWIN_CHANNELS") else {
        eprintln!("skipped {name}: LANETWIN_CHANNELS names no folder");
        return None;
    };
    let path = PathBuf::from(folder).join(format!("{name}.s4p"));
    if !path.exists() {
        eprintln!("skipped {name}: {} is not there", path.display());
        return None;
    }
    Some(touchstone::read_file(&path).unwrap_or_else(|found| panic!("{name}: {found:?}")).network)
}

#[test]
fn through_files_load_with_their_pairing_polarity_and_loss() {
    for (name, ports, swapped, losses) in THROUGH {
        let Some(network) = channel(name) else { continue };
        let (pairing, found) = Pairing::detect(&network).unwrap();
        assert_eq!(pairing.order(), ports.map(|port| port - 1), "{name}");
        assert_eq!(found.iter().any(|finding| finding.code == "PH105"), swapped, "{name}");
        let line = network.differential(&pairing).unwrap();
        for (loss, f) in losses.into_iter().zip([4e9, 8e9, 16e9]) {
            match (loss, line.loss_db(1, 0, f)) {
                // to what the table has digits for; between samples 10 MHz apart a ripple shows
                (Some(wanted), Some(found)) => assert!((found - wanted).abs() < 0.1, "{name} {f} {found}"),
                (None, _) => {}
                (Some(_), None) => panic!("{name} stops below {f}"),
            }
        }
    }
}

#[test]
fn the_reference_channel_has_its_loss_to_a_thousandth() {
    let Some(network) = channel("TEC_Whisper27in_THRU_G14G15_07202016") else { return };
    let line = network.differential(&Pairing::odd_near()).unwrap();
    let loss = line.loss_db(1, 0, 16e9).unwrap();
    assert!((loss - 27.285).abs() < 5e-4, "{loss}");
}

#[test]
fn crosstalk_has_to_be_told_its_pairing() {
    let Some(network) = channel("TEC_Whisper27in_FEXT_F11F12_to_G14G15_07212016") else { return };
    assert_eq!(Pairing::detect(&network).unwrap_err().code, "PH015");
    let lane = Pairing::odd_near().lanes()[0];
    let coupling = network.differential_term(lane.far, lane.near);
    assert!(coupling.iter().all(|z| z.norm_sqr() < 0.01));
}

#[test]
fn quality_is_what_the_standard_says_and_range_is_watched() {
    // (PQMi, RQMi, CQMi) by scikit-rf 2.2.0, IEEEP370_FD_QM
    for (name, percent) in [
        ("WavePulserDemoBoard", [99.99552306198737, 100.0, 96.76197485917265]),
        ("peters_01_0605_B1_thru", [100.0, 99.37560792770299, 99.09838170903137]),
        ("diff_dut", [100.0, 100.0, 99.87571524614205]),
    ] {
        let Some(network) = channel(name) else { continue };
        let quality = Quality::of(&network);
        let found = [quality.passivity.percent, quality.reciprocity.percent, quality.causality.percent];
        for (found, wanted) in found.into_iter().zip(percent) {
            assert!((found - wanted).abs() < 1e-6, "{name} {found} {wanted}");
        }
        assert!(quality.passivity.grade >= Grade::Acceptable);
    }
    // measured to 15 GHz: twice the Nyquist frequency of Gen4 is 16, and that of Gen5 itself is 16
    let Some(network) = channel("peters_01_0605_B1_thru") else { return };
    let code = |rate| check_range(&network, rate).map(|finding| finding.code);
    assert_eq!(
        [DataRate::Gen3, DataRate::Gen4, DataRate::Gen5].map(code),
        [None, Some("PH103"), Some("PH018")]
    );
}

#[test]
fn a_channel_on_a_finer_grid_passes_through_its_samples() {
    let Some(network) = channel("TEC_Whisper27in_THRU_G14G15_07202016") else { return };
    let line = network.differential(&Pairing::odd_near()).unwrap();
    let (fine, _) = line.on_grid(Grid::new(5e6, 60e9).unwrap()).unwrap();
    assert_eq!(fine.at(2 * 1600)[2], line.at(1600)[2]);
    // what was left out is found again from its neighbours, 20 MHz apart, though echoes of 10 ns are in it
    let every_second: Vec<f64> = line.frequencies().iter().copied().step_by(2).collect();
    let cells = (0..line.frequencies().len()).step_by(2).flat_map(|at| line.at(at).to_vec()).collect();
    let half = Network::new(every_second, vec![100.0; 2], cells).unwrap();
    let (again, _) = half.on_grid(Grid::new(10e6, 40e9).unwrap()).unwrap();
    let worst = (0..=1600).map(|at| (again.at(at)[2] - line.at(at)[2]).norm_sqr().sqrt()).fold(0.0, f64::max);
    assert!(worst < 1e-2, "{worst:e}");
}
