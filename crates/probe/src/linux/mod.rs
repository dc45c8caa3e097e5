//! A machine that runs Linux, through sysfs and procfs.
//!
//! | what | where |
//! |---|---|
//! | configuration space | `/sys/bus/pci/devices/BDF/config` |
//! | bus reset | `reset_method`, `reset` |
//! | driver | `driver/unbind`, `drivers/NAME/bind` |
//! | gone devices | `remove`, `/sys/bus/pci/rescan` |
//! | counted errors | `aer_dev_correctable`, `aer_dev_nonfatal`, `aer_dev_fatal` |
//! | power | a program of the user's |
//!
//! The files stand below a folder, so that tests can make a machine of files.

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
