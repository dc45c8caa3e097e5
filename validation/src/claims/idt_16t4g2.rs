mod machine;
mod mechanism;
mod predict;
mod table;
#[cfg(test)]
mod probe {
    use super::machine::*;
    use super::mechanism::*;
    use super::predict::*;
    use super::table::*;
    #[test]
    fn probe() {
        {
            let mb = Megabyte::Binary;
            let base: Vec<_> = published()
                .iter()
                .map(|row| predict(row.workload, &Mechanism::BASE, row.without * mb.bytes()))
                .collect();
            for m in mechanisms() {
                let mut line = format!("{:34} {:26}", m.name, m.end);
                for (row, base) in published().iter().zip(&base) {
                    let p = if m.is_of_switch() {
                        predict_again(row.workload, &m, base)
                    } else {
                        predict(row.workload, &m, row.without * mb.bytes())
                    };
                    line += &format!(
                        " {:7.1}/{:7.1} ({:+5.1} %)",
                        p.with.bytes_per_second / mb.bytes(),
                        p.without.bytes_per_second / mb.bytes(),
                        100.0 * (p.with.bytes_per_second / base.with.bytes_per_second - 1.0)
                    );
                }
                eprintln!("SW {line}");
            }
        }
        for mb in Megabyte::ALL {
            break;
            for row in published() {
                let t = std::time::Instant::now();
                let p = predict(row.workload, &Mechanism::BASE, row.without * mb.bytes());
                eprintln!(
                    "{} {:32} without {:8.1} ({:8.1}) with {:8.1} ({:8.1}) slow {:.2} ms {:?}",
                    mb.name(),
                    row.workload.name(),
                    p.without.bytes_per_second / mb.bytes(),
                    row.without,
                    p.with.bytes_per_second / mb.bytes(),
                    row.with,
                    p.slow * 1e3,
                    t.elapsed()
                );
            }
        }
    }
}
