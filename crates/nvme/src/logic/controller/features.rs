//! Features: Get Features and Set Features (Base 2.0 §5.15 and §5.27). No feature is saved across a reset.

use super::settings::Features;
use super::{Controller, Cx, QueueState, Stage};
use crate::logic::effect::HostEffect;
use crate::logic::nvm::namespace_changed;
use crate::spec::admin::{FeatureSelect, GetFeaturesDword10, SetFeaturesDword10};
use crate::spec::feature::{
    Arbitration, ErrorRecovery, EventConfiguration, Feature, InterruptCoalescing,
    InterruptVectorConfiguration, NumberOfQueues, TemperatureThreshold, VolatileWriteCache, WriteAtomicity,
    WriteProtection, WriteProtectionState,
};
use crate::spec::{Nsid, Status};
use lanetwin_units::{Instant, Span};

/// Minimum keep alive timeout from Connect until the host enables the controller.
///
/// The host may first have to authenticate, which takes seconds if powers of 4,096 bits are computed slowly, and sends
/// Keep Alive only after that. (Two minutes are a choice.)
const UNTIL_ENABLED: Span = Span::from_us(120_000_000);

impl Controller {
    /// Get Features.
    pub(super) fn get_features(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let command = self.slots.at(number).command;
        let dword = GetFeaturesDword10::from_raw(command.cdw10());
        let feature = Feature(dword.feature());
        let current = self.feature(feature, command.cdw11(), command.nsid(), cx)?;
        self.slots.at(number).dw0 = match dword.select() {
            FeatureSelect::CURRENT => current,
            FeatureSelect::DEFAULT | FeatureSelect::SAVED => self.default_of(feature, command.cdw11()),
            // bit 0 saveable, bit 1 namespace specific, bit 2 changeable
            FeatureSelect::CAPABILITIES => 4 | u32::from(feature == Feature::NAMESPACE_WRITE_PROTECTION) << 1,
            _ => return Err(Status::INVALID_FIELD),
        };
        Ok(())
    }
    fn feature(&self, feature: Feature, dword11: u32, nsid: Nsid, cx: &Cx<'_>) -> Result<u32, Status> {
        let features = &self.features;
        Ok(match feature {
            Feature::ARBITRATION => features.arbitration.raw(),
            Feature::POWER_MANAGEMENT => features.power_state,
            Feature::TEMPERATURE_THRESHOLD => match TemperatureThreshold::from_raw(dword11).under() {
                0 => features.over_temperature.raw(),
                1 => features.under_temperature.raw(),
                _ => return Err(Status::INVALID_FIELD),
            },
            Feature::ERROR_RECOVERY => features.error_recovery.raw(),
            Feature::VOLATILE_WRITE_CACHE if cx.nvm.config.volatile_write_cache => features.write_cache.raw(),
            Feature::NUMBER_OF_QUEUES => self.queues_granted().raw(),
            Feature::INTERRUPT_COALESCING => self.interrupts.coalescing().raw(),
            Feature::INTERRUPT_VECTOR_CONFIGURATION => {
                let vector = InterruptVectorConfiguration::from_raw(dword11).vector();
                self.interrupts.vector(vector).ok_or(Status::INVALID_FIELD)?.raw()
            }
            Feature::WRITE_ATOMICITY => features.atomicity.raw(),
            Feature::EVENT_CONFIGURATION => features.events.raw(),
            Feature::KEEP_ALIVE_TIMER => features.keep_alive_ms,
            Feature::NAMESPACE_WRITE_PROTECTION => {
                let namespace = cx.nvm.active(nsid, self.index).ok_or(Status::INVALID_NAMESPACE_OR_FORMAT)?;
                namespace.protection.0.into()
            }
            _ => return Err(Status::INVALID_FIELD),
        })
    }
    fn default_of(&self, feature: Feature, dword11: u32) -> u32 {
        let features = Features::default();
        match feature {
            Feature::ARBITRATION => features.arbitration.raw(),
            Feature::TEMPERATURE_THRESHOLD if TemperatureThreshold::from_raw(dword11).under() == 0 => {
                features.over_temperature.raw()
            }
            Feature::VOLATILE_WRITE_CACHE => features.write_cache.raw(),
            Feature::NUMBER_OF_QUEUES => self.queues_granted().raw(),
            Feature::INTERRUPT_VECTOR_CONFIGURATION => dword11 & 0xffff,
            _ => 0,
        }
    }
    /// Maximum number of I/O queues, of both kinds.
    fn queues_granted(&self) -> NumberOfQueues {
        let less_1 = u32::from(self.config.io_queues - 1);
        NumberOfQueues::from_raw(less_1 | less_1 << 16)
    }

