//! Slots of responses: their formats and the bit positions of their messages.
//!
//! | format | slot | holds | bits |
//! |---|---|---|---|
//! | H3 | 0 | DRS, NDR | 70 |
//! | H4 | 0 | 2 NDR | 60 |
//! | H5 | 0 | 2 DRS | 80 |
//! | G4 | 1–3 | DRS, 2 NDR | 100 |
//! | G5 | 1–3 | 2 NDR | 60 |
//! | G6 | 1–3 | 3 DRS | 120 |
//!
//! (CXL §4.2.2, table 4-8.) Messages follow each other without gaps. In a slot with two NDR, the DevLoad fields follow
//! both messages, because CXL 2.0 added them without moving the other bits (CXL §4.2.3.2).

use super::constants::{S2M_DRS_PER_FLIT, S2M_NDR_PER_FLIT};
use super::message::{DRS_BITS, NDR_BITS, NDR_SPLIT_BITS, S2mDrs, S2mNdr};

/// Messages of one S2M slot: up to three with data and two without.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Responses {
    /// Headers of messages with data.
    pub drs: [Option<S2mDrs>; S2M_DRS_PER_FLIT as usize],
    /// Messages without data.
    pub ndr: [Option<S2mNdr>; S2M_NDR_PER_FLIT as usize],
}

/// Slot formats of CXL.mem (CXL §4.2.2, table 4-6). A number has one meaning in slot 0 and another in slots 1 to 3.
pub(super) mod format {
    pub const DATA: u8 = 0;
    pub const H3: u8 = 3;
    pub const H4: u8 = 4;
    pub const H5: u8 = 5;
    pub const G4: u8 = 4;
    pub const G5: u8 = 5;
    pub const G6: u8 = 6;
}

/// Bits of the flit header in slot 0.
pub(super) const HEADER_BITS: u32 = 32;

/// First bits of DRS, of NDR and of separate DevLoad fields in a slot of responses.
pub(super) struct Places {
    /// Number of the slot format in the header.
    pub(super) format: u8,
    drs: &'static [u32],
    ndr: &'static [u32],
    dev_load: Option<u32>,
}

const H3: Places = Places { format: format::H3, drs: &[0], ndr: &[DRS_BITS], dev_load: None };
const H4: Places =
    Places { format: format::H4, drs: &[], ndr: &[0, NDR_SPLIT_BITS], dev_load: Some(2 * NDR_SPLIT_BITS) };
const H5: Places = Places { format: format::H5, drs: &[0, DRS_BITS], ndr: &[], dev_load: None };
const G4: Places = Places {
    format: format::G4,
    drs: &[0],
    ndr: &[DRS_BITS, DRS_BITS + NDR_SPLIT_BITS],
    dev_load: Some(DRS_BITS + 2 * NDR_SPLIT_BITS),
};
const G5: Places = Places { format: format::G5, ..H4 };
const G6: Places = Places { format: format::G6, drs: &[0, DRS_BITS, 2 * DRS_BITS], ndr: &[], dev_load: None };

pub(super) const fn bits(word: u128, from: u32, count: u32) -> u128 {
    word >> from & (u128::MAX >> (128 - count))
}

impl Places {
    /// The smallest format that holds these numbers of messages; `None` if there is none.
    pub(super) fn for_counts(place: usize, drs: usize, ndr: usize) -> Option<&'static Self> {
        Some(match (place, drs, ndr) {
            (0, 0, _) => &H4,
            (0, 1, 0 | 1) => &H3,
            (0, 2, 0) => &H5,
            (0, ..) => return None,
            (_, 0, _) => &G5,
            (_, 1, _) => &G4,
            (_, _, 0) => &G6,
            _ => return None,
        })
    }
    pub(super) fn of_format(place: usize, format: u8) -> Option<&'static Self> {
        let all = if place == 0 { [&H3, &H4, &H5] } else { [&G4, &G5, &G6] };
        all.into_iter().find(|places| places.format == format)
    }
    pub(super) fn read(&self, word: u128) -> Responses {
        let mut responses = Responses::default();
        for (place, from) in responses.drs.iter_mut().zip(self.drs) {
            *place = Some(S2mDrs::from_raw(bits(word, *from, DRS_BITS) as u64)).filter(|drs| drs.valid());
        }
        for (n, (place, from)) in responses.ndr.iter_mut().zip(self.ndr).enumerate() {
            let raw = match self.dev_load {
                None => bits(word, *from, NDR_BITS),
                Some(apart) => {
                    bits(word, *from, NDR_SPLIT_BITS) | bits(word, apart + 2 * n as u32, 2) << NDR_SPLIT_BITS
                }
            };
            *place = Some(S2mNdr::from_raw(raw as u32)).filter(|ndr| ndr.valid());
        }
        responses
    }
    pub(super) fn write(&self, responses: &Responses) -> u128 {
        let mut word = 0;
        for (drs, from) in responses.drs.iter().flatten().zip(self.drs) {
            word |= bits(drs.raw().into(), 0, DRS_BITS) << from;
        }
        for (n, (ndr, from)) in responses.ndr.iter().flatten().zip(self.ndr).enumerate() {
            let raw = u128::from(ndr.raw());
            word |= match self.dev_load {
                None => bits(raw, 0, NDR_BITS) << from,
                Some(apart) => {
                    bits(raw, 0, NDR_SPLIT_BITS) << from
                        | bits(raw, NDR_SPLIT_BITS, 2) << (apart + 2 * n as u32)
                }
            };
        }
        word
    }
}

impl Responses {
    /// Numbers of headers of messages with data and of messages without data.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.drs.iter().flatten().count(), self.ndr.iter().flatten().count())
    }
    /// Whether no message follows a free position.
    pub(super) fn is_tight(&self) -> bool {
        let (drs, ndr) = self.counts();
        self.drs[..drs].iter().all(Option::is_some) && self.ndr[..ndr].iter().all(Option::is_some)
    }
}
