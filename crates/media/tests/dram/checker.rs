//! What JEDEC demands, as rules between pairs of commands: every command is compared with all before it that could
//! still matter.
//!
//! It shares the table of timings with the machine, and nothing else.

use CommandKind::{Activate, Precharge, PrechargeAll, Read, ReadClose, Write, WriteClose};
use lanetwin_media::dram::{Command, CommandKind, Config, Refresh, Timings};

/// What is known of one data bus.
#[derive(Clone)]
pub struct Checker {
    t: Timings,
    /// Shifts from a bank to its bank group and its rank.
    group: u32,
    rank: u32,
    same_bank: bool,
    history: Vec<Command>,
    /// The first command that can still matter.
    first: usize,
    rows: Vec<Option<u32>>,
}

fn reads(kind: CommandKind) -> bool {
    matches!(kind, Read | ReadClose)
}
fn writes(kind: CommandKind) -> bool {
    matches!(kind, Write | WriteClose)
}
fn closes(kind: CommandKind) -> bool {
    matches!(kind, Precharge | PrechargeAll)
}

impl Checker {
    pub fn new(config: &Config) -> Self {
        let g = &config.geometry;
        let group = g.banks(config.speed).trailing_zeros();
        let rank = group + g.groups(config.speed).trailing_zeros();
        Self {
            t: config.timings(),
            group,
            rank,
            same_bank: config.refresh == Refresh::SameBank,
            history: Vec::new(),
            first: 0,
            rows: vec![None; 64],
        }
    }

    pub fn row(&self, bank: u8) -> Option<u32> {
        self.rows[usize::from(bank)]
    }
    pub fn history(&self) -> &[Command] {
        &self.history
    }

    /// Clocks of the command bus that a command takes.
    fn length(&self, kind: CommandKind) -> u64 {
        if matches!(kind, Activate) || reads(kind) || writes(kind) { self.t.command } else { 1 }
    }

    /// The least distance between two commands, and the rule that demands it.
    fn distance(&self, a: &Command, b: &Command) -> (u64, &'static str) {
        let t = &self.t;
        let (x, y) = (a.kind, b.kind);
        let bank = a.banks & b.banks != 0;
        let place = |c: &Command, shift| c.banks.trailing_zeros() >> shift;
        let group = place(a, self.group) == place(b, self.group);
        let rank = place(a, self.rank) == place(b, self.rank);
        let refreshes = |kind| kind == CommandKind::Refresh;
        let opens = |kind| kind == Activate || self.same_bank && refreshes(kind);
        let busy = if self.same_bank { t.rfc_sb } else { t.rfc };
        let mut rules = vec![(self.length(y), "command bus")];
        let mut rule = |applies: bool, clocks: u64, name| {
            if applies {
                rules.push((clocks, name));
            }
        };
        rule(bank && x == Activate && (y == Activate || refreshes(y)), t.rc, "tRC");
        rule(bank && x == Activate && (reads(y) || writes(y)), t.rcd, "tRCD");
        rule(bank && x == Activate && closes(y), t.ras, "tRAS");
        rule(bank && reads(x) && closes(y), t.rtp, "tRTP");
        rule(bank && writes(x) && closes(y), t.cwl + t.burst + t.wr, "tWR");
        rule(bank && closes(x) && (y == Activate || refreshes(y)), t.rp, "tRP");
        rule(bank && x == ReadClose && (y == Activate || refreshes(y)), t.rtp + t.rp, "tRTP + tRP");
        let written = t.cwl + t.burst + t.wr + t.rp;
        // whatever closes the row, also the automatic precharge of a later read
        rule(bank && writes(x) && (y == Activate || refreshes(y)), written, "tWR + tRP");
        rule(bank && refreshes(x), busy, "tRFC");
        rule(rank && self.same_bank && refreshes(x) && y == Activate, t.refsb_rd, "tREFSBRD");
        rule(rank && opens(x) && opens(y), t.rrd_s, "tRRD_S");
        rule(rank && group && x == Activate && y == Activate, t.rrd_l, "tRRD_L");
        rule(rank && closes(x) && closes(y), t.ppd, "tPPD");
        rule(rank && reads(x) && reads(y), t.ccd_s, "tCCD_S");
        rule(rank && group && reads(x) && reads(y), t.ccd_l, "tCCD_L");
        rule(rank && writes(x) && writes(y), t.ccd_s, "tCCD_S");
        rule(rank && group && writes(x) && writes(y), t.ccd_l_wr, "tCCD_L_WR");
        rule(rank && writes(x) && reads(y), t.cwl + t.burst + t.wtr_s, "tWTR_S");
        rule(rank && group && writes(x) && reads(y), t.cwl + t.burst + t.wtr_l, "tWTR_L");
        // the data bus: bursts do not overlap, and pause where the driver changes
        let start = |kind| if reads(kind) { t.cl } else { t.cwl };
        if (reads(x) || writes(x)) && (reads(y) || writes(y)) {
            let pause = match () {
                () if reads(x) && writes(y) => t.rtw,
                () if rank => 0,
                () => t.rtrs,
            };
            rules.push(((start(x) + t.burst + pause).saturating_sub(start(y)), "data bus"));
        }
        rules.into_iter().max_by_key(|rule| rule.0).expect("there are rules")
    }

