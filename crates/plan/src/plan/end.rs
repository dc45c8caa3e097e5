//! Ends of links.

/// A port in the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct End {
    /// Index of the component in [`super::Variant::machine`].
    pub component: usize,
    /// Index of the port in [`super::ComponentPlan::ports`], which is its number in the kernel.
    pub port: usize,
}
