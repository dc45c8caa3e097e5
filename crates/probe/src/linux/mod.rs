//! A machine that runs Linux, through sysfs and procfs.
//!
//! | what | where |
//! |---|---|
//! | configuration space | `/sys/bus/pci/devices/BDF/config` |
//! | bus reset | `reset_method`, `reset` |
//! | driver | `driver/unbind`, `drivers/NAME/bind` |
//! | devices that disappeared | `remove`, `/sys/bus/pci/rescan` |
//! | counted errors | `aer_dev_correctable`, `aer_dev_nonfatal`, `aer_dev_fatal` |
//! | power cycle | a program that the user names |
//!
//! All paths are below a root folder, so that tests can use a folder of files as a machine.

mod disk;
mod facts;
mod guards;
mod machine;
mod storage;

pub use disk::{Disk, disk};
pub use facts::Facts;
pub use guards::{Consent, confirmation, refusals, warnings};
pub use machine::Linux;
pub use storage::Store;
pub(crate) use storage::entries;
