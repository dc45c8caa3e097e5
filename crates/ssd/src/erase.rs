//! Time that the medium takes to erase for Format NVM and Sanitize.
//!
//! All dies work at once, each on all planes of a block, one block after the other:
//!
//! | Command | Takes, for each die |
//! |---|---|
//! | Format without secure erase, cryptographic erase, Sanitize by crypto erase | only firmware time: the mapping, or the key, is discarded |
//! | Format with user data erase | the blocks of a namespace's share × tBERS |
//! | Sanitize by block erase | all blocks × tBERS |
//! | Sanitize by overwrite, one pass | all blocks × (tBERS + word lines × tPROG) |
//!
//! 3D XPoint is written in place: every line of the namespace, or of the medium, at the rate of the partitions.
//!
//! Not here: other commands that would wait for a die meanwhile (a sanitize refuses them, and so does the namespace
//! that is being formatted), and the wear and energy of erasing.

use lanetwin_media::DriveConfig;
use lanetwin_media::config::{CrossPoint, Medium, Nand, Program};
use lanetwin_nvme::logic::MediaOperation;
use lanetwin_nvme::spec::admin::{SanitizeAction, SecureErase};
use lanetwin_units::Span;

/// Longest erase time; longer ones are cut to it, since nobody waits for them.
const LONGEST: Span = Span::from_us(36_000_000_000);

/// Erase times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Erases {
    /// Of a namespace.
    namespace: Span,
    /// Of the whole medium.
    all: Span,
    /// Of an overwrite pass over the whole medium.
    overwrite: Span,
}

impl Erases {
    /// Times of a medium shared by `namespaces` equal namespaces.
    pub(crate) fn new(config: &DriveConfig, namespaces: u64) -> Self {
        let (all, overwrite) = match &config.medium {
            Medium::Nand(of, _) => nand(of),
            Medium::CrossPoint(of) => cross_point(of, config.capacity.0),
        };
        Self { namespace: Span::from_ps(all.as_ps().div_ceil(namespaces.max(1))), all, overwrite }
    }
    /// Time that an operation takes.
    pub(crate) fn of(&self, operation: MediaOperation) -> Span {
        match operation {
            MediaOperation::Format { secure_erase } if secure_erase == SecureErase::USER_DATA.0 => {
                self.namespace
            }
            MediaOperation::Sanitize { action } if action == SanitizeAction::BLOCK_ERASE.0 => self.all,
            MediaOperation::Sanitize { action } if action == SanitizeAction::OVERWRITE.0 => self.overwrite,
            _ => Span::ZERO,
        }
    }
}

/// Time to erase all blocks of a die, and the time including one program pass.
fn nand(nand: &Nand) -> (Span, Span) {
    let (blocks, pages) = (u64::from(nand.geometry.blocks), u64::from(nand.geometry.pages));
    let bits = u64::from(nand.timing.cell.bits());
    let (programs, program) = match nand.timing.program {
        Program::ByPage(each) => (pages, each[0]),
        Program::OneShot(all) => (pages.div_ceil(bits), all),
    };
    let erase = times(nand.timing.erase, blocks);
    let program = times(program, programs * blocks);
    (erase, LONGEST.min(erase + program))
}

fn times(one: Span, count: u64) -> Span {
    LONGEST.min(Span::from_ps(one.as_ps().saturating_mul(count)))
}

/// Time to write every line, which both operations amount to.
fn cross_point(medium: &CrossPoint, capacity: u64) -> (Span, Span) {
    let at_once = u64::from(medium.channels) * u64::from(medium.partitions);
    let lines = capacity.div_ceil(medium.line.0.max(1));
    let all = times(medium.write, lines.div_ceil(at_once.max(1)));
    (all, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_media::config::{
        Allocation, Bus, CellType, Energy, Frees, Ftl, Geometry, Initial, MappingTable, Rules, Timing,
        Victim, Watermarks, WearLevelling, WriteBuffer,
    };
    use lanetwin_units::{Bytes, Spread};

    /// Four dies of TLC flash.
    fn tlc() -> DriveConfig {
        let geometry = Geometry {
            channels: 2,
            chips: 2,
            dies: 1,
            planes: 2,
            blocks: 54,
            pages: 768,
            page: Bytes(16384),
            spare: Bytes(1952),
        };
        let timing = Timing {
            cell: CellType::Tlc,
            program: Program::OneShot(Span::from_us(1_500)),
            erase: Span::from_us(5_000),
            ..Timing::TLC
        };
        let nand = Nand { geometry, timing, bus: Bus::of(1600), read_burst: 16, rules: Rules::Dies };
        let ftl = Ftl {
            initial: Initial::Empty,
            allocation: Allocation::Dies,
            victim: Victim::Greedy,
            hot_cold: true,
            watermarks: Watermarks { low: 4, urgent: 2 },
            wear: WearLevelling { dynamic: true, lag: None },
            endurance: 3_000,
            streams: 1,
            partitions: Vec::new(),
            mapping: MappingTable::Dram(Span::ZERO),
            slc: None,
            read_ahead: None,
        };
        let buffer = WriteBuffer {
            capacity: Bytes(1 << 20),
            frees: Frees::Programmed,
            power_loss_protected: true,
            volatile_cache: false,
            latency: Span::ZERO,
        };
        let medium = Medium::Nand(Box::new(nand), Box::new(ftl));
        DriveConfig {
            capacity: Bytes(4 << 30),
            medium,
            spread: Spread::NONE,
            buffer,
            encryption: None,
            energy: Energy::TLC,
        }
    }

    /// By hand: 54 blocks of 5 ms; a pass programs 768 / 3 word lines of 1.5 ms in each, too.
    #[test]
    fn a_die_erases_its_blocks_one_after_the_other() {
        let erases = Erases::new(&tlc(), 1);
        let block_erase = MediaOperation::Sanitize { action: SanitizeAction::BLOCK_ERASE.0 };
        assert_eq!(erases.of(block_erase), Span::from_us(54 * 5_000));
        let overwrite = MediaOperation::Sanitize { action: SanitizeAction::OVERWRITE.0 };
        assert_eq!(erases.of(overwrite), Span::from_us(54 * (5_000 + 256 * 1_500)));
        let halves = Erases::new(&tlc(), 2);
        let user_data = MediaOperation::Format { secure_erase: SecureErase::USER_DATA.0 };
        assert_eq!(halves.of(user_data), Span::from_us(27 * 5_000));
        for quick in [SecureErase::NONE, SecureErase::CRYPTOGRAPHIC] {
            assert_eq!(erases.of(MediaOperation::Format { secure_erase: quick.0 }), Span::ZERO);
        }
    }
}
