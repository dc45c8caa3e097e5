//! The words of configuration space through which software sees and moves a link: Link Control and Status, equalisation
//! at each rate, lane errors, Advanced Error Reporting, power states. Least significant byte first, as it is read.
//!
//! Offsets and bits are those of Linux `pci_regs.h` (`PCI_EXP_LNK*`, `PCI_PM_CTRL_*`, `PCI_ERR_*`, `PCI_L1SS_*`) and of
//! pciutils `lib/header.h` (`PCI_SEC_*`, `PCI_16GT_*`, `PCI_32GT_*`, `PCI_LMR_*`), which follow PCIe Base §7.5.3 and
//! §7.7.
//!
//! Not here: the words that route ([`config_words`](crate::spec::config_words)); Device Control and Slot Control; what
//! is new with 64 GT/s.

use lanetwin_wire::{open_enum, wire};

/// Offsets in the Power Management capability.
pub mod power_management {
    /// The capability's identifier.
    pub const ID: u8 = 0x01;
    /// Where [`PowerControl`](super::PowerControl) is.
    pub const CONTROL: u16 = 4;
}

/// Offsets in the PCI Express capability.
pub mod express {
    /// The capability's identifier.
    pub const ID: u8 = 0x10;
    /// Where the capabilities register is: version and device type.
    pub const FLAGS: u16 = 2;
    /// Where [`LinkCapabilities`](super::LinkCapabilities) is.
    pub const LINK_CAPABILITIES: u16 = 0x0c;
    /// Where [`LinkControl`](super::LinkControl) is.
    pub const LINK_CONTROL: u16 = 0x10;
    /// Where [`LinkStatus`](super::LinkStatus) is.
    pub const LINK_STATUS: u16 = 0x12;
    /// Where [`LinkCapabilities2`](super::LinkCapabilities2) is.
    pub const LINK_CAPABILITIES_2: u16 = 0x2c;
    /// Where [`LinkControl2`](super::LinkControl2) is.
    pub const LINK_CONTROL_2: u16 = 0x30;
    /// Where [`LinkStatus2`](super::LinkStatus2) is.
    pub const LINK_STATUS_2: u16 = 0x32;
}

/// Offsets in the Advanced Error Reporting (AER) extended capability.
pub mod aer {
    /// The capability's identifier.
    pub const ID: u16 = 0x0001;
    /// Where the status of uncorrectable errors is: a one clears.
    pub const UNCORRECTABLE_STATUS: u16 = 0x04;
    /// Where [`CorrectableErrors`](super::CorrectableErrors) is: a one clears.
    pub const CORRECTABLE_STATUS: u16 = 0x10;
    /// Surprise Down, in the status of uncorrectable errors.
    pub const SURPRISE_DOWN: u32 = 1 << 5;
}

/// Offsets in the Secondary PCI Express extended capability.
pub mod secondary {
    /// The capability's identifier.
    pub const ID: u16 = 0x0019;
    /// Where [`LinkControl3`](super::LinkControl3) is.
    pub const LINK_CONTROL_3: u16 = 0x04;
    /// Where Lane Error Status is: a bit for each lane, a one clears.
    pub const LANE_ERROR_STATUS: u16 = 0x08;
    /// Where the presets of lanes 0, 1, 2 … at 8 GT/s are, 16 bits each.
    pub const LANE_EQUALIZATION: u16 = 0x0c;
}

/// Offsets in the L1 PM Substates extended capability.
pub mod l1_substates {
    /// The capability's identifier.
    pub const ID: u16 = 0x001e;
    /// Where the capabilities are, [`L1SubstatesControl`](super::L1SubstatesControl) with other meanings above bit 4.
    pub const CAPABILITIES: u16 = 0x04;
    /// Where [`L1SubstatesControl`](super::L1SubstatesControl) is.
    pub const CONTROL_1: u16 = 0x08;
    /// Where the second control register is: the time that power takes to come on.
    pub const CONTROL_2: u16 = 0x0c;
}

/// Offsets in the Physical Layer 16.0 GT/s extended capability.
pub mod gen4 {
    /// The capability's identifier.
    pub const ID: u16 = 0x0026;
    /// Where [`EqualizationStatus`](super::EqualizationStatus) is.
    pub const STATUS: u16 = 0x0c;
    /// Where the lanes are on which the port saw a parity mismatch: a bit for each, a one clears.
    pub const LOCAL_PARITY: u16 = 0x10;
    /// The same, of the first retimer.
    pub const FIRST_RETIMER_PARITY: u16 = 0x14;
    /// The same, of the second retimer.
    pub const SECOND_RETIMER_PARITY: u16 = 0x18;
    /// Where the presets of lanes 0, 1, 2 … are, 8 bits each.
    pub const LANE_EQUALIZATION: u16 = 0x20;
}

