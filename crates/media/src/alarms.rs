//! When each of a fixed number of servers acts next.
//!
//! A tournament: a node holds the earlier of its two children, among equals the one with the lower number. Setting and clearing cost
//! one walk to the root, and the earliest is at hand.

/// No alarm.
pub const NEVER: u64 = u64::MAX;

/// The alarms of servers 0 to n−1 \[ps\].
#[derive(Clone, Debug)]
pub struct Alarms {
    /// Times of the leaves; a power of two.
    times: Vec<u64>,
    /// Winners; node i has the children 2i and 2i+1, the root is 1.
    winners: Vec<u32>,
}

impl Alarms {
    /// No alarm for any of `servers`.
    pub fn new(servers: usize) -> Self {
        let leaves = servers.next_power_of_two().max(2);
        let mut winners = vec![0; leaves];
        for node in (1..leaves).rev() {
            winners[node] = if 2 * node >= leaves { (2 * node - leaves) as u32 } else { winners[2 * node] };
        }
        Self { times: vec![NEVER; leaves], winners }
    }

    /// Sets the alarm of `server`; [`NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, server: usize, at: u64) {
        if self.times[server] == at {
            return;
        }
        self.times[server] = at;
        let leaves = self.times.len();
        // the lowest level compares leaves, those above compare winners
        let (left, right) = ((server & !1) as u32, (server | 1) as u32);
        let mut node = (server + leaves) / 2;
        let before = self.winners[node];
        self.winners[node] = self.earlier(left, right);
        // above a node that another server wins, as it did, nothing has changed
        if self.winners[node] == before && before != server as u32 {
            return;
        }
        while node > 1 {
            let (left, right) = (self.winners[node & !1], self.winners[node | 1]);
            node /= 2;
            let before = self.winners[node];
            self.winners[node] = self.earlier(left, right);
            if self.winners[node] == before && before != server as u32 {
                return;
            }
        }
    }

    /// The alarm of `server`.
    #[inline]
    pub fn of(&self, server: usize) -> u64 {
        self.times[server]
    }

    /// The earliest alarm, and whose it is.
    #[inline]
    pub fn first(&self) -> (u64, usize) {
        let winner = self.winners[1] as usize;
        (self.times[winner], winner)
    }

    #[inline]
    fn earlier(&self, left: u32, right: u32) -> u32 {
        // whose is earlier cannot be foreseen: no branch
        let is_right = self.times[right as usize] < self.times[left as usize];
        left ^ (left ^ right) & u32::from(is_right).wrapping_neg()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_least_and_among_equals_the_lowest(
            servers in 1_usize..40,
            sets in proptest::collection::vec((0_usize..40, 0_u64..20), 0..200),
        ) {
            let mut alarms = Alarms::new(servers);
            let mut naive = vec![NEVER; servers];
            for (server, at) in sets {
                let (server, at) = (server % servers, if at == 0 { NEVER } else { at });
                alarms.set(server, at);
                naive[server] = at;
                let least = *naive.iter().min().unwrap();
                let (time, who) = alarms.first();
                prop_assert_eq!(time, least);
                if least != NEVER {
                    prop_assert_eq!(Some(who), naive.iter().position(|at| *at == least));
                }
            }
        }
    }
}
