//! Components of a machine by their role in CXL.

use crate::blueprint::{Blueprint, Ids};
use lanetwin_kernel::ComponentId;
use lanetwin_plan::CxlRole;

impl Blueprint<'_> {
    /// The components with a role: their names, and their identifiers in the kernel.
    pub(crate) fn of_role(&self, role: CxlRole, ids: &Ids) -> Vec<(String, ComponentId)> {
        let components = self.variant.machine.iter().enumerate();
        let own = components.filter(|(_, component)| component.cxl_role() == Some(role));
        own.map(|(i, component)| (component.name.clone(), ids.of(i))).collect()
    }
}
