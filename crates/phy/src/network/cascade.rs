//! Cascades of networks: the far ports of one are connected to the near ports of the next.
//!
//! For blocks A and B with the near ports first, and the multiple reflections between them summed in closed form:
//!
//! | block | is |
//! |---|---|
//! | S11 | A11 + A12·(1 − B11·A22)⁻¹·B11·A21 |
//! | S21 | B21·(1 − A22·B11)⁻¹·A21 |
//! | S12 | A12·(1 − B11·A22)⁻¹·B12 |
//! | S22 | B22 + B21·(1 − A22·B11)⁻¹·A22·B12 |
//!
//! Unlike with T-parameters, there is no division by a through term: a channel of 200 dB is as exact as one of 2 dB.

use crate::complex::ONE;
use crate::matrix::Matrix;
use crate::network::{Network, scattering};
use crate::problem::{Finding, Problem};
use num_complex::Complex64;

/// A chain of networks with the same frequencies and the same, even number of ports: near ports first, then far ports.
/// Where reference resistances differ at a joint, the later network is converted (`PH110`).
///
/// # Errors
/// `PH017` for numbers of ports that do not fit, `PH026` for frequencies that differ, `PH013` for a joint that no
/// passive networks have, `PH010` for no networks at all.
pub fn cascade(networks: &[&Network]) -> Result<(Network, Vec<Finding>), Finding> {
    let Some((first, rest)) = networks.split_first() else { return Err(Problem::NoData.found()) };
    let mut made = (*first).clone();
    let mut found = Vec::new();
    for next in rest {
        check(&made, next)?;
        let lanes = made.ports() / 2;
        let mut reference = next.reference().to_vec();
        reference[..lanes].copy_from_slice(&made.reference()[lanes..]);
        if reference == next.reference() {
            made = join(made, next)?;
        } else {
            let list = |ohm: &[f64]| format!("{} Ω", ohm[0]);
            found.push(Problem::Renormalised { from: list(next.reference()), to: list(&reference) }.found());
            made = join(made, &renormalised_near(next, &reference)?)?;
        }
    }
    Ok((made, found))
}

fn renormalised_near(network: &Network, reference: &[f64]) -> Result<Network, Finding> {
    let mut cells = Vec::with_capacity(network.cells().len());
    for index in 0..network.frequencies().len() {
        let made = scattering(&network.matrix(index), network.reference(), reference).ok_or_else(singular)?;
        cells.extend_from_slice(made.cells());
    }
    Ok(Network::unchecked(network.frequencies().to_vec(), reference.to_vec(), cells))
}

fn check(left: &Network, right: &Network) -> Result<(), Finding> {
    if left.ports() != right.ports() || !left.ports().is_multiple_of(2) {
        return Err(Problem::PortsDiffer { left: left.ports(), right: right.ports() }.found());
    }
    if left.frequencies() != right.frequencies() {
        return Err(Problem::GridsDiffer.found());
    }
    Ok(())
}

fn singular() -> Finding {
    Problem::NoScattering { why: "a joint reflects everything from both sides" }.found()
}

fn join(left: Network, right: &Network) -> Result<Network, Finding> {
    let lanes = left.ports() / 2;
    let reference = [&left.reference()[..lanes], &right.reference()[lanes..]].concat();
    let Network { frequencies, mut cells, .. } = left;
    if lanes == 1 {
        for (a, b) in cells.chunks_exact_mut(4).zip(right.cells().chunks_exact(4)) {
            join_two_ports(a, b);
        }
        if cells.iter().any(|z| !z.re.is_finite() || !z.im.is_finite()) {
            return Err(singular());
        }
    } else {
        let size = lanes * lanes * 4;
        for (a, b) in cells.chunks_exact_mut(size).zip(right.cells().chunks_exact(size)) {
            let joined = join_blocks(a, b, lanes).ok_or_else(singular)?;
            a.copy_from_slice(joined.cells());
        }
    }
    Ok(Network::unchecked(frequencies, reference, cells))
}

/// Puts A followed by B into A; not finite if the joint is singular.
pub(crate) fn join_two_ports(a: &mut [Complex64], b: &[Complex64]) {
    let (a11, a12, a21, a22) = (a[0], a[1], a[2], a[3]);
    let (b11, b12, b21, b22) = (b[0], b[1], b[2], b[3]);
    let bounce = ONE - a22 * b11;
    // one real division for one complex one
    let bounce = bounce.conj() * (1.0 / bounce.norm_sqr());
    let (forward, backward) = (a21 * bounce, b12 * bounce);
    a[0] = a11 + a12 * b11 * forward;
    a[1] = a12 * backward;
    a[2] = b21 * forward;
    a[3] = b22 + b21 * a22 * backward;
}

