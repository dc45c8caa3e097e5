//! Words for stability cycles that `lanetwin_pcie::spec` does not have: resets, lane margining, Downstream Port
//! Containment, errors of lanes. Least significant byte first.
//!
//! Offsets and bits are those of pciutils `lib/header.h` (`PCI_EXP_DEV*`, `PCI_LMR_*`, `PCI_ERR_UNC_*`, `PCI_DPC_*`,
//! `PCI_MSIX_*`, `PCI_DEV3_*`) and of Linux `pci_regs.h`, which follow PCI Express Base 6.0 §7.5.3 to §7.9.

use lanetwin_wire::wire;

wire! {
    /// Cache Line Size: writable for software, without effect in PCI Express.
    pub struct CacheLine(u8) {
        /// The size \[DW\]
        dwords / with_dwords: u8 = 7:0;
    }

    /// Interrupt Line: writable for software, without effect on the device.
    pub struct InterruptLine(u8) {
        /// The value that software wrote
        value / with_value: u8 = 7:0;
    }

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
        /// Reserved, and TEE-IO
        reserved = 31:29;
        /// Function Level Reset Capability
        function_level_reset / with_function_level_reset: bool = 28:28;
        /// Captured Slot Power Limit Scale: the value is multiplied by 10^-scale W
        slot_power_scale / with_slot_power_scale: u8 = 27:26;
        /// Captured Slot Power Limit Value
        slot_power / with_slot_power: u8 = 25:18;
        /// ERR_COR Subclass Capable
        error_subclass / with_error_subclass: bool = 17:17;
        /// Reserved
        reserved = 16:16;
        /// Role-Based Error Reporting
        role_based_errors / with_role_based_errors: bool = 15:15;
        /// Undefined; buttons and indicators in revision 1.0a
        buttons / with_buttons: u8 = 14:12;
        /// Endpoint L1 Acceptable Latency, encoded
        l1_latency / with_l1_latency: u8 = 11:9;
        /// Endpoint L0s Acceptable Latency, encoded
        l0s_latency / with_l0s_latency: u8 = 8:6;
        /// Extended Tag Field Supported
        extended_tag / with_extended_tag: bool = 5:5;
        /// Phantom Functions Supported
        phantom_functions / with_phantom_functions: u8 = 4:3;
        /// Maximum Payload Size Supported: 128 B × 2^value
        payload / with_payload: u8 = 2:0;
    }

    /// Device Control.
    pub struct DeviceControl(u16) {
        /// Initiate Function Level Reset, which reads as zero; Bridge Configuration Retry Enable in a bridge to PCI
        initiate_reset / with_initiate_reset: bool = 15:15;
        /// Maximum Read Request Size: 128 B × 2^value
        read_request / with_read_request: u8 = 14:12;
        /// Enable No Snoop
        no_snoop / with_no_snoop: bool = 11:11;
        /// Aux Power PM Enable
        aux_power / with_aux_power: bool = 10:10;
        /// Phantom Functions Enable
        phantom_functions / with_phantom_functions: bool = 9:9;
        /// Extended Tag Field Enable
        extended_tag / with_extended_tag: bool = 8:8;
        /// Maximum Payload Size: 128 B × 2^value
        payload / with_payload: u8 = 7:5;
        /// Enable Relaxed Ordering
        relaxed_ordering / with_relaxed_ordering: bool = 4:4;
        /// Unsupported Request Reporting Enable
        unsupported_request / with_unsupported_request: bool = 3:3;
        /// Fatal Error Reporting Enable
        fatal_error / with_fatal_error: bool = 2:2;
        /// Non-Fatal Error Reporting Enable
        nonfatal_error / with_nonfatal_error: bool = 1:1;
        /// Correctable Error Reporting Enable
        correctable_error / with_correctable_error: bool = 0:0;
    }

    /// Lane Error Status: a bit for each lane.
    pub struct LaneErrors(u32) {
        /// The lanes with an error
        lanes / with_lanes: u32 = 31:0;
    }

    /// Data parity mismatches: a bit for each lane.
    pub struct Parity(u32) {
        /// The lanes with a mismatch
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

    /// Status of uncorrectable errors (AER).
    pub struct Uncorrectable(u32) {
        /// Errors of transactions, and reserved bits
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
        /// Reserved, and other controls
        reserved = 15:2;
        /// Trigger Enable: 0 disabled, 1 for fatal errors, 2 for fatal and nonfatal errors
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

    /// pciutils `lib/header.h`: PCI_EXP_DEVCAP_FLRESET 0x10000000, PCI_ERR_UNC_SURPDN 0x20, PCI_MSIX_MASK 0x4000.
    #[test]
    fn bits_are_where_pciutils_has_them() {
        assert!(Uncorrectable::from_raw(0x20).surprise_down());
        assert!(DeviceCapabilities::from_raw(0x1000_0000).function_level_reset());
        assert!(MsixControl::from_raw(0x4000).function_mask());
    }

    #[test]
    fn every_word_tiles() {
        use lanetwin_wire::assert_fields_tile;
        assert_fields_tile::<CacheLine>();
        assert_fields_tile::<InterruptLine>();
        assert_fields_tile::<ExpressCapabilities>();
        assert_fields_tile::<DeviceCapabilities>();
        assert_fields_tile::<DeviceControl>();
        assert_fields_tile::<LaneErrors>();
        assert_fields_tile::<Parity>();
        assert_fields_tile::<MarginPortStatus>();
        assert_fields_tile::<MarginLane>();
        assert_fields_tile::<Uncorrectable>();
        assert_fields_tile::<ContainmentControl>();
        assert_fields_tile::<MsixControl>();
        assert_fields_tile::<DeviceCapabilities3>();
        assert_fields_tile::<DeviceControl3>();
    }
}
