//! Reading a memory trace: any text is understood or told what is wrong with it, with a known code, a remedy and a
//! place; what is understood runs to its end, within its footprint.

use lanetwin_load::memory::recorded::CODES;
use lanetwin_load::memory::{Dependence, MemoryTrace, Program, RecordedProgram};
use lanetwin_units::Span;
use std::sync::Arc;

crate::input::promise!(|text: &str| {
    let trace = match MemoryTrace::read(text, "test.lackey") {
        Ok(trace) => Arc::new(trace),
        Err(findings) => {
            assert!(!findings.is_empty());
            let lines = text.lines().count().max(1) as u32;
            for finding in findings {
                assert!(CODES.contains(&finding.code), "{finding}");
                assert!(!finding.message.is_empty() && !finding.help.is_empty(), "{finding}");
                assert!(finding.line <= lines, "{finding}");
            }
            return;
        }
    };
    let mut program = RecordedProgram::new(Arc::clone(&trace), Dependence::All, Span::from_ps(200));
    let mut steps = 0;
    for thread in 0..program.threads() {
        while let Some(step) = program.next(thread) {
            assert!(step.address < program.footprint() && step.address % 64 == 0);
            steps += 1;
        }
    }
    assert_eq!(steps, trace.steps());
    assert!(steps > 0 && program.footprint() == trace.pages() * 4096);
});
