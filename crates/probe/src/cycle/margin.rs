//! Lane Margining at the Receiver: how far the sampling point of each receiver can be moved before bits are lost.
//!
//! Receivers are 1 (the port), 2 to 5 (two of each retimer) and 6 (the device); retimers are accessed through the port.
//! The protocol is that of pciutils `lmr/` and of PCIe Base 6.0 §4.2.18: a command is written to the lane's control
//! register, and its response appears in the lane's status register with the same type and receiver. No Command is sent
//! between two commands.
//!
//! ASPM and autonomous changes of width and speed are disabled at both ends meanwhile, and restored at the end.

use super::bench::{Bench, Step, Stop, word};
use crate::function::Function;
use crate::registers::{
    LINK_CONTROL, LINK_CONTROL_2, LINK_STATUS, MARGIN_LANE_CONTROL, MARGIN_LANE_STATUS, MARGIN_LANE_STRIDE,
    MARGIN_PORT_STATUS, MarginLane,
};
use lanetwin_pcie::spec::link_words::Aspm;
use lanetwin_units::Span;
use serde::Serialize;

/// Wait after each command, before its response is read \[ps\]: PCIe Base 6.0 §4.2.18.1.1, 10 ms.
const BETWEEN: Span = Span::from_us(10_000);
/// Time that a receiver stays at a step \[ps\]; at 32 GT/s 100 ms are 3.2e9 bits (assumed: pcilmr stays 1 s).
const DWELL: Span = Span::from_us(100_000);

/// Types of margining commands.
mod kind {
    pub const REPORT: u8 = 1;
    pub const SET: u8 = 2;
    pub const STEP_TIME: u8 = 3;
    pub const STEP_VOLTAGE: u8 = 4;
    pub const NONE: u8 = 7;
}

/// Payloads of margining commands.
mod payload {
    pub const CAPABILITIES: u8 = 0x88;
    pub const VOLTAGE_STEPS: u8 = 0x89;
    pub const TIMING_STEPS: u8 = 0x8a;
    pub const TIMING_REACH: u8 = 0x8b;
    pub const VOLTAGE_REACH: u8 = 0x8c;
    pub const NORMAL: u8 = 0x0f;
    pub const CLEAR_LOG: u8 = 0x55;
    /// Set Error Count Limit; the limit is in the low six bits.
    pub const LIMIT: u8 = 0xc0;
    pub const NONE: u8 = 0x9c;
}

/// Error Count Limit: above this number of errors a receiver returns to its default by itself (pcilmr uses the same).
const ERROR_LIMIT: u8 = 4;
/// Meaning of a reported maximum offset of 0 \[% of a UI, or of a volt\].
const WHOLE_REACH: u8 = 50;

/// Margins of a receiver of a lane.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LaneMargin {
    /// The lane.
    pub lane: u8,
    /// The receiver: 1 the port, 2 to 5 retimers, 6 the device.
    pub receiver: u8,
    /// Margin to the left and to the right \[UI\]; equal if the receiver does not distinguish them.
    pub timing_ui: [f64; 2],
    /// Margin down and up \[V\]; `None` if the receiver does not support it.
    pub voltage_v: Option<[f64; 2]>,
    /// Size of a step \[UI\], and \[V\].
    pub step: (f64, f64),
    /// Whether a direction passed at the receiver's last step, so that its margin is only a lower bound.
    pub at_limit: bool,
}

/// Capabilities of a receiver.
#[derive(Clone, Copy, Debug)]
struct Abilities {
    voltage: bool,
    independent_voltage: bool,
    independent_timing: bool,
    timing_steps: u8,
    timing_reach: u8,
    voltage_steps: u8,
    voltage_reach: u8,
}

