//! Counters of a drive.

/// Counters of a drive since it was made. All of them only grow, except wear and write amplification.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Counters {
    /// Read requests of the host.
    pub host_reads: u64,
    /// Write requests of the host.
    pub host_writes: u64,
    /// Bytes that the host read.
    pub host_bytes_read: u64,
    /// Bytes that the host wrote.
    pub host_bytes_written: u64,
    /// Units of 4 KiB of the host that were programmed, without those overwritten in the buffer.
    pub host_units_programmed: u64,
    /// Units of 4 KiB that the host unmapped.
    pub units_trimmed: u64,
    /// Units that GC moved.
    pub gc_units_moved: u64,
    /// Units that wear levelling moved.
    pub wear_units_moved: u64,
    /// Units that left the SLC cache.
    pub folded_units: u64,
    /// Units that were programmed as padding of a word line.
    pub padding_units: u64,
    /// Pages of one plane (or lines) that were read, for any reason.
    pub page_reads: u64,
    /// Pages of one plane (or lines) that were programmed.
    pub page_programs: u64,
    /// Blocks of one plane that were erased.
    pub block_erases: u64,
    /// Read commands; a multi-plane read is one.
    pub read_commands: u64,
    /// Programs and erases that were suspended.
    pub suspensions: u64,
    /// Units read from the write buffer.
    pub buffer_hits: u64,
    /// Units read that were never written, or had been trimmed: they need no access to the medium.
    pub unwritten_units_read: u64,
    /// Units read from the data read ahead.
    pub read_ahead_hits: u64,
    /// Units read ahead.
    pub read_ahead_units: u64,
    /// Look-ups of the mapping cache that hit.
    pub mapping_hits: u64,
    /// Look-ups of the mapping cache that missed.
    pub mapping_misses: u64,
    /// Units that waited for room in the write buffer.
    pub buffer_waits: u64,
    /// Bytes on flash buses.
    pub bus_bytes: u64,
    /// Busy time of channels, summed over them \[ps\].
    pub channel_busy_ps: u64,
    /// Busy time of dies, summed over them \[ps\].
    pub die_busy_ps: u64,
    /// Energy of all operations \[nJ\].
    pub work_nanojoules: u64,
    /// Time during which requests waited for power \[ps\].
    pub held_ps: u64,
    /// Idle energy up to the last call \[nJ\].
    pub idle_nanojoules: u64,
    /// Least erases of a block (writes of a line are not counted individually).
    pub wear_min: u32,
    /// Most erases of a block.
    pub wear_max: u32,
    /// Mean erases of a block.
    pub wear_mean: f64,
    /// Share of [`Ftl::endurance`](crate::config::Ftl::endurance) that the mean block has used up.
    pub life_used: f64,
}

impl Counters {
    /// Units programmed for each unit that the host wrote to the medium; 1 if there was none.
    #[must_use]
    pub fn write_amplification(&self) -> f64 {
        let moved = self.gc_units_moved + self.wear_units_moved + self.folded_units + self.padding_units;
        match self.host_units_programmed {
            0 => 1.0,
            host => (host + moved) as f64 / host as f64,
        }
    }
}

/// Reserves that a drive uses up while it works; once they are used up, its behaviour changes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stocks {
    /// Units that can be programmed before a block has to be erased, as long as no block is collected and every write
    /// only uses them up. `None` for a medium without blocks.
    pub free: Option<u64>,
    /// Saved energy, in 256ths of the amount that a power limit lets a drive save. `None` without a limit.
    pub saved_power: Option<u64>,
    /// Units that the SLC cache takes before folding, as long as nothing was folded. `None` without an SLC cache.
    pub before_folding: Option<u64>,
}

/// State of a write buffer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Buffered {
    /// Bytes in it \[B\].
    pub level: u64,
    /// Room left in it \[B\]; 0 if writes do not fill it up.
    pub room: u64,
    /// Bytes that the host has written so far \[B\].
    pub passed: u64,
    /// Bytes that leave it at once: those of one program \[B\].
    pub lump: u64,
    /// Bytes of one program on every die \[B\].
    pub round: u64,
    /// Space that garbage collection has to free until it pauses \[B\].
    pub owed: u64,
    /// Whether no die takes a program, so that new writes wait.
    pub awaits: bool,
    /// Die time that has been used, with the rest of the programs and erases in progress \[ps\].
    pub given: u64,
    /// Die time that there has been: dies × time \[ps\]. If less than is given, the dies will soon all be busy.
    pub had: u64,
    /// Array time of a program \[ps\].
    pub program: u64,
    /// Time that requests would wait for power if all dies began a program at once \[ps\]. 0 unless requests wait for
    /// power at times and most dies program, all for equally long.
    pub unpaid: u64,
}
