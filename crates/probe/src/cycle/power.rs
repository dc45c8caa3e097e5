//! Tests of power states: the power state of the device, and active-state power management (ASPM).

use super::bench::{Bench, Step, Stop, word};
use super::identity::answers;
use crate::registers::{LINK_CAPABILITIES, LINK_CONTROL, POWER_CONTROL};
use crate::wait::FOR_POWER;
use lanetwin_pcie::logic::ltssm::failure::FailureCode;
use lanetwin_pcie::spec::link_words::{Aspm, PowerState};
use lanetwin_units::Span;

/// Time that an idle link is given to enter L1 \[ps\]; the idle timers of ports are a few microseconds.
const FOR_L1: Span = Span::from_us(1_000);

impl Bench<'_, '_> {
    /// Puts the device into D3hot and back into D0. Proof: the state reads back, both times.
    pub(super) fn d3_hot(&mut self) -> Step<String> {
        self.save_device()?;
        let control = self.of_device(POWER_CONTROL)?;
        self.set_device(POWER_CONTROL, word(control.with_state(PowerState::D3_HOT)))?;
        self.host().wait(FOR_POWER);
        let asleep = self.of_device(POWER_CONTROL)?.state();
        let start = self.session.now();
        self.set_device(POWER_CONTROL, word(control.with_state(PowerState::D0)))?;
        let device = self.device.clone();
        let woke = answers(self.host(), &device)?;
        self.link_time += self.session.now().since(start);
        self.host().wait(FOR_POWER);
        if asleep != PowerState::D3_HOT {
            return Err(Stop::NotPerformed(format!("Power State was set to D3hot and reads {asleep}")));
        }
        if !woke && !answers(self.host(), &device)? {
            let said = "the device does not answer after D3hot";
            return Err(Stop::Failed(FailureCode::SurpriseDown, said.into()));
        }
        let awake = self.of_device(POWER_CONTROL)?;
        if awake.state() != PowerState::D0 {
            return Err(Stop::NotPerformed(format!("Power State was set to D0 and reads {}", awake.state())));
        }
        if !awake.no_soft_reset() {
            self.restore_device()?;
        }
        Ok("Power State read D3hot, then D0".into())
    }

    /// Enables L1 at both ends, and waits. Proof: both ends keep the setting. That the link entered L1 is proved only
    /// on a machine that shows the link state.
    pub(super) fn aspm_l1(&mut self) -> Step<String> {
        let (above, below) = (self.of_port(LINK_CAPABILITIES)?, self.of_device(LINK_CAPABILITIES)?);
        let can = |aspm: Aspm| aspm == Aspm::L1 || aspm == Aspm::L0S_AND_L1;
        if !can(above.aspm()) || !can(below.aspm()) {
            return Err(Stop::NotPerformed("L1 is not supported at both ends".into()));
        }
        let (port, device) = (self.of_port(LINK_CONTROL)?, self.of_device(LINK_CONTROL)?);
        // the port first, as PCIe Base §5.4.1.3 requires for enabling; the device first for disabling
        self.set_port(LINK_CONTROL, word(port.with_aspm(Aspm::L1)))?;
        self.set_device(LINK_CONTROL, word(device.with_aspm(Aspm::L1)))?;
        let kept = self.of_port(LINK_CONTROL)?.aspm() == Aspm::L1
            && self.of_device(LINK_CONTROL)?.aspm() == Aspm::L1;
        self.host().wait(FOR_L1);
        let port_address = self.port.address;
        let shown = self.host().state(port_address);
        let (start, identity) = (self.session.now(), self.device.clone());
        let woke = answers(self.host(), &identity)?;
        self.link_time += self.session.now().since(start);
        self.set_device(LINK_CONTROL, device)?;
        self.set_port(LINK_CONTROL, port)?;
        if !kept {
            return Err(Stop::NotPerformed("ASPM Control does not keep L1 at both ends".into()));
        }
        if !woke {
            let said = "the device does not answer from L1";
            return Err(Stop::Failed(FailureCode::SurpriseDown, said.into()));
        }
        match shown {
            Some(state) if state.starts_with("L1") => Ok(format!("the link was in {state}")),
            Some(state) => Err(Stop::NotPerformed(format!("the link was in {state}, not in L1"))),
            None => Ok("ASPM L1 was set at both ends; no register shows that the link went there".into()),
        }
    }
}