fn join_blocks(a: &[Complex64], b: &[Complex64], lanes: usize) -> Option<Matrix> {
    let (a, b) = (Matrix::from_rows(2 * lanes, a), Matrix::from_rows(2 * lanes, b));
    let near: Vec<usize> = (0..lanes).collect();
    let far: Vec<usize> = (lanes..2 * lanes).collect();
    let (a12, a21, a22) = (a.part(&near, &far), a.part(&far, &near), a.part(&far, &far));
    let (b11, b12, b21) = (b.part(&near, &near), b.part(&near, &far), b.part(&far, &near));
    let one = Matrix::identity(lanes);
    let before = |right: Matrix| one.minus(&b11.times(&a22)).solve(right);
    let after = |right: Matrix| one.minus(&a22.times(&b11)).solve(right);
    let s11 = a.part(&near, &near).plus(&a12.times(&before(b11.times(&a21))?));
    let s12 = a12.times(&before(b12.clone())?);
    let s21 = b21.times(&after(a21.clone())?);
    let s22 = b.part(&far, &far).plus(&b21.times(&after(a22.times(&b12))?));
    let mut made = Matrix::zero(2 * lanes);
    for row in 0..lanes {
        for column in 0..lanes {
            made[(row, column)] = s11[(row, column)];
            made[(row, column + lanes)] = s12[(row, column)];
            made[(row + lanes, column)] = s21[(row, column)];
            made[(row + lanes, column + lanes)] = s22[(row, column)];
        }
    }
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complex::{ZERO, magnitude};
    use proptest::prelude::*;

    fn c(re: f64, im: f64) -> Complex64 {
        Complex64::new(re, im)
    }

    /// A passive network of `ports` ports: any matrix, shrunk until its largest singular value is 0.99.
    fn passive(ports: usize) -> impl Strategy<Value = Network> {
        prop::collection::vec((-1.0..1.0, -1.0..1.0), ports * ports).prop_map(move |cells| {
            let cells: Vec<Complex64> = cells.into_iter().map(|(re, im)| c(re, im)).collect();
            let sigma = Matrix::from_rows(ports, &cells).largest_singular_value();
            let cells = cells.into_iter().map(|z| z * (0.99 / sigma.max(0.1))).collect();
            Network::new(vec![1e9], vec![50.0; ports], cells).unwrap()
        })
    }

    fn close(a: &Network, b: &Network) -> bool {
        a.cells().iter().zip(b.cells()).all(|(a, b)| magnitude(a - b) < 1e-9)
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_a_chain_is_grouped(
            a in passive(2), b in passive(2), d in passive(2), e in passive(4), f in passive(4), g in passive(4),
        ) {
            for (a, b, d) in [(&a, &b, &d), (&e, &f, &g)] {
                let (left, _) = cascade(&[&cascade(&[a, b]).unwrap().0, d]).unwrap();
                let (right, _) = cascade(&[a, &cascade(&[b, d]).unwrap().0]).unwrap();
                prop_assert!(close(&left, &right));
            }
        }

        #[test]
        fn a_chain_of_passive_networks_is_passive(a in passive(4), b in passive(4)) {
            let (chain, _) = cascade(&[&a, &b]).unwrap();
            prop_assert!(chain.matrix(0).largest_singular_value() <= 1.0 + 1e-12);
        }

        #[test]
        fn two_separate_lines_are_two_chains(a in passive(2), b in passive(2), d in passive(2), e in passive(2)) {
            // lines side by side: ports near 1, near 2, far 1, far 2
            let beside = |x: &Network, y: &Network| {
                let (x, y) = (x.at(0), y.at(0));
                let rows = [x[0], ZERO, x[1], ZERO, ZERO, y[0], ZERO, y[1], x[2], ZERO, x[3], ZERO, ZERO, y[2], ZERO, y[3]];
                Network::new(vec![1e9], vec![50.0; 4], rows.to_vec()).unwrap()
            };
            let (both, _) = cascade(&[&beside(&a, &b), &beside(&d, &e)]).unwrap();
            let apart = beside(&cascade(&[&a, &d]).unwrap().0, &cascade(&[&b, &e]).unwrap().0);
            prop_assert!(close(&both, &apart));
        }

        #[test]
        fn the_reference_of_a_joint_does_not_matter(a in passive(2), b in passive(2), ohm in 10.0..200.0f64) {
            let (chain, found) = cascade(&[&a, &b]).unwrap();
            prop_assert_eq!(found, []);
            let inner = b.renormalised(&[ohm, 50.0]).unwrap();
            let (other, found) = cascade(&[&a, &inner]).unwrap();
            prop_assert_eq!(found.len(), usize::from(inner.reference() != b.reference()));
            prop_assert!(close(&chain, &other));
        }
    }

    /// Two attenuators of 100 dB: T-parameters would divide by 1e-5 twice; here the loss simply adds.
    #[test]
    fn deep_losses_stay_exact() {
        let deep =
            Network::new(vec![1.0], vec![50.0; 2], vec![ZERO, c(1e-5, 0.0), c(1e-5, 0.0), ZERO]).unwrap();
        let (chain, _) = cascade(&[&deep, &deep, &deep]).unwrap();
        assert!((chain.at(0)[2].re / 1e-15 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let net = |f: f64, ports: usize| {
            Network::new(vec![f], vec![50.0; ports], vec![ZERO; ports * ports]).unwrap()
        };
        let code = |a: &Network, b: &Network| cascade(&[a, b]).unwrap_err().code;
        assert_eq!(code(&net(1.0, 2), &net(1.0, 4)), "PH017");
        assert_eq!(code(&net(1.0, 3), &net(1.0, 3)), "PH017");
        assert_eq!(code(&net(1.0, 2), &net(2.0, 2)), "PH026");
        let mirror = Network::new(vec![1.0], vec![50.0; 2], vec![ONE, ZERO, ZERO, ONE]).unwrap();
        assert_eq!(code(&mirror, &mirror), "PH013");
    }
}
