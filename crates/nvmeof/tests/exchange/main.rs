//! Hosts and targets against each other, and against a drive: real bytes by TCP and by RDMA.

mod authentication;
mod closed_form;
mod drive;
mod laws;
mod network;
mod over_tcp;
mod rig;
