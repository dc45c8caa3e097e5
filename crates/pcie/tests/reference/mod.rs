//!
//! | module | is about |
//! |---|---|
//! | [`machine`] | machines and trains as plain data |
//! | [`route`] | shortest paths |
//! | [`egress`], [`simulator`] | the reference |
//! | [`world`], [`actor`] | the devices, shared by all simulators |
//! | [`draw`] | random machines |
//! | [`by_hand`] | the reference against cases worked out by hand |

pub mod actor;
pub mod draw;
pub mod egress;
pub mod machine;
pub mod route;
pub mod simulator;
pub mod world;

mod by_hand;
