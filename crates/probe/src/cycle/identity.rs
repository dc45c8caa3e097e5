//! Whether a device answers.

use crate::host::{Host, HostError, Width};

/// Whether a device answers with its identity: neither all ones, nor Request Retry Status, nor the zeros that some give
/// for a while.
pub(super) fn answers(host: &mut dyn Host, device: &crate::Function) -> Result<bool, HostError> {
    let identity = match host.read(device.address, 0, Width::Dword) {
        Ok(identity) => identity,
        Err(HostError::Gone(_)) => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(identity == u32::from(device.device) << 16 | u32::from(device.vendor))
}
