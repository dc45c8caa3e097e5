//! Marks: when something that was followed had passed which place. The time between two marks is that of the later
//! one's name.

use lanetwin_media::dram::ReadSteps;
use lanetwin_units::Instant;

/// The end of a stretch of time, and what it was spent on.
pub type Mark = (Instant, &'static str);

/// The marks of a read of DRAM that ends at `done`; without steps, it was not read from the array (a write that waits
/// had the line), or nothing was recorded of it.
pub(crate) fn of_read(steps: Option<ReadSteps>, done: Instant) -> Vec<Mark> {
    let Some(ReadSteps { precharged, activated, column, burst }) = steps else { return vec![(done, "DRAM")] };
    let mut marks = vec![(precharged.or(activated).unwrap_or(column), "DRAM queue")];
    if let (Some(_), Some(activated)) = (precharged, activated) {
        marks.push((activated, "DRAM precharge"));
    }
    if activated.is_some() {
        marks.push((column, "DRAM activate"));
    }
    marks.extend([(burst, "DRAM CAS latency"), (done, "DRAM burst")]);
    marks
}
