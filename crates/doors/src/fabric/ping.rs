//! Latency of reads at a subsystem, as seen by a host.

use super::initiator::{HOST_NQN, Initiator, Trouble, Wanted};
use crate::keys;
use crate::problem::Problem;
use lanetwin_kernel::Stream;
use lanetwin_nvme::logic::host::commands::{identify, read};
use lanetwin_nvme::spec::admin::IdentifyStructure;
use lanetwin_nvme::spec::identify::{IdentifyController, IdentifyNamespace, LbaFormatWord};
use lanetwin_nvme::spec::{Nsid, SqId};
use lanetwin_nvmeof::logic::authentication::Keys;
use lanetwin_nvmeof::logic::host::Transfer;
use lanetwin_stats::Histogram;
use lanetwin_units::Span;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A read that is not answered within this time never is.
const PATIENCE: Duration = Duration::from_secs(30);

/// Parameters of a measurement.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Ping {
    /// The NQN of the subsystem; the first that the discovery log has if none.
    pub nqn: Option<String>,
    /// Namespace.
    pub nsid: u32,
    /// Number of reads.
    pub reads: u64,
    /// Size of each \[B\].
    pub size: u32,
    /// Number in progress at a time.
    pub depth: u32,
    /// Whether header and data digests are requested.
    pub digests: bool,
    /// Seed of the random addresses.
    pub seed: u64,
    /// The NQN of the host; that of the file of secrets if it names one alone, else lanetwin's own.
    #[serde(default)]
    pub host: Option<String>,
    /// The file with its secrets.
    #[serde(default)]
    pub keys: Option<PathBuf>,
}

/// Results of a measurement.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Pong {
    /// The NQNs that the discovery log has.
    pub discovered: Vec<String>,
    /// The subsystem.
    pub nqn: String,
    /// The controller (CNTLID).
    pub controller: u16,
    /// The NQN of the host.
    pub host: String,
    /// Which sides have authenticated.
    pub proved: Proved,
    /// Model Number.
    pub model: String,
    /// Serial Number.
    pub serial: String,
    /// The namespace's size \[B\].
    pub bytes: u64,
    /// The size of its blocks \[B\].
    pub block: u32,
    /// Number of successful reads …
    pub reads: u64,
    /// … and how many otherwise.
    pub errors: u64,
    /// All of it \[s\].
    pub seconds: f64,
    /// The least, the mean and the most that a read took \[µs\].
    pub min_us: f64,
    /// The mean \[µs\].
    pub mean_us: f64,
    /// The worst \[µs\].
    pub max_us: f64,
    /// Percentiles: percent, \[µs\].
    pub percentiles_us: Vec<(f64, f64)>,
    /// The histogram: up to \[µs\], how many.
    pub histogram: Vec<(f64, u64)>,
}

/// Which sides have authenticated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proved {
    /// None: the target does not require it.
    Nobody,
    /// The host.
    Host,
    /// Host and target.
    Both,
}

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum NoPong {
    /// There is no answer from a target.
    #[error(transparent)]
    Trouble(#[from] Trouble),
    /// The secrets cannot be used.
    #[error("the secrets cannot be used")]
    Keys(Box<Problem>),
    /// The parameters are invalid.
    #[error("{0}")]
    Asked(String),
}

fn us(span: Span) -> f64 {
    span.as_ps() as f64 * 1e-6
}
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches([' ', '\0']).to_owned()
}

/// A namespace that is read.
struct Namespace {
    nsid: Nsid,
    bytes: u64,
    block: u32,
}

