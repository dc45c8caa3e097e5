//! What the specifications say: words, structures, values. Data and total functions; nothing here happens.
//!
//! | module | is about |
//! |---|---|
//! | [`fabrics`] | Fabrics commands and their responses |
//! | [`status`] | how Fabrics commands end |
//! | [`authentication`] | Authentication Send and Receive, messages of DH-HMAC-CHAP |
//! | [`identify`] | what a controller behind a fabric tells beside the rest |
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
