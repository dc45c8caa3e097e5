//! A link under test: its two ends, its initial state, and the steps that tests consist of.

use super::identity::answers;
use crate::function::Function;
use crate::host::{Host, HostError};
use crate::registers::{
    EqualizationStatus, LINK_CAPABILITIES, LINK_CAPABILITIES_2, LINK_CONTROL, LINK_CONTROL_2, LINK_STATUS,
    LINK_STATUS_2, LinkControl, LinkStatus, LinkStatus2, Register, STATUS_16, STATUS_32, STATUS_64,
};
use crate::session::Session;
use crate::wait::{FOR_LINK, until};
use lanetwin_pcie::logic::ltssm::failure::FailureCode;
use lanetwin_units::Span;
use lanetwin_wire::Word;
use serde::Serialize;

/// Why an action of a test ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// There is no proof that the action had an effect, for this reason.
    NotPerformed(String),
    /// The action had an effect, and the link or the device is not in the expected state.
    Failed(FailureCode, String),
    /// The machine does not permit it.
    Refused(String),
}

impl From<HostError> for Stop {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Gone(_) => Self::Failed(FailureCode::SurpriseDown, error.to_string()),
            HostError::Unsupported(_) => Self::NotPerformed(error.to_string()),
            HostError::Refused { .. } => Self::Refused(error.to_string()),
        }
    }
}

/// The result of a step, or why the action ends.
pub type Step<T> = Result<T, Stop>;

/// The state of a link, from its registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct LinkState {
    /// Current speed \[number of the generation\].
    pub speed: u8,
    /// Negotiated width \[lanes\].
    pub width: u8,
    /// Target Link Speed of the port \[number of the generation\].
    pub target_speed: u8,
    /// Number of retimers detected.
    pub retimers: u8,
}

/// A link under test.
pub struct Bench<'s, 'h> {
    /// The machine, and the changes made to it.
    pub session: &'s mut Session<'h>,
    /// The port above the link.
    pub port: Function,
    /// The device below the link.
    pub device: Function,
    /// The state that the link is compared with: its initial state, or the best that both ends support.
    pub reference: LinkState,
    /// The rates that both ends support, ascending \[number of the generation\].
    pub rates: Vec<u8>,
    /// Time that the link took to train, or the device to wake up, in the current cycle: the sum of all trainings.
    pub link_time: Span,
    /// Whether Data Link Layer Link Active is reliable.
    reports_activity: bool,
}

impl<'s, 'h> Bench<'s, 'h> {
    /// Opens a link and reads the registers of both ends.
    ///
    /// # Errors
    /// If an end has no PCI Express capability, or the link is not up.
    pub fn new(session: &'s mut Session<'h>, port: Function, device: Function) -> Step<Self> {
        let none = LinkState { speed: 0, width: 0, target_speed: 0, retimers: 0 };
        let (rates, link_time) = (Vec::new(), Span::ZERO);
        let mut bench =
            Self { session, port, device, reference: none, rates, link_time, reports_activity: false };
        // a port that claims to report activity, but reports none with the device present, does not (QEMU's root port)
        let claims = bench.of_port(LINK_CAPABILITIES)?.link_active_reporting();
        let identity = bench.device.clone();
        let shows = bench.of_port(LINK_STATUS)?.active() || !answers(bench.host(), &identity)?;
        bench.reports_activity = claims && shows;
        bench.reference = bench.state()?;
        bench.rates = bench.common_rates()?;
        Ok(bench)
    }

    /// The machine.
    pub fn host(&mut self) -> &mut dyn Host {
        self.session.host()
    }

    /// Reads a register of the port; an error if it does not exist.
    pub fn of_port<W: Word>(&mut self, register: Register<W>) -> Step<W> {
        let port = self.port.clone();
        self.session.get(&port, register)?.ok_or_else(|| missing(register, "port"))
    }
    /// Reads a register of the device; an error if it does not exist.
    pub fn of_device<W: Word>(&mut self, register: Register<W>) -> Step<W> {
        let device = self.device.clone();
        self.session.get(&device, register)?.ok_or_else(|| missing(register, "device"))
    }
    /// Writes a register of the port.
    pub fn set_port<W: Word>(&mut self, register: Register<W>, word: W) -> Step<()> {
        let port = self.port.clone();
        if self.session.set(&port, register, word)? { Ok(()) } else { Err(missing(register, "port")) }
    }
    /// Writes a register of the device.
    pub fn set_device<W: Word>(&mut self, register: Register<W>, word: W) -> Step<()> {
        let device = self.device.clone();
        if self.session.set(&device, register, word)? { Ok(()) } else { Err(missing(register, "device")) }
    }

