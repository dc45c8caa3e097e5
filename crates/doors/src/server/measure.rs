//! Measures the time of a door itself: the median of reads through a socket without a drive, in the best of several
//! rounds. Answers are sent earlier by this time, so that a round disturbed by other programs must not count: the
//! drive would seem faster than it is.
//!
//! The core on which the reader runs matters most: on the door's own core it is scheduled in a few microseconds, on
//! an idle one in tens of them, above all in a virtual machine. Programs may run on either. In half of the rounds the
//! reader is therefore pinned to the door's core, and the faster result is what every program can rely on.

use super::of_guest::Guest;
use super::peer::{PeerKind, Socket};
use super::{Entrance, Server, front};
use crate::fabric::initiator::{Initiator, Wanted};
use crate::fabric::offer::Offer;
use crate::nbd::client::{Ask, Client};
use crate::nbd::connection::{Connection, EXPORT};
use crate::vfio_user::host::Driver;
use lanetwin_nvme::logic::host::commands::read;
use lanetwin_nvme::spec::{Nsid, SqId};
use lanetwin_nvmeof::logic::host::Transfer;
use lanetwin_units::Span;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::Builder;

/// Number of rounds, half of them on the door's core.
const ROUNDS: u32 = 16;
/// Number of reads of each round.
const ECHOES: u32 = 25;

impl Server {
    /// The time of the door itself.
    pub(super) fn measure(&mut self, offer: Option<&Offer>) -> io::Result<Span> {
        let file = match &self.sockets.entrance {
            Entrance::File(mounted) => Some(mounted.file()),
            _ => None,
        };
        match (&self.sockets.entrance, offer, file) {
            (_, Some(offer), _) => self.measure_nvme_tcp(offer),
            (_, _, Some(file)) => self.measure_file(file),
            (Entrance::VfioUser(_), ..) => self.measure_vfio_user(),
            _ => self.measure_nbd(),
        }
    }
    fn measure_nbd(&mut self) -> io::Result<Span> {
        let (ours, theirs) = UnixStream::pair()?;
        let echo = PeerKind::Echo(Box::new(Connection::new(self.engine.drive().facts)));
        self.welcome(Socket::Unix(ours), echo)?;
        let block = self.engine.drive().facts.block.max(4096);
        self.measured_by(move |core| {
            let mut client = Client::connect(theirs, EXPORT).ok()?;
            best_median(core, || client.one(Ask::Read, 0, block, &[]).ok()?.ok().map(drop))
        })
    }
    /// Through a private socket.
    fn measure_nvme_tcp(&mut self, offer: &Offer) -> io::Result<Span> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        self.own_entrance = Some(listener);
        self.front = Some(front(&Offer { addresses: vec![address], ..offer.clone() })?);
        let (nqn, block) = (offer.nqn.clone(), offer.facts[0].block);
        self.measured_by(move |core| reads(core, address, &nqn, block))
    }
    /// By a driver in this process: without the time of a guest and its emulator.
    fn measure_vfio_user(&mut self) -> io::Result<Span> {
        let (ours, theirs) = UnixStream::pair()?;
        self.guest = Some(Guest::new(self.engine.drive())?);
        self.welcome(Socket::Unix(ours), PeerKind::guest())?;
        let block = self.engine.drive().facts.block;
        self.measured_by(move |core| {
            let mut driver = Driver::attach(theirs).ok()?;
            let blocks = 4096_u32.div_ceil(block);
            let mut data = vec![0; (blocks * block) as usize];
            best_median(core, || {
                driver.one(read(Nsid(1), 0, blocks), &mut data).ok()?.is_success().then_some(())
            })
        })
    }
    /// Through the file, as any program reads it.
    fn measure_file(&mut self, file: PathBuf) -> io::Result<Span> {
        let block = self.engine.drive().facts.block.max(4096);
        self.measured_by(move |core| {
            let file = std::fs::File::open(file).ok()?;
            let mut data = vec![0; block as usize];
            best_median(core, || file.read_exact_at(&mut data, 0).ok())
        })
    }
    /// While a reader measures, this thread stays on one core.
    fn measured_by(
        &mut self,
        reader: impl FnOnce(&Core) -> Option<u64> + Send + 'static,
    ) -> io::Result<Span> {
        let core = Core::current();
        let reader = Builder::new().name("lanetwin-echo".into()).spawn(move || reader(&core))?;
        core.keep();
        self.serve(&|| reader.is_finished());
        core.release();
        let ns = reader.join().ok().flatten();
        Ok(Span::from_ns(ns.unwrap_or(0)))
    }
}

/// The core that the door runs on, and those that a thread here may run on.
#[derive(Clone, Copy)]
struct Core {
    all: Option<CpuSet>,
    one: CpuSet,
}

impl Core {
    fn current() -> Self {
        let mut one = CpuSet::new();
        one.set(sched_getcpu());
        Self { all: sched_getaffinity(None).ok(), one }
    }
    /// Keeps this thread on it. Where that is not allowed the scheduler decides, as it does for programs.
    fn keep(&self) {
        if self.all.is_some() {
            let _ = sched_setaffinity(None, &self.one);
        }
    }
    fn release(&self) {
        if let Some(all) = &self.all {
            let _ = sched_setaffinity(None, all);
        }
    }
}

fn reads(core: &Core, address: SocketAddr, nqn: &str, block: u32) -> Option<u64> {
    let mut host = Initiator::connect(&Wanted { keep_alive_ms: 0, ..Wanted::new(address, nqn) }).ok()?;
    let blocks = 4096_u32.div_ceil(block);
    best_median(core, || {
        let transfer = Transfer::FromController(blocks * block);
        let (ending, _) = host.one(SqId(1), read(Nsid(1), 0, blocks), transfer).ok()?;
        ending.status.is_success().then_some(())
    })
}

fn best_median(core: &Core, mut one: impl FnMut() -> Option<()>) -> Option<u64> {
    let mut best = u64::MAX;
    for place in [Core::keep, Core::release] {
        place(core);
        for _ in 0..ROUNDS / 2 {
            best = best.min(median(&mut one)?);
        }
    }
    Some(best)
}

fn median(one: &mut impl FnMut() -> Option<()>) -> Option<u64> {
    let mut took = Vec::new();
    for _ in 0..ECHOES {
        let began = std::time::Instant::now();
        one()?;
        took.push(began.elapsed());
    }
    took.sort_unstable();
    u64::try_from(took[took.len() / 2].as_nanos()).ok()
}
