//! What the parts of a world are called that no scenario names: in parentheses, as no component of a scenario can be.
//! Random streams derive from these names.

/// The links of PCIe.
pub(super) const LINKS: &str = "(links)";
/// A load, before its name if there are several.
pub(super) const LOAD: &str = "(load)";
/// A driver.
pub(super) const DRIVER: &str = "(driver)";
/// What joins several drivers to their host.
pub(super) const CPU: &str = "(cpu)";
/// What joins several jobs to a device.
pub(super) const JOBS: &str = "(jobs)";
/// What joins the queues by which a device asks a drive.
pub(super) const QUEUES: &str = "(queues)";
/// What joins the paths to a drive.
pub(super) const PATHS: &str = "(paths)";
/// The software that asks over a network, before the name of its adapter.
pub(super) const NVMEOF: &str = "(nvmeof)";
/// The software that offers drives over a network, before the name of its adapter.
pub(super) const TARGET: &str = "(target)";
/// Programs that send to those of other hosts.
pub(super) const NETWORK: &str = "(network)";
/// What joins the software within an adapter to it, before its name.
pub(super) const WITHIN: &str = "(within)";
/// A CXL link.
const CXL: &str = "(cxl)";

/// The path of a CXL link.
pub(super) fn cxl_link(name: &str) -> String {
    format!("{CXL}/{name}")
}

/// What a component is called before people: the path of what is not of the scenario has parentheses.
pub(super) fn shown(path: &str) -> String {
    path.replace(['(', ')'], "")
}
