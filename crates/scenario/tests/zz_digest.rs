mod tree;
use lanetwin_scenario::world::Options;
#[test]
fn print_digests() {
    for file in tree::scenarios() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if ["two-hosts", "drive-commands", "dual-port", "tenants", "fio", "arbitration", "pts-iops"].contains(&&*name) {
            let begun = std::time::Instant::now();
            let r = tree::results(&tree::plan_of(&file, &[]), &Options::default());
            println!("{name} {} {:?}", r.digest.unwrap(), begun.elapsed());
            for row in r.rows.iter().filter(|r| r.metric == "IOPS" || r.metric.contains("failed")) { println!("{} {} {} {:?} {} {}", row.variant, row.workload, row.case, row.device, row.metric, row.value); }
            for a in &r.actions { println!("{a:?}"); }
        }
    }
}
