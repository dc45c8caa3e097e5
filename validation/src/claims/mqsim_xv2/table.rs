//! What MQSim said of which drive.

use serde::Deserialize;

const TABLE: &str = include_str!("../../../data/mqsim/reads.csv");

/// A run of MQSim: what its device file had, what was asked, and what it said. Sizes in B, times in ns.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(super) struct Run {
    pub case: String,
    pub cell: String,
    pub channels: u64,
    pub chips: u64,
    pub dies: u64,
    pub planes: u64,
    pub blocks: u64,
    pub pages: u64,
    pub page: u64,
    /// Of a channel \[B\].
    pub width: u64,
    pub megatransfers: u64,
    read_lsb: u64,
    read_csb: u64,
    read_msb: u64,
    sectors: u64,
    pub depth: u32,
    pub requests: u64,
    /// The mean latency.
    pub mean: f64,
}

const SECTOR: u64 = 512;
/// What an FTL maps \[B\].
const UNIT: u64 = 4096;

impl Run {
    /// What a request reads \[B\].
    pub(super) const fn bytes(&self) -> u64 {
        self.sectors * SECTOR
    }
    /// The fastest page, how much longer the next takes, and how much longer than that the last \[ns\].
    pub(super) fn read_ns(&self) -> [u64; 3] {
        match &*self.cell {
            // two pages a word line
            "mlc" => [self.read_lsb, self.read_msb - self.read_lsb, 0],
            "slc" => [self.read_lsb, 0, 0],
            _ => [self.read_lsb, self.read_csb - self.read_lsb, self.read_msb - self.read_csb],
        }
    }
    /// The half that is read of what MQSim leaves to the host with 7 % of over-provisioning \[B\].
    pub(super) const fn capacity(&self) -> u64 {
        let flash =
            self.channels * self.chips * self.dies * self.planes * self.blocks * self.pages * self.page;
        let unit = if self.bytes() > UNIT { self.bytes() } else { UNIT };
        flash / 200 * 93 / unit * unit
    }
    /// The closed form of a read that is alone, without the link: pages read in equal shares, 290 ns of command and
    /// address, the data at MQSim's whole nanoseconds a transfer \[µs\].
    pub(super) fn alone_us(&self) -> f64 {
        let [first, step, last] = self.read_ns().map(|ns| ns as f64);
        let page = match &*self.cell {
            "mlc" => first + step / 2.0,
            "slc" => first,
            _ => first + step * 2.0 / 3.0 + last / 3.0,
        };
        let cycle = (1000 / self.megatransfers * 2) as f64;
        let transfers = (self.bytes().min(self.page) / self.width / 2) as f64;
        (page + 290.0 + transfers * cycle) / 1e3
    }
}

/// Every run, in the order of the file.
pub(super) fn runs() -> Vec<Run> {
    let mut reader = csv::Reader::from_reader(TABLE.as_bytes());
    reader.deserialize().map(|run| run.expect("the table is right")).collect()
}
