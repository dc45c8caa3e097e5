//! The engines of fio (`ioengine`): the target of each, and its own options (`fio --enghelp=ENGINE`; fio 3.33 as Debian
//! builds it, and engines of its sources that Debian leaves out).

use EngineTarget::{Drive, Elsewhere, Nothing};

/// The targets of an engine's I/Os.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EngineTarget {
    /// A block device, or a file on one.
    Drive,
    /// Something other than a block device of this host, described here.
    Elsewhere(&'static str),
    /// No I/O at all; the effect of such jobs is described here.
    Nothing(&'static str),
}

struct Engine {
    name: &'static str,
    target_of: EngineTarget,
    /// The names of its own options.
    options: &'static str,
}

/// The target of an engine's jobs; unknown engines (`external:…`, `spdk`) count as made for drives.
pub(super) fn target_of(engine: &str) -> EngineTarget {
    find(engine).map_or(Drive, |engine| engine.target_of)
}
/// Whether an engine has an option of this name; `None` if the engine's options are not known.
pub(super) fn has(engine: &str, option: &str) -> Option<bool> {
    let known = find(engine).filter(|engine| !LEFT_OUT.contains(&engine.name))?;
    Some(known.has(option))
}
/// Whether any engine has an option of this name.
pub(super) fn any_has(option: &str) -> bool {
    ENGINES.iter().any(|engine| engine.has(option))
}
/// Whether a profile (`profile=tiobench`, `profile=act`) has an option of this name. fio accepts it in any job.
pub(super) fn profile_has(option: &str) -> bool {
    PROFILES.contains(&option)
}

impl Engine {
    fn has(&self, option: &str) -> bool {
        !option.is_empty() && self.options.split(' ').any(|own| own == option)
    }
}
fn find(engine: &str) -> Option<&'static Engine> {
    let name = engine.split(':').next().unwrap_or_default().trim();
    ENGINES.iter().find(|engine| engine.name == name)
}
const fn engine(name: &'static str, target_of: EngineTarget, options: &'static str) -> Engine {
    Engine { name, target_of, options }
}

/// The options that `profiles/tiobench.c` and `profiles/act.c` declare.
const PROFILES: &[&str] = &[
    "block",
    "device-names",
    "dir",
    "large-block-op-kbytes",
    "load",
    "numruns",
    "prep",
    "read-req-num-512-blocks",
    "test-duration",
    "threads",
    "threads-per-queue",
];
/// Engines that Debian does not build, or that came later; their options are not known here.
const LEFT_OUT: &[&str] = &[
    "cpp_null",
    "dfs",
    "dircreate",
    "dirdelete",
    "dirstat",
    "http",
    "libhdfs",
    "libiscsi",
    "nfs",
    "page_fault",
];

const FILES: EngineTarget =
    Nothing("it creates, looks up, moves or deletes files, and reads and writes none");
const MEMORY: EngineTarget = Nothing("it loads and stores in memory");
const NETWORK: EngineTarget = Nothing("it sends data over a network");
const REMOTE: EngineTarget = Elsewhere("reaches its storage over a network");
const NULL: EngineTarget = Elsewhere("completes every I/O without doing it");
const RING: &str = "hipri cmdprio_percentage cmdprio_class cmdprio cmdprio_bssplit fixedbufs registerfiles sqthread_poll sqthread_poll_cpu nonvectored uncached nowait force_async cmd_type";
const SOCKET: &str = "hostname port protocol nodelay listen pingpong interface ttl window_size mss";

const ENGINES: &[Engine] = &[
    engine("cpp_null", NULL, ""),
    engine("cpuio", Nothing("it computes"), "cpuload cpuchunks cpumode exit_on_io_done"),
    engine("dev-dax", MEMORY, ""),
    engine("dfs", REMOTE, ""),
    engine("dircreate", FILES, ""),
    engine("dirdelete", FILES, ""),
    engine("dirstat", FILES, ""),
    engine("e4defrag", FILES, "donorname inplace"),
    engine("exec", Nothing("it runs a program"), "program arguments grace_time std_redirect"),
    engine("falloc", FILES, ""),
    engine("filecreate", FILES, ""),
    engine("filedelete", FILES, ""),
    engine("filestat", FILES, "stat_type"),
    engine("ftruncate", FILES, ""),
    engine("gfapi", REMOTE, "volume brick single-instance"),
    engine("gfapi_async", REMOTE, "volume brick single-instance"),
    engine("http", REMOTE, ""),
    engine("io_uring", Drive, RING),
    engine("io_uring_cmd", Drive, RING),
    engine("libaio", Drive, "userspace_reap cmdprio_percentage cmdprio_class cmdprio cmdprio_bssplit nowait"),
    engine("libhdfs", REMOTE, ""),
    engine("libiscsi", REMOTE, ""),
    engine("libpmem", MEMORY, ""),
    engine("mmap", Drive, "thp"),
    engine("mtd", Elsewhere("goes to flash without a controller"), "skip_bad"),
    engine("nbd", REMOTE, "uri"),
    engine("net", NETWORK, SOCKET),
    engine("netsplice", NETWORK, SOCKET),
    engine("nfs", REMOTE, ""),
    engine("null", NULL, ""),
    engine("page_fault", MEMORY, ""),
    engine("pmemblk", MEMORY, ""),
    engine("posixaio", Drive, ""),
    engine("psync", Drive, ""),
    engine("pvsync", Drive, ""),
    engine("pvsync2", Drive, "hipri hipri_percentage uncached nowait"),
    engine("rados", REMOTE, "clustername pool clientname conf busy_poll touch_objects"),
    engine("rbd", REMOTE, "clustername rbdname pool clientname busy_poll"),
    engine("rdma", NETWORK, "hostname bindname port verb"),
    engine("sg", Drive, "hipri readfua writefua sg_write_mode stream_id"),
    engine("splice", Drive, ""),
    engine("sync", Drive, ""),
    engine("vsync", Drive, ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_known_once_and_their_options_are_theirs() {
        assert!(ENGINES.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(LEFT_OUT.iter().all(|name| find(name).is_some_and(|engine| engine.options.is_empty())));
        assert_eq!(has("libaio", "hipri"), Some(false));
        assert_eq!(has("io_uring", "hipri"), Some(true));
        assert_eq!((has("spdk", "hipri"), has("http", "http_host")), (None, None));
        assert!(any_has("uri") && !any_has(""));
    }

    #[test]
    fn what_does_no_io_is_told_from_what_does() {
        for engine in ["cpuio", "exec", "net", "filecreate", "libpmem", "rdma"] {
            assert!(matches!(target_of(engine), Nothing(_)), "{engine}");
        }
        for engine in ["psync", "io_uring", "spdk", "external:/usr/lib/x.so"] {
            assert_eq!(target_of(engine), Drive, "{engine}");
        }
        assert!(matches!((target_of("null"), target_of("rbd")), (Elsewhere(_), Elsewhere(_))));
    }
}