impl Bench<'_, '_> {
    /// Measures the margins of every receiver of every lane. The link stays up; margining causes errors on it.
    ///
    /// # Errors
    /// Not performed if neither end is ready for Lane Margining, the link does not run at 16 or 32 GT/s, or no receiver
    /// responds.
    pub fn margins(&mut self) -> Step<Vec<LaneMargin>> {
        let status = self.of_port(LINK_STATUS)?;
        if !(4..=5).contains(&status.speed()) {
            return Err(Stop::NotPerformed("lanes are margined at 16 and 32 GT/s".into()));
        }
        let (port, device) = (self.port.clone(), self.device.clone());
        let ready = |bench: &mut Self, end: &Function| {
            let status = bench.session.get(end, MARGIN_PORT_STATUS)?;
            Ok::<bool, Stop>(status.is_some_and(|status| status.ready()))
        };
        let ends = [ready(self, &port)?, ready(self, &device)?];
        if ends == [false, false] {
            return Err(Stop::NotPerformed("neither end is ready for Lane Margining".into()));
        }
        let before = self.quiet()?;
        let found = self.all_margins(ends, status.width());
        self.put_back(before)?;
        found
    }

    /// Disables ASPM and autonomous changes. Returns the previous register values.
    fn quiet(&mut self) -> Step<[(Function, u16, u16); 2]> {
        let mut before = Vec::new();
        for end in [self.port.clone(), self.device.clone()] {
            let control = self.session.get(&end, LINK_CONTROL)?.unwrap_or_default();
            let control_2 = self.session.get(&end, LINK_CONTROL_2)?.unwrap_or_default();
            let still = word(control.with_aspm(Aspm::DISABLED));
            self.session.set(&end, LINK_CONTROL, word(still.with_autonomous_width_disable(true)))?;
            let steady = word(control_2.with_autonomous_speed_disable(true));
            self.session.set(&end, LINK_CONTROL_2, steady)?;
            before.push((end, control.raw(), control_2.raw()));
        }
        Ok(before.try_into().expect("two ends"))
    }

    fn put_back(&mut self, before: [(Function, u16, u16); 2]) -> Step<()> {
        use crate::registers::{LinkControl, LinkControl2};
        for (end, control, control_2) in before.into_iter().rev() {
            self.session.set(&end, LINK_CONTROL, LinkControl::from_raw(control))?;
            self.session.set(&end, LINK_CONTROL_2, LinkControl2::from_raw(control_2))?;
        }
        Ok(())
    }

    fn all_margins(&mut self, ends: [bool; 2], lanes: u8) -> Step<Vec<LaneMargin>> {
        let retimers = self.reference.retimers.min(2);
        let mut found = Vec::new();
        for receiver in (1..=6).filter(|receiver| *receiver == 6 || *receiver <= 1 + 2 * retimers) {
            let by_device = receiver == 6;
            if !ends[usize::from(by_device)] {
                continue;
            }
            for lane in 0..lanes {
                found.extend(self.margin_of(lane, receiver)?);
            }
        }
        if found.is_empty() {
            return Err(Stop::NotPerformed("no receiver answers a margining command".into()));
        }
        Ok(found)
    }

    /// The margins of a receiver; `None` if it does not respond.
    fn margin_of(&mut self, lane: u8, receiver: u8) -> Step<Option<LaneMargin>> {
        let Some(can) = self.abilities(lane, receiver)? else { return Ok(None) };
        let reach = |reach: u8| f64::from(if reach == 0 { WHOLE_REACH } else { reach }) / 100.0;
        let timing_step = reach(can.timing_reach) / f64::from(can.timing_steps.max(1));
        let voltage_step = reach(can.voltage_reach) / f64::from(can.voltage_steps.max(1));
        self.ask(lane, receiver, kind::SET, payload::LIMIT | ERROR_LIMIT)?;
        let mut at_limit = false;
        let mut timing_ui = [0.0; 2];
        for (side, margin) in timing_ui.iter_mut().enumerate().take(1 + usize::from(can.independent_timing)) {
            let direction = (1 - side as u8) << 6;
            let steps = self.steps(lane, receiver, kind::STEP_TIME, direction, can.timing_steps)?;
            at_limit |= steps == can.timing_steps;
            *margin = f64::from(steps) * timing_step;
        }
        if !can.independent_timing {
            timing_ui[1] = timing_ui[0];
        }
        let mut voltage_v = None;
        if can.voltage {
            let mut sides = [0.0; 2];
            for (side, margin) in sides.iter_mut().enumerate().take(1 + usize::from(can.independent_voltage))
            {
                let direction = (1 - side as u8) << 7;
                let steps = self.steps(lane, receiver, kind::STEP_VOLTAGE, direction, can.voltage_steps)?;
                at_limit |= steps == can.voltage_steps;
                *margin = f64::from(steps) * voltage_step;
            }
            if !can.independent_voltage {
                sides[1] = sides[0];
            }
            voltage_v = Some(sides);
        }
        Ok(Some(LaneMargin {
            lane,
            receiver,
            timing_ui,
            voltage_v,
            step: (timing_step, voltage_step),
            at_limit,
        }))
    }

