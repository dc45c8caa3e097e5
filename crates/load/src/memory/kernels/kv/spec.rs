//! A store and its clients: number and size of keys and values, and the requests.

use lanetwin_units::Span;
use std::fmt;

/// A client's buffer for requests, and for replies \[B\] (Redis: `PROTO_IOBUF_LEN`, `PROTO_REPLY_CHUNK_BYTES`).
pub(super) const BUFFER: u64 = 16 << 10;

/// The most keys of an instance: the hash has four bits more.
const MOST_KEYS: u64 = 1 << 40;

/// The longest value of which a pipeline of one fits into a buffer \[B\].
const LONGEST_VALUE: u64 = BUFFER - 64;

/// Sizes of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueSize {
    /// All of the same size \[B\].
    Fixed(u64),
    /// Uniform between two sizes, inclusive \[B\].
    Even {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
}

impl ValueSize {
    /// The size below which this share of all values lies, from 0 to 1 \[B\].
    pub(super) fn quantile(self, share: f64) -> u64 {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Even { least, most } => least + ((most - least + 1) as f64 * share) as u64,
        }
    }
}

/// Popularity of keys.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Popularity {
    /// All equally likely (memtier: `R:R`).
    Even,
    /// Frequency falls with the key's number to the power of −θ (`Z:Z`); θ is not 1.
    Zipf {
        /// θ.
        theta: f64,
    },
    /// Normal distribution around the middle key (`G:G`).
    Gauss {
        /// Its standard deviation as a share of all keys; memtier's is 1/6.
        deviation: f64,
    },
}

/// A store and its clients. The default is memtier_benchmark's: values of 32 B, one SET for ten GETs, 200 clients (4
/// threads of 50), no pipeline; with 10 million keys.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KeyValue {
    /// Keys of each instance.
    pub keys: u64,
    /// The length of a key \[B\]: memtier's prefix of 8 and the number.
    pub key_bytes: u64,
    /// Sizes of values.
    pub values: ValueSize,
    /// SETs for every `gets` GETs.
    pub sets: u32,
    /// GETs for every `sets` SETs.
    pub gets: u32,
    /// Popularity of keys.
    pub popularity: Popularity,
    /// Clients of each instance.
    pub clients: u32,
    /// Number of requests that a client has sent when it is served.
    pub pipeline: u32,
    /// Computing time of serving a client (assumed: 6 µs; poll, read and write are three calls of the kernel with its
    /// network stack).
    pub exchange: Span,
    /// Computing time of a request (assumed: 1 µs).
    pub command: Span,
    /// Operations of each instance; `None` for no limit.
    pub operations: Option<u64>,
}

impl Default for KeyValue {
    fn default() -> Self {
        Self {
            keys: 10_000_000,
            key_bytes: 15,
            values: ValueSize::Fixed(32),
            sets: 1,
            gets: 10,
            popularity: Popularity::Even,
            clients: 200,
            pipeline: 1,
            exchange: Span::from_us(6),
            command: Span::from_us(1),
            operations: None,
        }
    }
}

impl KeyValue {
    /// All problems of the parameters.
    #[must_use]
    pub fn check(&self) -> Vec<BadKeyValue> {
        let values = match self.values {
            ValueSize::Fixed(bytes) => (bytes, bytes),
            ValueSize::Even { least, most } => (least, most),
        };
        let theta = |theta: f64| theta >= 0.0 && theta.is_finite() && (theta - 1.0).abs() > 1e-9;
        let popularity = match self.popularity {
            Popularity::Zipf { theta: given } if !theta(given) => Some(BadKeyValue::Theta),
            Popularity::Gauss { deviation } if !(deviation > 0.0 && deviation.is_finite()) => {
                Some(BadKeyValue::Deviation)
            }
            _ => None,
        };
        let wrong = [
            (!(1..=MOST_KEYS).contains(&self.keys), BadKeyValue::Keys),
            (!(1..=250).contains(&self.key_bytes), BadKeyValue::KeyBytes),
            (values.0 == 0 || values.1 < values.0 || values.1 > LONGEST_VALUE, BadKeyValue::Values),
            (self.sets == 0 && self.gets == 0, BadKeyValue::NoOperations),
            (self.clients == 0 || self.pipeline == 0, BadKeyValue::NoClient),
        ];
        wrong.into_iter().filter_map(|(is, what)| is.then_some(what)).chain(popularity).collect()
    }
}

/// A problem of a store's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadKeyValue {
    /// No key, or more than 2⁴⁰.
    Keys,
    /// A key of no bytes, or more than 250.
    KeyBytes,
    /// A value of no bytes, more than a client's buffer holds, or a range whose end lies before its start.
    Values,
    /// Neither SETs nor GETs.
    NoOperations,
    /// θ below 0, or 1, or not a number.
    Theta,
    /// A deviation that is not positive.
    Deviation,
    /// No client, or none of its requests.
    NoClient,
}

impl fmt::Display for BadKeyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keys => "a store has 1 to 2^40 keys",
            Self::KeyBytes => "a key has 1 to 250 B",
            Self::Values => "a value has 1 B to 16 KiB - 64 B, and the largest is not below the smallest",
            Self::NoOperations => "of SETs and GETs, one is at least 1",
            Self::Theta => "theta of zipf is at least 0 and not 1",
            Self::Deviation => "the deviation of gauss is above 0",
            Self::NoClient => "there is at least one client, and one request of it",
        })
    }
}

impl std::error::Error for BadKeyValue {}