    /// Whether a command can be issued now; if not, why not.
    pub fn allows(&self, new: &Command) -> Result<(), String> {
        for old in &self.history[self.first..] {
            let (least, rule) = self.distance(old, new);
            if new.clock < old.clock + least {
                return Err(format!(
                    "{rule}: {} clocks after {old:?}, {least} are due",
                    new.clock - old.clock
                ));
            }
        }
        self.window(new)?;
        self.after_closing(new)?;
        let rows = (0..64).filter(|bank| new.banks >> bank & 1 == 1).map(|bank| self.rows[bank]);
        let fits = |row: Option<u32>| match new.kind {
            Activate => row.is_none(),
            CommandKind::Refresh => row.is_none(),
            Precharge => row.is_some(),
            PrechargeAll => true,
            _ => row == Some(new.row),
        };
        if rows.into_iter().all(fits) { Ok(()) } else { Err("the row is not in that state".to_owned()) }
    }

    /// tFAW: no five activates of a rank in its window.
    fn window(&self, new: &Command) -> Result<(), String> {
        let opens = |c: &Command| c.kind == Activate || self.same_bank && c.kind == CommandKind::Refresh;
        if !opens(new) {
            return Ok(());
        }
        let rank = |c: &Command| c.banks.trailing_zeros() >> self.rank;
        let mut before = self.history.iter().rev().filter(|c| opens(c) && rank(c) == rank(new));
        match before.nth(3) {
            Some(fourth) if new.clock < fourth.clock + self.t.faw => Err(format!("tFAW after {fourth:?}")),
            _ => Ok(()),
        }
    }

    /// An automatic precharge begins when tRAS is over, if that is later than its access allows.
    fn after_closing(&self, new: &Command) -> Result<(), String> {
        if !matches!(new.kind, Activate | CommandKind::Refresh) {
            return Ok(());
        }
        for bank in (0..64).filter(|bank| new.banks >> bank & 1 == 1) {
            let mut of_bank = self.history.iter().rev().filter(|c| c.banks >> bank & 1 == 1);
            let closed_itself = of_bank.next().is_some_and(|c| matches!(c.kind, ReadClose | WriteClose));
            let opened = of_bank.find(|c| c.kind == Activate);
            if let Some(opened) = opened.filter(|_| closed_itself)
                && new.clock < opened.clock + self.t.ras + self.t.rp
            {
                return Err(format!("tRAS + tRP after {opened:?}"));
            }
        }
        Ok(())
    }

    /// Notes a command that has been issued.
    pub fn note(&mut self, new: Command) {
        for bank in (0..64).filter(|bank| new.banks >> bank & 1 == 1) {
            self.rows[bank] = match new.kind {
                Activate => Some(new.row),
                Read | Write => self.rows[bank],
                _ => None,
            };
        }
        self.history.push(new);
        let t = &self.t;
        let reach = [t.rc, t.rfc, t.rfc_sb, t.cwl + t.burst + t.wr + t.rp, t.faw, t.cl + t.burst + t.rtw];
        let reach = reach.into_iter().max().expect("there are rules");
        while self.history[self.first].clock + reach < new.clock {
            self.first += 1;
        }
    }

    /// Replays the commands of one bus.
    pub fn replay(config: &Config, commands: &[Command]) {
        let mut checker = Self::new(config);
        for command in commands {
            if let Err(why) = checker.allows(command) {
                panic!(
                    "{command:?}: {why}\n{:#?}",
                    &checker.history[checker.history.len().saturating_sub(20)..]
                );
            }
            checker.note(*command);
        }
    }
}
