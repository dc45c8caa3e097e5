//! What happens on a link as time passes: patterns arrive, ports make their steps, errors come, silence leads to sleep.

use super::super::channel::Direction;
use super::super::failure::{FailureCode, FailureCodes};
use super::super::ordered_sets::{Lanes, Pattern};
use super::super::port::{Directive, Effects, Input, Port, RecoveryCause};
use super::super::state::State;
use super::link_end::{Next, Wire};
use super::space::at;
use super::{Facing, KEPT_TRANSITIONS, SimulatedLink, Transition};
use crate::logic::bit_errors::BitErrors;
use crate::spec::link_words::{
    Aspm, L1SubstatesControl, LinkControl, LinkStatus, PowerControl, PowerState, aer, express, gen4,
    l1_substates, power_management, secondary,
};
use lanetwin_units::{Generation, Instant, Span, Width};

/// How many DLLPs there are for each TLP of the other direction: an Ack or an UpdateFC for every other one (assumed).
const DLLPS_PER_TLP: f64 = 0.5;

/// What happens next.
enum Event {
    Release,
    Sleep(Directive),
    At(Facing, Next),
}

impl SimulatedLink {
    pub(super) fn run_until(&mut self, until: Instant) {
        while let Some((at, event)) = self.next_event().filter(|(at, _)| *at <= until) {
            self.happen(at, event);
        }
        self.now = until;
    }

    /// Runs until something holds, at most for a while; whether it does.
    pub(super) fn run_while(&mut self, limit: Span, holds: impl Fn(&Self) -> Option<bool>) -> bool {
        let until = self.now + limit;
        loop {
            if let Some(answer) = holds(self) {
                return answer;
            }
            let data_link = self.data_link.filter(|from| *from > self.now).unwrap_or(Instant::NEVER);
            let next = self.next_event().map_or(Instant::NEVER, |(at, _)| at);
            if data_link.min(next) > until {
                self.now = until;
                return false;
            }
            if data_link < next {
                self.now = data_link;
            } else if let Some((at, event)) = self.next_event() {
                self.happen(at, event);
            }
        }
    }

    fn next_event(&self) -> Option<(Instant, Event)> {
        let mut first = (self.release.unwrap_or(Instant::NEVER), Event::Release);
        for facing in Facing::BOTH {
            let (at, next) = self.ends[facing as usize].next();
            if at < first.0 {
                first = (at, Event::At(facing, next));
            }
        }
        if let Some((at, directive)) = self.next_sleep()
            && at < first.0
        {
            first = (at, Event::Sleep(directive));
        }
        (first.0 < Instant::NEVER).then_some(first)
    }

    fn happen(&mut self, at: Instant, event: Event) {
        self.now = self.now.max(at);
        match event {
            Event::Release => {
                self.release = None;
                self.not_up_since = Some(self.now);
                self.wants_down = false;
                self.device_ready = self.now + self.config.device.ready;
                for facing in Facing::BOTH {
                    self.tell(facing, Input::Reset(false));
                }
            }
            Event::Sleep(directive) => {
                for facing in Facing::BOTH {
                    self.tell(facing, Input::Direct(directive));
                }
            }
            Event::At(facing, next) => {
                let now = self.now;
                let end = &mut self.ends[facing as usize];
                match end.take(next, now, &self.config.numbers) {
                    Some(input) => self.tell(facing, input),
                    None => self.arrived(facing),
                }
            }
        }
    }

    /// Another pattern arrives at a port.
    fn arrived(&mut self, facing: Facing) {
        let naps = self.ends[facing.other() as usize].port.state() == State::L0s;
        let end = &mut self.ends[facing as usize];
        if end.wire.is_silent() && end.port.state() == State::L0 && !naps {
            let at = self.now + self.config.numbers.limits.inferred_idle;
            end.next_error = Some((at, Input::RecoveryCause(RecoveryCause::InferredIdle)));
        }
        self.schedule_receptions(facing);
    }

