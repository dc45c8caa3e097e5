//! Measures the time of a door itself, twice: of an echo, reads that are answered at once without the drive, and of
//! the drive, as the time that reads take beyond what is predicted for them. Answers are sent earlier by the latter.
//! It is the median of a round of reads, the lower quartile of several rounds: rounds disturbed by other programs must
//! not count, because the drive would seem faster than it is.
//!
//! An echo shows what the door takes at best, of threads that hardly sleep. While a drive is busy for hundreds of
//! microseconds, the reader and the door sleep, and wake later; so it is the drive that the lead is measured with.
//!
//! Where cores may sleep, the core on which the reader runs matters most: on the door's own core it is scheduled in a
//! few microseconds, on an idle one in tens of them, above all in a virtual machine. Programs may run on either. In
//! half of the rounds the reader is therefore pinned to the door's core, which is the faster half.

use super::of_guest::Guest;
use super::peer::{PeerKind, Socket};
use super::{Entrance, Phase, Server, Took, front};
use crate::cores::place;
use crate::fabric::initiator::{Initiator, Wanted};
use crate::fabric::offer::Offer;
use crate::nbd::client::{Ask, Client};
use crate::nbd::connection::{Connection, EXPORT};
use crate::vfio_user::host::Driver;
use lanetwin_nvme::logic::host::commands::read;
use lanetwin_nvme::spec::{Nsid, SqId};
use lanetwin_nvmeof::logic::host::Transfer;
use lanetwin_units::Span;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Number of rounds, half of them on the door's core.
const ROUNDS: u32 = 16;
/// Number of reads of each round.
const READS: u32 = 25;
/// Rounds on one core end after this time, and a round of a drive that takes longer.
const ENOUGH: Duration = Duration::from_millis(200);
/// Maximum lead. `assumed`: what is more is not the time of a door, but a machine that is too slow to simulate the
/// drive, as lateness will show.
const MOST: Span = Span::from_us(250);

/// Where the reader runs in each half of the rounds.
type Places = [Option<CpuSet>; 2];
/// How long the reads of each round took \[ns\].
type Rounds = Vec<Vec<u64>>;

impl Server {
    /// The time of the door itself.
    pub(super) fn measure(&mut self, offer: Option<&Offer>) -> io::Result<Took> {
        let echo = least(&self.measure_in(Phase::Echo, offer)?);
        let now = self.now();
        self.engine.set_lead(now, Span::ZERO);
        let lead = lower_quartile(&self.measure_in(Phase::Trial, offer)?).min(MOST);
        Ok(Took { echo, lead })
    }
    /// The median of each round \[ns\], in order.
    fn measure_in(&mut self, phase: Phase, offer: Option<&Offer>) -> io::Result<Vec<u64>> {
        self.phase = phase;
        let file = match &self.sockets.entrance {
            Entrance::File(mounted) => Some(mounted.file()),
            _ => None,
        };
        let rounds = match (&self.sockets.entrance, offer, file) {
            (_, Some(offer), _) => self.measure_nvme_tcp(offer),
            (_, _, Some(file)) => self.measure_file(file),
            (Entrance::VfioUser(_), ..) => self.measure_vfio_user(),
            _ => self.measure_nbd(),
        };
        self.peers.clear();
        self.own_entrance = None;
        Ok(medians(rounds?, &std::mem::take(&mut self.predicted)))
    }
    fn measure_nbd(&mut self) -> io::Result<Rounds> {
        let (ours, theirs) = UnixStream::pair()?;
        let connection = Box::new(Connection::new(self.engine.drive().facts));
        let is_echo = self.phase == Phase::Echo;
        let kind = if is_echo { PeerKind::Echo(connection) } else { PeerKind::Nbd(connection) };
        self.welcome(Socket::Unix(ours), kind)?;
        let block = self.engine.drive().facts.block.max(4096);
        self.measured_by(move |places| {
            let mut client = Client::connect(theirs, EXPORT).ok()?;
            rounds(places, || client.one(Ask::Read, 0, block, &[]).ok()?.ok().map(drop))
        })
    }
    /// Through a private socket.
    fn measure_nvme_tcp(&mut self, offer: &Offer) -> io::Result<Rounds> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        self.own_entrance = Some(listener);
        self.front = Some(front(&Offer { addresses: vec![address], ..offer.clone() })?);
        let (nqn, block) = (offer.nqn.clone(), offer.facts[0].block);
        self.measured_by(move |places| reads(places, address, &nqn, block))
    }
    /// By a driver in this process: without the time of a guest and its emulator.
    fn measure_vfio_user(&mut self) -> io::Result<Rounds> {
        let (ours, theirs) = UnixStream::pair()?;
        self.guest = Some(Guest::new(self.engine.drive())?);
        self.welcome(Socket::Unix(ours), PeerKind::guest())?;
        let block = self.engine.drive().facts.block;
        self.measured_by(move |places| {
            let mut driver = Driver::attach(theirs).ok()?;
            let blocks = 4096_u32.div_ceil(block);
            let mut data = vec![0; (blocks * block) as usize];
            rounds(places, || {
                driver.one(read(Nsid(1), 0, blocks), &mut data).ok()?.is_success().then_some(())
            })
        })
    }
    /// Through the file, as any program reads it.
    fn measure_file(&mut self, file: PathBuf) -> io::Result<Rounds> {
        let block = self.engine.drive().facts.block.max(4096);
        self.measured_by(move |places| {
            let file = std::fs::File::open(file).ok()?;
            let mut data = vec![0; block as usize];
            rounds(places, || file.read_exact_at(&mut data, 0).ok())
        })
    }
    /// While a reader measures, this thread stays on one core.
    fn measured_by(
        &mut self,
        reader: impl FnOnce(Places) -> Option<Rounds> + Send + 'static,
    ) -> io::Result<Rounds> {
        let (places, before) = (self.cores.of_readers(), sched_getaffinity(None).ok());
        let reader = Builder::new().name("lanetwin-echo".into()).spawn(move || reader(places))?;
        places[0].iter().for_each(place);
        self.serve(&|| reader.is_finished());
        before.iter().for_each(place);
        Ok(reader.join().ok().flatten().unwrap_or_default())
    }
}

