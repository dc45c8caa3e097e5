//! An emulated drive for other processes.

use crate::core_api::{Answer, Failure, Monitor, json, refused};
use crate::device::choose;
use lanetwin_doors::engine::Engine;
use lanetwin_doors::listen::Listening;
use lanetwin_doors::problem::Problem;
use lanetwin_doors::server::{Server, Sockets};
use std::path::Path;

/// Serves a drive at a Unix socket, until the monitor says that it is over: how late answers were.
///
/// `options` are those of a drive. When it listens it reports `{"nbd", "control", "bytes", "lead_us"}`.
pub fn serve_nbd(path: &str, options: &str, socket: &str, monitor: &Monitor) -> Answer {
    let (drive, store, _) = choose(path, options)?;
    let bytes = drive.facts.bytes;
    let control = format!("{socket}.control");
    let wrong = |problem: Problem| refused(&[problem.at(socket)]);
    let sockets = Sockets {
        nbd: Listening::at(Path::new(socket)).map_err(wrong)?,
        control: Listening::at(Path::new(&control)).map_err(wrong)?,
    };
    let server = Server::new(Engine::new(&drive, store).started(), sockets);
    let mut server =
        server.map_err(|error| Failure::Message(format!("the system gives no sockets: {error}")))?;
    let lead_us = server.lead().as_ps() as f64 * 1e-6;
    let ready = serde_json::json!({ "nbd": socket, "control": control, "bytes": bytes, "lead_us": lead_us });
    monitor.report(ready.to_string());
    server.serve(&|| monitor.is_cancelled());
    let lateness = server.lateness();
    if !server.close() {
        return Err(Failure::Message("not everything could be written to the file of the drive".into()));
    }
    json(&lateness)
}