    /// Set Features.
    pub(super) fn set_features(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let command = self.slots.at(number).command;
        let dword = SetFeaturesDword10::from_raw(command.cdw10());
        let (feature, value) = (Feature(dword.feature()), command.cdw11());
        if dword.save() {
            return Err(Status::FEATURE_NOT_SAVEABLE);
        }
        match feature {
            Feature::ARBITRATION => {
                self.features.arbitration = Arbitration::from_raw(value);
                self.arbiter.configure(self.features.arbitration);
            }
            Feature::POWER_MANAGEMENT if value & 0x1f == 0 => self.features.power_state = value & 0xff,
            Feature::TEMPERATURE_THRESHOLD => self.set_temperature(TemperatureThreshold::from_raw(value))?,
            Feature::ERROR_RECOVERY => self.features.error_recovery = ErrorRecovery::from_raw(value & 0xffff),
            Feature::VOLATILE_WRITE_CACHE if cx.nvm.config.volatile_write_cache => {
                self.features.write_cache = VolatileWriteCache::from_raw(value & 1);
            }
            Feature::NUMBER_OF_QUEUES => self.slots.at(number).dw0 = self.ask_for_queues(value)?,
            Feature::INTERRUPT_COALESCING => {
                self.interrupts.set_coalescing(InterruptCoalescing::from_raw(value & 0xffff));
            }
            Feature::INTERRUPT_VECTOR_CONFIGURATION => {
                if !self.interrupts.set_vector(InterruptVectorConfiguration::from_raw(value)) {
                    return Err(Status::INVALID_FIELD);
                }
            }
            Feature::WRITE_ATOMICITY => self.features.atomicity = WriteAtomicity::from_raw(value & 1),
            Feature::EVENT_CONFIGURATION => self.features.events = EventConfiguration::from_raw(value),
            Feature::KEEP_ALIVE_TIMER => self.set_keep_alive(value, cx),
            Feature::NAMESPACE_WRITE_PROTECTION => self.protect(command.nsid(), value, cx)?,
            _ => return Err(Status::INVALID_FIELD),
        }
        Ok(())
    }
    fn set_temperature(&mut self, threshold: TemperatureThreshold) -> Result<(), Status> {
        if threshold.sensor() != 0 && threshold.sensor() != 0xf {
            return Err(Status::INVALID_FIELD); // only the composite temperature
        }
        match threshold.under() {
            0 => self.features.over_temperature = threshold,
            1 => self.features.under_temperature = threshold,
            _ => return Err(Status::INVALID_FIELD),
        }
        Ok(())
    }
    fn ask_for_queues(&mut self, value: u32) -> Result<u32, Status> {
        let asked = NumberOfQueues::from_raw(value);
        if asked.submission_less_1() == 0xffff || asked.completion_less_1() == 0xffff {
            return Err(Status::INVALID_FIELD);
        }
        let created = self.submission_queues[1..].iter().any(|queue| queue.life != QueueState::Absent)
            || self.completion_queues[1..].iter().any(|queue| queue.life != QueueState::Absent);
        if created {
            return Err(Status::COMMAND_SEQUENCE_ERROR);
        }
        Ok(self.queues_granted().raw())
    }
    fn protect(&mut self, nsid: Nsid, value: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let place = cx.nvm.place(nsid).filter(|_| cx.nvm.active(nsid, self.index).is_some());
        let place = place.ok_or(Status::INVALID_NAMESPACE_OR_FORMAT)?;
        let namespace = &mut cx.nvm.namespaces[place];
        let asked = WriteProtection::from_raw(value).state();
        let fixed = [WriteProtectionState::UNTIL_POWER_CYCLE, WriteProtectionState::PERMANENT];
        if fixed.contains(&namespace.protection) {
            return Err(Status::FEATURE_NOT_CHANGEABLE);
        }
        if asked.0 > WriteProtectionState::PERMANENT.0 {
            return Err(Status::INVALID_FIELD);
        }
        if namespace.protection != asked {
            namespace.protection = asked;
            cx.nvm.notices.push(namespace_changed(Some(nsid), Some(self.index)));
        }
        Ok(())
    }

    /// Sets the Keep Alive Timer, from its feature or Connect \[ms\]; 0 disables it.
    pub fn set_keep_alive(&mut self, ms: u32, cx: &mut Cx<'_>) {
        self.features.keep_alive_ms = ms;
        self.keep_alive_came(cx);
    }
    /// Restarts the Keep Alive Timer: after Keep Alive, a change of the timer, or enabling the controller.
    pub(super) fn keep_alive_came(&mut self, cx: &mut Cx<'_>) {
        let time = Span::from_us(1000) * u64::from(self.features.keep_alive_ms);
        self.features.keep_alive_deadline = match self.stage {
            _ if time == Span::ZERO => Instant::NEVER,
            Stage::Ready => cx.now + time,
            _ => cx.now + time.max(UNTIL_ENABLED),
        };
        self.wake_at(self.features.keep_alive_deadline, cx);
    }
    /// Lets the controller fail if the Keep Alive Timer has expired (Base 2.0 §3.9).
    pub(super) fn keep_alive(&mut self, cx: &mut Cx<'_>) {
        if self.features.keep_alive_deadline <= cx.now {
            self.features.keep_alive_deadline = Instant::NEVER;
            self.fail(cx);
            cx.host(HostEffect::KeepAliveExpired { controller: self.config.id });
        }
    }
}
