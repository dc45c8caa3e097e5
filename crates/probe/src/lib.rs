//! Inspection and testing of real machines: inventory of their PCIe functions, and stability cycles of links.

pub mod cycle;
pub mod drive;
pub mod fake;
mod function;
mod host;
pub mod inventory;
pub mod journal;
pub mod linux;
mod lspci_lines;
mod problem;
pub mod registers;
mod session;
mod wait;

pub use function::Function;
pub use host::{Address, Attribute, Counters, Host, HostError, NoAddress, Width};
pub use lanetwin_problems::Severity;
pub use problem::{CODES, Finding, Problem};
pub use session::{NotRestored, Session, Written, put_back};
