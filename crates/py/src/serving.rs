//! Functions that serve emulated drives to other processes, and that measure a served drive over NVMe/TCP.

use crate::core_api::{self, Answer, Failure, Monitor, json, refused};
use crate::device::{Chosen, choose};
use lanetwin_doors::control::path_of;
use lanetwin_doors::engine::Engine;
use lanetwin_doors::fabric::ping::{NoPong, Ping};
use lanetwin_doors::fuse::mount::Mounted;
use lanetwin_doors::keys;
use lanetwin_doors::listen::{Listening, tcp};
use lanetwin_doors::problem::Problem;
use lanetwin_doors::server::{Entrance, Server, Sockets};
use lanetwin_doors::vfio_user::link::LinkSeen;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

/// Serves a drive until the monitor is cancelled. Returns how late replies were.
///
/// `entrance` is `nbd`, `vfio-user`, `nvme-tcp` or `fuse`. `place` is the path of a Unix socket for the first two, one
/// or more addresses, separated by commas, for NVMe/TCP, or an empty folder for FUSE. `options` are those of a drive.
/// As soon as it listens, it reports `{"place", "control", "nqn", "file", "bytes", "namespaces", "lead_us",
/// "awake"}`; the last is `kept`, `not-allowed`, `not-there` or `not-wanted`.
pub fn serve(path: &str, options: &str, (entrance, place): (&str, &str), monitor: &Monitor) -> Answer {
    let Chosen { drive, stores, record, keys, cores, .. } = choose(path, options)?;
    cores.leave_own();
    let wrong = |problem: Problem| refused(&[problem.at(place)]);
    let no_socket = |error: std::io::Error| Failure::Message(format!("the system gives no sockets: {error}"));
    if entrance != "nvme-tcp" && !drive.others.is_empty() {
        return Err(wrong(Problem::NotTogether {
            said: "one is served by NBD, by vfio-user, or as a file".into(),
        }));
    }
    let of_keys = |problem: Problem| refused(&[problem.at(path)]);
    let ring = keys.as_deref().map(keys::read).transpose().map_err(of_keys)?;
    let mut file = None;
    let (entrance, places) = match entrance {
        "nvme-tcp" => {
            let listen = |address| tcp(address, ring.is_some());
            let ports = place.split(',').map(listen).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
            let addresses = ports.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>();
            let addresses: Vec<String> =
                addresses.map_err(no_socket)?.iter().map(SocketAddr::to_string).collect();
            (Entrance::NvmeTcp(ports), addresses)
        }
        "fuse" => {
            let mounted = Mounted::at(Path::new(place), drive.facts).map_err(wrong)?;
            file = Some(mounted.file());
            (Entrance::File(mounted), vec![place.to_owned()])
        }
        "vfio-user" => {
            let why = || "it is on no link of PCI Express, which a guest would see".into();
            let is_linked = LinkSeen::of(&drive).is_some();
            let no_link = || wrong(Problem::NotServed { name: drive.pair.device.clone(), why: why() });
            is_linked.then_some(()).ok_or_else(no_link)?;
            let listening = Listening::at(Path::new(place)).map_err(wrong)?;
            (Entrance::VfioUser(listening), vec![place.to_owned()])
        }
        _ => (Entrance::Nbd(Listening::at(Path::new(place)).map_err(wrong)?), vec![place.to_owned()]),
    };
    let control = path_of(&places[0]).map_err(wrong)?;
    let sockets = Sockets { entrance, control: Listening::at(&control).map_err(wrong)? };
    let namespaces: Vec<u64> = drive.all_facts().iter().map(|facts| facts.bytes).collect();
    let mut server = Server::new(Engine::of(&drive, stores).started(), sockets, cores).map_err(no_socket)?;
    ring.map_or(Ok(()), |ring| server.admit(ring)).map_err(no_socket)?;
    server.record_into(record);
    let ready = serde_json::json!({
        "place": places.join(","), "control": control, "nqn": server.nqn(), "file": file, "bytes": namespaces[0],
        "namespaces": namespaces,
        "lead_us": server.took().lead.as_ps() as f64 * 1e-6, "awake": server.wakefulness(),
    });
    monitor.report(ready.to_string());
    server.serve(&|| monitor.is_cancelled());
    let lateness = server.lateness();
    let recorded = server.end_record();
    if !server.close() {
        return Err(Failure::Message("not everything could be written to the file of the drive".into()));
    }
    recorded.map_err(|problem| refused(&[problem.at(path)]))?;
    json(&lateness)
}

/// The path of the control socket of a drive that is served at `place`.
pub fn control_path(place: &str) -> Result<String, Failure> {
    let path = path_of(place).map_err(|problem| refused(&[problem.at(place)]))?;
    Ok(path.display().to_string())
}

/// Discovers, connects and reads over NVMe/TCP. Returns what was found, and how long reads took.
pub fn ping(address: &str, asked: &str) -> Answer {
    let ping: Ping = core_api::parse(asked, "what the ping asks for")?;
    let wrong = |said: String| refused(&[Problem::NoTarget { address: address.into(), said }.at(address)]);
    let known: SocketAddr = address.parse().map_err(|_| wrong("this is no address with a port".into()))?;
    let pong = ping.run(known).map_err(|error| match error {
        NoPong::Keys(problem) => refused(&[problem.at(address)]),
        error => wrong(error.to_string()),
    })?;
    json(&pong)
}

/// A new secret for a host or a subsystem, for a hash (`sha-256`, `sha-384`, `sha-512`) or `none`.
pub fn new_key(hash: &str) -> Answer {
    let named = keys::hash_named(hash);
    if named.is_none() && hash != "none" {
        let said = format!("`{hash}` is no hash: sha-256, sha-384, sha-512 or none");
        return Err(Failure::Message(said));
    }
    keys::new_secret(named)
        .map_err(|error| Failure::Message(format!("the system has no randomness: {error}")))
}
