//! Definitions of the specifications: words, structures, values. Data types and total functions, without state
//! machines.
//!
//! | module | content |
//! |---|---|
//! | [`fabrics`] | Fabrics commands and their responses |
//! | [`status`] | statuses of Fabrics commands |
//! | [`authentication`] | Authentication Send and Receive, messages of DH-HMAC-CHAP |
//! | [`identify`] | additional fields of Identify Controller behind a fabric |
//! | [`discovery`] | the discovery log |
//! | [`ana`] | Asymmetric Namespace Access |
//! | [`tcp`] | data units of NVMe/TCP |
//! | [`rdma`] | private data of NVMe/RDMA connections |

pub mod ana;
pub mod authentication;
pub mod discovery;
pub mod fabrics;
pub mod identify;
pub mod rdma;
pub mod status;
pub mod tcp;
