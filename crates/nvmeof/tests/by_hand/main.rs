//! One side against data units and capsules that a test writes.

mod bench;
mod connect;
mod discovery;
mod faults_at_host;
mod faults_at_target;
mod transfers;