/// Offsets in the Physical Layer 32.0 GT/s extended capability.
pub mod gen5 {
    /// The capability's identifier.
    pub const ID: u16 = 0x002a;
    /// Where the capabilities are: equalisation bypass to the highest rate, no equalisation needed.
    pub const CAPABILITIES: u16 = 0x04;
    /// Where the control is, which can disable what the capabilities offer.
    pub const CONTROL: u16 = 0x08;
    /// Where [`EqualizationStatus`](super::EqualizationStatus) is.
    pub const STATUS: u16 = 0x0c;
    /// Where the presets of lanes 0, 1, 2 … are, 8 bits each.
    pub const LANE_EQUALIZATION: u16 = 0x20;
}

open_enum! {
    /// What active-state power management (ASPM) may do.
    pub struct Aspm(u8) {
        /// Nothing.
        DISABLED = 0b00;
        /// L0s.
        L0S = 0b01;
        /// L1.
        L1 = 0b10;
        /// Both.
        L0S_AND_L1 = 0b11;
    }

    /// The power state of a function.
    pub struct PowerState(u8) {
        /// Working.
        D0 = 0;
        /// Light sleep.
        D1 = 1;
        /// Deeper sleep.
        D2 = 2;
        /// Asleep, main power on.
        D3_HOT = 3;
    }
}

