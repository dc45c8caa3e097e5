//! What a drive has done since it was made.

/// What a drive has done since it was made. All of them only grow, wear and write amplification aside.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Counters {
    /// Requests of the host.
    pub host_reads: u64,
    /// Requests of the host.
    pub host_writes: u64,
    /// Bytes that the host read.
    pub host_bytes_read: u64,
    /// Bytes that the host wrote.
    pub host_bytes_written: u64,
    /// Units of 4 KiB that the host wrote to the medium; what was overwritten in the buffer is not among them.
    pub host_units_programmed: u64,
    /// Units of 4 KiB that the host unmapped.
    pub units_trimmed: u64,
    /// Units that GC moved.
    pub gc_units_moved: u64,
    /// Units that wear levelling moved.
    pub wear_units_moved: u64,
    /// Units that left the SLC cache.
    pub folded_units: u64,
    /// Units that were programmed only to fill a word line.
    pub padding_units: u64,
    /// Pages of one plane (or lines) that were read, for whatever reason.
    pub page_reads: u64,
    /// Pages of one plane (or lines) that were programmed.
    pub page_programs: u64,
    /// Blocks of one plane that were erased.
    pub block_erases: u64,
    /// Read commands; a multi-plane read is one.
    pub read_commands: u64,
    /// Programs and erases that were suspended.
    pub suspensions: u64,
    /// Units that were read from the write buffer.
    pub buffer_hits: u64,
    /// Units that were read though nothing was ever written there, or had been trimmed: no medium was touched for them.
    pub unwritten_units_read: u64,
    /// Units that were read from what was read ahead.
    pub read_ahead_hits: u64,
    /// Units that were read ahead.
    pub read_ahead_units: u64,
    /// Look-ups of the mapping cache that hit.
    pub mapping_hits: u64,
    /// Look-ups of the mapping cache that missed.
    pub mapping_misses: u64,
    /// Units that waited for room in the write buffer.
    pub buffer_waits: u64,
    /// Bytes on flash buses.
    pub bus_bytes: u64,
    /// How long channels were busy, summed over them \[ps\].
    pub channel_busy_ps: u64,
    /// How long dies were busy, summed over them \[ps\].
    pub die_busy_ps: u64,
    /// Energy of everything that was done \[nJ\].
    pub work_nanojoules: u64,
    /// Energy of being there, up to the last call \[nJ\].
    pub idle_nanojoules: u64,
    /// Least erases of a block (writes of a line are not counted one by one).
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

/// What is used up in a drive while it works: when it is gone, the drive is not as it was.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stocks {
    /// Units that can be programmed before a block has to be erased, as long as no block is collected: then every write
    /// only uses them up. None for a medium without blocks.
    pub free: Option<u64>,
    /// Of the energy that a limit of power lets a drive save up, how many 256ths there are. None without a limit.
    pub saved_power: Option<u64>,
    /// Units that the SLC cache takes before it is folded, as long as nothing was folded. None without such a cache.
    pub before_folding: Option<u64>,
}

/// How full a write buffer is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Buffered {
    /// What is in it \[B\].
    pub level: u64,
    /// What it has room for; none where writes do not fill it up \[B\].
    pub room: u64,
    /// What the host has written so far \[B\].
    pub passed: u64,
    /// What leaves it at once: a program \[B\].
    pub lump: u64,
    /// A program on each die \[B\].
    pub round: u64,
    /// What garbage collection has to earn until it rests \[B\].
    pub owed: u64,
    /// No die takes a program: what comes now waits.
    pub awaits: bool,
    /// How long requests wait for power if all dies begin a program at once \[ps\]; 0 unless requests wait for it now
    /// and then, and most dies program, all for equally long.
    pub unpaid: u64,
}
