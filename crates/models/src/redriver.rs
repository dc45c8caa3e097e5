//! `redriver`: an analogue amplifier in a link. The links implement its effect; this model has its parameters.
//!
//! It does not recover bits: it corrects nothing, does not divide a link into segments and adds almost no delay. Its
//! effect on an eye belongs to the channel.
//!
//! Not here: gain, noise and compression (the eye of the phy crate).

use lanetwin_pcie::spec::extension::{Extension, ExtensionKind};
use lanetwin_ports::{Build, Dimension, Model, Param};

/// The declaration.
pub static MODEL: Model = Model {
    name: "redriver",
    about: "A redriver: an amplifier that stands in a link and knows no bits.",
    ports: &[],
    params: &[PARAMS],
    build: Build::Extension(|params, _| Extension {
        latency: params.time("latency"),
        kind: ExtensionKind::Redriver,
    }),
    ..Model::DEFAULT
};

/// `assumed`: round numbers of parts of the Gen5 years.
const PARAMS: &[Param] = &[
    Param {
        name: "gen",
        dimension: Dimension::Count { least: 1, most: 6 },
        default: Some("5"),
        about: "the highest generation of links that it can stand in",
    },
    Param {
        name: "lanes",
        dimension: Dimension::Count { least: 1, most: 32 },
        default: Some("16"),
        about: "the most lanes that a link through it can have",
    },
    Param {
        name: "latency",
        dimension: Dimension::Time,
        default: Some("100ps"),
        about: "how long a signal takes through it, each way",
    },
];
