//! The integration tests of this crate in one program, since each program more would compile and link the same again.
//! `cargo test -p lanetwin-load loads` runs the tests in the file of that name.

mod fio_jobs;
mod fio_judge;
mod iometer_icf;
mod iometer_load;
mod iometer_results;
mod loads;
mod traces;
