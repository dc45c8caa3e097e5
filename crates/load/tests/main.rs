//! What loads, files of fio and Iometer and traces are held to, in one program: each of these files as one of its own
//! would compile and link the same again. `cargo test -p lanetwin-load loads` runs the file of that name.

mod fio_jobs;
mod fio_judge;
mod iometer_icf;
mod iometer_load;
mod iometer_results;
mod loads;
mod traces;
