//! What a link is like when it comes back: something takes it down or lets it train anew, and it is used again.
//!
//! ```text
//!   L0 ──cause──► Recovery or Detect ──trains──► L0
//!      └──────────── lasts ───────────────────┘   at some rate, with some lanes
//! ```
//!
//! Not here: proofs that a cause had an effect, which the runner of real machines wants (`lanetwin-probe`).

use super::host::{PORT, Simulated, ms};
use super::numbers::POWER_OFF;
use super::ready::TO_COME_UP;
use lanetwin_pcie::logic::ltssm::link::{Facing, LinkConfig, SimulatedLink, Transition};
use lanetwin_pcie::spec::config_words::BridgeControl;
use lanetwin_pcie::spec::link_words::LinkControl;
use lanetwin_probe::registers::{BRIDGE_CONTROL, LINK_CONTROL, LINK_STATUS, Place};
use lanetwin_probe::{Function, Host};
use lanetwin_units::{Generation, Instant, Span, Width};

/// How long a reset is asserted: PCIe Base §7.5.1.3.13 asks for 1 ms, Linux holds it for 2.
const IN_RESET: Span = Span::from_us(2_000);
/// How long a link stays disabled (as [`IN_RESET`]: nobody asks for more).
const DISABLED: Span = Span::from_us(2_000);
/// A link that has been up for so long is not on its way to another rate.
const FOR_GOOD: Span = Span::from_us(10_000);

/// What takes a link down, or lets it train anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Secondary Bus Reset of the port, for 2 ms.
    HotReset,
    /// Retrain Link: Recovery, from the rate that it has.
    Retrain,
    /// Link Disable, for 2 ms.
    DisableEnable,
    /// Power off for a second, and on.
    PowerCycle,
}

impl Cause {
    /// Every one, with its word.
    pub const WORDS: &[&str] = &["hot-reset", "retrain", "disable-enable", "power-cycle"];

    /// The cause of a word.
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

    /// Does it.
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

/// How a link came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comeback {
    /// From leaving L0 to being used again.
    pub lasts: Span,
    /// The rate that it has then.
    pub generation: Generation,
    /// The lanes.
    pub width: Width,
}

/// Powers a link on, and does one of these after the other to it, each when it is up: how it comes back each time; none
/// if it is not up within two seconds.
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

/// When the port left the state in which packets go.
fn left(transitions: &[Transition]) -> Option<Instant> {
    let leaves = |one: &&Transition| one.port == Facing::Downstream && one.from.is_link_up();
    transitions.iter().find(leaves).map(|one| one.at)
}

/// When the port was in L0 for good: a link stops there on its way to another rate.
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
        // a simulated port takes every write
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
