//! The words of configuration space that say how a link is, and change it. Least significant byte first.
//!
//! Offsets and bits are those of pciutils `lib/header.h` (`PCI_EXP_*`, `PCI_SEC_PCI_EXP_*`, `PCI_16GT_*`, `PCI_LMR_*`,
//! `PCI_ERR_*`, `PCI_PM_*`) and of Linux `pci_regs.h`, which follow PCI Express Base 6.0 §7.5.3 to §7.9.

use lanetwin_wire::wire;

wire! {
    /// PCI Express Capabilities: what kind of function this is.
    pub struct ExpressCapabilities(u16) {
        /// Reserved, and the number of an interrupt message
        reserved = 15:9;
        /// Slot Implemented: the port leads to a slot
        slot / with_slot: bool = 8:8;
        /// Device/Port Type: 0 endpoint, 4 root port, 5 upstream, 6 downstream port of a switch
        kind / with_kind: u8 = 7:4;
        /// Capability Version
        version / with_version: u8 = 3:0;
    }

    /// Device Capabilities.
    pub struct DeviceCapabilities(u32) {
        /// Reserved, and power limits
        reserved = 31:29;
        /// Function Level Reset Capability
        function_level_reset / with_function_level_reset: bool = 28:28;
        /// Everything else
        other / with_other: u32 = 27:0;
    }

    /// Device Control.
    pub struct DeviceControl(u16) {
        /// Initiate Function Level Reset; reads as zero
        initiate_reset / with_initiate_reset: bool = 15:15;
        /// Sizes and enables
        other / with_other: u16 = 14:0;
    }

    /// Device Status.
    pub struct DeviceStatus(u16) {
        /// Reserved
        reserved = 15:6;
        /// Transactions Pending
        pending / with_pending: bool = 5:5;
        /// AUX Power Detected
        auxiliary / with_auxiliary: bool = 4:4;
        /// Unsupported Request Detected
        unsupported / with_unsupported: bool = 3:3;
        /// Fatal Error Detected
        fatal / with_fatal: bool = 2:2;
        /// Non-Fatal Error Detected
        nonfatal / with_nonfatal: bool = 1:1;
        /// Correctable Error Detected
        correctable / with_correctable: bool = 0:0;
    }

    /// Link Capabilities.
    pub struct LinkCapabilities(u32) {
        /// Port Number
        port / with_port: u8 = 31:24;
        /// Reserved, and ASPM Optionality
        reserved = 23:22;
        /// Link Bandwidth Notification Capability
        bandwidth_notification / with_bandwidth_notification: bool = 21:21;
        /// Data Link Layer Link Active Reporting Capable
        active_reporting / with_active_reporting: bool = 20:20;
        /// Surprise Down Error Reporting Capable
        surprise_down / with_surprise_down: bool = 19:19;
        /// Clock Power Management
        clock_power_management / with_clock_power_management: bool = 18:18;
        /// L1 Exit Latency, and that of L0s
        exit_latencies / with_exit_latencies: u8 = 17:12;
        /// ASPM Support: bit 0 L0s, bit 1 L1
        aspm / with_aspm: u8 = 11:10;
        /// Maximum Link Width
        width / with_width: u8 = 9:4;
        /// Max Link Speed: the number of a bit of the Supported Link Speeds Vector, from 1
        speed / with_speed: u8 = 3:0;
    }

    /// Link Control.
    pub struct LinkControl(u16) {
        /// Reserved, and DRS Signaling Control
        reserved = 15:12;
        /// Link Autonomous Bandwidth Interrupt Enable
        autonomous_interrupt / with_autonomous_interrupt: bool = 11:11;
        /// Link Bandwidth Management Interrupt Enable
        management_interrupt / with_management_interrupt: bool = 10:10;
        /// Hardware Autonomous Width Disable
        width_disable / with_width_disable: bool = 9:9;
        /// Enable Clock Power Management
        clock_power_management / with_clock_power_management: bool = 8:8;
        /// Extended Synch
        extended_synch / with_extended_synch: bool = 7:7;
        /// Common Clock Configuration
        common_clock / with_common_clock: bool = 6:6;
        /// Retrain Link; reads as zero
        retrain / with_retrain: bool = 5:5;
        /// Link Disable
        disable / with_disable: bool = 4:4;
        /// Read Completion Boundary
        completion_boundary / with_completion_boundary: bool = 3:3;
        /// Reserved
        reserved = 2:2;
        /// ASPM Control: bit 0 L0s, bit 1 L1
        aspm / with_aspm: u8 = 1:0;
    }

    /// Link Status.
    pub struct LinkStatus(u16) {
        /// Link Autonomous Bandwidth Status (LABS)
        autonomous / with_autonomous: bool = 15:15;
        /// Link Bandwidth Management Status (LBMS): hardware sets it when a retraining that software asked for completes
        management / with_management: bool = 14:14;
        /// Data Link Layer Link Active (DLLLA)
        active / with_active: bool = 13:13;
        /// Slot Clock Configuration
        slot_clock / with_slot_clock: bool = 12:12;
        /// Link Training
        training / with_training: bool = 11:11;
        /// Undefined: Training Error of the first revision
        undefined / with_undefined: bool = 10:10;
        /// Negotiated Link Width
        width / with_width: u8 = 9:4;
        /// Current Link Speed
        speed / with_speed: u8 = 3:0;
    }

    /// Link Capabilities 2.
    pub struct LinkCapabilities2(u32) {
        /// DRS Supported
        readiness / with_readiness: bool = 31:31;
        /// Reserved
        reserved = 30:25;
        /// Two Retimers Presence Detect Supported: it can detect them, which does not say that any is there
        two_retimers_supported / with_two_retimers_supported: bool = 24:24;
        /// Retimer Presence Detect Supported
        retimer_supported / with_retimer_supported: bool = 23:23;
        /// Vectors of lower SKP ordered sets
        skips / with_skips: u16 = 22:9;
        /// Crosslink Supported
        crosslink / with_crosslink: bool = 8:8;
        /// Supported Link Speeds Vector: bit n is speed n + 1
        speeds / with_speeds: u8 = 7:1;
        /// Reserved
        reserved = 0:0;
    }

    /// Link Control 2.
    pub struct LinkControl2(u16) {
        /// Compliance Preset/De-emphasis
        compliance_preset / with_compliance_preset: u8 = 15:12;
        /// Compliance SOS
        compliance_sos / with_compliance_sos: bool = 11:11;
        /// Enter Modified Compliance
        modified_compliance / with_modified_compliance: bool = 10:10;
        /// Transmit Margin
        transmit_margin / with_transmit_margin: u8 = 9:7;
        /// Selectable De-emphasis
        deemphasis / with_deemphasis: bool = 6:6;
        /// Hardware Autonomous Speed Disable
        speed_disable / with_speed_disable: bool = 5:5;
        /// Enter Compliance
        compliance / with_compliance: bool = 4:4;
        /// Target Link Speed
        target_speed / with_target_speed: u8 = 3:0;
    }

    /// Link Status 2.
    pub struct LinkStatus2(u16) {
        /// DRS Message Received
        readiness / with_readiness: bool = 15:15;
        /// Downstream Component Presence
        presence / with_presence: u8 = 14:12;
        /// Reserved
        reserved = 11:11;
        /// Flit Mode Status
        flit / with_flit: bool = 10:10;
        /// Crosslink Resolution
        crosslink / with_crosslink: u8 = 9:8;
        /// Two Retimers Presence Detected
        two_retimers / with_two_retimers: bool = 7:7;
        /// Retimer Presence Detected
        retimer / with_retimer: bool = 6:6;
        /// Link Equalization Request 8.0 GT/s
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

    /// Power Management Capabilities, beside the identity of the capability.
    pub struct PowerCapabilities(u16) {
        /// PME Support, D2, D1, currents
        other / with_other: u16 = 15:3;
        /// Version
        version / with_version: u8 = 2:0;
    }

    /// Power Management Control/Status (PMCSR).
    pub struct PowerControl(u16) {
        /// PME Status
        pme_status / with_pme_status: bool = 15:15;
        /// Data Scale and Data Select
        data / with_data: u8 = 14:9;
        /// PME Enable
        pme_enable / with_pme_enable: bool = 8:8;
        /// Reserved
        reserved = 7:4;
        /// No Soft Reset: going from D3hot to D0 keeps the state
        no_soft_reset / with_no_soft_reset: bool = 3:3;
        /// Reserved
        reserved = 2:2;
        /// Power State: 0 D0, 3 D3hot
        state / with_state: u8 = 1:0;
    }

    /// Link Control 3.
    pub struct LinkControl3(u32) {
        /// Reserved, and vectors of lower SKP ordered sets
        reserved = 31:2;
        /// Link Equalization Request Interrupt Enable
        interrupt / with_interrupt: bool = 1:1;
        /// Perform Equalization: the next retraining to 8 GT/s or more equalises
        equalise / with_equalise: bool = 0:0;
    }

    /// Lane Error Status: a bit for each lane.
    pub struct LaneErrors(u32) {
        /// The lanes that saw an error
        lanes / with_lanes: u32 = 31:0;
    }

    /// Status of equalisation at 16, 32 or 64 GT/s.
    pub struct EqualisationStatus(u32) {
        /// Reserved, and status of modified TS
        reserved = 31:5;
        /// Link Equalization Request
        request / with_request: bool = 4:4;
        /// Phase 3 Successful
        phase_3 / with_phase_3: bool = 3:3;
        /// Phase 2 Successful
        phase_2 / with_phase_2: bool = 2:2;
        /// Phase 1 Successful
        phase_1 / with_phase_1: bool = 1:1;
        /// Complete
        complete / with_complete: bool = 0:0;
    }

    /// Data parity mismatches: a bit for each lane.
    pub struct Parity(u32) {
        /// The lanes that saw one
        lanes / with_lanes: u32 = 31:0;
    }

    /// Margining Port Status.
    pub struct MarginPortStatus(u16) {
        /// Reserved
        reserved = 15:2;
        /// Margining Software Ready
        software_ready / with_software_ready: bool = 1:1;
        /// Margining Ready
        ready / with_ready: bool = 0:0;
    }

    /// Margining Lane Control, and with the same fields Margining Lane Status.
    pub struct MarginLane(u16) {
        /// Margin Payload
        payload / with_payload: u8 = 15:8;
        /// Reserved
        reserved = 7:7;
        /// Usage Model: zero for lane margining at the receiver
        usage / with_usage: bool = 6:6;
        /// Margin Type
        kind / with_kind: u8 = 5:3;
        /// Receiver Number: 1 the downstream port, 2 to 5 retimers, 6 the upstream port
        receiver / with_receiver: u8 = 2:0;
    }

    /// Status of correctable errors (AER).
    pub struct Correctable(u32) {
        /// Reserved
        reserved = 31:16;
        /// Header Log Overflow, Corrected Internal, Advisory Non-Fatal
        advisory / with_advisory: u8 = 15:13;
        /// Replay Timer Timeout
        replay_timeout / with_replay_timeout: bool = 12:12;
        /// Reserved
        reserved = 11:9;
        /// REPLAY_NUM Rollover
        replay_rollover / with_replay_rollover: bool = 8:8;
        /// Bad DLLP
        bad_dllp / with_bad_dllp: bool = 7:7;
        /// Bad TLP
        bad_tlp / with_bad_tlp: bool = 6:6;
        /// Reserved
        reserved = 5:1;
        /// Receiver Error
        receiver / with_receiver: bool = 0:0;
    }

    /// Status of uncorrectable errors (AER).
    pub struct Uncorrectable(u32) {
        /// Errors of transactions
        transactions / with_transactions: u32 = 31:6;
        /// Surprise Down
        surprise_down / with_surprise_down: bool = 5:5;
        /// Data Link Protocol Error
        data_link / with_data_link: bool = 4:4;
        /// Reserved
        reserved = 3:0;
    }

    /// Downstream Port Containment (DPC) Control.
    pub struct ContainmentControl(u16) {
        /// Reserved, and the finer controls
        reserved = 15:2;
        /// Trigger Enable: 0 off, 1 fatal, 2 also nonfatal errors
        trigger / with_trigger: u8 = 1:0;
    }

    /// Message Control of MSI-X.
    pub struct MsixControl(u16) {
        /// MSI-X Enable
        enable / with_enable: bool = 15:15;
        /// Function Mask; zero after a reset
        function_mask / with_function_mask: bool = 14:14;
        /// Reserved
        reserved = 13:11;
        /// Table Size
        size / with_size: u16 = 10:0;
    }

    /// Device Capabilities 3.
    pub struct DeviceCapabilities3(u32) {
        /// Reserved
        reserved = 31:10;
        /// L0p Exit Latencies of port and retimer
        exit_latencies / with_exit_latencies: u8 = 9:4;
        /// L0p Supported
        l0p / with_l0p: bool = 3:3;
        /// 14-bit tags and DMWr
        other / with_other: u8 = 2:0;
    }

    /// Device Control 3.
    pub struct DeviceControl3(u32) {
        /// Reserved
        reserved = 31:7;
        /// Target Link Width for L0p: 0 x1, 1 x2, 2 x4, 3 x8, 4 x16, 7 dynamic
        target_width / with_target_width: u8 = 6:4;
        /// L0p Enable
        l0p / with_l0p: bool = 3:3;
        /// 14-bit tags and DMWr
        other / with_other: u8 = 2:0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// pciutils `lib/header.h`: PCI_EXP_LNKCTL_DISABLE 0x10, _RETRAIN 0x20; PCI_EXP_LNKSTA_DLLLA 0x2000, _BWMGMT 0x4000;
    /// PCI_EXP_LNKSTA2_RETIMER 0x40; PCI_PM_CTRL_NO_SOFT_RST 8; PCI_ERR_COR_REP_ROLL 0x100; PCI_ERR_UNC_SURPDN 0x20.
    #[test]
    fn bits_are_where_pciutils_has_them() {
        assert!(LinkControl::from_raw(0x0010).disable() && LinkControl::from_raw(0x0020).retrain());
        assert!(LinkStatus::from_raw(0x2000).active() && LinkStatus::from_raw(0x4000).management());
        assert!(LinkStatus::from_raw(0x0800).training() && LinkStatus::from_raw(0x8000).autonomous());
        let status = LinkStatus::from_raw(0x7045);
        assert_eq!((status.speed(), status.width()), (5, 4));
        assert!(LinkStatus2::from_raw(0x0040).retimer() && LinkStatus2::from_raw(0x0002).complete());
        assert!(PowerControl::from_raw(8).no_soft_reset());
        assert!(Correctable::from_raw(0x100).replay_rollover() && Uncorrectable::from_raw(0x20).surprise_down());
        assert!(DeviceCapabilities::from_raw(0x1000_0000).function_level_reset());
        assert!(MsixControl::from_raw(0x4000).function_mask());
    }
}