fn reads(places: Places, address: SocketAddr, nqn: &str, block: u32) -> Option<Rounds> {
    let mut host = Initiator::connect(&Wanted { keep_alive_ms: 0, ..Wanted::new(address, nqn) }).ok()?;
    let blocks = 4096_u32.div_ceil(block);
    rounds(places, || {
        let transfer = Transfer::FromController(blocks * block);
        let (ending, _) = host.one(SqId(1), read(Nsid(1), 0, blocks), transfer).ok()?;
        ending.status.is_success().then_some(())
    })
}

/// Reads in rounds; how long each took.
fn rounds(places: Places, mut one: impl FnMut() -> Option<()>) -> Option<Rounds> {
    let mut rounds = Rounds::new();
    for cores in places {
        cores.iter().for_each(place);
        let began = Instant::now();
        for _ in 0..ROUNDS / 2 {
            rounds.push(round(&mut one)?);
            if began.elapsed() > ENOUGH {
                break;
            }
        }
    }
    Some(rounds)
}

fn round(one: &mut impl FnMut() -> Option<()>) -> Option<Vec<u64>> {
    let (mut took, round) = (Vec::new(), Instant::now());
    while took.len() < READS as usize && (took.is_empty() || round.elapsed() < ENOUGH) {
        let began = Instant::now();
        one()?;
        took.push(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    Some(took)
}

/// The median of each round \[ns\], in order: of what reads took in addition to these latencies, which are those of the
/// reads; of an echo there are none.
fn medians(rounds: Rounds, predicted: &[Span]) -> Vec<u64> {
    let mut predicted = predicted.iter().map(|span| span.as_ps() / 1000);
    let medians = rounds.into_iter().map(|took| {
        let own = took.into_iter().map(|ns| ns.saturating_sub(predicted.next().unwrap_or(0)));
        let mut own: Vec<u64> = own.collect();
        own.sort_unstable();
        own[own.len() / 2]
    });
    let mut medians: Vec<u64> = medians.collect();
    medians.sort_unstable();
    medians
}
fn least(medians: &[u64]) -> Span {
    Span::from_ns(medians.first().copied().unwrap_or(0))
}
fn lower_quartile(medians: &[u64]) -> Span {
    Span::from_ns(medians.get(medians.len() / 4).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_take_of_the_door_is_the_time_of_a_quiet_round_beyond_what_is_predicted() {
        let rounds = vec![vec![250_000, 230_000, 900_000], vec![222_000, 221_000, 321_000]];
        let predicted: Vec<Span> = [200, 200, 300, 200, 200, 300].map(Span::from_us).to_vec();
        assert_eq!(medians(rounds.clone(), &predicted), [21_000, 50_000]);
        assert_eq!(medians(rounds, &[]), [222_000, 250_000]);
        assert_eq!(least(&[3, 4, 5, 6]), Span::from_ns(3));
        assert_eq!(lower_quartile(&[3, 4, 5, 6]), Span::from_ns(4));
        assert_eq!(lower_quartile(&[]), Span::ZERO);
    }
    #[test]
    fn a_round_of_a_slow_drive_is_short() {
        let all = rounds([None; 2], || {
            std::thread::sleep(ENOUGH * 2);
            Some(())
        });
        assert_eq!(all.expect("it reads").iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
        assert!(rounds([None; 2], || None).is_none());
    }
}
