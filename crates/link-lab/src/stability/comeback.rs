//! The state of a link after it went down or was retrained, and the time that took.
//!
//! ```text
//!   L0 ──cause──► Recovery or Detect ──trains──► L0
//!      └──────────── lasts ───────────────────┘   at some rate, with some lanes
//! ```
//!
//! Not here: proofs that a cause had an effect, which the runner for real machines needs (`lanetwin-probe`).

use super::host::{PORT, Simulated, ms};
use super::numbers::POWER_OFF;
use super::ready::TO_COME_UP;
use lanetwin_pcie::logic::ltssm::link::{Facing, LinkConfig, SimulatedLink, Transition};
use lanetwin_pcie::spec::config_words::BridgeControl;
use lanetwin_pcie::spec::link_words::LinkControl;
use lanetwin_probe::registers::{BRIDGE_CONTROL, LINK_CONTROL, LINK_STATUS, Place};
use lanetwin_probe::{Function, Host};
use lanetwin_units::{Generation, Instant, Span, Width};

/// Duration of a reset: PCIe Base §7.5.1.3.13 requires 1 ms, Linux uses 2 ms.
const IN_RESET: Span = Span::from_us(2_000);
/// Duration of Link Disable, the same as [`IN_RESET`], since no source requires more.
const DISABLED: Span = Span::from_us(2_000);
/// A link that has been up for this long does not change its rate any more.
const FOR_GOOD: Span = Span::from_us(10_000);

/// A cause that takes a link down, or retrains it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Secondary Bus Reset of the port, for 2 ms.
    HotReset,
    /// Retrain Link: Recovery, at the current rate.
    Retrain,
    /// Link Disable, for 2 ms.
    DisableEnable,
    /// Power off for a second, and on.
    PowerCycle,
}

impl Cause {
    /// The words of all causes.
    pub const WORDS: &[&str] = &["hot-reset", "retrain", "disable-enable", "power-cycle"];

    /// The cause for a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::HotReset, Self::Retrain, Self::DisableEnable, Self::PowerCycle]
            .into_iter()
            .find(|cause| cause.word() == word)
    }
    /// Its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// Performs it.
    fn act(self, machine: &mut Simulated, port: &Function) {
        match self {
            Self::HotReset => {
                bridge(machine, port, |word| word.with_secondary_bus_reset(true).ok());
                machine.wait(IN_RESET);
                bridge(machine, port, |word| word.with_secondary_bus_reset(false).ok());
            }
            Self::Retrain => link_control(machine, port, |word| word.with_retrain(true).ok()),
            Self::DisableEnable => {
                link_control(machine, port, |word| word.with_disable(true).ok());
                machine.wait(DISABLED);
                link_control(machine, port, |word| word.with_disable(false).ok());
            }
            Self::PowerCycle => {
                machine.link.set_power(false);
                machine.wait(ms(POWER_OFF.value));
                machine.link.set_power(true);
            }
        }
    }
}

/// The state of a link after it came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comeback {
    /// Time from leaving L0 until the link is used again.
    pub lasts: Span,
    /// Its rate then.
    pub generation: Generation,
    /// Its width then.
    pub width: Width,
}

/// Powers a link on and applies the causes in turn, each when the link is up. Returns how it comes back each time;
/// `None` if it is not up within two seconds.
#[must_use]
pub fn comebacks(config: LinkConfig, seed: u64, causes: &[Cause]) -> Option<Vec<Comeback>> {
    let link = SimulatedLink::new(config, seed).ok()?;
    let mut machine = Simulated { link };
    machine.link.set_power(true);
    machine.wait(TO_COME_UP);
    let port = Function::find(&mut machine, PORT).ok()?;
    causes.iter().map(|cause| comeback(&mut machine, &port, *cause)).collect()
}

