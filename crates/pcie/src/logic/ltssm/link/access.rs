//! Configuration requests: what software reads and writes at both ends, and what the link does about it.

use super::super::port::{Directive, Input};
use super::super::state::State;
use super::space::{at, fits};
use super::{Facing, SimulatedLink, Size};
use crate::spec::config_words::{BRIDGE_CONTROL_OFFSET, BridgeControl};
use crate::spec::link_words::{
    EqualizationStatus, LinkControl, LinkControl2, LinkControl3, LinkStatus, LinkStatus2, PowerState,
    express, gen4, gen5, secondary,
};
use lanetwin_units::{Generation, Instant};

/// What a root complex with RRS Software Visibility returns in the place of vendor and device.
const RETRY: u32 = 0xffff_0001;

impl SimulatedLink {
    /// Reads configuration space; takes the time of a request.
    ///
    /// All ones if nobody answers, and 0x0001 in the place of the vendor from a device that is not ready yet, as a root
    /// complex with RRS Software Visibility says it. A link that sleeps is woken by it; one that recovers is waited
    /// for.
    pub fn read_config(&mut self, at: Facing, offset: u16, size: Size) -> u32 {
        let ones = u32::MAX >> (32 - 8 * size as u32);
        let value = match self.request(at) {
            Answer::Nobody => u32::MAX,
            Answer::Retry if offset < 4 => RETRY >> (8 * u32::from(offset)),
            Answer::Retry => u32::MAX,
            Answer::Completes => {
                self.refresh(at);
                self.spaces[at as usize].read(offset, size)
            }
        };
        value & ones
    }
    /// Writes configuration space; takes the time of a request. What nobody answers is lost.
    pub fn write_config(&mut self, at: Facing, offset: u16, size: Size, value: u32) {
        if self.request(at) != Answer::Completes {
            return;
        }
        self.refresh(at);
        let before = self.spaces[at as usize].clone_controls();
        self.spaces[at as usize].write(offset, size, value);
        match at {
            Facing::Downstream => self.port_written(offset, size, value, &before),
            Facing::Upstream => self.device_written(&before),
        }
        self.requests_cleared(at, offset, size, value);
    }

    /// Sends a request: its time, and what comes of it.
    fn request(&mut self, at: Facing) -> Answer {
        if !self.powered {
            self.run_until(self.now + self.numbers().host.request);
            return Answer::Nobody;
        }
        if at == Facing::Upstream && !self.reach_device() {
            return Answer::Nobody;
        }
        self.last_activity = self.now;
        let until = self.now + self.numbers().host.request;
        self.run_until(until);
        self.last_activity = self.now;
        match at {
            Facing::Upstream if self.device_ready > self.now => Answer::Retry,
            _ => Answer::Completes,
        }
    }

    /// Waits until a request can reach the device; false if the link is down, or does not come back in time.
    fn reach_device(&mut self) -> bool {
        if !self.is_active() {
            self.run_until(self.now + self.numbers().host.request);
            return false;
        }
        for facing in Facing::BOTH {
            let state = self.state(facing);
            // a request at one end wakes the other: by the exit from idle, and CLKREQ# where the clock is off
            if facing == Facing::Downstream || matches!(state, State::L1_1 | State::L1_2 | State::L0s) {
                self.tell(facing, Input::Direct(Directive::Wake));
            }
        }
        self.run_while(self.numbers().host.completion_timeout, |link| {
            let works = Facing::BOTH.iter().all(|facing| link.state(*facing) == State::L0);
            if !link.is_active() {
                Some(false)
            } else if works {
                Some(true)
            } else {
                None
            }
        })
    }

    /// Brings the registers that show the link up to date.
    fn refresh(&mut self, at: Facing) {
        if at == Facing::Downstream || self.is_active() {
            self.count_errors();
        }
        let port = *self.port(at);
        let space = &mut self.spaces[at as usize];
        let express = at::EXPRESS;
        let old: LinkStatus = space.word(express + express::LINK_STATUS);
        let down = at == Facing::Downstream;
        let active = self.data_link.is_some_and(|from| from <= self.now);
        let lanes = port.lanes().count() as u8;
        let status = LinkStatus::from_raw(old.raw() & 0xc000)
            .with_speed(port.rate().number())
            .and_then(|word| word.with_width(lanes.min(63)))
            .and_then(|word| word.with_training(down && (port.state().is_training() || port.is_rising())))
            .and_then(|word| word.with_slot_clock(true))
            .and_then(|word| word.with_active(down && active));
        space.set(express + express::LINK_STATUS, fits(status));
        let retimers = self.config.retimers.len();
        let seen = lanes > 0;
        let gen3 = port.equalized(Generation::Gen3);
        let status_2 = LinkStatus2::ZERO
            .with_complete(gen3.complete)
            .and_then(|word| word.with_phase_1(gen3.phases[0]))
            .and_then(|word| word.with_phase_2(gen3.phases[1]))
            .and_then(|word| word.with_phase_3(gen3.phases[2]))
            .and_then(|word| word.with_request(gen3.request))
            .and_then(|word| word.with_retimer(seen && retimers > 0))
            .and_then(|word| word.with_two_retimers(seen && retimers > 1));
        space.set(express + express::LINK_STATUS_2, fits(status_2));
        let max =
            if down { self.config.downstream.max_generation } else { self.config.upstream.max_generation };
        for (rate, offset) in
            [(Generation::Gen4, at::GEN4 + gen4::STATUS), (Generation::Gen5, at::GEN5 + gen5::STATUS)]
        {
            if rate <= max {
                space.set(offset, equalization(port.equalized(rate)));
            }
        }
    }

