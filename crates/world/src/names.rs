//! Names of parts of a world that no scenario names. They are in parentheses, which a name in a scenario cannot have.
//! Random streams derive from these names.

/// The PCIe links.
pub(super) const LINKS: &str = "(links)";
/// A load; followed by its name if there are several.
pub(super) const LOAD: &str = "(load)";
/// A driver.
pub(super) const DRIVER: &str = "(driver)";
/// Joins several drivers to their host.
pub(super) const CPU: &str = "(cpu)";
/// Joins several jobs to a device.
pub(super) const JOBS: &str = "(jobs)";
/// Joins the queues through which a device accesses a drive.
pub(super) const QUEUES: &str = "(queues)";
/// Joins the paths to a drive.
pub(super) const PATHS: &str = "(paths)";
/// The NVMe-oF host software of an adapter, followed by the adapter's name.
pub(super) const NVMEOF: &str = "(nvmeof)";
/// The NVMe-oF target software of an adapter, followed by the adapter's name.
pub(super) const TARGET: &str = "(target)";
/// Programs that send to programs on other hosts.
pub(super) const NETWORK: &str = "(network)";
/// Programs that post RDMA to those of other hosts.
pub(super) const VERBS: &str = "(verbs)";
/// Joins the software that runs inside an adapter to the adapter, followed by its name.
pub(super) const WITHIN: &str = "(within)";
/// A CXL link.
const CXL: &str = "(cxl)";

/// The path of a CXL link.
pub(super) fn cxl_link(name: &str) -> String {
    format!("{CXL}/{name}")
}

/// The displayed name of a component: its path without parentheses.
pub(super) fn shown(path: &str) -> String {
    path.replace(['(', ')'], "")
}
