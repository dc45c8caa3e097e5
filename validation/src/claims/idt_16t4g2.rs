mod machine;
#[cfg(test)]
mod probe {
    use super::machine::*;
    #[test]
    fn probe() {
        for access in ["1ms"] {
            let setup = Setup {
                changes: [0, 1, 2]
                    .map(|i| (format!("machine.hba{i}.target.access"), access.to_owned()))
                    .into(),
                outstanding: 1,
            };
            for w in [Workload::SequentialReads] {
                let t = std::time::Instant::now();
                let a = run(w, Switch::Without, &setup);
                let ta = t.elapsed();
                let b = run(w, Switch::With, &setup);
                eprintln!(
                    "{access} {:32} without {:8.1} MB/s ({:?}) with {:8.1} MB/s ({:?})",
                    w.name(),
                    a.bytes_per_second / 1e6,
                    ta,
                    b.bytes_per_second / 1e6,
                    t.elapsed() - ta
                );
            }
        }
    }
}
