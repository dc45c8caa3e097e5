//! Software around a link: finds registers by their capabilities, writes them, polls, and waits as long as it must.

use super::super::failure::{FailureCode, FailureCodes, Outcome};
use super::super::link::{Facing, SimulatedLink, Size};
use super::super::state::State;
use super::StabilityTest;
use crate::spec::config_words::BRIDGE_CONTROL_OFFSET;
use crate::spec::link_words::{
    Aspm, EqualizationStatus, LinkCapabilities, LinkControl, LinkControl2, LinkStatus, LinkStatus2, express,
    gen4, gen5, power_management, secondary,
};
use lanetwin_units::{Generation, Span, Width};

/// Bus master and memory space, in Command.
const WORKING: u32 = 0x6;
/// Where the device's memory is put.
const BAR: u32 = 0xfe00_0000;
const COMMAND: u16 = 0x04;
const FIRST_BAR: u16 = 0x10;

/// What an action came to.
pub(super) struct Action {
    /// Whether there is proof of its effect.
    pub(super) performed: bool,
    /// Whether the device was reset and has to be set up again.
    pub(super) resets: bool,
    pub(super) codes: FailureCodes,
}

/// How the link is at the end.
pub(super) struct End {
    pub(super) outcome: Outcome,
    pub(super) codes: FailureCodes,
    pub(super) generation: u8,
    pub(super) width: u8,
}

/// What comes after a reset.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resets {
    /// Nothing was reset.
    Nothing,
    /// The link: whether the device answers is left to others.
    Link,
    /// The device, which has to answer and to be set up.
    Device,
}

/// Software that drives a link.
pub(super) struct Host<'a> {
    link: &'a mut SimulatedLink,
    /// The PCI Express capability, power management, and extended capabilities of the port above.
    express: u16,
    secondary: Option<u16>,
    gen4: Option<u16>,
    gen5: Option<u16>,
    after: Resets,
}

impl<'a> Host<'a> {
    pub(super) fn new(link: &'a mut SimulatedLink) -> Self {
        let at = Facing::Downstream;
        let express = capability(link, at, express::ID).unwrap_or_default();
        let secondary = extended(link, at, secondary::ID);
        let (gen4, gen5) = (extended(link, at, gen4::ID), extended(link, at, gen5::ID));
        Self { link, express, secondary, gen4, gen5, after: Resets::Nothing }
    }

    fn port(&mut self, offset: u16) -> u32 {
        self.link.read_config(Facing::Downstream, offset, Size::Word)
    }
    fn set_port(&mut self, offset: u16, value: u32) {
        self.link.write_config(Facing::Downstream, offset, Size::Word, value);
    }
    fn status(&mut self) -> LinkStatus {
        LinkStatus::from_raw(self.port(self.express + express::LINK_STATUS) as u16)
    }
    fn control(&mut self) -> LinkControl {
        LinkControl::from_raw(self.port(self.express + express::LINK_CONTROL) as u16)
    }
    fn capabilities(&mut self, at: Facing) -> LinkCapabilities {
        let express = capability(self.link, at, express::ID).unwrap_or_default();
        LinkCapabilities::from_raw(self.link.read_config(
            at,
            express + express::LINK_CAPABILITIES,
            Size::Dword,
        ))
    }
    fn host(&self) -> super::super::numbers::Host {
        self.link.numbers().host
    }

    /// What both ports can: rate and lanes.
    fn expected(&mut self) -> (u8, u8) {
        let config = self.link.config();
        let generation = config.downstream.max_generation.min(config.upstream.max_generation);
        (generation.number(), config.lanes() as u8)
    }
    /// Whether the link runs at full speed and width.
    pub(super) fn is_as_expected(&mut self) -> bool {
        let (status, expected) = (self.status(), self.expected());
        status.active() && (status.speed(), status.width()) == expected
    }
    /// The same, and the device has been set up.
    pub(super) fn is_well(&mut self) -> bool {
        self.is_as_expected() && self.link.read_config(Facing::Upstream, COMMAND, Size::Word) == WORKING
    }

