//! Decision of plain flits of one direction, one after another, in a window of time.

use super::effects::Environment;
use super::half::{FLIT_BITS, Half};
use super::receiver::Receiver;
use crate::spec::Direction;
use crate::spec::constants::{
    LINE_SLOTS, M2S_REQ_PER_FLIT, M2S_RWD_PER_FLIT, S2M_DRS_PER_FLIT, S2M_NDR_PER_FLIT,
};

/// A number of credits that no flit can use up.
const ENOUGH: u32 = S2M_DRS_PER_FLIT as u32 + 1;
const _: () = assert!(M2S_REQ_PER_FLIT <= S2M_DRS_PER_FLIT && M2S_RWD_PER_FLIT <= S2M_DRS_PER_FLIT);
const _: () = assert!(S2M_NDR_PER_FLIT <= S2M_DRS_PER_FLIT);

impl<U: Copy> Half<U> {
    /// Sends the flits that start before `until`, up to the first that is not plain. Returns whether there is such a
    /// flit.
    #[inline(always)]
    pub fn plain_flits(
        &mut self,
        direction: Direction,
        until: u64,
        other: &mut Self,
        env: &mut impl Environment<U>,
    ) -> bool {
        let mut place = self.start();
        let mut last = 0;
        let plain = until.min(self.exceptional_from);
        while place.start < plain && self.clean_bits >= FLIT_BITS {
            last = place.start;
            self.io_turn = true;
            self.next = self.wire.grid.after(place);
            self.clean_bits -= FLIT_BITS;
            // Otherwise returned credits can be added later, together: a flit cannot use more than it has now.
            if self.credits[0].min(self.credits[1]) < ENOUGH {
                self.take_credits(place.start);
            }
            let mut receiver = Receiver::new(direction, &self.wire, place.start, other, env);
            if self.rollover >= LINE_SLOTS {
                self.all_data_flit(&mut receiver);
            } else {
                self.plain_flit(place.start, &mut receiver);
            }
            self.update_wanted_of_plain();
            place = self.start();
        }
        self.take_credits(last);
        place.start < until
    }
}
