//! Failures of the engine as Python's exceptions.

use crate::core_api::Failure;
use pyo3::prelude::*;

/// Turns a refusal of the engine into `lanetwin.LanetwinError`, a panic into `lanetwin.EngineBug`.
pub fn refusal(py: Python<'_>, failure: Failure) -> PyErr {
    let raised = py.import("lanetwin.errors").and_then(|errors| match failure {
        Failure::Message(message) => errors.call_method1("LanetwinError", (message,)),
        Failure::Diagnostics(json) => errors.getattr("LanetwinError")?.call_method1("from_json", (json,)),
        Failure::Bug(message) => errors.call_method1("EngineBug", (message,)),
    });
    raised.map_or_else(|error| error, PyErr::from_value)
}