    /// What a write to the downstream port makes the link do.
    fn port_written(&mut self, offset: u16, size: Size, value: u32, before: &Controls) {
        let after = self.spaces[0].clone_controls();
        if before.target != after.target
            && let Some(rate) = Generation::from_number(after.target.into())
        {
            self.direct(Directive::TargetSpeed(rate));
        }
        if before.compliance != after.compliance {
            self.direct(Directive::Compliance(after.compliance));
        }
        if before.bus_reset != after.bus_reset {
            self.wants_down |= after.bus_reset;
            self.direct(Directive::HotReset(after.bus_reset));
            self.wants_down = after.bus_reset || after.disable;
        }
        if before.disable != after.disable {
            self.wants_down |= after.disable;
            self.direct(Directive::Disable(after.disable));
            self.wants_down = after.bus_reset || after.disable;
        }
        // retrain reads as zero: only the write itself shows it
        let control = at::EXPRESS + express::LINK_CONTROL;
        let shift = i32::from(control) - i32::from(offset);
        let written = (0..size as i32).contains(&shift);
        if written && LinkControl::from_raw((value >> (8 * shift)) as u16).retrain() {
            if after.equalize {
                self.direct(Directive::PerformEqualization);
            }
            self.direct(Directive::Retrain);
        }
    }

    fn direct(&mut self, directive: Directive) {
        self.tell(Facing::Downstream, Input::Direct(directive));
    }

    /// What a write to the device does: power states.
    fn device_written(&mut self, before: &Controls) {
        let after = self.spaces[1].clone_controls();
        if before.power == PowerState::D3_HOT && after.power == PowerState::D0 {
            self.device_ready = self.now + self.config.device.d3hot_to_d0;
            if !self.config.device.no_soft_reset {
                self.spaces[1].reset();
            }
        }
    }

    /// Requests for equalisation that a one clears.
    fn requests_cleared(&mut self, at: Facing, offset: u16, size: Size, value: u32) {
        let places = [
            (Generation::Gen3, at::EXPRESS + express::LINK_STATUS_2, 5),
            (Generation::Gen4, at::GEN4 + gen4::STATUS, 4),
            (Generation::Gen5, at::GEN5 + gen5::STATUS, 4),
        ];
        for (rate, place, bit) in places {
            let shift = i32::from(place) - i32::from(offset);
            if (0..size as i32).contains(&shift) && value >> (8 * shift + bit) & 1 == 1 {
                self.ends[at as usize].port.clear_request(rate);
            }
        }
    }

    /// When the device answers; never while it has no power.
    #[must_use]
    pub const fn device_ready(&self) -> Instant {
        self.device_ready
    }
}

/// What comes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Completes,
    Retry,
    Nobody,
}

/// The controls that move the link.
pub(super) struct Controls {
    target: u8,
    compliance: bool,
    disable: bool,
    bus_reset: bool,
    equalize: bool,
    power: PowerState,
}

impl super::space::Space {
    fn clone_controls(&self) -> Controls {
        use crate::spec::link_words::{PowerControl, power_management};
        let control: LinkControl = self.word(at::EXPRESS + express::LINK_CONTROL);
        let control_2: LinkControl2 = self.word(at::EXPRESS + express::LINK_CONTROL_2);
        let control_3: LinkControl3 = self.word(at::SECONDARY + secondary::LINK_CONTROL_3);
        let bridge: BridgeControl = self.word(BRIDGE_CONTROL_OFFSET);
        let power: PowerControl = self.word(at::POWER + power_management::CONTROL);
        Controls {
            target: control_2.target_speed(),
            compliance: control_2.compliance(),
            disable: control.disable(),
            bus_reset: bridge.secondary_bus_reset(),
            equalize: control_3.perform_equalization(),
            power: power.state(),
        }
    }
}

fn equalization(equalized: super::super::port::Equalized) -> EqualizationStatus {
    fits(
        EqualizationStatus::ZERO
            .with_complete(equalized.complete)
            .and_then(|word| word.with_phase_1(equalized.phases[0]))
            .and_then(|word| word.with_phase_2(equalized.phases[1]))
            .and_then(|word| word.with_phase_3(equalized.phases[2]))
            .and_then(|word| word.with_request(equalized.request)),
    )
}
