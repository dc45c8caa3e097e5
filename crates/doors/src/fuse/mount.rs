//! The mount of a folder: made in one that is empty, gone with whoever serves it, also if that was killed.

use super::FILE;
use super::desk::Desk;
use super::file::Folder;
use crate::drive::Facts;
use crate::problem::Problem;
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use nix::mount::{MntFlags, umount2};
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Name of the mount in the mount table.
const SOURCE: &str = "lanetwin";
/// Waits until the server of the folder has ended, and unmounts it unless the server reported that it has.
const KEEPER: &str = r#"read -r _ || umount -l -- "$1" || fusermount3 -uz -- "$1""#;

/// A folder in which a drive is a file.
#[derive(Debug)]
pub struct Mounted {
    folder: PathBuf,
    desk: Arc<Desk>,
    session: Option<BackgroundSession>,
    keeper: Child,
}

/// Serves a kernel, or a program that behaves like one, over a descriptor of `/dev/fuse` or a socket that preserves
/// message boundaries, until it unmounts or sends an invalid message.
///
/// # Errors
/// The first message is not that of a kernel, or no thread can be started.
pub fn hear(kernel: OwnedFd, facts: Facts) -> io::Result<(Arc<Desk>, JoinHandle<io::Result<()>>)> {
    let desk = Arc::new(Desk::new()?);
    let filesystem = Folder { facts, desk: desk.clone() };
    let session = Session::from_fd(filesystem, kernel, SessionACL::All, Config::default())?;
    Ok((desk, session.spawn()?.guard))
}

impl Mounted {
    /// Mounts a drive with these facts in an empty folder. What a server that was killed has left there goes away.
    ///
    /// # Errors
    /// The folder is none, or is not empty; the system mounts nothing there.
    pub fn at(folder: &Path, facts: Facts) -> Result<Self, Problem> {
        let folder = absolute(folder).map_err(|error| no_folder(folder, &error.to_string()))?;
        clear_left(&folder);
        let mut inside =
            std::fs::read_dir(&folder).map_err(|error| no_folder(&folder, &error.to_string()))?;
        if inside.next().is_some() {
            return Err(no_folder(&folder, "it is not empty"));
        }
        let unmounted = |error: io::Error| Problem::NotMounted {
            folder: folder.display().to_string(),
            said: error.to_string(),
        };
        let desk = Arc::new(Desk::new().map_err(unmounted)?);
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName(SOURCE.into())];
        let filesystem = Folder { facts, desk: desk.clone() };
        let session = Session::new(filesystem, &folder, &config).map_err(unmounted)?;
        let session = Some(session.spawn().map_err(unmounted)?);
        let keeper = keeper(&folder).map_err(unmounted)?;
        Ok(Self { folder, desk, session, keeper })
    }
    /// The file of the drive.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }
    /// Requests that have come.
    #[must_use]
    pub fn desk(&self) -> &Desk {
        &self.desk
    }
    /// Readable when requests have come.
    #[must_use]
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.desk.bell()
    }
}

impl Drop for Mounted {
    /// Whoever still has the file open gets errors from now on, as of a drive that is pulled out.
    fn drop(&mut self) {
        let is_gone = umount2(&self.folder, MntFlags::MNT_FORCE | MntFlags::MNT_DETACH).is_ok();
        match self.session.take() {
            Some(session) if is_gone => drop(session.umount_and_join()),
            // without sufficient rights it is unmounted once no program has the file open
            other => drop(other),
        }
        if let Some(mut end) = self.keeper.stdin.take() {
            let _ = end.write_all(b"\n");
        }
        let _ = self.keeper.wait();
    }
}

fn no_folder(folder: &Path, why: &str) -> Problem {
    Problem::NoFolder { folder: folder.display().to_string(), why: why.into() }
}

/// The absolute path, without accessing the folder itself: that of a killed server does not answer.
fn absolute(folder: &Path) -> io::Result<PathBuf> {
    match (folder.parent(), folder.file_name()) {
        (Some(parent), Some(name)) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            Ok(parent.canonicalize()?.join(name))
        }
        _ => folder.canonicalize(),
    }
}

/// Unmounts the stale mount of a killed server.
fn clear_left(folder: &Path) {
    let is_dead = std::fs::metadata(folder)
        .is_err_and(|error| error.raw_os_error() == Some(nix::errno::Errno::ENOTCONN as i32));
    if is_dead && is_ours(folder) {
        // a mount that remains is reported as a folder that is not empty
        let _ = umount2(folder, MntFlags::MNT_DETACH);
    }
}

/// Whether the mount table has a mount of this program there.
fn is_ours(folder: &Path) -> bool {
    let table = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let place = folder.display().to_string().replace(' ', "\\040");
    table.lines().any(|line| {
        let mut words = line.split(' ');
        words.next() == Some(SOURCE) && words.next() == Some(&*place)
    })
}

fn keeper(folder: &Path) -> io::Result<Child> {
    let mut command = Command::new("sh");
    command.args(["-c", KEEPER, "sh"]).arg(folder).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C is not for it
    command.process_group(0).spawn()
}
