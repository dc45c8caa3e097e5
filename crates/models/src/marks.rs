//! The stages of a read of DRAM, as whoever has DRAM marks them: they come before its own.

use lanetwin_media::dram::{Done, Machine, ReadSteps};
use lanetwin_ports::Context;

lanetwin_kernel::stages! {
    DRAM_QUEUE = "DRAM queue",
    PRECHARGE = "DRAM precharge",
    ACTIVATE = "DRAM activate",
    CAS = "DRAM CAS latency",
    BURST = "DRAM burst",
    DRAM = "DRAM",
}

/// Marks where the read was that is being handled, which was offered to its memory when its marks end; with no steps it
/// was not read from the array (a write that waits had the line).
#[inline]
pub(crate) fn mark_read(memory: &Machine, done: &Done, cx: &mut Context<'_>) {
    if let Some(offered) = cx.marked_until() {
        let Some(ReadSteps { precharged, activated, column, burst }) = memory.read_steps(done, offered)
        else {
            return cx.mark_until(done.at, DRAM);
        };
        cx.mark_until(precharged.or(activated).unwrap_or(column), DRAM_QUEUE);
        if let (Some(_), Some(activated)) = (precharged, activated) {
            cx.mark_until(activated, PRECHARGE);
        }
        if activated.is_some() {
            cx.mark_until(column, ACTIVATE);
        }
        cx.mark_until(burst, CAS);
        cx.mark_until(done.at, BURST);
    }
}
