//! Whether a device responds.

use crate::host::{Host, HostError, Width};

/// Whether a device returns its identity instead of all ones, Request Retry Status, or the zeros that some devices
/// return for a while.
pub(super) fn answers(host: &mut dyn Host, device: &crate::Function) -> Result<bool, HostError> {
    let identity = match host.read(device.address, 0, Width::Dword) {
        Ok(identity) => identity,
        Err(HostError::Gone(_)) => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(identity == u32::from(device.device) << 16 | u32::from(device.vendor))
}
