//! The link layer of CXL.mem as state machines: time is an argument, effects are calls to an [`Environment`].
//!
//! | module | content |
//! |---|---|
//! | [`clock`] | start times of flits |
//! | [`packer`] | content of a flit |
//! | [`link`] | both directions: queues, credits, CXL.io beside CXL.mem |
//! | [`flit_256`] | the same for links with flits of 256 B |
//! | [`retry`] | retry after a wrong CRC |
//! | [`spec`] | specification of a link |

mod activity;
pub mod clock;
mod effects;
pub mod flit_256;
mod half;
mod layer;
pub mod link;
pub mod packer;
mod plan;
mod queue;
mod receiver;
pub mod retry;
mod ring;
pub mod spec;
mod window;

pub use crate::spec::{Direction, FlitMode};
pub use activity::Activity;
pub use clock::Grid;
pub use effects::Environment;
pub use layer::LinkLayer;
pub use link::{FlitSeen, FlitTap, Link};
pub use packer::Class;
pub use spec::{ClassCredits, IoLoad, LinkSpec, Release};