wire! {
    /// Link Capabilities.
    pub struct LinkCapabilities(u32) {
        /// Port Number
        port_number / with_port_number: u8 = 31:24;
        /// Reserved
        reserved = 23:23;
        /// ASPM Optionality Compliance
        aspm_optional / with_aspm_optional: bool = 22:22;
        /// Link Bandwidth Notification Capability: Link Bandwidth Management Status works
        bandwidth_notification / with_bandwidth_notification: bool = 21:21;
        /// Data Link Layer Link Active Reporting Capable
        link_active_reporting / with_link_active_reporting: bool = 20:20;
        /// Surprise Down Error Reporting Capable
        surprise_down / with_surprise_down: bool = 19:19;
        /// Clock Power Management
        clock_power / with_clock_power: bool = 18:18;
        /// L1 Exit Latency, encoded
        l1_exit / with_l1_exit: u8 = 17:15;
        /// L0s Exit Latency, encoded
        l0s_exit / with_l0s_exit: u8 = 14:12;
        /// Which ASPM is supported
        aspm / with_aspm: Aspm = 11:10;
        /// Maximum Link Width \[lanes\]
        max_width / with_max_width: u8 = 9:4;
        /// Max Link Speed: the number of the generation
        max_speed / with_max_speed: u8 = 3:0;
    }

    /// Link Control.
    pub struct LinkControl(u16) {
        /// Reserved, and controls of later revisions
        reserved = 15:12;
        /// Link Autonomous Bandwidth Interrupt Enable
        autonomous_interrupt / with_autonomous_interrupt: bool = 11:11;
        /// Link Bandwidth Management Interrupt Enable
        management_interrupt / with_management_interrupt: bool = 10:10;
        /// Hardware Autonomous Width Disable
        autonomous_width_disable / with_autonomous_width_disable: bool = 9:9;
        /// Enable Clock Power Management
        clock_power / with_clock_power: bool = 8:8;
        /// Extended Synch
        extended_synch / with_extended_synch: bool = 7:7;
        /// Common Clock Configuration
        common_clock / with_common_clock: bool = 6:6;
        /// Retrain Link: writing a one directs the link to Recovery; reads as zero
        retrain / with_retrain: bool = 5:5;
        /// Link Disable
        disable / with_disable: bool = 4:4;
        /// Read Completion Boundary: 128 B
        rcb_128 / with_rcb_128: bool = 3:3;
        /// Reserved
        reserved = 2:2;
        /// What active-state power management may do
        aspm / with_aspm: Aspm = 1:0;
    }

    /// Link Status.
    pub struct LinkStatus(u16) {
        /// Link Autonomous Bandwidth Status: a one clears
        autonomous_bandwidth / with_autonomous_bandwidth: bool = 15:15;
        /// Link Bandwidth Management Status: a retrain has completed, or speed or width fell for reliability; a one
        /// clears
        bandwidth_management / with_bandwidth_management: bool = 14:14;
        /// Data Link Layer Link Active
        active / with_active: bool = 13:13;
        /// Slot Clock Configuration
        slot_clock / with_slot_clock: bool = 12:12;
        /// Link Training
        training / with_training: bool = 11:11;
        /// Undefined; Training Error in revision 1.0a
        training_error / with_training_error: bool = 10:10;
        /// Negotiated Link Width \[lanes\]
        width / with_width: u8 = 9:4;
        /// Current Link Speed: the number of the generation
        speed / with_speed: u8 = 3:0;
    }

    /// Link Capabilities 2.
    pub struct LinkCapabilities2(u32) {
        /// Device Readiness Status Supported
        readiness / with_readiness: bool = 31:31;
        /// Reserved
        reserved = 30:25;
        /// Two Retimers Presence Detect Supported
        two_retimers / with_two_retimers: bool = 24:24;
        /// Retimer Presence Detect Supported
        retimer / with_retimer: bool = 23:23;
        /// Rates at which fewer SKP are received
        lower_skp_received / with_lower_skp_received: u8 = 22:16;
        /// Rates at which fewer SKP are sent
        lower_skp_sent / with_lower_skp_sent: u8 = 15:9;
        /// Crosslink Supported
        crosslink / with_crosslink: bool = 8:8;
        /// Supported Link Speeds: bit n for generation n + 1
        speeds / with_speeds: u8 = 7:1;
        /// Reserved
        reserved = 0:0;
    }

    /// Link Control 2.
    pub struct LinkControl2(u16) {
        /// Compliance Preset or De-emphasis
        compliance_preset / with_compliance_preset: u8 = 15:12;
        /// Compliance SOS
        compliance_skp / with_compliance_skp: bool = 11:11;
        /// Enter Modified Compliance
        modified_compliance / with_modified_compliance: bool = 10:10;
        /// Transmit Margin
        transmit_margin / with_transmit_margin: u8 = 9:7;
        /// Selectable De-emphasis
        deemphasis / with_deemphasis: bool = 6:6;
        /// Hardware Autonomous Speed Disable
        autonomous_speed_disable / with_autonomous_speed_disable: bool = 5:5;
        /// Enter Compliance
        compliance / with_compliance: bool = 4:4;
        /// Target Link Speed: the number of the generation
        target_speed / with_target_speed: u8 = 3:0;
    }

    /// Link Status 2.
    pub struct LinkStatus2(u16) {
        /// Device Readiness Status message received
        ready / with_ready: bool = 15:15;
        /// Downstream Component Presence
        presence / with_presence: u8 = 14:12;
        /// Reserved
        reserved = 11:11;
        /// Flit Mode
        flit / with_flit: bool = 10:10;
        /// Crosslink Resolution
        crosslink / with_crosslink: u8 = 9:8;
        /// Two Retimers Presence Detected
        two_retimers / with_two_retimers: bool = 7:7;
        /// Retimer Presence Detected: at least one
        retimer / with_retimer: bool = 6:6;
        /// Link Equalization Request 8.0 GT/s: a one clears
        request / with_request: bool = 5:5;
        /// Equalization 8.0 GT/s Phase 3 Successful
        phase_3 / with_phase_3: bool = 4:4;
        /// Equalization 8.0 GT/s Phase 2 Successful
        phase_2 / with_phase_2: bool = 3:3;
        /// Equalization 8.0 GT/s Phase 1 Successful
        phase_1 / with_phase_1: bool = 2:2;
        /// Equalization 8.0 GT/s Complete
        complete / with_complete: bool = 1:1;
        /// Current De-emphasis Level
        deemphasis / with_deemphasis: bool = 0:0;
    }

    /// 16.0 GT/s Status and 32.0 GT/s Status, as far as both have the bits.
    pub struct EqualizationStatus(u32) {
        /// Reserved at 16 GT/s; modified training sets and precoding at 32 GT/s
        reserved = 31:5;
        /// Link Equalization Request: a one clears
        request / with_request: bool = 4:4;
        /// Equalization Phase 3 Successful
        phase_3 / with_phase_3: bool = 3:3;
        /// Equalization Phase 2 Successful
        phase_2 / with_phase_2: bool = 2:2;
        /// Equalization Phase 1 Successful
        phase_1 / with_phase_1: bool = 1:1;
        /// Equalization Complete
        complete / with_complete: bool = 0:0;
    }

    /// Link Control 3.
    pub struct LinkControl3(u32) {
        /// Reserved
        reserved = 31:16;
        /// Rates at which fewer SKP are sent
        lower_skp / with_lower_skp: u8 = 15:9;
        /// Reserved
        reserved = 8:2;
        /// Link Equalization Request Interrupt Enable
        request_interrupt / with_request_interrupt: bool = 1:1;
        /// Perform Equalization: the next retrain to a rate that has it equalises again
        perform_equalization / with_perform_equalization: bool = 0:0;
    }

    /// Correctable Error Status of Advanced Error Reporting.
    pub struct CorrectableErrors(u32) {
        /// Reserved
        reserved = 31:16;
        /// Header Log Overflow
        log_overflow / with_log_overflow: bool = 15:15;
        /// Corrected Internal Error
        internal / with_internal: bool = 14:14;
        /// Advisory Non-Fatal Error
        advisory / with_advisory: bool = 13:13;
        /// Replay Timer Timeout
        replay_timer / with_replay_timer: bool = 12:12;
        /// Reserved
        reserved = 11:9;
        /// REPLAY_NUM Rollover
        rollover / with_rollover: bool = 8:8;
        /// Bad DLLP
        bad_dllp / with_bad_dllp: bool = 7:7;
        /// Bad TLP
        bad_tlp / with_bad_tlp: bool = 6:6;
        /// Reserved
        reserved = 5:1;
        /// Receiver Error
        receiver / with_receiver: bool = 0:0;
    }

    /// L1 PM Substates Control 1; the capabilities have the same bits 3:0.
    pub struct L1SubstatesControl(u32) {
        /// LTR L1.2 threshold scale
        threshold_scale / with_threshold_scale: u8 = 31:29;
        /// Reserved
        reserved = 28:26;
        /// LTR L1.2 threshold value
        threshold / with_threshold: u16 = 25:16;
        /// Common Mode Restore Time \[us\]
        common_mode_us / with_common_mode_us: u8 = 15:8;
        /// Reserved
        reserved = 7:4;
        /// ASPM L1.1
        aspm_l1_1 / with_aspm_l1_1: bool = 3:3;
        /// ASPM L1.2
        aspm_l1_2 / with_aspm_l1_2: bool = 2:2;
        /// PCI-PM L1.1
        pm_l1_1 / with_pm_l1_1: bool = 1:1;
        /// PCI-PM L1.2
        pm_l1_2 / with_pm_l1_2: bool = 0:0;
    }

    /// Power Management Control and Status (PMCSR).
    pub struct PowerControl(u16) {
        /// PME Status: a one clears
        pme / with_pme: bool = 15:15;
        /// Data, which PCI Express does not use
        data / with_data: u8 = 14:9;
        /// PME Enable
        pme_enable / with_pme_enable: bool = 8:8;
        /// Reserved
        reserved = 7:4;
        /// No Soft Reset: from D3hot to D0 without losing configuration
        no_soft_reset / with_no_soft_reset: bool = 3:3;
        /// Reserved
        reserved = 2:2;
        /// The power state
        state / with_state: PowerState = 1:0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<LinkCapabilities>();
        assert_fields_tile::<LinkControl>();
        assert_fields_tile::<LinkStatus>();
        assert_fields_tile::<LinkCapabilities2>();
        assert_fields_tile::<LinkControl2>();
        assert_fields_tile::<LinkStatus2>();
        assert_fields_tile::<EqualizationStatus>();
        assert_fields_tile::<LinkControl3>();
        assert_fields_tile::<CorrectableErrors>();
        assert_fields_tile::<L1SubstatesControl>();
        assert_fields_tile::<PowerControl>();
    }

    /// As lspci -vv prints them: `LnkSta: Speed 16GT/s, Width x8, DLActive+`, `Train-`, slot clock; LnkCtl2 to 16 GT/s.
    #[test]
    fn a_status_reads_as_lspci_reads_it() {
        let status = LinkStatus::from_raw(0x3084);
        assert_eq!((status.speed(), status.width()), (4, 8));
        assert!(
            status.active() && status.slot_clock() && !status.training() && !status.bandwidth_management()
        );
        assert_eq!(LinkControl2::from_raw(0x0004).target_speed(), 4);
        assert!(LinkControl::from_raw(0x0020).retrain() && LinkControl::from_raw(0x0010).disable());
        assert!(CorrectableErrors::from_raw(1 << 12).replay_timer());
        assert_eq!(PowerControl::from_raw(0x000b).state(), PowerState::D3_HOT);
    }
}
