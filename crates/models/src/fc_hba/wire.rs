//! Use of a Fibre Channel wire, for reports.

use lanetwin_fabric::fc::logic::transmitter::Transmitter;
use lanetwin_kernel::{Supply, SupplyKind};
use lanetwin_units::{Instant, TICKS_PER_PS, Ticks};

/// Use of a wire up to `now`.
pub(super) fn wire_used(wire: &Transmitter, now: Instant) -> Supply {
    let in_use_ps = wire.busy(now.into()) / u128::from(TICKS_PER_PS);
    Supply { in_use_ps, supply: 1, kind: SupplyKind::Server }
}

/// Use of the credits of a wire up to `now`, if its next frame is ready at `front`.
pub(super) fn credits_used(wire: &Transmitter, front: Option<Ticks>, now: Instant) -> Supply {
    let waiting_ps = wire.waited(front, now.into()) / u128::from(TICKS_PER_PS);
    let in_use_ps = wire.credits().used(now.into()) / u128::from(TICKS_PER_PS);
    Supply { in_use_ps, supply: wire.credits().total().into(), kind: SupplyKind::Held { waiting_ps } }
}
