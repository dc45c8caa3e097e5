//! Listening sockets: Unix sockets that only their owner can open and that are removed when the listener ends; TCP on
//! loopback, and beyond it if hosts authenticate.

use crate::problem::Problem;
use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Number of connections that can wait to be accepted.
const BACKLOG: i32 = 128;

/// A socket that is listened to; its path goes away with it.
#[derive(Debug)]
pub struct Listening {
    /// The socket; it does not block.
    pub socket: UnixListener,
    path: PathBuf,
}

impl Listening {
    /// Listens at a path that does not exist, or that is a stale socket.
    ///
    /// # Errors
    /// Why it cannot listen.
    pub fn at(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        if let Ok(meta) = path.symlink_metadata() {
            if !meta.file_type().is_socket() {
                return Err(Problem::SocketTaken { path: name, what: "is there, and is no socket".into() });
            }
            if UnixStream::connect(path).is_ok() {
                return Err(Problem::SocketTaken { path: name, what: "is another server's".into() });
            }
            // stale socket of a killed server
            let _ = std::fs::remove_file(path);
        }
        let unusable = |error: rustix::io::Errno| Problem::SocketTaken {
            path: path.display().to_string(),
            what: format!("cannot be made: {error}"),
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(unusable)?;
        let address = SocketAddrUnix::new(path).map_err(unusable)?;
        bind(&socket, &address).map_err(unusable)?;
        // no client can connect before it listens, and the permissions are restricted before that
        let listening = Self { socket: UnixListener::from(socket), path: path.to_owned() };
        rustix::fs::chmod(path, Mode::RUSR | Mode::WUSR).map_err(unusable)?;
        listen(&listening.socket, BACKLOG).map_err(unusable)?;
        Ok(listening)
    }
}

/// Listens at a TCP address that no other machine reaches; port 0 is any that is free.
///
/// # Errors
/// Why that cannot be.
pub fn loopback(address: &str) -> Result<TcpListener, Problem> {
    tcp(address, false)
}

/// Listens at a TCP address. Other machines may only reach it if hosts have to authenticate. It must be a specific
/// address, because hosts read it in the discovery log.
///
/// # Errors
/// Why it cannot listen.
pub fn tcp(address: &str, has_keys: bool) -> Result<TcpListener, Problem> {
    let fits = |known: &SocketAddr| match known.ip() {
        ip if ip.is_loopback() => true,
        ip => has_keys && !ip.is_unspecified() && !ip.is_multicast(),
    };
    let known = address.parse::<SocketAddr>().ok().filter(fits);
    let known = known.ok_or_else(|| {
        let address = address.into();
        if has_keys { Problem::NoOneAddress { address } } else { Problem::NotLoopback { address } }
    })?;
    let listener = TcpListener::bind(known).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| Problem::AddressTaken { address: address.into(), said: error.to_string() })
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