    fn schedule_receptions(&mut self, facing: Facing) {
        let eyes = &self.eyes;
        self.ends[facing as usize]
            .schedule_receptions(self.now, &self.config.numbers, |lane| eyes.ber(facing.hears(), lane));
    }

    /// Tells a port something, and does what follows from it.
    pub(super) fn tell(&mut self, facing: Facing, input: Input) {
        let before = self.ends[facing as usize].port;
        let (port, effects) = before.step(input, self.now, &self.config.numbers);
        self.ends[facing as usize].port = port;
        let moved = port.state() != before.state() || port.entered() != before.entered();
        if moved {
            self.count_time(facing, &before, &port);
            self.entered(facing, &before);
        }
        self.send(facing);
        self.follow(facing, &effects, &before);
        if moved {
            self.schedule_receptions(facing);
        }
    }

    /// Sends what the port transmits now, if it has changed.
    fn send(&mut self, facing: Facing) {
        let end = &mut self.ends[facing as usize];
        let wire = match end.port.pattern() {
            Pattern::ElectricalIdle => Wire::SILENT,
            pattern => Wire { pattern, rate: end.port.rate(), lanes: end.port.listens() },
        };
        if wire != end.sends {
            end.sends = wire;
            // what a port sees, it sees as late as all the rest, so that nothing overtakes
            let latency = self.config.numbers.ports.latency;
            let transit = self.config.retimers.iter().fold(latency, |sum, retimer| sum + retimer.latency);
            self.ends[facing.other() as usize].coming.push_back((self.now + transit, wire));
        }
    }

    /// Books of the time before a port changes its state.
    fn count_time(&mut self, facing: Facing, before: &Port, after: &Port) {
        if facing == Facing::Upstream {
            return;
        }
        if before.state() == State::L0 {
            self.count_errors_of_l0();
        }
        match (before.state().is_link_up(), after.state().is_link_up()) {
            (true, false) => self.not_up_since = Some(self.now),
            (false, true) => {
                if let Some(since) = self.not_up_since.take() {
                    self.not_up += self.now.since(since);
                }
            }
            _ => {}
        }
    }

    fn entered(&mut self, facing: Facing, before: &Port) {
        let port = self.ends[facing as usize].port;
        if port.state() != before.state() {
            if self.transitions.len() == KEPT_TRANSITIONS {
                self.transitions.pop_front();
            }
            let generation = port.rate().number();
            self.transitions.push_back(Transition {
                at: self.now,
                port: facing,
                from: before.state(),
                to: port.state(),
                generation,
            });
        }
        self.ends[facing as usize].due = None;
        self.ends[facing as usize].next_error = None;
        let due = match (port.state(), facing) {
            (State::DetectQuiet, _) => {
                self.ends[facing as usize].failed_receivers = Lanes::NONE;
                None
            }
            (State::DetectActive, _) => self.receivers(),
            (State::PollingActive, _) => {
                self.eyes.lock(&self.config, Generation::Gen1, facing.hears());
                None
            }
            (State::RecoveryRcvrLock, _) => {
                let equalized = before.state() == State::RecoveryEqualizationPhase3;
                self.equalizations += u32::from(equalized && facing == Facing::Downstream);
                let from_l0 = before.state() == State::L0 && facing == Facing::Downstream;
                self.recoveries += u32::from(from_l0);
                self.eyes.lock(&self.config, port.rate(), facing.hears());
                None
            }
            (State::RecoveryEqualizationPhase0, Facing::Upstream)
            | (State::RecoveryEqualizationPhase1, Facing::Downstream) => self.adaptation(facing),
            (State::RecoveryEqualizationPhase2, Facing::Upstream)
            | (State::RecoveryEqualizationPhase3, Facing::Downstream) => self.search(facing),
            (State::L0, _) => {
                self.begin_l0(facing);
                None
            }
            _ => None,
        };
        self.ends[facing as usize].due = due;
    }

