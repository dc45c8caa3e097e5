//! Reading job files and I/O logs of fio: any bytes are understood or told what is wrong with them, with a known code,
//! a remedy and a place in the text; a log that is understood survives writing and reading; a job that can run makes
//! I/Os that lie on its device.

use lanetwin_load::fio::{CODES, JobWorkload, Stream, Surroundings, iolog, read};
use lanetwin_units::Instant;
use std::sync::Arc;

const CAPACITY: u64 = 1 << 30;

crate::input::promise!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let nothing = |_: &str| Err("no file".to_owned());
    let jobs = match read(&text, "job.fio", &Surroundings::nowhere(&nothing)) {
        Ok(understood) => {
            for job in &understood.file.jobs {
                run(JobWorkload { job: Arc::new(job.clone()), clone: 0, capacity: CAPACITY, log: None });
            }
            understood.warnings
        }
        Err(findings) => findings,
    };
    let log = match iolog::read(&text, "log") {
        Ok((log, warnings)) => {
            let (again, _) = iolog::read(&log.to_text("f"), "log").expect("what was written can be read");
            assert_eq!(again.entries.len(), log.entries.len());
            warnings
        }
        Err(findings) => findings,
    };
    let lines = text.split('\n').count().max(1) as u32;
    for finding in jobs.into_iter().chain(log) {
        assert!(CODES.contains(&finding.code), "{finding}");
        assert!(!finding.message.is_empty() && !finding.help.is_empty(), "{finding}");
        assert!(finding.line <= lines && (finding.line == 0) == (finding.column == 0), "{finding}");
    }
});

/// Some I/Os of a job, if it can run.
fn run(workload: JobWorkload) {
    if workload.check().is_err() {
        return;
    }
    let mut stream = Stream::new(workload, 1, "load");
    for _ in 0..50 {
        let Some(io) = stream.next(Instant::ZERO) else { return };
        assert!(io.bytes > 0 && io.offset + u64::from(io.bytes) <= CAPACITY, "{io:?}");
    }
}
