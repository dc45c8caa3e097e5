//! Timers of a fixed number of servers.
//!
//! The alarms that are set are kept in the order of time and, at equal times, of server number. Operations of one
//! kind take nearly equally long, so that most alarms are set nearly in order: a new alarm is inserted at the end, or
//! close to it, and the earliest is at the front.

use std::collections::VecDeque;

/// No alarm.
pub const NEVER: u64 = u64::MAX;

/// The place of a new alarm is searched for linearly among this many entries at the end, and by bisection before.
const NEAR: usize = 8;

/// The alarms of servers 0 to n−1 \[ps\].
#[derive(Clone, Debug)]
pub struct Timers {
    /// By server.
    times: Vec<u64>,
    /// The alarms that are set, in order.
    set: VecDeque<(u64, u32)>,
}

impl Timers {
    /// No alarm for any of `servers`.
    pub fn new(servers: usize) -> Self {
        Self { times: vec![NEVER; servers], set: VecDeque::new() }
    }

    /// Sets the alarm of `server`; [`NEVER`] clears it.
    #[inline]
    pub fn set(&mut self, server: usize, at: u64) {
        let before = core::mem::replace(&mut self.times[server], at);
        if before == at {
            return;
        }
        if before != NEVER {
            self.remove((before, server as u32));
        }
        if at != NEVER {
            self.insert((at, server as u32));
        }
    }

    /// The alarm of `server`.
    #[inline]
    pub fn of(&self, server: usize) -> u64 {
        self.times[server]
    }

    /// The earliest alarm, and its server.
    #[inline]
    pub fn first(&self) -> (u64, usize) {
        self.set.front().map_or((NEVER, 0), |&(at, server)| (at, server as usize))
    }

    /// Clears the earliest alarm.
    #[inline]
    pub fn clear_first(&mut self) {
        if let Some((_, server)) = self.set.pop_front() {
            self.times[server as usize] = NEVER;
        }
    }

    #[inline]
    fn insert(&mut self, alarm: (u64, u32)) {
        match self.set.back() {
            Some(last) if *last > alarm => self.insert_before_last(alarm),
            _ => self.set.push_back(alarm),
        }
    }

    fn insert_before_last(&mut self, alarm: (u64, u32)) {
        let near = self.set.len().saturating_sub(NEAR);
        let place = if near == 0 || self.set[near - 1] < alarm {
            near + self.set.range(near..).position(|other| *other > alarm).expect("the last one is later")
        } else {
            self.set.partition_point(|other| *other < alarm)
        };
        self.set.insert(place, alarm);
    }

    #[inline]
    fn remove(&mut self, alarm: (u64, u32)) {
        if self.set.front() == Some(&alarm) {
            self.set.pop_front();
        } else if let Ok(place) = self.set.binary_search(&alarm) {
            self.set.remove(place);
        }
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
            let mut timers = Timers::new(servers);
            let mut naive = vec![NEVER; servers];
            for (server, at) in sets {
                let (server, at) = (server % servers, if at == 0 { NEVER } else { at });
                timers.set(server, at);
                naive[server] = at;
                let least = *naive.iter().min().unwrap();
                let (time, who) = timers.first();
                prop_assert_eq!(time, least);
                if least != NEVER {
                    prop_assert_eq!(Some(who), naive.iter().position(|at| *at == least));
                }
            }
        }
    }
}
