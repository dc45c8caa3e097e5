//! What a door takes of its own: the median of reads through a socket in which no drive has a part, in the best of
//! several rounds. Answers leave earlier by as much, so that a moment in which others computed must not count: programs
//! would see a drive that is faster than it is.

use super::peer::{PeerKind, Socket};
use super::{Server, front};
use crate::fabric::initiator::{Initiator, Wanted};
use crate::fabric::offer::Offer;
use crate::nbd::client::{Ask, Client};
use crate::nbd::connection::{Connection, EXPORT};
use lanetwin_nvme::logic::host::commands::read;
use lanetwin_nvme::spec::{Nsid, SqId};
use lanetwin_nvmeof::logic::host::Transfer;
use lanetwin_units::Span;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::{Builder, JoinHandle};

/// So many rounds of so many reads measure it.
const ROUNDS: u32 = 16;
const ECHOES: u32 = 25;

/// The median \[ns\]; none if somebody did not answer.
type Median = JoinHandle<Option<u64>>;

impl Server {
    pub(super) fn measure_nbd(&mut self) -> io::Result<Span> {
        let (ours, theirs) = UnixStream::pair()?;
        let echo = PeerKind::Echo(Box::new(Connection::new(self.engine.drive().facts)));
        self.welcome(Socket::Unix(ours), echo)?;
        let block = self.engine.drive().facts.block.max(4096);
        self.measured_by(client(move || {
            let mut client = Client::connect(theirs, EXPORT).ok()?;
            best_median(|| client.one(Ask::Read, 0, block, &[]).ok()?.ok().map(drop))
        })?)
    }
    /// Through a socket that nobody else knows of.
    pub(super) fn measure_nvme_tcp(&mut self, offer: &Offer) -> io::Result<Span> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        self.own_entrance = Some(listener);
        self.front = Some(front(&Offer { addresses: vec![address], ..offer.clone() })?);
        let (nqn, block) = (offer.nqn.clone(), offer.facts[0].block);
        self.measured_by(client(move || reads(address, &nqn, block))?)
    }
    /// Through the file, as any program reads it.
    pub(super) fn measure_file(&mut self, file: PathBuf) -> io::Result<Span> {
        let block = self.engine.drive().facts.block.max(4096);
        self.measured_by(client(move || {
            let file = std::fs::File::open(file).ok()?;
            let mut data = vec![0; block as usize];
            best_median(|| file.read_exact_at(&mut data, 0).ok())
        })?)
    }
    fn measured_by(&mut self, client: Median) -> io::Result<Span> {
        self.serve(&|| client.is_finished());
        let ns = client.join().ok().flatten();
        Ok(Span::from_ns(ns.unwrap_or(0)))
    }
}

fn client(measure: impl FnOnce() -> Option<u64> + Send + 'static) -> io::Result<Median> {
    Builder::new().name("lanetwin-echo".into()).spawn(measure)
}

fn reads(address: SocketAddr, nqn: &str, block: u32) -> Option<u64> {
    let mut host = Initiator::connect(&Wanted { keep_alive_ms: 0, ..Wanted::new(address, nqn) }).ok()?;
    let blocks = 4096_u32.div_ceil(block);
    best_median(|| {
        let transfer = Transfer::FromController(blocks * block);
        let (ending, _) = host.one(SqId(1), read(Nsid(1), 0, blocks), transfer).ok()?;
        ending.status.is_success().then_some(())
    })
}

fn best_median(mut one: impl FnMut() -> Option<()>) -> Option<u64> {
    let medians = (0..ROUNDS).map(|_| median(&mut one)).collect::<Option<Vec<u64>>>()?;
    medians.into_iter().min()
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
