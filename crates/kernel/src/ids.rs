//! Identifiers of components and ports.

use lanetwin_units::id;

id! {
    /// A component of one kernel; numbered in the order of addition.
    ComponentId(u32) => "c";
    /// A port of a component, which numbers its ports itself, outputs and inputs alike.
    Port(u16) => "p";
}