fn comeback(machine: &mut Simulated, port: &Function, cause: Cause) -> Option<Comeback> {
    machine.link.take_transitions();
    let start = machine.now();
    cause.act(machine, port);
    machine.wait(TO_COME_UP);
    let (end, transitions) = (machine.now(), machine.link.take_transitions());
    let lasts = used_again(&transitions, end)?.since(left(&transitions).unwrap_or(start));
    let status = port.read(machine, LINK_STATUS).ok()??;
    Some(Comeback {
        lasts,
        generation: Generation::from_number(status.speed().into())?,
        width: Width::from_lanes(status.width().into())?,
    })
}

/// The time at which the port left the state in which packets are sent.
fn left(transitions: &[Transition]) -> Option<Instant> {
    let leaves = |one: &&Transition| one.port == Facing::Downstream && one.from.is_link_up();
    transitions.iter().find(leaves).map(|one| one.at)
}

/// The time from which the port stays in L0: a link also passes through L0 on its way to another rate.
fn used_again(transitions: &[Transition], end: Instant) -> Option<Instant> {
    let own: Vec<&Transition> = transitions.iter().filter(|one| one.port == Facing::Downstream).collect();
    let stays = |place: &usize| {
        let until = own.get(place + 1).map_or(end, |next| next.at);
        own[*place].to.is_link_up() && until.since(own[*place].at) >= FOR_GOOD
    };
    (0..own.len()).find(stays).map(|place| own[place].at)
}

/// Changes Bridge Control of the port.
fn bridge(machine: &mut Simulated, port: &Function, change: impl Fn(BridgeControl) -> Option<BridgeControl>) {
    let word = port.read(machine, BRIDGE_CONTROL).ok().flatten().and_then(change);
    write(machine, port, &BRIDGE_CONTROL.place, word.map(BridgeControl::raw));
}

/// Changes Link Control of the port.
fn link_control(
    machine: &mut Simulated,
    port: &Function,
    change: impl Fn(LinkControl) -> Option<LinkControl>,
) {
    let word = port.read(machine, LINK_CONTROL).ok().flatten().and_then(change);
    write(machine, port, &LINK_CONTROL.place, word.map(LinkControl::raw));
}

fn write(machine: &mut Simulated, port: &Function, place: &Place, word: Option<u16>) {
    if let (Some(word), Some(offset)) = (word, port.offset(place)) {
        // a simulated port accepts every write
        let _ = machine.write(PORT, offset, place.width, u32::from(word) & !place.clears);
    }
}

#[cfg(test)]
mod tests {
    use super::super::link::{LinkRequest, open_link};
    use super::*;

    fn open(causes: &[Cause]) -> Vec<Comeback> {
        let wanted = LinkRequest { width: Width::X4, utilisation: 0.0, seed: 1 };
        comebacks(open_link("slot", Generation::Gen5, 1, wanted), 1, causes).expect("it comes back")
    }

    #[test]
    fn an_open_link_comes_back_as_it_was() {
        let causes = [Cause::HotReset, Cause::Retrain, Cause::DisableEnable, Cause::PowerCycle];
        let found = open(&causes);
        assert!(
            found.iter().all(|one| (one.generation, one.width) == (Generation::Gen5, Width::X4)),
            "{found:?}"
        );
        let [reset, retrain, disable, power] = found[..] else { panic!("{found:?}") };
        let within = |lasts: Span, from_us: u64, to_us: u64| {
            assert!((Span::from_us(from_us)..Span::from_us(to_us)).contains(&lasts), "{lasts:?}");
        };
        // a Recovery without equalisation; three rates that are equalised; the same behind a second without power
        within(retrain.lasts, 1, 1_000);
        within(reset.lasts, 10_000, 500_000);
        within(disable.lasts, 10_000, 500_000);
        within(power.lasts, 1_010_000, 2_000_000);
    }

    #[test]
    fn a_seed_decides_everything() {
        assert_eq!(open(&[Cause::HotReset; 3]), open(&[Cause::HotReset; 3]));
    }
}
