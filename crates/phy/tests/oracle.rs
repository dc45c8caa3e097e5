//! The algebra of networks against numbers from another implementation: scikit-rf 2.2.0 (`a ** b`, `se2gmm`,
//! `renormalize(s_def="power")`), for networks that a formula makes.

use lanetwin_phy::network::{Block, Lane, Network, Pair, Pairing, cascade};
use num_complex::Complex64;

/// S_ij at (k + 1) GHz = 0.6/n · (cos φ + j·sin 2φ) with φ = 1.3·i + 0.7·j + 0.2·k² + seed; i, j and k from 0.
fn network(ports: usize, seed: f64) -> Network {
    let mut cells = Vec::new();
    for k in 0..3 {
        for i in 0..ports {
            for j in 0..ports {
                let phase = 1.3 * i as f64 + 0.7 * j as f64 + 0.2 * f64::from(k * k) + seed;
                let cell = Complex64::new(libm::cos(phase), libm::sin(2.0 * phase));
                cells.push(cell * (0.6 / ports as f64));
            }
        }
    }
    Network::new(vec![1e9, 2e9, 3e9], vec![50.0; ports], cells).expect("a network")
}

/// ((to, from), (real, imaginary)).
type Cell = ((usize, usize), (f64, f64));

fn check(network: &Network, at: usize, expected: &[Cell]) {
    for ((to, from), (re, im)) in expected {
        let cell = network.at(at)[to * network.ports() + from];
        let off = cell - Complex64::new(*re, *im);
        assert!(off.re.abs() < 1e-14 && off.im.abs() < 1e-14, "{to} {from}: {cell}");
    }
}

#[test]
fn cascades_agree() {
    let (four, _) = cascade(&[&network(4, 0.1), &network(4, 2.3)]).unwrap();
    check(
        &four,
        2,
        &[
            ((0, 0), (0.089558079217206, 0.146211939084955)),
            ((2, 1), (0.029663644027597, 0.007551152954176)),
            ((1, 3), (-0.010350206893153, 0.036256033357101)),
            ((3, 2), (-0.073249581639284, -0.134774092142823)),
        ],
    );
    let (two, _) = cascade(&[&network(2, 0.1), &network(2, 2.3)]).unwrap();
    check(
        &two,
        1,
        &[
            ((0, 0), (0.284373652739916, 0.169395721271288)),
            ((1, 0), (0.006607720607420, 0.002375615888192)),
            ((0, 1), (-0.046138128141741, -0.079008425302756)),
        ],
    );
}

#[test]
fn mixed_modes_agree() {
    let lane = Lane { near: Pair { p: 0, n: 1 }, far: Pair { p: 2, n: 3 } };
    let mixed = network(4, 0.1).mixed_mode(&Pairing::new(vec![lane]).unwrap()).unwrap();
    check(
        mixed.network(),
        1,
        &[
            ((1, 0), (0.045193008146087, -0.185951106045234)),
            ((0, 0), (-0.016653173679080, -0.095997886022740)),
            ((3, 0), (-0.056322970468404, -0.002789400444203)),
            ((1, 2), (-0.117297609717421, -0.011929057080072)),
            ((3, 2), (-0.162859877505140, 0.061288909745381)),
        ],
    );
    assert_eq!(mixed.network().reference(), [100.0, 100.0, 25.0, 25.0]);
    check(&mixed.block(Block::Cd), 1, &[((1, 0), (-0.056322970468404, -0.002789400444203))]);
    check(&mixed.block(Block::Dc), 1, &[((1, 0), (-0.117297609717421, -0.011929057080072))]);
}

#[test]
fn other_references_agree() {
    let other = network(3, 0.4).renormalised(&[75.0, 25.0, 100.0]).unwrap();
    check(
        &other,
        2,
        &[
            ((0, 0), (-0.105596673786072, 0.120110660952668)),
            ((1, 0), (-0.164557889618694, -0.217344008119573)),
            ((0, 2), (-0.183520645988788, -0.167981186916794)),
            ((2, 2), (-0.239496115234646, -0.152150521302974)),
        ],
    );
}
