//! Little's law as an identity of integers: the sum of all residence times equals the integral of the number inside.
//!
//! ```text
//!  number ▲      ┌───┐                    ∫ number dt      (kept by `arrive` and `leave` from the clock alone)
//!  inside │  ┌───┘   └───────┐                 ‖
//!         └──┴───────────────┴──► time    Σ (left − entered)   (from what each thing says of itself)
//! ```
//!
//! Both sides are measured independently: the area by the times of the calls, the residence by the arrival time that
//! each item carries with it. They are equal to the picosecond once everything has left. If an item was duplicated,
//! dropped or stamped with a wrong time, they differ. While an item is inside, they cannot be compared.
//!
//! Not here: the steady-state form L = λW with estimated rates, which follows from the identity and needs no test.
//!
//! ```
//! use lanetwin_stats::LittlesLaw;
//! use lanetwin_units::Instant;
//! let mut queue = LittlesLaw::new();
//! queue.arrive(Instant::from_ps(0));
//! queue.arrive(Instant::from_ps(10));
//! queue.leave(Instant::from_ps(30), Instant::from_ps(0));
//! queue.leave(Instant::from_ps(35), Instant::from_ps(10));
//! assert_eq!(queue.verify(), Ok(55)); // ps: 30 + 25 = 1·10 + 2·20 + 1·5
//! ```

use lanetwin_units::Instant;

/// Counts arrivals and departures of one place, in integer picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LittlesLaw {
    now: Instant,
    inside: u64,
    departures: u64,
    residence_ps: u128,
    area_ps: u128,
}

/// Why Little's law could not be confirmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LittleError {
    /// Some items have not left yet.
    #[error("{inside} are still inside: the law can only be checked when all have left")]
    StillInside {
        /// Number of items inside.
        inside: u64,
    },
    /// Little's law does not hold: an item was duplicated, dropped, or stamped with a wrong time.
    #[error("residence times sum to {residence_ps} ps, but the number inside integrates to {area_ps} ps")]
    Unequal {
        /// Sum of residence times \[ps\].
        residence_ps: u128,
        /// Integral of the number inside over time \[ps\].
        area_ps: u128,
    },
}

impl LittlesLaw {
    /// An empty place at the start of a run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An item enters at `now`.
    ///
    /// # Panics
    /// If `now` is earlier than the call before.
    pub fn arrive(&mut self, now: Instant) {
        self.advance(now);
        self.inside += 1;
    }

    /// An item that entered at `entered`, by its own record, leaves at `now`.
    ///
    /// # Panics
    /// If `now` is earlier than the call before or than `entered`, or if nothing is inside.
    pub fn leave(&mut self, now: Instant, entered: Instant) {
        self.advance(now);
        assert!(entered <= now, "left at {} ps, before it entered at {} ps", now.as_ps(), entered.as_ps());
        self.inside = self.inside.checked_sub(1).expect("only what has arrived can leave");
        self.departures += 1;
        self.residence_ps += u128::from(now.since(entered).as_ps());
    }

    /// Advances the area to `now` without an arrival or a departure.
    ///
    /// # Panics
    /// If `now` is earlier than the call before.
    pub fn advance(&mut self, now: Instant) {
        assert!(now >= self.now, "time went back from {} ps to {} ps", self.now.as_ps(), now.as_ps());
        self.area_ps += u128::from(self.inside) * u128::from(now.since(self.now).as_ps());
        self.now = now;
    }

    /// Number of items inside.
    #[must_use]
    pub const fn inside(&self) -> u64 {
        self.inside
    }
    /// Number of items that have left.
    #[must_use]
    pub const fn departures(&self) -> u64 {
        self.departures
    }
    /// Sum of the residence times of all items that have left \[ps\].
    #[must_use]
    pub const fn residence_ps(&self) -> u128 {
        self.residence_ps
    }
    /// Integral of the number inside, up to the last call \[ps\].
    #[must_use]
    pub const fn area_ps(&self) -> u128 {
        self.area_ps
    }
    /// Mean number inside from the start of the run to the last call; `None` at time zero.
    #[must_use]
    pub fn mean_inside(&self) -> Option<f64> {
        (self.now > Instant::ZERO).then(|| self.area_ps as f64 / self.now.as_ps() as f64)
    }
    /// Mean residence time of the items that have left \[ps\]; `None` if none has.
    #[must_use]
    pub fn mean_residence_ps(&self) -> Option<f64> {
        (self.departures > 0).then(|| self.residence_ps as f64 / self.departures as f64)
    }

    /// The value of both sides of the law, if they are equal \[ps\].
    ///
    /// # Errors
    /// If an item is still inside, or the sides differ.
    pub const fn verify(&self) -> Result<u128, LittleError> {
        if self.inside > 0 {
            return Err(LittleError::StillInside { inside: self.inside });
        }
        if self.residence_ps != self.area_ps {
            return Err(LittleError::Unequal { residence_ps: self.residence_ps, area_ps: self.area_ps });
        }
        Ok(self.area_ps)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn at(ps: u64) -> Instant {
        Instant::from_ps(ps)
    }

    #[test]
    fn a_wrong_stamp_is_found() {
        let mut place = LittlesLaw::new();
        place.arrive(at(5));
        place.leave(at(9), at(6));
        assert_eq!(place.verify(), Err(LittleError::Unequal { residence_ps: 3, area_ps: 4 }));
    }

    #[test]
    fn nothing_is_claimed_while_somebody_is_inside() {
        let mut place = LittlesLaw::new();
        assert_eq!(place.verify(), Ok(0));
        place.arrive(at(5));
        assert_eq!(place.verify(), Err(LittleError::StillInside { inside: 1 }));
        place.advance(at(10));
        assert_eq!((place.area_ps(), place.mean_inside()), (5, Some(0.5)));
        assert_eq!(place.mean_residence_ps(), None);
    }

    #[test]
    #[should_panic(expected = "only what has arrived can leave")]
    fn a_duplicate_is_found_at_once() {
        let mut place = LittlesLaw::new();
        place.arrive(at(1));
        place.leave(at(2), at(1));
        place.leave(at(3), at(1));
    }

    #[test]
    #[should_panic(expected = "time went back")]
    fn time_does_not_go_back() {
        let mut place = LittlesLaw::new();
        place.arrive(at(2));
        place.arrive(at(1));
    }

    #[test]
    fn sums_pass_64_bits() {
        let mut place = LittlesLaw::new();
        let long = at(u64::MAX / 2);
        (0..8).for_each(|_| place.arrive(Instant::ZERO));
        (0..8).for_each(|_| place.leave(long, Instant::ZERO));
        assert_eq!(place.verify(), Ok(8 * u128::from(u64::MAX / 2)));
    }
}
