//! Metrics shared by several kinds of component, which can be looked up by name: use of cores by software, and
//! traffic of network adapters. These metrics have no rows of their own.

/// Use of cores by the software of a host.
pub mod cpu {
    use lanetwin_kernel::Metric;
    use lanetwin_units::Better;

    /// CPU time of software that drives devices past the kernel \[ps\].
    pub const USER: Metric = Metric::new("CPU time of programs", "ps", Better::Neither).aside();
    /// CPU time of the kernel, without interrupts and their deferred work \[ps\].
    pub const KERNEL: Metric = Metric::new("CPU time of the kernel", "ps", Better::Neither).aside();
    /// CPU time of the deferred work of interrupts: completions \[ps\].
    pub const DEFERRED: Metric = Metric::new("CPU time of completions", "ps", Better::Neither).aside();
    /// CPU time from an interrupt to the first look at its cause \[ps\].
    pub const INTERRUPT: Metric = Metric::new("CPU time of interrupts", "ps", Better::Neither).aside();
    /// Number of interrupts on the cores.
    pub const INTERRUPTS: Metric = Metric::new("interrupts", "", Better::Neither).aside();
}

/// Traffic of a network adapter, and of its sockets.
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
