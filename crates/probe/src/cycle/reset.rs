//! Tests that take the link or the device down: bus resets, link disable, power, function level reset.

use super::bench::{Bench, Step, Stop, word};
use super::identity::answers;
use super::saving::Mark;
use crate::host::HostError;
use crate::registers::{BRIDGE_CONTROL, DEVICE_CAPABILITIES, DEVICE_CONTROL, LINK_CAPABILITIES, LINK_STATUS};
use crate::wait::{AFTER_RESET, FOR_DOWN, FOR_READY, IN_RESET, until};
use lanetwin_pcie::logic::ltssm::failure::FailureCode;
use lanetwin_units::Span;

impl Bench<'_, '_> {
    /// A bus reset by the operating system; if it offers none, by Secondary Bus Reset in Bridge Control.
    pub(super) fn hot_reset(&mut self) -> Step<String> {
        // Linux gives up on a reset if the port claims to report link activity and reports none
        let claims = self.of_port(LINK_CAPABILITIES)?.link_active_reporting();
        if claims && !self.reports_activity() {
            return self.bus_reset();
        }
        self.save_device()?;
        let mark = self.mark(true)?;
        let start = self.session.now();
        let (port, device) = (self.port.address, self.device.address);
        let refused = match self.host().bus_reset(port, device) {
            Err(HostError::Unsupported(_)) => return self.bus_reset(),
            Err(HostError::Refused { said, .. }) => Some(said),
            done => {
                done?;
                None
            }
        };
        self.come_back(start)?;
        if let Some(said) = refused {
            self.restore()?;
            return Err(Stop::NotPerformed(format!("the operating system did not reset it: {said}")));
        }
        let lost = self.proof(mark, false)?;
        self.restore()?;
        Ok(lost)
    }

    /// Sets Secondary Bus Reset for 2 ms; saves and restores the device's registers.
    pub(super) fn bus_reset(&mut self) -> Step<String> {
        self.save_device()?;
        let mark = self.mark(false)?;
        let control = self.of_port(BRIDGE_CONTROL)?;
        self.set_port(BRIDGE_CONTROL, word(control.with_secondary_bus_reset(true)))?;
        if !self.of_port(BRIDGE_CONTROL)?.secondary_bus_reset() {
            return Err(Stop::NotPerformed("Secondary Bus Reset keeps 0".into()));
        }
        self.host().wait(IN_RESET);
        let went_down = self.is_down()?;
        let start = self.session.now();
        self.set_port(BRIDGE_CONTROL, word(control.with_secondary_bus_reset(false)))?;
        self.come_back(start)?;
        let lost = self.proof(mark, went_down)?;
        self.restore()?;
        Ok(lost)
    }

    /// Disables and enables the link. Proof: Data Link Layer Link Active was clear while it was disabled.
    pub(super) fn disable(&mut self) -> Step<String> {
        if !self.reports_activity() {
            let why =
                "the port does not report whether the link is active: nothing would show that it is disabled";
            return Err(Stop::NotPerformed(why.into()));
        }
        self.save_device()?;
        let control = self.set_link_control(|control| word(control.with_disable(true)))?;
        if !control.disable() {
            return Err(Stop::NotPerformed("Link Disable keeps 0".into()));
        }
        let port = self.port.clone();
        let down = until(self.host(), FOR_DOWN, |host| {
            Ok(port.read(host, LINK_STATUS)?.is_some_and(|status| !status.active()))
        })?;
        let start = self.session.now();
        self.set_link_control(|control| word(control.with_disable(false)))?;
        if !down {
            return Err(Stop::NotPerformed("Data Link Layer Link Active stayed set while disabled".into()));
        }
        self.come_back(start)?;
        self.restore()?;
        Ok("Data Link Layer Link Active was clear while disabled".into())
    }

    /// Power cycles the device, by the machine's own means.
    pub(super) fn power_cycle(&mut self) -> Step<String> {
        self.save_device()?;
        let mark = self.mark(false)?;
        let (device, start) = (self.device.address, self.session.now());
        self.host().power_cycle(device)?;
        self.come_back(start)?;
        let lost = self.proof(mark, false)?;
        self.restore()?;
        Ok(lost)
    }

    /// Function Level Reset.
    pub(super) fn function_reset(&mut self) -> Step<String> {
        if !self.of_device(DEVICE_CAPABILITIES)?.function_level_reset() {
            return Err(Stop::NotPerformed("the device has no Function Level Reset".into()));
        }
        self.save_device()?;
        let mark = self.mark(false)?;
        let control = self.of_device(DEVICE_CONTROL)?;
        let start = self.session.now();
        self.set_device(DEVICE_CONTROL, word(control.with_initiate_reset(true)))?;
        self.host().wait(AFTER_RESET);
        self.come_back(start)?;
        let lost = self.proof(mark, false)?;
        self.restore()?;
        Ok(lost)
    }

    /// Whether the port reports the link as inactive; false for a port that does not report link activity.
    fn is_down(&mut self) -> Step<bool> {
        Ok(self.reports_activity() && !self.of_port(LINK_STATUS)?.active())
    }

    /// Waits until the link is active, then until the device responds.
    fn come_back(&mut self, start: lanetwin_units::Instant) -> Step<()> {
        let up = self.wait_for_link()?;
        self.link_time += self.session.now().since(start);
        if !up {
            let training = self.of_port(LINK_STATUS)?.training();
            let said = if training { "training goes on" } else { "nothing trains" };
            return Err(Stop::Failed(
                FailureCode::DllInactive1s,
                format!("the link was not active within 1 s; {said}"),
            ));
        }
        self.host().wait(AFTER_RESET);
        let device = self.device.clone();
        let ready = until(self.host(), FOR_READY, |host| answers(host, &device))?;
        if ready {
            return Ok(());
        }
        let said = format!("the device did not answer with its identity within {}", seconds(FOR_READY));
        Err(Stop::Failed(FailureCode::CfgRrsTimeout, said))
    }

    /// The proof that the device was reset: its mark is lost, or the link went down.
    fn proof(&mut self, mark: Option<Mark>, went_down: bool) -> Step<String> {
        let lost = match mark {
            Some(mark) => !self.has_mark(mark)?,
            None => false,
        };
        match (mark, lost, went_down) {
            (Some(Mark::FunctionMask), true, _) => Ok("the device lost Function Mask of MSI-X".into()),
            (Some(Mark::CacheLine(_)), true, _) => Ok("the device lost Cache Line Size".into()),
            (Some(Mark::InterruptLine(_)), true, _) => Ok("the device lost Interrupt Line".into()),
            (_, _, true) => Ok("the link was not active during the reset".into()),
            (Some(_), false, false) => Err(Stop::NotPerformed("the device kept what a reset clears".into())),
            (None, ..) => Err(Stop::NotPerformed("the device keeps no mark that would show a reset".into())),
        }
    }

    /// Restores the device's registers.
    fn restore(&mut self) -> Step<()> {
        let left = self.restore_device()?;
        if left.is_empty() {
            return Ok(());
        }
        Err(Stop::Refused(format!("the device does not take back {}", left.join(", "))))
    }
}

fn seconds(span: Span) -> String {
    format!("{} s", span.as_ps() / 1_000_000_000_000)
}
