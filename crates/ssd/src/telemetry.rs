//! The vendor specific part of the Telemetry logs, as text that a person can read and a program can parse.
//!
//! Sections `[title]` with lines `key = value`, in the three data areas of the log. Each area is padded with line
//! feeds to whole blocks, so that everything after the header of a log is one text. docs/nvme-commands.md describes
//! every key.

use lanetwin_media::{Buffered, Counters, Stocks};
use lanetwin_nvme::logic::{Telemetry, telemetry::BLOCK};

/// Version of this layout; an added key does not change it.
pub const LAYOUT: u32 = 1;

/// A section of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// Its title.
    pub title: String,
    /// Its lines.
    pub values: Vec<(String, String)>,
}

impl Section {
    /// A section without lines.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: title.into(), values: Vec::new() }
    }
    /// Adds a line.
    pub fn tell(&mut self, key: impl Into<String>, value: impl ToString) {
        self.values.push((key.into(), value.to_string()));
    }
}

/// State of a drive: the sections of area 1, those added by area 2, and those added by area 3.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct State {
    /// Sections by area.
    pub areas: [Vec<Section>; 3],
}

impl State {
    /// The state in the form of the logs.
    #[must_use]
    pub fn telemetry(&self) -> Telemetry {
        Telemetry { areas: self.areas.each_ref().map(|sections| text(sections)) }
    }
    /// Appends the state of another drive behind the same controller, with its name in the titles.
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

/// State and counters of a drive at one time.
#[derive(Debug)]
pub(crate) struct Known {
    /// Time since power on \[ps\].
    pub time_ps: u64,
    /// Number of commands in progress, and the largest possible number.
    pub commands: (u64, u64),
    /// Busy time of firmware engines, summed over them \[ps\], and their number.
    pub engines: (u128, u64),
    pub counters: Counters,
    pub stocks: Stocks,
    pub buffered: Buffered,
    /// Busy time of each channel and of each die \[ps\].
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
    /// Counters that users look at first.
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
    /// Counters of firmware and medium.
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
