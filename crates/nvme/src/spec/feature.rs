//! Features: their identifiers and values (Base 2.0 §5.27.1, NVM Command Set 1.0 §4.1.3).

use super::log::CriticalWarning;
use lanetwin_wire::{open_enum, wire};

open_enum! {
    /// Feature Identifier (FID).
    pub struct Feature(u8) {
        /// Arbitration: [`Arbitration`].
        ARBITRATION = 0x01;
        /// Power Management: [`PowerManagement`].
        POWER_MANAGEMENT = 0x02;
        /// LBA Range Type.
        LBA_RANGE_TYPE = 0x03;
        /// Temperature Threshold: [`TemperatureThreshold`].
        TEMPERATURE_THRESHOLD = 0x04;
        /// Error Recovery: [`ErrorRecovery`].
        ERROR_RECOVERY = 0x05;
        /// Volatile Write Cache: [`VolatileWriteCache`].
        VOLATILE_WRITE_CACHE = 0x06;
        /// Number of Queues: [`NumberOfQueues`].
        NUMBER_OF_QUEUES = 0x07;
        /// Interrupt Coalescing: [`InterruptCoalescing`].
        INTERRUPT_COALESCING = 0x08;
        /// Interrupt Vector Configuration: [`InterruptVectorConfiguration`].
        INTERRUPT_VECTOR_CONFIGURATION = 0x09;
        /// Write Atomicity Normal: [`WriteAtomicity`].
        WRITE_ATOMICITY = 0x0a;
        /// Asynchronous Event Configuration: [`EventConfiguration`].
        EVENT_CONFIGURATION = 0x0b;
        /// Autonomous Power State Transition.
        AUTONOMOUS_POWER_STATE_TRANSITION = 0x0c;
        /// Host Memory Buffer.
        HOST_MEMORY_BUFFER = 0x0d;
        /// Timestamp.
        TIMESTAMP = 0x0e;
        /// Keep Alive Timer \[ms\].
        KEEP_ALIVE_TIMER = 0x0f;
        /// Host Controlled Thermal Management.
        THERMAL_MANAGEMENT = 0x10;
        /// Non-Operational Power State Config.
        NON_OPERATIONAL_POWER_STATE = 0x11;
        /// Host Behavior Support.
        HOST_BEHAVIOR_SUPPORT = 0x16;
        /// Software Progress Marker.
        SOFTWARE_PROGRESS_MARKER = 0x80;
        /// Host Identifier.
        HOST_IDENTIFIER = 0x81;
        /// Namespace Write Protection Config: [`WriteProtection`].
        NAMESPACE_WRITE_PROTECTION = 0x84;
    }

    /// Write Protection State of a namespace (Base 2.0 §5.27.1.29).
    pub struct WriteProtectionState(u8) {
        /// No Write Protect.
        NONE = 0b000;
        /// Write Protect.
        PROTECTED = 0b001;
        /// Write Protect Until Power Cycle.
        UNTIL_POWER_CYCLE = 0b010;
        /// Permanent Write Protect.
        PERMANENT = 0b011;
    }
}

