//! How the software used its cores, by what it was that a core did.

use lanetwin_kernel::Report;
use lanetwin_ports::usage::cpu;
use lanetwin_units::Span;

/// How the software of a queue used its core so far.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct CpuUse {
    /// From requests to doorbells.
    pub(super) submitting: Span,
    /// From interrupts to the first look at what they are about.
    pub(super) interrupted: Span,
    /// With completion entries.
    pub(super) completing: Span,
    /// How many interrupts there were.
    pub(super) interrupts: u64,
}

/// Tells what queues have used; all of it is the program's own time where no kernel is asked.
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