    fn abilities(&mut self, lane: u8, receiver: u8) -> Step<Option<Abilities>> {
        let Some(bits) = self.ask(lane, receiver, kind::REPORT, payload::CAPABILITIES)? else {
            return Ok(None);
        };
        let mut number =
            |payload| Ok::<u8, Stop>(self.ask(lane, receiver, kind::REPORT, payload)?.unwrap_or(0));
        Ok(Some(Abilities {
            voltage: bits & 1 != 0,
            independent_voltage: bits & 2 != 0,
            independent_timing: bits & 4 != 0,
            timing_steps: number(payload::TIMING_STEPS)? & 0x3f,
            timing_reach: number(payload::TIMING_REACH)? & 0x7f,
            voltage_steps: number(payload::VOLTAGE_STEPS)? & 0x7f,
            voltage_reach: number(payload::VOLTAGE_REACH)? & 0x7f,
        }))
    }

    /// Number of steps in a direction up to which the receiver has no more errors than [`ERROR_LIMIT`].
    fn steps(&mut self, lane: u8, receiver: u8, how: u8, direction: u8, most: u8) -> Step<u8> {
        let mut good = 0;
        for step in 1..=most {
            if self.ask(lane, receiver, how, direction | step)?.is_none() {
                break;
            }
            self.host().wait(DWELL);
            let status = self.lane_status(lane, receiver)?;
            // bits 7:6 of the response: 2 margining, 1 being set up, 0 too many errors, 3 not accepted (NAK)
            if status.payload() >> 6 != 2 || status.payload() & 0x3f > ERROR_LIMIT {
                break;
            }
            good = step;
        }
        self.ask(lane, receiver, kind::SET, payload::CLEAR_LOG)?;
        self.ask(lane, receiver, kind::SET, payload::NORMAL)?;
        Ok(good)
    }

    /// Sends a command. Returns the payload of its response; `None` if there is none.
    fn ask(&mut self, lane: u8, receiver: u8, command: u8, with: u8) -> Step<Option<u8>> {
        self.command(lane, receiver, 0, kind::NONE, payload::NONE)?;
        self.host().wait(BETWEEN);
        self.command(lane, receiver, receiver, command, with)?;
        self.host().wait(BETWEEN);
        let status = self.lane_status(lane, receiver)?;
        let answers = status.kind() == command && status.receiver() == receiver;
        Ok(answers.then(|| status.payload()))
    }

    fn command(&mut self, lane: u8, of: u8, receiver: u8, kind: u8, payload: u8) -> Step<()> {
        let end = self.end_of(of);
        let register = MARGIN_LANE_CONTROL.plus(u16::from(lane) * MARGIN_LANE_STRIDE);
        let command = MarginLane::ZERO.with_receiver(receiver).and_then(|word| word.with_kind(kind));
        let command = command.and_then(|word| word.with_payload(payload));
        self.session.set(&end, register, word(command))?;
        Ok(())
    }

    fn lane_status(&mut self, lane: u8, receiver: u8) -> Step<MarginLane> {
        let end = self.end_of(receiver);
        let register = MARGIN_LANE_STATUS.plus(u16::from(lane) * MARGIN_LANE_STRIDE);
        Ok(self.session.get(&end, register)?.unwrap_or_default())
    }

    /// The end through which a receiver is accessed.
    fn end_of(&self, receiver: u8) -> Function {
        if receiver == 6 { self.device.clone() } else { self.port.clone() }
    }
}
