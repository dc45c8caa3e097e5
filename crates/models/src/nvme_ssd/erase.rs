//! How long the medium is erased by Format NVM and Sanitize, before everything on it is gone.
//!
//! All dies work at once, each on all planes of a block, one block after the other:
//!
//! | Command | Takes, for each die |
//! |---|---|
//! | Format without secure erase, cryptographic erase, Sanitize by crypto erase | nothing beside the firmware: the mapping, or the key, is gone |
//! | Format with user data erase | the blocks of a namespace's share × tBERS |
//! | Sanitize by block erase | all blocks × tBERS |
//! | Sanitize by overwrite, one pass | all blocks × (tBERS + word lines × tPROG) |
//!
//! 3D XPoint is written in place: every line of the namespace, or of the medium, at the rate of the partitions.
//!
//! Not here: other commands that wait for a die meanwhile (a sanitize refuses them, and so does the namespace that is formatted), wear and energy of it.

use lanetwin_nvme::logic::MediaOperation;
use lanetwin_nvme::spec::admin::{SanitizeAction, SecureErase};
use lanetwin_ports::Params;
use lanetwin_units::Span;

/// Whatever takes longer takes this long: nobody waits for it.
const LONGEST: Span = Span::from_us(36_000_000_000);

/// The times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Erases {
    /// Of a namespace.
    namespace: Span,
    /// Of the whole medium.
    all: Span,
    /// Of a pass over the whole medium.
    overwrite: Span,
}

impl Erases {
    pub(super) fn new(params: &Params) -> Self {
        let (all, overwrite) =
            if params.choice("medium") == "nand" { nand(params) } else { cross_point(params) };
        Self { namespace: Span::from_ps(all.as_ps().div_ceil(params.count("namespaces"))), all, overwrite }
    }
    /// How long an operation takes before it is done with.
    pub(super) fn of(&self, operation: MediaOperation) -> Span {
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

/// The erase of all blocks of a die, and that with a pass over them.
fn nand(params: &Params) -> (Span, Span) {
    let (blocks, pages) = (params.count("nand.blocks"), params.count("nand.pages"));
    let bits = match params.choice("nand.cell") {
        "slc" => 1,
        "mlc" => 2,
        "qlc" => 4,
        _ => 3,
    };
    let programs = if params.choice("nand.program-mode") == "by-page" { pages } else { pages.div_ceil(bits) };
    let erase = times(params.time("nand.erase"), blocks);
    let program = times(params.time("nand.program"), programs * blocks);
    (erase, LONGEST.min(erase + program))
}

fn times(one: Span, count: u64) -> Span {
    LONGEST.min(Span::from_ps(one.as_ps().saturating_mul(count)))
}

/// Writing every line, which is what both come to.
fn cross_point(params: &Params) -> (Span, Span) {
    let at_once = params.count("cross-point.channels") * params.count("cross-point.partitions");
    let lines = params.size("capacity").0.div_ceil(params.size("cross-point.line").0.max(1));
    let all = times(params.time("cross-point.write"), lines.div_ceil(at_once));
    (all, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_ports::Value;

    /// A medium of TLC flash with so many namespaces.
    fn params(namespaces: u64) -> Params {
        let counts = [("nand.blocks", 54), ("nand.pages", 768), ("namespaces", namespaces)];
        let words = [("medium", "nand"), ("nand.cell", "tlc"), ("nand.program-mode", "one-shot")];
        let times = [("nand.erase", 5_000), ("nand.program", 1_500)];
        let all = counts.map(|(name, count)| (name, Value::Count(count))).into_iter();
        let all = all.chain(words.map(|(name, word)| (name, Value::Choice(word))));
        Params(all.chain(times.map(|(name, us)| (name, Value::Time(Span::from_us(us))))).collect())
    }

    /// By hand: 54 blocks of 5 ms; a pass programs 768 / 3 word lines of 1.5 ms in each, too.
    #[test]
    fn a_die_erases_its_blocks_one_after_the_other() {
        let erases = Erases::new(&params(1));
        let block_erase = MediaOperation::Sanitize { action: SanitizeAction::BLOCK_ERASE.0 };
        assert_eq!(erases.of(block_erase), Span::from_us(54 * 5_000));
        let overwrite = MediaOperation::Sanitize { action: SanitizeAction::OVERWRITE.0 };
        assert_eq!(erases.of(overwrite), Span::from_us(54 * (5_000 + 256 * 1_500)));
        let halves = Erases::new(&params(2));
        let user_data = MediaOperation::Format { secure_erase: SecureErase::USER_DATA.0 };
        assert_eq!(halves.of(user_data), Span::from_us(27 * 5_000));
        for quick in [SecureErase::NONE, SecureErase::CRYPTOGRAPHIC] {
            assert_eq!(erases.of(MediaOperation::Format { secure_erase: quick.0 }), Span::ZERO);
        }
    }
}
