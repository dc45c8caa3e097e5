//! The words of frame headers and of FCP, most significant byte first on the wire (FC-FS, frame header; FCP-4,
//! information units).

use lanetwin_wire::{open_enum, wire};

open_enum! {
    /// Routing Control (R_CTL) of the frames of FCP: what kind of information the frame carries.
    pub struct RoutingControl(u8) {
        /// Solicited data: the data of a command.
        SOLICITED_DATA = 0x01;
        /// Data descriptor: FCP_XFER_RDY.
        DATA_DESCRIPTOR = 0x05;
        /// Unsolicited command: FCP_CMND.
        UNSOLICITED_COMMAND = 0x06;
        /// Command status: FCP_RSP.
        COMMAND_STATUS = 0x07;
    }

    /// Data structure type (TYPE) of a frame.
    pub struct DataStructure(u8) {
        /// Extended link services.
        EXTENDED_LINK_SERVICE = 0x01;
        /// SCSI-FCP.
        FCP = 0x08;
        /// Fibre Channel services (CT).
        SERVICES = 0x20;
    }
}

wire! {
    /// Word 0 of a frame header.
    pub struct HeaderWord0(u32) {
        /// Routing Control (R_CTL)
        r_ctl / with_r_ctl: RoutingControl = 31:24;
        /// Destination identifier (D_ID)
        d_id / with_d_id: u32 = 23:0;
    }

    /// Word 1 of a frame header.
    pub struct HeaderWord1(u32) {
        /// Class-specific control (CS_CTL), or priority
        cs_ctl / with_cs_ctl: u8 = 31:24;
        /// Source identifier (S_ID)
        s_id / with_s_id: u32 = 23:0;
    }

    /// Word 2 of a frame header.
    pub struct HeaderWord2(u32) {
        /// Data structure type (TYPE)
        data_type / with_data_type: DataStructure = 31:24;
        /// Frame control (F_CTL): sent by the responder of the exchange
        responder / with_responder: bool = 23:23;
        /// F_CTL: sent by the recipient of the sequence
        recipient / with_recipient: bool = 22:22;
        /// F_CTL: first sequence of the exchange
        first_sequence / with_first_sequence: bool = 21:21;
        /// F_CTL: last sequence of the exchange
        last_sequence / with_last_sequence: bool = 20:20;
        /// F_CTL: last frame of the sequence
        end_sequence / with_end_sequence: bool = 19:19;
        /// F_CTL: end of the connection (class 1)
        end_connection / with_end_connection: bool = 18:18;
        /// F_CTL: CS_CTL holds a priority
        priority / with_priority: bool = 17:17;
        /// F_CTL: transfer of the sequence initiative
        initiative / with_initiative: bool = 16:16;
        /// F_CTL: bits 15 to 4, acknowledgements and retransmission
        acknowledgement / with_acknowledgement: u16 = 15:4;
        /// F_CTL: the parameter is a relative offset
        relative_offset / with_relative_offset: bool = 3:3;
        /// F_CTL: reserved
        reserved = 2:2;
        /// F_CTL: bytes that fill up the last word of the data field
        fill_bytes / with_fill_bytes: u8 = 1:0;
    }

    /// Word 3 of a frame header.
    pub struct HeaderWord3(u32) {
        /// Sequence identifier (SEQ_ID)
        seq_id / with_seq_id: u8 = 31:24;
        /// Data field control (DF_CTL): which optional headers there are
        df_ctl / with_df_ctl: u8 = 23:16;
        /// Sequence count (SEQ_CNT)
        seq_cnt / with_seq_cnt: u16 = 15:0;
    }

    /// Word 4 of a frame header.
    pub struct HeaderWord4(u32) {
        /// Originator's exchange identifier (OX_ID)
        ox_id / with_ox_id: u16 = 31:16;
        /// Responder's exchange identifier (RX_ID)
        rx_id / with_rx_id: u16 = 15:0;
    }

    /// Word 2 of FCP_CMND, behind the LUN.
    pub struct CommandControl(u32) {
        /// Command reference number
        crn / with_crn: u8 = 31:24;
        /// Reserved
        reserved = 23:23;
        /// Command priority
        priority / with_priority: u8 = 22:19;
        /// Task attribute
        task_attribute / with_task_attribute: u8 = 18:16;
        /// Task management flags
        task_management / with_task_management: u8 = 15:8;
        /// Additional FCP_CDB length \[words\]
        additional_cdb / with_additional_cdb: u8 = 7:2;
        /// RDDATA: the initiator expects data
        read / with_read: bool = 1:1;
        /// WRDATA: the initiator has data
        write / with_write: bool = 0:0;
    }

    /// Word 2 of FCP_RSP.
    pub struct ResponseStatus(u32) {
        /// Status qualifier, or retry delay
        qualifier / with_qualifier: u16 = 31:16;
        /// Flags: which lengths and residuals are valid
        flags / with_flags: u8 = 15:8;
        /// SCSI status; 0 is GOOD
        status / with_status: u8 = 7:0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<HeaderWord0>();
        assert_fields_tile::<HeaderWord1>();
        assert_fields_tile::<HeaderWord2>();
        assert_fields_tile::<HeaderWord3>();
        assert_fields_tile::<HeaderWord4>();
        assert_fields_tile::<CommandControl>();
        assert_fields_tile::<ResponseStatus>();
    }
}
