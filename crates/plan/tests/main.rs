//! What the reader of scenarios is held to, in one program: each of these files as one of its own would link all of it
//! again.

mod hierarchy;
mod networks;
mod pages;
mod plans;
mod schema;
