//! Timeouts, and waiting for a condition.

use crate::host::{Host, HostError};
use lanetwin_units::Span;

const fn ms(ms: u64) -> Span {
    Span::from_us(ms * 1_000)
}

/// Timeout for a link to train \[ps\]: Linux `PCIE_LINK_RETRAIN_TIMEOUT_MS`.
pub const FOR_LINK: Span = ms(1_000);
/// Time from the end of a reset to the first access: PCIe Base §6.6.1, 100 ms.
pub const AFTER_RESET: Span = ms(100);
/// Duration of a reset: PCIe Base §7.5.1.3.13 requires 1 ms, Linux uses 2 ms.
pub const IN_RESET: Span = ms(2);
/// Time for a transition between D3hot and D0: PCIe Base §5.9, 10 ms.
pub const FOR_POWER: Span = ms(10);
/// Timeout for a device to respond after a reset: Linux `PCIE_RESET_READY_POLL_MS`.
pub const FOR_READY: Span = ms(60_000);
/// Timeout for a link to go down after it was disabled: PCIe Base §4.2.6.9 allows 2 ms; software sees it a little
/// later.
pub const FOR_DOWN: Span = ms(100);

/// The first pause between two checks, and the longest.
const PAUSES: (Span, Span) = (Span::from_us(10), ms(1));

/// Polls until `done` returns true, at most for `limit`. Returns whether it did.
///
/// # Errors
/// As `done`.
pub fn until(
    host: &mut dyn Host,
    limit: Span,
    mut done: impl FnMut(&mut dyn Host) -> Result<bool, HostError>,
) -> Result<bool, HostError> {
    let start = host.now();
    let (mut pause, longest) = PAUSES;
    loop {
        if done(host)? {
            return Ok(true);
        }
        if host.now().since(start) >= limit {
            return Ok(false);
        }
        host.wait(pause);
        pause = Span::from_ps(pause.as_ps() * 3 / 2).min(longest);
    }
}
