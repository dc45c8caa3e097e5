//! A naive reference of docs/link-model.md, and what it takes to set it beside the engine.
//!
//! | module | is about |
//! |---|---|
//! | [`machine`] | machines and trains as plain data |
//! | [`route`] | shortest paths |
//! | [`waiting`], [`egress`], [`switch`], [`simulator`] | the reference |
//! | [`world`], [`actor`] | the devices, shared by all simulators |
//! | [`draw`], [`draw_switches`] | random machines |
//! | [`engine`] | the engine on the same machines |
//! | [`by_hand`], [`switches_by_hand`] | the reference against cases worked out by hand |

pub mod actor;
pub mod draw;
pub mod draw_switches;
pub mod egress;
pub mod engine;
pub mod machine;
pub mod route;
pub mod simulator;
pub mod switch;
pub mod waiting;
pub mod world;

pub mod by_hand;
pub mod switches_by_hand;