    /// Polls a register of the port until it is as it should be; whether it is in time.
    fn poll(&mut self, limit: Span, is_so: impl Fn(LinkStatus) -> bool) -> bool {
        let until = self.link.now() + limit;
        let step = self.host().poll.max(Span::from_us(1));
        loop {
            if is_so(self.status()) {
                return true;
            }
            if self.link.now() >= until {
                return false;
            }
            self.link.wait(step);
        }
    }
    fn wait_active(&mut self, codes: &mut FailureCodes) -> bool {
        let active = self.poll(self.host().active_limit, |status| status.active());
        if !active {
            codes.insert(FailureCode::DllInactive1s);
        }
        active
    }
    /// Polls until a device that was reset answers; Linux doubles the time between looks.
    fn wait_ready(&mut self) -> bool {
        let (mut delay, mut waited) = (Span::from_us(1000), Span::ZERO);
        loop {
            let vendor = self.link.read_config(Facing::Upstream, 0, Size::Dword);
            if vendor != u32::MAX && vendor & 0xffff != 0x0001 {
                return true;
            }
            if waited >= self.host().ready_limit {
                return false;
            }
            self.link.wait(delay);
            waited += delay;
            delay = delay * 2;
        }
    }
    /// After power or reset: the link, then the device, then its registers. Whether all of it works.
    pub(super) fn settle(&mut self) -> bool {
        let mut codes = FailureCodes::NONE;
        // reset is released a while after power is on
        let release = self.host().power_good;
        self.link.wait(release);
        if !self.wait_active(&mut codes) {
            return false;
        }
        let after = self.host().after_active;
        self.link.wait(after);
        // rates above 2.5 GT/s come one by one
        self.poll(self.host().active_limit, |status| !status.training());
        self.wait_ready() && self.set_up()
    }
    /// Writes what the device has forgotten.
    fn set_up(&mut self) -> bool {
        self.link.write_config(Facing::Upstream, FIRST_BAR, Size::Dword, BAR);
        self.link.write_config(Facing::Upstream, COMMAND, Size::Word, WORKING);
        self.link.read_config(Facing::Upstream, COMMAND, Size::Word) == WORKING
    }
    pub(super) fn power_cycle(&mut self) {
        let host = self.host();
        self.link.set_power(false);
        self.link.wait(host.power_off);
        self.link.set_power(true);
    }

    /// Does what the test is about.
    pub(super) fn act(&mut self, test: StabilityTest) -> Action {
        let mut codes = FailureCodes::NONE;
        let performed = match test {
            StabilityTest::HotReset => self.bus_reset(Resets::Link, &mut codes),
            StabilityTest::SecondaryBusReset => self.bus_reset(Resets::Device, &mut codes),
            StabilityTest::Retrain => self.retrain(),
            StabilityTest::DisableEnable => self.disable_and_enable(&mut codes),
            StabilityTest::D3Hot => self.sleep_in_d3hot(),
            StabilityTest::L1Aspm => self.sleep_in_l1(),
            StabilityTest::TxEqRedo => self.equalize_again(),
            StabilityTest::SpeedChangeRetrain => self.through_all_rates(),
            StabilityTest::SpeedChangeMax => self.slowest_and_back(),
            StabilityTest::DynamicWidth => self.narrow_and_wide(),
            StabilityTest::PowerCycle => self.off_and_on(&mut codes),
        };
        Action { performed, resets: self.after != Resets::Nothing, codes }
    }

    /// Secondary Bus Reset, asserted and released; whether the link went down.
    fn bus_reset(&mut self, after: Resets, codes: &mut FailureCodes) -> bool {
        self.after = after;
        let (control, assert) = (self.port(BRIDGE_CONTROL_OFFSET), self.host().bus_reset);
        self.set_port(BRIDGE_CONTROL_OFFSET, control | 0x40);
        self.link.wait(assert);
        let went_down = !self.status().active();
        self.set_port(BRIDGE_CONTROL_OFFSET, control & !0x40);
        self.come_back(codes);
        went_down
    }
    fn disable_and_enable(&mut self, codes: &mut FailureCodes) -> bool {
        self.after = Resets::Device;
        let offset = self.express + express::LINK_CONTROL;
        let control = self.control().raw();
        self.set_port(offset, u32::from(control) | 0x10);
        let went_down = self.poll(self.host().active_limit, |status| !status.active());
        self.set_port(offset, u32::from(control) & !0x10);
        self.come_back(codes);
        went_down
    }
    fn off_and_on(&mut self, codes: &mut FailureCodes) -> bool {
        self.after = Resets::Device;
        let host = self.host();
        self.link.set_power(false);
        let silent = self.link.read_config(Facing::Upstream, 0, Size::Dword) == u32::MAX;
        self.link.wait(host.power_off);
        self.link.set_power(true);
        self.link.wait(host.boot);
        self.come_back(codes);
        silent
    }
    /// Waits for the link, then the time before the first request.
    fn come_back(&mut self, codes: &mut FailureCodes) {
        if self.wait_active(codes) {
            let after = self.host().after_active;
            self.link.wait(after);
            self.poll(self.host().active_limit, |status| !status.training());
        }
    }

