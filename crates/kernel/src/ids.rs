//! How components and their ports are named.

use lanetwin_units::id;

id! {
    /// A component of one kernel, in the order of addition.
    ComponentId(u32) => "c";
    /// A port of a component; ports are numbered by the component itself, outputs and inputs alike.
    Port(u16) => "p";
}
