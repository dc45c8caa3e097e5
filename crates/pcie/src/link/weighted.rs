//! Weighted arbitration: a table of phases determines the next ingress.

use super::choice::{Choice, Obstacle};
use super::class_masks::bits;
use super::egress::Egress;
use super::sentinels::NEVER;

impl Egress {
    #[inline(never)]
    /// Arbitrates at `t` among the inputs whose first TLP may be sent.
    pub(super) fn choose_weighted(&mut self, t: u64) -> Choice {
        let (mut candidates, mut until, mut waiting) = (0_u128, NEVER, 0);
        for input in bits(self.occupied) {
            let head = self.head[input];
            if head > t {
                until = until.min(head);
                continue;
            }
            waiting += 1;
            match self.obstacle(input, t) {
                Obstacle::None => candidates |= 1 << input,
                Obstacle::Order => {}
                Obstacle::Until(known) => until = until.min(known),
            }
        }
        let winner = self.turns.as_ref().and_then(|turns| turns.winner(candidates));
        match winner {
            Some(input) => Choice::Send { input, contended: waiting > 1, until, behind: NEVER },
            None => Choice::Wait(until),
        }
    }
}
