//! What the Telemetry logs say of a drive: the vendor's part of them, as a text that a person reads and a program
//! parses.
//!
//! Sections `[title]` with lines `key = value`, in the three data areas of the log, each filled up with line feeds to
//! whole blocks: what follows the header of a log is one text. docs/nvme-commands.md tells every key.

use lanetwin_media::{Buffered, Counters, Stocks};
use lanetwin_nvme::logic::{Telemetry, telemetry::BLOCK};

/// The number of this layout; a key that is added does not change it.
pub const LAYOUT: u32 = 1;

/// A section of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// What it is about.
    pub title: String,
    /// Its lines.
    pub values: Vec<(String, String)>,
}

impl Section {
    /// One without lines.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: title.into(), values: Vec::new() }
    }
    /// One more line.
    pub fn tell(&mut self, key: impl Into<String>, value: impl ToString) {
        self.values.push((key.into(), value.to_string()));
    }
}

/// What a drive tells of itself: the sections of area 1, what area 2 has more, what area 3 has more.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct State {
    /// By area.
    pub areas: [Vec<Section>; 3],
}

impl State {
    /// As the logs have it.
    #[must_use]
    pub fn telemetry(&self) -> Telemetry {
        Telemetry { areas: self.areas.each_ref().map(|sections| text(sections)) }
    }
    /// What another drive that is behind the same controller tells of itself comes behind, with its name in the titles.
    pub fn append(&mut self, name: &str, other: Self) {
        for (own, sections) in self.areas.iter_mut().zip(other.areas) {
            own.extend(
                sections
                    .into_iter()
                    .map(|section| Section { title: format!("{} {name}", section.title), ..section }),
            );
        }
    }
}

fn text(sections: &[Section]) -> Vec<u8> {
    let mut text = String::new();
    for Section { title, values } in sections {
        text.push_str(&format!("[{title}]\n"));
        values.iter().for_each(|(key, value)| text.push_str(&format!("{key} = {value}\n")));
    }
    let mut bytes = text.into_bytes();
    bytes.resize(bytes.len().next_multiple_of(BLOCK), b'\n');
    bytes
}

/// What is known of a drive at a time.
#[derive(Debug)]
pub(crate) struct Known {
    /// Since power on \[ps\].
    pub time_ps: u64,
    /// How many commands are in progress, and how many can be.
    pub commands: (u64, u64),
    /// How long firmware engines were taken, summed over them \[ps\], and how many there are.
    pub engines: (u128, u64),
    pub counters: Counters,
    pub stocks: Stocks,
    pub buffered: Buffered,
    /// How long each channel and each die was busy \[ps\].
    pub busy_ps: (Vec<u64>, Vec<u64>),
}

impl Known {
    pub fn state(&self) -> State {
        let busy = |title, each: &[u64]| {
            let mut section = Section::new(title);
            each.iter().enumerate().for_each(|(number, ps)| section.tell(format!("{number}_busy_ps"), ps));
            section
        };
        let busy = [busy("channels", &self.busy_ps.0), busy("dies", &self.busy_ps.1)];
        State { areas: [vec![self.drive()], vec![self.medium()], busy.into()] }
    }
    /// What a user of the drive asks for first.
    fn drive(&self) -> Section {
        let (mut section, c) = (Section::new("drive"), &self.counters);
        section.tell("layout", LAYOUT);
        section.tell("time_ps", self.time_ps);
        section.tell("host_reads", c.host_reads);
        section.tell("host_writes", c.host_writes);
        section.tell("host_bytes_read", c.host_bytes_read);
        section.tell("host_bytes_written", c.host_bytes_written);
        section.tell("commands_in_progress", self.commands.0);
        section.tell("commands_in_progress_at_most", self.commands.1);
        section.tell("write_amplification", format!("{:.6}", c.write_amplification()));
        section.tell("block_erases", c.block_erases);
        section.tell("erases_of_a_block_least", c.wear_min);
        section.tell("erases_of_a_block_mean", format!("{:.6}", c.wear_mean));
        section.tell("erases_of_a_block_most", c.wear_max);
        section.tell("endurance_used_percent", format!("{:.6}", c.life_used * 100.0));
        section.tell("energy_of_work_nj", c.work_nanojoules);
        section.tell("energy_of_being_there_nj", c.idle_nanojoules);
        section.tell("write_buffer_bytes", self.buffered.level);
        section.tell("write_buffer_room_bytes", self.buffered.room);
        section
    }
    /// What firmware and medium have done.
    fn medium(&self) -> Section {
        let (mut section, c) = (Section::new("medium"), &self.counters);
        section.tell("firmware_engines", self.engines.1);
        section.tell("firmware_engines_busy_ps", self.engines.0);
        let counts = [
            ("units_programmed_for_the_host", c.host_units_programmed),
            ("units_trimmed", c.units_trimmed),
            ("units_moved_by_garbage_collection", c.gc_units_moved),
            ("units_moved_by_wear_levelling", c.wear_units_moved),
            ("units_folded", c.folded_units),
            ("units_of_padding", c.padding_units),
            ("page_reads", c.page_reads),
            ("page_programs", c.page_programs),
            ("read_commands", c.read_commands),
            ("suspensions", c.suspensions),
            ("units_read_from_write_buffer", c.buffer_hits),
            ("units_read_that_were_never_written", c.unwritten_units_read),
            ("units_read_ahead", c.read_ahead_units),
            ("units_read_that_were_read_ahead", c.read_ahead_hits),
            ("mapping_hits", c.mapping_hits),
            ("mapping_misses", c.mapping_misses),
            ("units_that_waited_for_write_buffer", c.buffer_waits),
            ("bus_bytes", c.bus_bytes),
            ("channels_busy_ps", c.channel_busy_ps),
            ("dies_busy_ps", c.die_busy_ps),
        ];
        counts.into_iter().for_each(|(key, count)| section.tell(key, count));
        let stocks = [
            ("free_units", self.stocks.free),
            ("saved_power_256ths", self.stocks.saved_power),
            ("units_before_folding", self.stocks.before_folding),
        ];
        for (key, stock) in stocks {
            if let Some(stock) = stock {
                section.tell(key, stock);
            }
        }
        section
    }
}