    /// Receivers are found where the partner has power and contact.
    fn receivers(&self) -> Option<(Instant, Input)> {
        let there = if self.powered { Lanes::first(self.config.lanes() as u64) } else { Lanes::NONE };
        let found = there.without(Lanes(self.config.wiring.open));
        Some((self.now + self.config.numbers.ports.receiver_detection, Input::Receivers(found)))
    }

    fn adaptation(&mut self, facing: Facing) -> Option<(Instant, Input)> {
        let port = &self.ends[facing as usize].port;
        let (rate, lanes) = (port.rate(), port.lanes());
        let adapts = self.eyes.adapt(&self.config, rate, facing.hears(), lanes);
        adapts.then_some((self.now + self.config.numbers.ports.initial_adaptation, Input::Adapted))
    }

    fn search(&mut self, facing: Facing) -> Option<(Instant, Input)> {
        let port = &self.ends[facing as usize].port;
        let (rate, lanes) = (port.rate(), port.lanes());
        let limits = &self.config.numbers.limits;
        let limit = match facing {
            Facing::Upstream => limits.phase_2_upstream,
            Facing::Downstream => limits.phase_3_downstream,
        };
        let search = self.eyes.tune(&self.config, rate, facing.hears(), lanes, limit);
        search.found.then_some((self.now + search.took, Input::Tuned))
    }

    /// A link that works: what errors are to be expected on it.
    fn begin_l0(&mut self, facing: Facing) {
        self.last_activity = self.last_activity.max(self.now);
        let direction = facing.hears();
        let port = &self.ends[facing as usize].port;
        let ber = self.eyes.mean_ber(direction, port.lanes());
        let Some(width) = Width::from_lanes(port.lanes().count().into()) else { return };
        let traffic = &self.config.traffic;
        let rates =
            BitErrors::new(port.rate(), width, ber).of_traffic(traffic.utilisation, traffic.tlp_bytes);
        self.rates[direction as usize] = Some(rates);
        self.errors_since = self.now;
        self.draw_next_error(facing);
    }

    /// When this port next sees an error that leads to Recovery.
    fn draw_next_error(&mut self, facing: Facing) {
        let Some(rates) = self.rates[facing.hears() as usize] else { return };
        // once in a year is never
        if rates.recoveries() < 3e-8 || self.walks == 0 {
            return;
        }
        let seconds = self.errors.exponential() / rates.recoveries();
        if seconds < 1e6 {
            let rollover = self.errors.unit() * rates.recoveries() < rates.rollovers;
            let next_error = if rollover { RecoveryCause::ReplayRollover } else { RecoveryCause::Framing };
            let at = self.now + Span::from_ps((seconds * 1e12) as u64);
            self.ends[facing as usize].next_error = Some((at, Input::RecoveryCause(next_error)));
            self.walks -= 1;
        }
    }

    /// Counts the errors of L0 up to now.
    pub(super) fn count_errors(&mut self) {
        if self.state(Facing::Downstream) == State::L0 {
            self.count_errors_of_l0();
        }
    }

    fn count_errors_of_l0(&mut self) {
        let seconds = self.now.since(self.errors_since).as_ps() as f64 * 1e-12;
        self.errors_since = self.now;
        if seconds == 0.0 {
            return;
        }
        for direction in Direction::BOTH {
            let Some(rates) = self.rates[direction as usize] else { continue };
            let (receiver, sender) = match direction {
                Direction::Down => (Facing::Upstream, Facing::Downstream),
                Direction::Up => (Facing::Downstream, Facing::Upstream),
            };
            let dllps =
                rates.bad_tlps * 64.0 / (8.0 * f64::from(self.config.traffic.tlp_bytes)) * DLLPS_PER_TLP;
            let mut draw = |per_second: f64| self.errors.poisson(per_second * seconds);
            let (others, tlps, dllps, rollovers) = (
                draw(rates.others + rates.sync_headers),
                draw(rates.bad_tlps),
                draw(dllps),
                draw(rates.rollovers),
            );
            // Recoveries beyond those that are walked through are counted here
            let unwalked = self.ends[receiver as usize].next_error.is_none() && self.walks == 0;
            let counted = if unwalked { draw(rates.recoveries()) } else { 0 };
            self.recoveries += counted.min(u32::MAX.into()) as u32;
            let aer = &mut self.aer[receiver as usize];
            aer.receiver += others;
            aer.bad_tlp += tlps;
            aer.bad_dllp += dllps;
            self.aer[sender as usize].rollover += rollovers;
            self.raise_errors(
                receiver,
                u32::from(others > 0) | u32::from(tlps > 0) << 6 | u32::from(dllps > 0) << 7,
            );
            self.raise_errors(sender, u32::from(rollovers > 0) << 8);
            if others + tlps + dllps > 0 {
                self.raise_lanes(direction, seconds);
            }
        }
    }

