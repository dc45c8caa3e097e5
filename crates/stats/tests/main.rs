//! What statistics and documents of results are held to, in one program: each of these files as one of its own would
//! compile and link the same again. `cargo test -p lanetwin-stats laws` runs the file of that name.

mod coverage;
mod documents;
mod laws;
mod peers;