wire! {
    /// Arbitration (Base 2.0 §5.27.1.1).
    pub struct Arbitration(u32) {
        /// Arbitration Burst (AB) \[log2 of commands\]; 7 for no limit
        burst / with_burst: u8 = 2:0;
        /// Reserved
        reserved = 7:3;
        /// Low Priority Weight (LPW), counted from 0
        low_less_1 / with_low_less_1: u8 = 15:8;
        /// Medium Priority Weight (MPW), counted from 0
        medium_less_1 / with_medium_less_1: u8 = 23:16;
        /// High Priority Weight (HPW), counted from 0
        high_less_1 / with_high_less_1: u8 = 31:24;
    }

    /// Power Management (Base 2.0 §5.27.1.2).
    pub struct PowerManagement(u32) {
        /// Power State (PS)
        state / with_state: u8 = 4:0;
        /// Workload Hint (WH)
        hint / with_hint: u8 = 7:5;
        /// Reserved
        reserved = 31:8;
    }

    /// Temperature Threshold (Base 2.0 §5.27.1.3).
    pub struct TemperatureThreshold(u32) {
        /// Temperature Threshold (TMPTH) \[K\]
        kelvin / with_kelvin: u16 = 15:0;
        /// Threshold Temperature Select (TMPSEL): 0 is the composite one
        sensor / with_sensor: u8 = 19:16;
        /// Threshold Type Select (THSEL): 0 over, 1 under
        under / with_under: u8 = 21:20;
        /// Reserved
        reserved = 31:22;
    }

    /// Error Recovery (NVM Command Set 1.0 §4.1.3.2).
    pub struct ErrorRecovery(u32) {
        /// Time Limited Error Recovery (TLER) \[100 ms\]
        limit / with_limit: u16 = 15:0;
        /// Deallocated or Unwritten Logical Block Error Enable (DULBE)
        deallocated_error / with_deallocated_error: bool = 16:16;
        /// Reserved
        reserved = 31:17;
    }

    /// Volatile Write Cache (Base 2.0 §5.27.1.4).
    pub struct VolatileWriteCache(u32) {
        /// Volatile Write Cache Enable (WCE)
        enable / with_enable: bool = 0:0;
        /// Reserved
        reserved = 31:1;
    }

    /// Number of Queues (Base 2.0 §5.27.1.5): asked for in dword 11, granted in dword 0 of the completion.
    pub struct NumberOfQueues(u32) {
        /// I/O Submission Queues, counted from 0
        submission_less_1 / with_submission_less_1: u16 = 15:0;
        /// I/O Completion Queues, counted from 0
        completion_less_1 / with_completion_less_1: u16 = 31:16;
    }

    /// Interrupt Coalescing (PCIe Transport 1.0 §3.9.2.1).
    pub struct InterruptCoalescing(u32) {
        /// Aggregation Threshold (THR) \[completions\], counted from 0
        threshold_less_1 / with_threshold_less_1: u8 = 7:0;
        /// Aggregation Time (TIME) \[100 µs\]; 0 for no delay
        time / with_time: u8 = 15:8;
        /// Reserved
        reserved = 31:16;
    }

    /// Interrupt Vector Configuration (PCIe Transport 1.0 §3.9.2.2).
    pub struct InterruptVectorConfiguration(u32) {
        /// Interrupt Vector (IV)
        vector / with_vector: u16 = 15:0;
        /// Coalescing Disable (CD)
        coalescing_disable / with_coalescing_disable: bool = 16:16;
        /// Reserved
        reserved = 31:17;
    }

    /// Write Atomicity Normal (NVM Command Set 1.0 §4.1.3.3).
    pub struct WriteAtomicity(u32) {
        /// Disable Normal (DN): only what holds at a power failure holds
        disable_normal / with_disable_normal: bool = 0:0;
        /// Reserved
        reserved = 31:1;
    }

    /// Asynchronous Event Configuration (Base 2.0 §5.27.1.8).
    pub struct EventConfiguration(u32) {
        /// SMART / Health Critical Warnings
        critical_warnings / with_critical_warnings: u8 = 7:0;
        /// Namespace Attribute Notices
        namespace_attributes / with_namespace_attributes: bool = 8:8;
        /// Firmware Activation Notices
        firmware_activation / with_firmware_activation: bool = 9:9;
        /// Telemetry Log Notices
        telemetry / with_telemetry: bool = 10:10;
        /// Asymmetric Namespace Access Change Notices
        asymmetric_access / with_asymmetric_access: bool = 11:11;
        /// Notices of later parts of the specification
        other / with_other: u32 = 31:12;
    }

    /// Namespace Write Protection Config (Base 2.0 §5.27.1.29).
    pub struct WriteProtection(u32) {
        /// Write Protection State
        state / with_state: WriteProtectionState = 2:0;
        /// Reserved
        reserved = 31:3;
    }
}

impl EventConfiguration {
    /// The warnings that are reported as events.
    #[must_use]
    pub const fn warnings(self) -> CriticalWarning {
        CriticalWarning::from_raw(self.critical_warnings())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<Arbitration>();
        assert_fields_tile::<PowerManagement>();
        assert_fields_tile::<TemperatureThreshold>();
        assert_fields_tile::<ErrorRecovery>();
        assert_fields_tile::<VolatileWriteCache>();
        assert_fields_tile::<NumberOfQueues>();
        assert_fields_tile::<InterruptCoalescing>();
        assert_fields_tile::<InterruptVectorConfiguration>();
        assert_fields_tile::<WriteAtomicity>();
        assert_fields_tile::<EventConfiguration>();
        assert_fields_tile::<WriteProtection>();
    }
}
