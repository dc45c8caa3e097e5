//! Data units of NVMe/TCP beside a reference that writes every byte by hand.

mod authentication;
mod faults;
mod reference;
mod streams;
