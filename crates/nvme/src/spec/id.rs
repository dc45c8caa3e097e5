//! Identifiers of NVMe: one type for each kind of number.

use lanetwin_units::id;

id! {
    /// A submission queue; 0 is the admin queue.
    SqId(u16) => "sq";
    /// A completion queue; 0 is the admin queue.
    CqId(u16) => "cq";
    /// A command of a submission queue; the number is chosen by the host (Command Identifier, CID).
    Cid(u16) => "cid";
    /// A namespace; counted from 1 (Namespace Identifier, NSID).
    Nsid(u32) => "ns";
    /// A controller of a subsystem (Controller ID, CNTLID).
    ControllerId(u16) => "ctrl";
}

impl SqId {
    /// The admin submission queue.
    pub const ADMIN: Self = Self(0);
}
impl CqId {
    /// The admin completion queue.
    pub const ADMIN: Self = Self(0);
}
impl Nsid {
    /// No namespace.
    pub const NONE: Self = Self(0);
    /// All namespaces that are attached to the controller (Base 2.0 §3.2.1.2).
    pub const ALL: Self = Self(0xffff_ffff);
}
