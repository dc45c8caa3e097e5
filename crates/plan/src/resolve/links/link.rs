//! A link of the scenario while it is being read.

use super::stage::Stage;
use crate::plan::{ComponentPlan, End, PortPlan};
use crate::resolve::components::Machine;
use crate::resolve::known::Known;
use lanetwin_document::fields::Fields;
use lanetwin_document::node::Entry;

/// A link whose ports are known.
pub(super) struct Link<'a> {
    pub entry: &'a Entry,
    pub fields: Fields<'a>,
    pub from: End,
    pub to: End,
    pub machine: &'a Machine,
    pub known: Known<'a>,
    /// The stages in it, once they have been read.
    pub stages: Vec<Stage>,
}

impl Link<'_> {
    pub(super) fn plan(&self, end: End) -> &ComponentPlan {
        self.machine.plan(end.component).expect("a component with a port was understood")
    }
    pub(super) fn port(&self, end: End) -> &PortPlan {
        &self.plan(end).ports[end.port]
    }
    pub(super) fn port_name(&self, end: End) -> String {
        self.machine.port_name(end)
    }
}
