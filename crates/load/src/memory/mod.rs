//! Programs that use memory: for each thread, the next line that it touches, and its computing time before that.
//!
//! A [`Program`] knows neither caches nor devices; it yields virtual addresses, as a thread of an application does. The
//! host that runs it decides when a [`Step`] can be taken: after the step's own computing time, when there is room for
//! an outstanding miss and, if it depends on the previous load, when that was answered.
//!
//! | module | is about |
//! |---|---|
//! | [`chase`] | pointer chases: latency alone |
//! | [`kernels`] | applications, as the memory accesses of their algorithms |
//! | [`traffic`] | threads that stream over buffers: bandwidth, by mix and by load |
//! | [`recorded`] | memory accesses of real programs, recorded by a tool |
//! | [`placement`] | NUMA policies: which node each page is on |

pub mod chase;
pub mod kernels;
mod permutation;
pub mod placement;
mod program;
pub mod recorded;
pub mod traffic;

pub use chase::{BadChase, Chase, ChaseOrder, ChaseSpec};
pub use placement::{BadPlacement, Mapping, PageMap, PageSize, Part as PlacedPart, Placement, Policy};
pub use program::{Program, Step, Touch};
pub use recorded::{Dependence, MemoryTrace, RecordedProgram};
pub use traffic::{BadTraffic, ReadShare, Traffic, TrafficMix, TrafficOrder, TrafficSpec};