impl Ping {
    /// Discovers, connects, identifies and reads.
    ///
    /// # Errors
    /// Why it cannot be measured.
    pub fn run(&self, address: SocketAddr) -> Result<Pong, NoPong> {
        let entries = Initiator::discover(address)?;
        let discovered: Vec<String> = entries.iter().map(|entry| text(&entry.subsystem())).collect();
        let known = self.nqn.clone().or_else(|| discovered.first().cloned());
        let nqn = known.ok_or_else(|| NoPong::Asked("the target offers no subsystem".into()))?;
        let depth = self.depth.clamp(1, 1023);
        let entries = (depth + 1).max(128);
        let (host, keys) = self.who()?;
        let has_both = keys.as_ref().is_some_and(|keys| keys.subsystem.is_some());
        let wanted =
            Wanted { entries, digests: self.digests, host: host.clone(), keys, ..Wanted::new(address, &nqn) };
        let mut initiator = Initiator::connect(&wanted)?;
        let proved = match initiator.has_proved() {
            false => Proved::Nobody,
            true if has_both => Proved::Both,
            true => Proved::Host,
        };
        let (model, serial) = identity(&initiator);
        let namespace = self.namespace(&mut initiator)?;
        let began = Instant::now();
        let (took, errors) = self.read(&mut initiator, &namespace)?;
        let percentile = |percent| took.percentile(percent).map(|span| (percent, us(span)));
        Ok(Pong {
            discovered,
            nqn,
            controller: initiator.controller_id(),
            host,
            proved,
            model,
            serial,
            bytes: namespace.bytes,
            block: namespace.block,
            reads: took.count(),
            errors,
            seconds: began.elapsed().as_secs_f64(),
            min_us: took.min().map_or(0.0, us),
            mean_us: took.mean_ps().unwrap_or(0.0) * 1e-6,
            max_us: took.max().map_or(0.0, us),
            percentiles_us: [50.0, 90.0, 99.0, 99.9].into_iter().filter_map(percentile).collect(),
            histogram: doubling(&took),
        })
    }
    /// NQN of the host, and its keys.
    fn who(&self) -> Result<(String, Option<Keys>), NoPong> {
        let Some(file) = &self.keys else {
            return Ok((self.host.clone().unwrap_or_else(|| HOST_NQN.into()), None));
        };
        let ring = keys::read(file).map_err(|problem| NoPong::Keys(Box::new(problem)))?;
        let alone = if let [(nqn, _)] = &ring.hosts[..] { Some(nqn.clone()) } else { None };
        let host = self.host.clone().or(alone).unwrap_or_else(|| HOST_NQN.into());
        let known = ring.keys(&host).cloned();
        let none = || NoPong::Asked(format!("the file of secrets names no host {host}"));
        Ok((host.clone(), Some(known.ok_or_else(none)?)))
    }
    fn namespace(&self, initiator: &mut Initiator) -> Result<Namespace, NoPong> {
        let nsid = Nsid(self.nsid);
        let command = identify(IdentifyStructure::NAMESPACE, nsid);
        let (ending, data) = initiator.one(SqId::ADMIN, command, Transfer::FromController(4096))?;
        let told = <[u8; 4096]>::try_from(data).ok().filter(|_| ending.status.is_success());
        let told = told.map(IdentifyNamespace::from_bytes).filter(|told| told.size() > 0);
        let told = told.ok_or_else(|| NoPong::Asked(format!("there is no namespace {}", self.nsid)))?;
        let now = told.formatted_size();
        let at = 4 * (usize::from(now.format_low()) | usize::from(now.format_high()) << 4);
        let formats = told.formats();
        let word = std::array::from_fn(|byte| formats[at + byte]);
        let format = LbaFormatWord::from_raw(u32::from_le_bytes(word));
        let block = 1_u32.checked_shl(format.data_size_log2().into()).unwrap_or(0);
        let bytes = told.size().saturating_mul(block.into());
        if block < 512 || self.size == 0 || !self.size.is_multiple_of(block) || u64::from(self.size) > bytes {
            let said = format!(
                "reads of {} B are not whole blocks of {block} B of a namespace of {bytes} B",
                self.size
            );
            return Err(NoPong::Asked(said));
        }
        Ok(Namespace { nsid, bytes, block })
    }
    /// Reads at random places; how long each took, and how many ended otherwise than well.
    fn read(&self, initiator: &mut Initiator, namespace: &Namespace) -> Result<(Histogram, u64), NoPong> {
        let places = namespace.bytes / u64::from(self.size);
        let blocks = self.size / namespace.block;
        let mut chance = Stream::new(self.seed, "ping", "place");
        let mut asked: Vec<Option<Instant>> = vec![None; self.depth.clamp(1, 1023) as usize];
        let (mut took, mut errors, mut begun) = (Histogram::new(), 0, 0);
        let mut free: Vec<usize> = (0..asked.len()).rev().collect();
        while begun < self.reads || free.len() < asked.len() {
            while begun < self.reads
                && let Some(name) = free.pop()
            {
                let slba = chance.below(places) * u64::from(blocks);
                asked[name] = Some(Instant::now());
                let transfer = Transfer::FromController(self.size);
                initiator.submit(SqId(1), name as u64, read(namespace.nsid, slba, blocks), transfer)?;
                begun += 1;
            }
            for ended in initiator.wait(PATIENCE)? {
                let name = ended.name as usize;
                let Some(began) = asked.get_mut(name).and_then(Option::take) else { continue };
                free.push(name);
                if ended.ending.status.is_success() && ended.data.len() == self.size as usize {
                    let ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
                    took.record(Span::from_ns(ns));
                } else {
                    errors += 1;
                }
            }
        }
        Ok((took, errors))
    }
}

fn identity(initiator: &Initiator) -> (String, String) {
    let told = <[u8; 4096]>::try_from(initiator.identity()).map(IdentifyController::from_bytes);
    told.map_or_else(|_| Default::default(), |told| (text(&told.model()), text(&told.serial())))
}

/// Number of reads that took up to 1, 2, 4 … µs.
fn doubling(took: &Histogram) -> Vec<(f64, u64)> {
    let mut all: Vec<(f64, u64)> = Vec::new();
    for bucket in took.buckets() {
        let up_to = us(bucket.high).max(1.0).log2().ceil().exp2();
        match all.last_mut() {
            Some((last, count)) if *last == up_to => *count += bucket.count,
            _ => all.push((up_to, bucket.count)),
        }
    }
    all
}
