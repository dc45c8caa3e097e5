//! Links: exact departure times of TLPs, computed for whole trains at a time.
//!
//! ```text
//!  device ─ submit(train) ─► egress ═wire═► switch: egress ═wire═► deliver ─► device
//!                              ▲  credits, ACKs    ▲                │
//!                              └───────────────────┴──── returns ◄──┘
//! ```
//!
//! docs/link-model.md specifies the behaviour of a link; this module implements it as logic without a clock: time is
//! an argument, effects go to an [`Environment`]. A [`Fabric`] contains all links of one PCIe domain. Each direction
//! of a link, an *egress*, has one pump that commits at a wake all starts before a horizon (see `pump.rs`). The
//! horizon makes it fast and does not change the results.
//!
//! Not here: division of transfers into TLPs ([`crate::logic::split`]), behaviour of devices, virtual channels, flit
//! mode, power states.

mod bus;
mod choice;
mod class_masks;
mod columns;
mod commit;
mod credits;
mod declare;
mod direct;
mod egress;
mod fabric;
mod immediate;
mod lane;
mod merge;
mod messages;
mod overhead;
mod pace;
mod paced;
mod pump;
mod receive;
mod returns;
mod ring;
mod run;
mod sentinels;
mod serialiser;
mod spec;
mod trains;
mod turns;
mod weighted;
mod wiring;

pub use declare::{
    BuildError, FabricBuilder, Outage, PACES_MAX, PHASES_MAX, Pace, PairLatency, PortWeight, SWITCH_PORTS_MAX,
};
pub use egress::Activity;
pub use fabric::{DepartureTap, Fabric, Journey, OverheadTime, Submission, SubmissionTap};
pub use pace::Stretch;
pub use spec::{
    Arbitration, Attach, CLASSES, Class, Core, Credits, Delivery, Departures, Direction, DllpMode, Dllps,
    Drain, EgressId, EndpointId, EndpointSpec, Environment, Errors, Forwarding, LinkError, LinkId,
    OutputBuffer, Recoveries, Skp, Starts, SwitchId, SwitchSpec, Train,
};
pub use trains::RECORDED_HOPS;
