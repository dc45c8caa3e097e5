//! `lanetwin._core`: the engine for Python. JSON text in, JSON text out, with the interpreter lock released. An
//! emulated drive is an object, since its data are not JSON.
//!
//! ```text
//!  lanetwin (Python) ──► _core (here) ──► core_api ──► scenario, stats, validation, load
//! ```
//!
//! This is the only crate that uses Python. It does not interpret documents, and computes nothing. Refusals become
//! `lanetwin.LanetwinError`, whose `diagnostics` have places and remedies.

mod attend;
mod channels;
mod core_api;
mod cycles;
mod device;
mod machines;
mod refusal;
mod serving;
mod sweeps;

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use pyo3::types::PyString;

use attend::attend;
use core_api::{Answer, Failure};
use refusal::refusal;

/// Calls a short function of the engine with the interpreter lock released.
fn ask<F: FnOnce() -> Answer + Send>(py: Python<'_>, question: F) -> PyResult<String> {
    // sound, as the function shares no state that a panic could leave inconsistent
    py.detach(|| catch_unwind(AssertUnwindSafe(question)))
        .unwrap_or_else(|payload| Err(Failure::from_panic(&*payload)))
        .map_err(|failure| refusal(py, failure))
}

/// The functions that Python can call; `python/lanetwin/_core.pyi` has their types.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::device::Device;

    /// Serves an emulated drive to other processes until Ctrl-C. Returns how late replies were.
    #[pyfunction]
    #[pyo3(signature = (path, options, entrance, place, progress=None))]
    fn serve_device(
        py: Python<'_>,
        path: String,
        options: String,
        entrance: String,
        place: String,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        attend(py, progress.as_ref(), move |monitor| {
            serving::serve(&path, &options, (&entrance, &place), monitor)
        })?
        .map_err(|failure| refusal(py, failure))
    }
    /// The path of the control socket of a drive that is served at this path or address.
    #[pyfunction]
    fn control_path(py: Python<'_>, place: &str) -> PyResult<String> {
        serving::control_path(place).map_err(|failure| refusal(py, failure))
    }
    /// Discovers and reads a subsystem over NVMe/TCP. Returns what was found, and how long reads took.
    #[pyfunction]
    fn nvme_tcp_ping(py: Python<'_>, address: String, asked: String) -> PyResult<String> {
        py.detach(|| serving::ping(&address, &asked)).map_err(|failure| refusal(py, failure))
    }
    /// A new secret for authentication over NVMe/TCP.
    #[pyfunction]
    fn nvme_tcp_key(py: Python<'_>, name: &str) -> PyResult<String> {
        serving::new_key(name).map_err(|failure| refusal(py, failure))
    }

    /// The engine's version.
    #[pyfunction]
    fn version(py: Python<'_>) -> Bound<'_, PyString> {
        PyString::new(py, env!("CARGO_PKG_VERSION"))
    }

    /// Checks a scenario without running it: `{"diagnostics": […], "plan": … | null}`.
    #[pyfunction]
    #[pyo3(signature = (path, sets, outside=false))]
    fn check(py: Python<'_>, path: &str, sets: Vec<String>, outside: bool) -> PyResult<String> {
        ask(py, || core_api::check(path, &sets, outside))
    }

    /// Enumerates the PCIe hierarchies below the hosts of a scenario: `{"diagnostics": […], "trees": […] | null}`.
    #[pyfunction]
    #[pyo3(signature = (path, sets, outside=false))]
    fn tree(py: Python<'_>, path: &str, sets: Vec<String>, outside: bool) -> PyResult<String> {
        ask(py, || core_api::tree(path, &sets, outside))
    }

    /// Reads a YAML document, every value with its place.
    #[pyfunction]
    fn document(py: Python<'_>, path: &str) -> PyResult<String> {
        ask(py, || core_api::document(path))
    }

    /// Simulates every variant and workload of a scenario: a results document.
    #[pyfunction]
    #[pyo3(signature = (path, options, progress=None))]
    fn run(py: Python<'_>, path: String, options: String, progress: Option<Py<PyAny>>) -> PyResult<String> {
        attend(py, progress.as_ref(), move |monitor| core_api::run(&path, &options, monitor))?
            .map_err(|failure| refusal(py, failure))
    }

    /// The design of a scenario's sweep: axes and points.
    #[pyfunction]
    fn sweep_design(py: Python<'_>, path: &str, asked: &str) -> PyResult<String> {
        ask(py, || sweeps::sweep_design(path, asked))
    }

    /// The goals of a search in a scenario: objectives, limits, prices of parts.
    #[pyfunction]
    fn search_goals(py: Python<'_>, path: &str, asked: &str) -> PyResult<String> {
        ask(py, || sweeps::search_goals(path, asked))
    }

    /// The analysis of the points of a sweep.
    #[pyfunction]
    fn sweep_analysis(py: Python<'_>, points: &str) -> PyResult<String> {
        ask(py, || sweeps::sweep_analysis(points))
    }

    /// The complete plan of a scenario: everything on which a result depends, besides the seed and the program.
    #[pyfunction]
    #[pyo3(signature = (path, sets, outside=false))]
    fn planned(py: Python<'_>, path: &str, sets: Vec<String>, outside: bool) -> PyResult<String> {
        ask(py, || sweeps::planned(path, &sets, outside))
    }

    /// Compares two results documents.
    #[pyfunction]
    fn compare(py: Python<'_>, a: &str, b: &str, options: &str) -> PyResult<String> {
        ask(py, || core_api::compare(a, b, options))
    }

    /// Compares predictions with published numbers.
    #[pyfunction]
    #[pyo3(signature = (claims, progress=None))]
    fn validate(py: Python<'_>, claims: Vec<String>, progress: Option<Py<PyAny>>) -> PyResult<String> {
        attend(py, progress.as_ref(), move |monitor| core_api::validate(&claims, monitor))?
            .map_err(|failure| refusal(py, failure))
    }

    /// The claims: published tables with which predictions are compared.
    #[pyfunction]
    fn claims_list(py: Python<'_>) -> PyResult<String> {
        ask(py, core_api::claims_list)
    }

    /// The catalogue of parts, with those beside a scenario.
    #[pyfunction]
    #[pyo3(signature = (beside=None))]
    fn parts_list(py: Python<'_>, beside: Option<&str>) -> PyResult<String> {
        ask(py, || core_api::parts_list(beside))
    }

    /// One part, with every number's source.
    #[pyfunction]
    #[pyo3(signature = (name, beside=None))]
    fn parts_show(py: Python<'_>, name: &str, beside: Option<&str>) -> PyResult<String> {
        ask(py, || core_api::parts_show(name, beside))
    }

    /// The functions of a machine, and problems found; on request, a record of the machine.
    #[pyfunction]
    #[pyo3(signature = (sources="[]", with_record=false))]
    fn discover(py: Python<'_>, sources: &str, with_record: bool) -> PyResult<String> {
        ask(py, || machines::discover(sources, with_record))
    }

    /// A block device of this machine, with its partitions and their users.
    #[pyfunction]
    fn disk(py: Python<'_>, name: &str) -> PyResult<String> {
        ask(py, || machines::disk(name))
    }

    /// The mean of repeated measurements, with its interval.
    #[pyfunction]
    fn mean_of(py: Python<'_>, samples: &str) -> PyResult<String> {
        ask(py, || machines::mean_of(samples))
    }

    /// The closed forms and their parameters.
    #[pyfunction]
    fn calc_list(py: Python<'_>) -> PyResult<String> {
        ask(py, core_api::calc_list)
    }

    /// Evaluates one closed form.
    #[pyfunction]
    fn calc(py: Python<'_>, name: &str, arguments: &str) -> PyResult<String> {
        ask(py, || core_api::calc(name, arguments))
    }

    /// The page of one diagnostic code, as Markdown.
    #[pyfunction]
    fn explain(py: Python<'_>, code: &str) -> PyResult<String> {
        ask(py, || core_api::explain(code))
    }

    /// Every diagnostic code with its title.
    #[pyfunction]
    fn explain_list(py: Python<'_>) -> PyResult<String> {
        ask(py, core_api::explain_list)
    }

    /// The templates a scenario can be started from.
    #[pyfunction]
    fn templates(py: Python<'_>) -> PyResult<String> {
        ask(py, core_api::templates)
    }

    /// The text of one template.
    #[pyfunction]
    fn template(py: Python<'_>, name: &str) -> PyResult<String> {
        ask(py, || core_api::template(name))
    }

    /// The JSON Schema of scenarios.
    #[pyfunction]
    fn schema(py: Python<'_>) -> PyResult<String> {
        ask(py, core_api::schema)
    }

    /// The JSON Schema of the description of a channel.
    #[pyfunction]
    fn link_schema(py: Python<'_>) -> PyResult<String> {
        ask(py, channels::schema)
    }

    /// Reads a job file of fio: `{"diagnostics": […], "file": … | null}`.
    #[pyfunction]
    fn fio_show(py: Python<'_>, path: &str) -> PyResult<String> {
        ask(py, || core_api::fio_show(path))
    }

    /// Reads a configuration of Iometer: `{"diagnostics": […], "config": … | null}`.
    #[pyfunction]
    fn iometer_show(py: Python<'_>, path: &str) -> PyResult<String> {
        ask(py, || core_api::iometer_show(path))
    }

    /// Replays the capsule of a run that failed, up to the event before the failure.
    #[pyfunction]
    fn replay(py: Python<'_>, capsule: &str) -> PyResult<String> {
        ask(py, || core_api::replay(capsule))
    }

    /// The margins of a channel against its loss budget.
    #[pyfunction]
    #[pyo3(signature = (path, sets, variants=Vec::new()))]
    fn link_budget(py: Python<'_>, path: &str, sets: Vec<String>, variants: Vec<String>) -> PyResult<String> {
        ask(py, || channels::budget(path, &sets, &variants))
    }

    /// The eyes of a channel.
    #[pyfunction]
    #[pyo3(signature = (path, sets, variants=Vec::new(), progress=None))]
    fn link_eye(
        py: Python<'_>,
        path: String,
        sets: Vec<String>,
        variants: Vec<String>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        attend(py, progress.as_ref(), move |monitor| channels::eye(&path, &sets, &variants, monitor))?
            .map_err(|failure| refusal(py, failure))
    }

    /// The elements that a channel can be made of.
    #[pyfunction]
    #[pyo3(signature = (rate, library=None))]
    fn link_elements(py: Python<'_>, rate: &str, library: Option<&str>) -> PyResult<String> {
        ask(py, || channels::elements(rate, library))
    }

    /// Where retimers can be placed in a channel.
    #[pyfunction]
    fn link_place(py: Python<'_>, path: &str, options: &str) -> PyResult<String> {
        ask(py, || channels::place(path, options))
    }

    /// A Touchstone file, rewritten in a form that every tool reads.
    #[pyfunction]
    fn link_rewritten(py: Python<'_>, path: &str) -> PyResult<String> {
        ask(py, || channels::rewritten(path))
    }

    /// The properties of a Touchstone file.
    #[pyfunction]
    fn link_touchstone(py: Python<'_>, path: &str, rate: &str, ports: Vec<usize>) -> PyResult<String> {
        ask(py, || channels::touchstone(path, rate, &ports))
    }

    /// Whether and how the link of a channel trains.
    #[pyfunction]
    fn link_train(py: Python<'_>, path: &str, sets: Vec<String>, options: &str) -> PyResult<String> {
        ask(py, || cycles::link_train(path, &sets, options))
    }

    /// Runs stability cycles on the link of a device, a channel or a dump.
    #[pyfunction]
    #[pyo3(signature = (asked, progress=None))]
    fn link_cycle(py: Python<'_>, asked: String, progress: Option<Py<PyAny>>) -> PyResult<String> {
        attend(py, progress.as_ref(), move |monitor| cycles::link_cycle(&asked, monitor))?
            .map_err(|failure| refusal(py, failure))
    }

    /// Restores the state before a killed run of cycles from its journal.
    #[pyfunction]
    fn link_restore(py: Python<'_>, journal: &str) -> PyResult<String> {
        ask(py, || cycles::link_restore(journal))
    }

    /// The stability tests.
    #[pyfunction]
    fn link_tests(py: Python<'_>) -> PyResult<String> {
        ask(py, cycles::link_tests)
    }

    /// The templates a channel's description can be started from.
    #[pyfunction]
    fn link_templates(py: Python<'_>) -> PyResult<String> {
        ask(py, channels::templates)
    }
}
