//! Measuring real machines.

mod function;
mod host;
pub mod registers;

pub use function::Function;
pub use host::{Address, Attribute, Counters, Host, HostError, NoAddress, Width};
