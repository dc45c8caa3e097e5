//! Where links end.

/// A port in the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct End {
    /// The component: its place in [`super::Variant::machine`].
    pub component: usize,
    /// The port: its place in [`super::ComponentPlan::ports`], which is its number in the kernel.
    pub port: usize,
}
