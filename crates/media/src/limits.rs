//! Limits that a valid configuration sets on a drive's performance, with the arithmetic.

use crate::config::{BadDrive, DriveConfig, Frees, Ftl, Medium, Nand, Program, Rules};
use crate::nand::times::Times;
use lanetwin_units::Span;

/// The unit of work of a die: one program, and its times.
struct OneProgram {
    /// Size \[B\].
    bytes: u64,
    /// Time on the bus \[ps\].
    load: u64,
    /// Time in the array \[ps\].
    array: u64,
}

impl OneProgram {
    fn new(nand: &Nand, ftl: &Ftl) -> Self {
        let g = &nand.geometry;
        let (pages, array) = match (ftl.slc, nand.timing.program) {
            (Some(slc), _) => (1, slc.program),
            (None, Program::OneShot(word_line)) => (nand.timing.cell.bits(), word_line),
            (None, Program::ByPage(times)) => {
                let bits = nand.timing.cell.bits();
                let all: u64 = times.iter().take(bits as usize).map(|time| time.as_ps()).sum();
                (1, Span::from_ps(all / u64::from(bits)))
            }
        };
        Self {
            bytes: u64::from(g.planes * pages) * g.page.0,
            load: Times::new(nand).program_in(g.planes as usize, g.page.0) * u64::from(pages),
            array: array.as_ps(),
        }
    }

    /// Least time that its data stay in the buffer after they are complete \[ps\].
    const fn held(&self, frees: Frees) -> u64 {
        match frees {
            Frees::Loaded => self.load,
            Frees::Programmed => self.load + self.array,
        }
    }

    /// Rate at which all dies and channels program without any other limit \[B/s\].
    fn rate(&self, nand: &Nand) -> f64 {
        let g = &nand.geometry;
        let cycle =
            if nand.timing.cache_program { self.array.max(self.load) } else { self.array + self.load };
        let dies = f64::from(g.all_dies()) / cycle as f64;
        let channels = f64::from(g.channels) / self.load as f64;
        dies.min(channels) * self.bytes as f64 * 1e12
    }
}

impl DriveConfig {
    /// Legal settings that limit the drive more than one would expect.
    #[must_use]
    pub fn limits(&self) -> Vec<BadDrive> {
        match &self.medium {
            Medium::Nand(nand, ftl) if nand.rules == Rules::Dies => {
                self.of_buffer(nand, ftl).into_iter().collect()
            }
            Medium::Nand(..) | Medium::CrossPoint(_) => Vec::new(),
        }
    }

    /// A write buffer that is too small for the programs of all dies.
    fn of_buffer(&self, nand: &Nand, ftl: &Ftl) -> Option<BadDrive> {
        let program = OneProgram::new(nand, ftl);
        let (buffer, frees) = (self.buffer.capacity.0, self.buffer.frees);
        let field = "buffer.capacity";
        if buffer < program.bytes {
            let problem = format!(
                "{buffer} B are less than the {} B that a die programs at once: every program is padded",
                program.bytes
            );
            return Some(BadDrive { field, problem, remedy: format!("at least {} B", program.bytes) });
        }
        let (held, rate) = (program.held(frees), program.rate(nand));
        // Little's law
        let most = buffer as f64 * 1e12 / held as f64;
        (most < rate).then(|| BadDrive {
            field,
            problem: format!(
                "what a die programs at once, {} B, is in the buffer for {:.0} µs, so that {buffer} B pass at most \
                 {:.0} MB/s in order, and {} dies program {:.0} MB/s",
                program.bytes,
                held as f64 / 1e6,
                most / 1e6,
                nand.geometry.all_dies(),
                rate / 1e6
            ),
            remedy: format!("at least {:.1} MiB", rate * held as f64 / 1e12 / f64::from(1 << 20)),
        })
    }
}