    /// Retrain Link; whether Link Bandwidth Management Status says that it was done.
    fn retrain(&mut self) -> bool {
        let (control, status) = (self.express + express::LINK_CONTROL, self.express + express::LINK_STATUS);
        let limit = self.host().retrain_limit;
        self.poll(limit, |status| !status.training());
        self.set_port(status, 0x4000);
        let word = self.control().raw();
        self.set_port(control, u32::from(word) | 0x20);
        self.poll(limit, |status| !status.training()) && self.status().bandwidth_management()
    }
    /// Target Link Speed and a retrain; whether the link has that speed then.
    fn change_speed(&mut self, generation: u8) -> bool {
        let offset = self.express + express::LINK_CONTROL_2;
        let control = LinkControl2::from_raw(self.port(offset) as u16).raw();
        self.set_port(offset, u32::from(control) & !0xf | u32::from(generation));
        self.retrain() && self.status().speed() == generation
    }
    fn through_all_rates(&mut self) -> bool {
        let (max, _) = self.expected();
        let mut done = max > 1;
        for generation in 1..max {
            done &= self.change_speed(generation);
        }
        self.change_speed(max);
        done
    }
    fn slowest_and_back(&mut self) -> bool {
        let (max, _) = self.expected();
        let done = max > 1 && self.change_speed(1);
        self.change_speed(max);
        done
    }

    /// At 16 and 32 GT/s, or at 8 GT/s if there is no more.
    fn equalize_again(&mut self) -> bool {
        let (max, _) = self.expected();
        let Some(secondary) = self.secondary else { return false };
        let least = max.min(4);
        if least < 3 {
            return false;
        }
        let perform = secondary + secondary::LINK_CONTROL_3;
        let mut done = true;
        for generation in least..=max {
            // from 2.5 or 5 GT/s to 8, then from each rate to the next
            let before = if generation == 3 { 1 } else { generation - 1 };
            let counted = self.link.equalizations();
            done &= self.change_speed(before);
            self.set_port(perform, 1);
            let reached = self.change_speed(generation);
            self.set_port(perform, 0);
            done &= !reached || (self.is_equalized(generation) && self.link.equalizations() > counted);
        }
        done
    }
    /// Complete and the three phases, in the rate's status register.
    fn is_equalized(&mut self, generation: u8) -> bool {
        let place = match generation {
            3 => {
                let status = LinkStatus2::from_raw(self.port(self.express + express::LINK_STATUS_2) as u16);
                return status.complete() && status.phase_1() && status.phase_2() && status.phase_3();
            }
            4 => self.gen4.map(|at| at + gen4::STATUS),
            _ => self.gen5.map(|at| at + gen5::STATUS),
        };
        let Some(place) = place else { return false };
        let status = EqualizationStatus::from_raw(self.port(place));
        status.complete() && status.phase_1() && status.phase_2() && status.phase_3()
    }

    /// D3hot and back; whether the device said so.
    fn sleep_in_d3hot(&mut self) -> bool {
        let Some(power) = capability(self.link, Facing::Upstream, power_management::ID) else { return false };
        let (offset, wait) = (power + power_management::CONTROL, self.host().d3hot);
        let to = |host: &mut Self, state: u32| {
            host.link.write_config(Facing::Upstream, offset, Size::Word, state);
            host.link.wait(wait);
            host.link.read_config(Facing::Upstream, offset, Size::Word) & 3 == state
        };
        let asleep = to(self, 3);
        let awake = to(self, 0);
        if !self.link.config().device.no_soft_reset {
            self.set_up();
        }
        asleep && awake
    }

