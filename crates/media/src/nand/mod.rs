//! NAND: the machine of channels and dies, and the times of its commands.

pub mod machine;
pub mod times;
