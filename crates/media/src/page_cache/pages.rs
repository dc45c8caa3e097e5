//! Pages of the device as the host names them.

/// A range of consecutive pages of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pages {
    /// The first.
    pub first: u64,
    /// Number of pages.
    pub count: u64,
}

/// The highest bin of the histogram of temperatures begins at 2 to this power, less one.
pub const HOTTEST: usize = 16;