    /// ASPM L1 at both ends, silence, a request; whether both ports were in L1.
    fn sleep_in_l1(&mut self) -> bool {
        let both = Facing::BOTH.map(|at| self.capabilities(at).aspm().0);
        if both[0] & both[1] & Aspm::L1.0 == 0 {
            return false;
        }
        let Some(below) = capability(self.link, Facing::Upstream, express::ID) else { return false };
        let above = self.express + express::LINK_CONTROL;
        let words = [
            self.control().raw(),
            self.link.read_config(Facing::Upstream, below + express::LINK_CONTROL, Size::Word) as u16,
        ];
        // on: the port above first; off: the device first, as Linux does it
        self.set_port(above, u32::from(words[0]) & !3 | 2);
        self.link.write_config(
            Facing::Upstream,
            below + express::LINK_CONTROL,
            Size::Word,
            u32::from(words[1]) & !3 | 2,
        );
        let idle = self.link.numbers().ports.aspm_idle * 4;
        self.link.wait(idle);
        let asleep = Facing::BOTH
            .iter()
            .all(|at| matches!(self.link.state(*at), State::L1 | State::L1_1 | State::L1_2));
        self.link.write_config(Facing::Upstream, below + express::LINK_CONTROL, Size::Word, words[1].into());
        self.set_port(above, words[0].into());
        asleep
    }

    /// Half of the lanes and all of them again, by the vendor's own means.
    fn narrow_and_wide(&mut self) -> bool {
        let (_, lanes) = self.expected();
        let half = Width::ALL.into_iter().rev().find(|width| width.lanes() <= u64::from(lanes) / 2);
        let (Some(half), Some(whole)) = (half, Width::from_lanes(lanes.into())) else { return false };
        let limit = self.host().retrain_limit;
        let mut to = |width: Width| {
            self.link.direct_width(width);
            self.poll(limit, |status| !status.training()) && u64::from(self.status().width()) == width.lanes()
        };
        let narrow = to(half);
        to(whole);
        narrow
    }

    /// How the link is after the action: dwell, then look.
    pub(super) fn verify(&mut self, reset: bool) -> End {
        let mut codes = FailureCodes::NONE;
        let mut status = self.status();
        let mut answers = true;
        if status.active() && reset && self.after == Resets::Device {
            answers = self.wait_ready();
            if answers {
                self.set_up();
            } else {
                codes.insert(FailureCode::CfgRrsTimeout);
            }
        }
        let dwell = self.host().dwell;
        self.link.wait(dwell);
        self.poll(self.host().retrain_limit, |status| !status.training());
        status = self.status();
        if status.active() && answers {
            // a device that is not ready says so, which is an answer too
            answers = self.link.read_config(Facing::Upstream, 0, Size::Dword) != u32::MAX;
        }
        let (speed, width) = self.expected();
        let mut outcome = Outcome::Ok;
        if status.active() && status.width() < width {
            codes.insert(FailureCode::WidthDegrade);
            outcome = outcome.min(Outcome::Narrow);
        }
        if status.active() && status.speed() < speed {
            let target = LinkControl2::from_raw(self.port(self.express + express::LINK_CONTROL_2) as u16)
                .target_speed();
            codes.insert(if target == 1 { FailureCode::Stuck2_5Gt } else { FailureCode::SpeedFallback });
            outcome = outcome.min(Outcome::Slow);
        }
        if !status.active() {
            outcome = outcome.min(Outcome::DataLinkDown);
        } else if !answers {
            outcome = outcome.min(Outcome::Lost);
        }
        let up = u8::from(status.active());
        End { outcome, codes, generation: up * status.speed(), width: up * status.width() }
    }
}

/// Where a capability is in the list of an end.
fn capability(link: &mut SimulatedLink, at: Facing, id: u8) -> Option<u16> {
    let mut place = link.read_config(at, 0x34, Size::Byte) as u16 & 0xfc;
    // a list has at most as many entries as there is room for, or it is broken
    for _ in 0..48 {
        if !(0x40..0xfd).contains(&place) {
            return None;
        }
        let word = link.read_config(at, place, Size::Word);
        if word & 0xff == u32::from(id) {
            return Some(place);
        }
        place = (word >> 8) as u16 & 0xfc;
    }
    None
}

/// Where an extended capability is.
fn extended(link: &mut SimulatedLink, at: Facing, id: u16) -> Option<u16> {
    let mut place = 0x100;
    for _ in 0..96 {
        let word = link.read_config(at, place, Size::Dword);
        if word == 0 || word == u32::MAX {
            return None;
        }
        if word & 0xffff == u32::from(id) {
            return Some(place);
        }
        place = (word >> 20) as u16 & 0xffc;
        if place < 0x100 {
            return None;
        }
    }
    None
}

const _: () = assert!(Generation::ALL.len() == 5, "a new rate needs its status register in is_equalized");
