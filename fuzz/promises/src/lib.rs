//! Promises that hold for every input, each a function of bytes: what `make fuzz` looks for inputs against, steered by
//! coverage, and what `tests/seeds.rs` holds to a fixed number of changed seeds with every change.

pub mod authentication;
pub mod fabrics_target;
pub mod fio;
pub mod flits;
pub mod fuse;
pub mod icf;
mod input;
pub mod link;
pub mod machines;
pub mod memory_trace;
pub mod nbd;
pub mod nvme_commands;
pub mod packets;
pub mod probe;
pub mod rate;
pub mod results;
pub mod scenario;
pub mod tcp_units;
pub mod touchstone;
pub mod vfio_user;

/// Panics if what is promised does not hold for these bytes.
pub type Holds = fn(&[u8]);

/// Every promise by its name, which is that of its target and of the folders of its seeds.
pub const PROMISES: [(&str, Holds); 19] = [
    ("authentication", authentication::holds),
    ("fabrics_target", fabrics_target::holds),
    ("fio", fio::holds),
    ("flits", flits::holds),
    ("fuse", fuse::holds),
    ("icf", icf::holds),
    ("link", link::holds),
    ("machines", machines::holds),
    ("memory_trace", memory_trace::holds),
    ("nbd", nbd::holds),
    ("nvme_commands", nvme_commands::holds),
    ("packets", packets::holds),
    ("probe", probe::holds),
    ("rate", rate::holds),
    ("results", results::holds),
    ("scenario", scenario::holds),
    ("tcp_units", tcp_units::holds),
    ("touchstone", touchstone::holds),
    ("vfio_user", vfio_user::holds),
];
