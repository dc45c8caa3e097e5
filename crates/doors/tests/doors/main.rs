//! A drive behind its doors, with a world below and bytes above.

mod authentication;
mod fidelity;
mod fuse;
mod machine;
mod namespaces;
mod nbd;
mod nvme_tcp;
mod over_a_network;
mod paths;
mod power;
mod powers;
mod real_time;
mod record;
mod referrals;
mod serving;
mod telemetry;
mod unruly_hosts;
mod vfio_user;
mod virtual_time;
