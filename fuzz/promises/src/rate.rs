//! Time and bytes on a link agree: the bytes that fit into the time that n bytes take are n, within the rounding of
//! that time to a tick.

use lanetwin_units::{LinkRate, TICKS_PER_PS};

crate::input::promise!(|input: (u64, u64)| {
    // one byte a second to ten terabytes a second, up to a gigabyte: beyond any port
    let bytes_per_second = input.0 % 10_000_000_000_000 + 1;
    let bytes = input.1 % 1_000_000_000;
    // five hours, the reach of a link's clock
    if bytes / bytes_per_second >= 18_000 {
        return;
    }
    let rate = LinkRate::bytes_per_second(bytes_per_second);
    let back = rate.bytes_in(rate.ticks_for(bytes));
    let bytes_per_tick = bytes_per_second.div_ceil(1_000_000_000_000 * TICKS_PER_PS);
    assert!(
        back.abs_diff(bytes) <= bytes_per_tick,
        "{bytes} B at {bytes_per_second} B/s came back as {back} B"
    );
});