    /// The current state of the link.
    pub fn state(&mut self) -> Step<LinkState> {
        let status = self.of_port(LINK_STATUS)?;
        let target = self.of_port(LINK_CONTROL_2)?.target_speed();
        let second: LinkStatus2 = self.of_port(LINK_STATUS_2)?;
        let retimers = if second.two_retimers() { 2 } else { u8::from(second.retimer()) };
        Ok(LinkState { speed: status.speed(), width: status.width(), target_speed: target, retimers })
    }

    /// The rates that both ends support.
    fn common_rates(&mut self) -> Step<Vec<u8>> {
        let vector = |speeds: u8, highest: u8| {
            if speeds == 0 { (1_u16 << highest.min(7)) as u8 - 1 } else { speeds }
        };
        let port =
            vector(self.of_port(LINK_CAPABILITIES_2)?.speeds(), self.of_port(LINK_CAPABILITIES)?.max_speed());
        let device = vector(
            self.of_device(LINK_CAPABILITIES_2)?.speeds(),
            self.of_device(LINK_CAPABILITIES)?.max_speed(),
        );
        Ok((1..=7).filter(|rate| port & device & 1 << (rate - 1) != 0).collect())
    }

    /// Waits until the link is active and training has ended, at most 1 s. Returns whether both hold.
    ///
    /// A port that cannot report activity counts as active once training has ended.
    pub fn wait_for_link(&mut self) -> Step<bool> {
        let reports = self.reports_activity;
        let port = self.port.clone();
        let up = |status: LinkStatus| !status.training() && (status.active() || !reports);
        Ok(until(self.host(), FOR_LINK, |host| Ok(port.read(host, LINK_STATUS)?.is_some_and(up)))?)
    }

    /// Waits until training has ended, at most 1 s. Returns whether it has.
    fn wait_while_training(&mut self) -> Step<bool> {
        let port = self.port.clone();
        let rests = |status: LinkStatus| !status.training();
        Ok(until(self.host(), FOR_LINK, |host| Ok(port.read(host, LINK_STATUS)?.is_some_and(rests)))?)
    }

    /// Retrains the link. Proof: Link Bandwidth Management Status is cleared before and set afterwards.
    pub fn retrain(&mut self) -> Step<()> {
        if !self.of_port(LINK_CAPABILITIES)?.bandwidth_notification() {
            let why = "the port has no Link Bandwidth Notification: nothing would show a retraining";
            return Err(Stop::NotPerformed(why.into()));
        }
        let management = u32::from(word(LinkStatus::ZERO.with_bandwidth_management(true)).raw());
        let port = self.port.clone();
        self.session.clear(&port, LINK_STATUS, management)?;
        if !self.wait_while_training()? {
            let said = "the link was still training after 1 s, before it was asked to";
            return Err(Stop::Failed(FailureCode::LockFail, said.into()));
        }
        if self.of_port(LINK_STATUS)?.bandwidth_management() {
            let why = "Link Bandwidth Management Status cannot be cleared, so that it proves nothing";
            return Err(Stop::NotPerformed(why.into()));
        }
        let control = self.of_port(LINK_CONTROL)?;
        let start = self.session.now();
        self.set_port(LINK_CONTROL, word(control.with_retrain(true)))?;
        let reports = self.reports_activity;
        let mut moved = false;
        let over = until(self.host(), FOR_LINK, |host| {
            let Some(status) = port.read(host, LINK_STATUS)? else { return Ok(false) };
            moved |= status.training() || reports && !status.active();
            Ok(!status.training() && status.bandwidth_management())
        })?;
        self.link_time += self.session.now().since(start);
        if over {
            return Ok(());
        }
        let status = self.of_port(LINK_STATUS)?;
        if status.training() {
            Err(Stop::Failed(FailureCode::LockFail, "still training 1 s after Retrain Link".into()))
        } else if !status.active() && self.reports_activity() {
            Err(Stop::Failed(FailureCode::DllInactive1s, "no link 1 s after Retrain Link".into()))
        } else if moved {
            let said = "the link went down and came up anew in place of a retraining";
            Err(Stop::Failed(FailureCode::LockFail, said.into()))
        } else {
            let why = "Link Bandwidth Management Status was not set within 1 s of Retrain Link";
            Err(Stop::NotPerformed(why.into()))
        }
    }

    /// Whether the port reports link activity.
    #[must_use]
    pub const fn reports_activity(&self) -> bool {
        self.reports_activity
    }

    /// Sets Target Link Speed. Proof: it reads back.
    pub fn set_target(&mut self, speed: u8) -> Step<()> {
        let control = self.of_port(LINK_CONTROL_2)?;
        self.set_port(LINK_CONTROL_2, word(control.with_target_speed(speed)))?;
        let kept = self.of_port(LINK_CONTROL_2)?.target_speed();
        if kept == speed {
            return Ok(());
        }
        Err(Stop::NotPerformed(format!("Target Link Speed was set to {speed} and reads {kept}")))
    }

