//! What several kinds of component count alike, for who asks by name: how software used its cores, and what passed
//! an adapter of a network. The metrics are no rows of their own.

/// How the software of a host used its cores.
pub mod cpu {
    use lanetwin_kernel::Metric;
    use lanetwin_units::Better;

    /// CPU time of software that drives devices past the kernel \[ps\].
    pub const USER: Metric = Metric::new("CPU time of programs", "ps", Better::Neither).aside();
    /// CPU time of the kernel, but for interrupts and what they defer \[ps\].
    pub const KERNEL: Metric = Metric::new("CPU time of the kernel", "ps", Better::Neither).aside();
    /// CPU time of what an interrupt leaves to do: completions \[ps\].
    pub const DEFERRED: Metric = Metric::new("CPU time of completions", "ps", Better::Neither).aside();
    /// CPU time from an interrupt to the first look at what it is about \[ps\].
    pub const INTERRUPT: Metric = Metric::new("CPU time of interrupts", "ps", Better::Neither).aside();
    /// How many interrupts the cores took.
    pub const INTERRUPTS: Metric = Metric::new("interrupts", "", Better::Neither).aside();
}

/// What passed an adapter of a network, and the sockets behind it.
pub mod adapter {
    use lanetwin_kernel::Metric;
    use lanetwin_units::Better;

    /// Frames that left.
    pub const SENT: Metric = Metric::new("frames out", "", Better::Neither).aside();
    /// Frames that came.
    pub const RECEIVED: Metric = Metric::new("frames in", "", Better::Neither).aside();
    /// Frames that did not come as they were sent.
    pub const DAMAGED: Metric = Metric::new("frames damaged", "", Better::Lower).aside();
    /// Segments of TCP that had been sent before.
    pub const RESENT: Metric = Metric::new("TCP segments sent again", "", Better::Lower).aside();
}
