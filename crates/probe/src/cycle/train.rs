//! Tests that train the link: at its rate, to other rates, with equalisation, to other widths.

use super::bench::{Bench, Step, Stop, rate, word};
use crate::registers::{DEVICE_CAPABILITIES_3, DEVICE_CONTROL_3, LINK_CONTROL_3, LINK_STATUS};
use crate::wait::{FOR_LINK, until};
use lanetwin_pcie::logic::ltssm::failure::FailureCode;

impl Bench<'_, '_> {
    /// Retrain Link.
    pub(super) fn retraining(&mut self) -> Step<String> {
        self.retrain()?;
        Ok("Link Bandwidth Management Status was set".into())
    }

    /// Changes to a slower rate and back; successive cycles take successive slower rates.
    pub(super) fn speed_change(&mut self, cycle: u64) -> Step<String> {
        let best = self.reference.speed;
        let slower: Vec<u8> = self.rates.iter().copied().filter(|rate| *rate < best).collect();
        if slower.is_empty() {
            return Err(Stop::NotPerformed(format!("{} is the only rate of both ends", rate(best))));
        }
        let to = slower[slower.len() - 1 - (cycle % slower.len() as u64) as usize];
        self.there_and_back(to)
    }

    /// Changes to 2.5 GT/s, and from there to the highest rate.
    pub(super) fn speed_change_max(&mut self) -> Step<String> {
        if self.reference.speed == 1 {
            return Err(Stop::NotPerformed("2.5 GT/s is the only rate of both ends".into()));
        }
        self.there_and_back(1)
    }

    fn there_and_back(&mut self, to: u8) -> Step<String> {
        let best = self.reference.speed;
        self.change_speed(to)?;
        self.change_speed(best)?;
        Ok(format!("the link ran at {} and again at {}", rate(to), rate(best)))
    }

    /// Repeats equalisation at the two highest rates, the lower first.
    pub(super) fn equalisation_redo(&mut self) -> Step<String> {
        let best = self.reference.speed;
        let rates: Vec<u8> = self.rates.iter().copied().filter(|rate| (3..=best).contains(rate)).collect();
        if rates.is_empty() {
            return Err(Stop::NotPerformed("no rate of this link is equalised".into()));
        }
        for &at in &rates[rates.len().saturating_sub(2)..] {
            self.equalise_at(at)?;
        }
        Ok("equalisation is complete with phases 1 to 3 after Perform Equalization".into())
    }

    fn equalise_at(&mut self, at: u8) -> Step<()> {
        let below = self.rates.iter().copied().rfind(|rate| *rate < at).unwrap_or(1);
        if self.of_port(LINK_STATUS)?.speed() != below {
            self.change_speed(below)?;
        }
        let control = self.of_port(LINK_CONTROL_3)?;
        self.set_port(LINK_CONTROL_3, word(control.with_perform_equalization(true)))?;
        if !self.of_port(LINK_CONTROL_3)?.perform_equalization() {
            return Err(Stop::NotPerformed("Perform Equalization keeps 0".into()));
        }
        let changed = self.change_speed(at);
        let control = self.of_port(LINK_CONTROL_3)?;
        self.set_port(LINK_CONTROL_3, word(control.with_perform_equalization(false)))?;
        changed?;
        let Some(phases) = self.equalisation(at)? else {
            return Err(Stop::NotPerformed(format!(
                "the port has no status of equalisation at {}",
                rate(at)
            )));
        };
        match phases.first_missing() {
            Some((code, phase)) => Err(Stop::Failed(code, format!("{phase} was not passed at {}", rate(at)))),
            None if !phases.complete => {
                let said = format!("equalisation at {} is not complete", rate(at));
                Err(Stop::Failed(FailureCode::EqP3Timeout, said))
            }
            None => Ok(()),
        }
    }

    /// Changes to half the lanes and back to all, by L0p if both ends support it, otherwise by the machine's own means.
    pub(super) fn dynamic_width(&mut self) -> Step<String> {
        let full = self.reference.width;
        if full < 2 {
            return Err(Stop::NotPerformed("the link has one lane".into()));
        }
        let narrow = full / 2;
        if self.has_l0p()? {
            return self.l0p(narrow);
        }
        let port = self.port.address;
        let start = self.session.now();
        self.host().direct_width(port, narrow)?;
        let seen = self.wait_for_width(narrow)?;
        self.host().direct_width(port, full)?;
        let back = self.wait_for_width(full)?;
        self.link_time += self.session.now().since(start);
        if !seen {
            return Err(Stop::NotPerformed(format!("the link did not go to x{narrow}")));
        }
        if !back {
            let width = self.of_port(LINK_STATUS)?.width();
            let said = format!("x{width} instead of x{full}");
            return Err(Stop::Failed(FailureCode::WidthDegrade, said));
        }
        Ok(format!("the link ran with {narrow} lanes and again with {full}"))
    }

    fn wait_for_width(&mut self, width: u8) -> Step<bool> {
        let port = self.port.clone();
        Ok(until(self.host(), FOR_LINK, |host| {
            let status = port.read(host, LINK_STATUS)?;
            Ok(status.is_some_and(|status| status.width() == width && !status.training()))
        })?)
    }

    fn has_l0p(&mut self) -> Step<bool> {
        let (port, device) = (self.port.clone(), self.device.clone());
        let can = |found: Option<crate::registers::DeviceCapabilities3>| found.is_some_and(|word| word.l0p());
        let port = can(self.session.get(&port, DEVICE_CAPABILITIES_3)?);
        Ok(port && can(self.session.get(&device, DEVICE_CAPABILITIES_3)?))
    }

    /// By L0p: some lanes are idle while the link stays in L0. Negotiated Link Width shows the number of active lanes.
    fn l0p(&mut self, narrow: u8) -> Step<String> {
        let code = narrow.trailing_zeros() as u8;
        let control = self.of_port(DEVICE_CONTROL_3)?;
        let enabled = word(control.with_l0p(true));
        let start = self.session.now();
        self.set_port(DEVICE_CONTROL_3, word(enabled.with_target_width(code)))?;
        let seen = self.wait_for_width(narrow)?;
        self.set_port(DEVICE_CONTROL_3, control)?;
        let full = self.reference.width;
        let back = self.wait_for_width(full)?;
        self.link_time += self.session.now().since(start);
        match (seen, back) {
            (false, _) => Err(Stop::NotPerformed(format!("L0p did not bring the link to x{narrow}"))),
            (true, false) => {
                let width = self.of_port(LINK_STATUS)?.width();
                Err(Stop::Failed(FailureCode::WidthDegrade, format!("x{width} instead of x{full}")))
            }
            (true, true) => Ok(format!("{narrow} lanes were awake and again {full}")),
        }
    }
}
