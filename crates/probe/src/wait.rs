//! How long what may last, and waiting for it.

use crate::host::{Host, HostError};
use lanetwin_units::Span;

const fn ms(ms: u64) -> Span {
    Span::from_us(ms * 1_000)
}

/// For a link to train \[ps\]: Linux `PCIE_LINK_RETRAIN_TIMEOUT_MS`.
pub const FOR_LINK: Span = ms(1_000);
/// From the end of a reset to the first access: PCIe Base §6.6.1, 100 ms.
pub const AFTER_RESET: Span = ms(100);
/// How long a reset is asserted: PCIe Base §7.5.1.3.13 asks for 1 ms, Linux holds it for 2.
pub const IN_RESET: Span = ms(2);
/// From D3hot to D0 and back: PCIe Base §5.9, 10 ms.
pub const FOR_POWER: Span = ms(10);
/// For a device to answer after a reset: Linux `PCIE_RESET_READY_POLL_MS`.
pub const FOR_READY: Span = ms(60_000);
/// For a link to go down after it was disabled: PCIe Base §4.2.6.9 gives 2 ms; software sees it a little later.
pub const FOR_DOWN: Span = ms(100);

/// The first pause between two looks, and the longest.
const PAUSES: (Span, Span) = (Span::from_us(10), ms(1));

/// Looks until `done` holds, at most for `limit`; says whether it held.
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
