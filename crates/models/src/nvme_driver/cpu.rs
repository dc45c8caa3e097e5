//! CPU time of the driver, by kind of work.

use lanetwin_kernel::Report;
use lanetwin_ports::usage::cpu;
use lanetwin_units::Span;

/// CPU time of the software of a queue so far.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct CpuUse {
    /// Time from requests to doorbells.
    pub(super) submitting: Span,
    /// Time from interrupts to the first look at completions.
    pub(super) interrupted: Span,
    /// With completion entries.
    pub(super) completing: Span,
    /// Number of interrupts.
    pub(super) interrupts: u64,
}

/// Reports the CPU time of queues; all of it is the program's own if the kernel is bypassed.
pub(super) fn report(uses: &[CpuUse], (past_kernel, polled): (bool, bool), report: &mut Report) {
    let sum = |of: &dyn Fn(&CpuUse) -> Span| uses.iter().map(|one| of(one).as_ps()).sum::<u64>();
    let [submitting, completing] = [sum(&|cpu| cpu.submitting), sum(&|cpu| cpu.completing)];
    let [user, kernel, deferred] = match (past_kernel, polled) {
        (true, _) => [submitting + completing, 0, 0],
        (false, true) => [0, submitting + completing, 0],
        (false, false) => [0, submitting, completing],
    };
    report.count(cpu::USER, user);
    report.count(cpu::KERNEL, kernel);
    report.count(cpu::DEFERRED, deferred);
    report.count(cpu::INTERRUPT, sum(&|cpu| cpu.interrupted));
    report.count(cpu::INTERRUPTS, uses.iter().map(|one| one.interrupts).sum());
}
