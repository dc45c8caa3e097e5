//! The host whose cores load and store: its cores and its memory.

use crate::kind::Components;
use crate::plan::MemoryNode;
use crate::values::list;
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::node::{Node, Origin};
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_ports::Value;

/// The context of the cases.
#[derive(Clone, Copy)]
pub(super) struct On<'a> {
    pub machine: &'a dyn Components,
    /// The memory of every host.
    pub nodes: &'a [MemoryNode],
    /// The host whose cores load and store.
    pub host: usize,
}

impl<'a> On<'a> {
    /// The numbers of threads; by default the number of the host's cores.
    pub(super) fn threads(self, fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Vec<Said<Value>>> {
        if fields.written("threads").is_some() {
            return list(fields, "threads", reports);
        }
        let chases =
            fields.written("pattern").and_then(Node::text).is_some_and(|word| word.starts_with("chase"));
        let host = self.machine.plan(self.host)?;
        let value = Value::Count(if chases { 1 } else { (host.model.cores)(&host.params).max(1) });
        fields.record("threads", Node::scalar(quantity::written(value)));
        Some(vec![Said { value, spot: fields.node.spot, origin: Origin::Default }])
    }

    /// The memory of the host.
    pub(super) fn own_nodes(self) -> Vec<&'a MemoryNode> {
        self.nodes.iter().filter(|node| node.host == self.host).collect()
    }
}
