//! The parameters that CXL ports have, whatever they belong to.

use crate::model::{Dimension, Param};

/// Parameters of every CXL port, of a host, a switch or a device.
pub const CXL_PORT: [Param; 2] = [
    Param {
        name: "port.gen",
        dimension: Dimension::Count { least: 3, most: 6 },
        default: Some("5"),
        about: "the highest generation of PCIe whose lanes the CXL port can run on: 6 has flits of 256 B",
    },
    Param {
        name: "port.width",
        dimension: Dimension::Count { least: 1, most: 16 },
        default: Some("16"),
        about: "the most lanes that the CXL port can have",
    },
];