    /// Retrains to a rate. Proof: Current Link Speed is this rate.
    pub fn change_speed(&mut self, to: u8) -> Step<()> {
        let before = self.of_port(LINK_STATUS)?.speed();
        self.set_target(to)?;
        self.retrain()?;
        let after = self.of_port(LINK_STATUS)?.speed();
        if after == to {
            Ok(())
        } else if after == before && to < before {
            let why = format!("the link still runs at {} after a retraining to {}", rate(after), rate(to));
            Err(Stop::NotPerformed(why))
        } else {
            Err(self.too_slow(after, to)?)
        }
    }

    /// Why the link is slower than `wanted`.
    pub fn too_slow(&mut self, speed: u8, wanted: u8) -> Step<Stop> {
        let target = self.of_port(LINK_CONTROL_2)?.target_speed();
        let said = format!("{} instead of {}", rate(speed), rate(wanted));
        if speed == 1 && target == 1 && wanted > 1 {
            // Linux pcie_failed_link_retrain() limits the port after slow training
            let said = format!("{said}: something set Target Link Speed to 2.5 GT/s");
            return Ok(Stop::Failed(FailureCode::Stuck2_5Gt, said));
        }
        let next = self.rates.iter().copied().find(|rate| *rate > speed && *rate >= 3);
        let phases = match next {
            Some(next) => self.equalisation(next)?.and_then(Phases::first_missing),
            None => None,
        };
        Ok(match phases {
            Some((code, phase)) => Stop::Failed(code, format!("{said}: {phase} was not passed")),
            None => Stop::Failed(FailureCode::SpeedFallback, said),
        })
    }

    /// The port's equalisation status at a rate; `None` if it has no register for it.
    pub fn equalisation(&mut self, speed: u8) -> Step<Option<Phases>> {
        let port = self.port.clone();
        let of = |status: EqualizationStatus| Phases {
            complete: status.complete(),
            passed: [status.phase_1(), status.phase_2(), status.phase_3()],
        };
        Ok(match speed {
            3 => self.session.get(&port, LINK_STATUS_2)?.map(|status: LinkStatus2| Phases {
                complete: status.complete(),
                passed: [status.phase_1(), status.phase_2(), status.phase_3()],
            }),
            4 => self.session.get(&port, STATUS_16)?.map(of),
            5 => self.session.get(&port, STATUS_32)?.map(of),
            6 => self.session.get(&port, STATUS_64)?.map(of),
            _ => None,
        })
    }

    /// Changes Link Control of the port. Returns the value that it then reads.
    pub fn set_link_control(&mut self, change: impl Fn(LinkControl) -> LinkControl) -> Step<LinkControl> {
        let control = self.of_port(LINK_CONTROL)?;
        self.set_port(LINK_CONTROL, change(control))?;
        self.of_port(LINK_CONTROL)
    }
}

/// The progress of equalisation at a rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Phases {
    /// Whether it is complete.
    pub complete: bool,
    /// Whether phases 1, 2 and 3 were successful.
    pub passed: [bool; 3],
}

impl Phases {
    /// Whether it is complete with all phases.
    #[must_use]
    pub const fn all(self) -> bool {
        self.complete && self.passed[0] && self.passed[1] && self.passed[2]
    }
    /// The first phase that was not successful; no register distinguishes phase 0 from phase 1.
    #[must_use]
    pub fn first_missing(self) -> Option<(FailureCode, &'static str)> {
        let phases = [
            (FailureCode::EqP1Timeout, "phase 1 of equalisation"),
            (FailureCode::EqP2Timeout, "phase 2 of equalisation"),
            (FailureCode::EqP3Timeout, "phase 3 of equalisation"),
        ];
        let missing = self.passed.iter().position(|passed| !passed)?;
        Some(phases[missing])
    }
}

/// Unwraps a word whose field values are known to fit.
pub fn word<W>(built: Result<W, lanetwin_wire::DoesNotFit>) -> W {
    built.expect("the value was made for its field")
}

/// The rate of a generation, for messages.
#[must_use]
pub fn rate(speed: u8) -> String {
    let known = ["2.5", "5", "8", "16", "32", "64", "128"];
    let text = usize::from(speed).checked_sub(1).and_then(|at| known.get(at));
    text.map_or_else(|| format!("speed {speed}"), |text| format!("{text} GT/s"))
}

fn missing<W>(register: Register<W>, end: &str) -> Stop {
    Stop::NotPerformed(format!("the {end} has no {}", register.place.name))
}
