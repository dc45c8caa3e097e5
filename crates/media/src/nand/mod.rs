//! NAND: the machine of channels and dies, and the times of its commands.

mod bus;
mod due;
pub mod machine;
mod op;
pub mod times;
mod totals;
