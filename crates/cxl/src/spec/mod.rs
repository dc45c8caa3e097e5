//! What the standard says: flits, slots, messages. Data and total functions; nothing here happens.
//!
//! | module | is about |
//! |---|---|
//! | [`constants`] | every number, with its source |

pub mod constants;