    fn raise_errors(&mut self, facing: Facing, bits: u32) {
        if bits != 0 {
            self.spaces[facing as usize].raise(at::AER + aer::CORRECTABLE_STATUS, bits);
        }
    }

    /// Lane errors at the end that hears, and parity mismatches where each segment ends.
    fn raise_lanes(&mut self, direction: Direction, seconds: f64) {
        let (receiver, sender) = match direction {
            Direction::Down => (Facing::Upstream, Facing::Downstream),
            Direction::Up => (Facing::Downstream, Facing::Upstream),
        };
        let (rate, lanes) = (self.port(receiver).rate(), self.port(receiver).lanes());
        if rate < Generation::Gen3 {
            return;
        }
        let bits_each = seconds * rate.megatransfers() as f64 * 1e6;
        let segments = self.config.channel.segments();
        for segment in 0..segments {
            let mut with_errors = 0;
            for lane in lanes.iter() {
                let mean = self.eyes.segment_ber(direction, segment, lane) * bits_each;
                with_errors |= u32::from(self.errors.poisson(mean) > 0) << lane;
            }
            // the segment's receiver: a retimer, counted from the downstream port, or the port itself
            let ends_at = if direction == Direction::Down { segment + 1 } else { segment };
            let parity = match ends_at {
                1 if segments > 1 => Some((sender, gen4::FIRST_RETIMER_PARITY)),
                2 if segments > 2 => Some((sender, gen4::SECOND_RETIMER_PARITY)),
                _ => Some((receiver, gen4::LOCAL_PARITY)),
            };
            if let Some((facing, offset)) = parity.filter(|_| rate >= Generation::Gen4) {
                self.spaces[facing as usize].raise(at::GEN4 + offset, with_errors);
            }
            self.spaces[receiver as usize].raise(at::SECONDARY + secondary::LANE_ERROR_STATUS, with_errors);
        }
    }

    /// What a port's step means for registers, the data link layer and the device.
    fn follow(&mut self, facing: Facing, effects: &Effects, before: &Port) {
        if !effects.codes.is_empty() {
            for code in effects.codes.iter() {
                self.codes.insert(code);
            }
            self.fail_receivers(facing, effects.codes, before);
        }
        if effects.link_down {
            self.data_link = None;
            match facing {
                Facing::Downstream if !self.wants_down => {
                    self.codes.insert(FailureCode::SurpriseDown);
                    self.spaces[0].raise(at::AER + aer::UNCORRECTABLE_STATUS, aer::SURPRISE_DOWN);
                }
                Facing::Downstream => {}
                Facing::Upstream => self.reset_device(),
            }
        }
        if effects.link_up && Facing::BOTH.iter().all(|facing| self.port(*facing).is_link_up()) {
            self.data_link = Some(self.now + self.config.numbers.ports.data_link);
        }
        if facing == Facing::Downstream && (effects.bandwidth_management || effects.autonomous_bandwidth) {
            let offset = at::EXPRESS + express::LINK_STATUS;
            let mut status: LinkStatus = self.spaces[0].word(offset);
            let raw = status.raw()
                | u16::from(effects.bandwidth_management) << 14
                | u16::from(effects.autonomous_bandwidth) << 15;
            status = LinkStatus::from_raw(raw);
            self.spaces[0].set(offset, status);
        }
    }

    fn fail_receivers(&mut self, facing: Facing, codes: FailureCodes, before: &Port) {
        let failed = [
            FailureCode::LockFail,
            FailureCode::EqP0Timeout,
            FailureCode::EqP1Timeout,
            FailureCode::EqP2Timeout,
            FailureCode::EqP3Timeout,
        ];
        if !failed.into_iter().any(|code| codes.contains(code)) {
            return;
        }
        for failed_receivers in &self.config.deafness {
            if failed_receivers.direction == facing.hears() && before.rate() >= failed_receivers.from {
                let end = &mut self.ends[facing as usize];
                end.failed_receivers = end.failed_receivers.or(Lanes(1 << failed_receivers.lane));
            }
        }
    }

    /// The device has lost its link: it is reset, and will need its time.
    pub(super) fn reset_device(&mut self) {
        self.spaces[1].reset();
        self.device_ready = self.now + self.config.device.ready;
    }

    /// When silence leads to sleep, and to which.
    fn next_sleep(&self) -> Option<(Instant, Directive)> {
        let states = Facing::BOTH.map(|facing| self.port(facing).state());
        let ports = &self.config.numbers.ports;
        match states {
            [State::L0, State::L0] if self.is_active() && !self.port(Facing::Downstream).is_rising() => {
                let since = Facing::BOTH
                    .iter()
                    .fold(self.last_activity, |at, facing| at.max(self.port(*facing).entered()));
                let aspm = self.aspm();
                if self.device_power() != PowerState::D0 {
                    Some((since + ports.l1_handshake, Directive::L1))
                } else if self.config.traffic.utilisation > 0.0 {
                    None
                } else if aspm.0 & Aspm::L1.0 != 0 {
                    Some((since + ports.aspm_idle, Directive::L1))
                } else if aspm.0 & Aspm::L0S.0 != 0 && self.config.retimers.is_empty() {
                    Some((since + ports.l0s_idle, Directive::L0s))
                } else {
                    None
                }
            }
            [State::L1, State::L1] => {
                let since =
                    self.port(Facing::Downstream).entered().max(self.port(Facing::Upstream).entered());
                self.substate().map(|substate| (since + ports.substate_entry, substate))
            }
            _ => None,
        }
    }

    /// What both ends allow and can.
    fn aspm(&self) -> Aspm {
        let allowed = Facing::BOTH.iter().fold(0b11, |both, facing| {
            let control: LinkControl =
                self.spaces[*facing as usize].word(at::EXPRESS + express::LINK_CONTROL);
            both & control.aspm().0
        });
        let can = [&self.config.downstream, &self.config.upstream]
            .iter()
            .fold(0b11, |both, port| both & (u8::from(port.l1) << 1 | u8::from(port.l0s)));
        Aspm(allowed & can)
    }

    fn substate(&self) -> Option<Directive> {
        if !(self.config.downstream.l1_substates && self.config.upstream.l1_substates) {
            return None;
        }
        let asleep = self.device_power() != PowerState::D0;
        let allowed = Facing::BOTH.iter().fold(0xf, |both, facing| {
            let control: L1SubstatesControl =
                self.spaces[*facing as usize].word(at::L1_SUBSTATES + l1_substates::CONTROL_1);
            both & control.raw()
        });
        let (l1_1, l1_2) = if asleep { (0b0010, 0b0001) } else { (0b1000, 0b0100) };
        match (allowed & l1_1 != 0, allowed & l1_2 != 0) {
            (_, true) => Some(Directive::L1_2),
            (true, false) => Some(Directive::L1_1),
            (false, false) => None,
        }
    }

    pub(super) fn device_power(&self) -> PowerState {
        let control: PowerControl = self.spaces[1].word(at::POWER + power_management::CONTROL);
        control.state()
    }
}
