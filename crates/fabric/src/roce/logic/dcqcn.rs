//! DCQCN: sending rate of a queue pair after notifications of congestion (Zhu et al., "Congestion Control for
//! Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1 and figures 4 to 7).
//!
//! ```text
//!  switch marks (CE) ──► notification point (receiver) ── CNP, at most one every `cnp_interval` ──► reaction point
//!
//!  CNP            target = rate; rate = rate (1 - alpha / 2); alpha = (1 - g) alpha + g; all counters 0
//!  alpha timer    without a CNP: alpha = (1 - g) alpha
//!  rate timer, byte counter: an event; rate = (target + rate) / 2, and before that
//!                 up to `fast` events of each (fast recovery)  target stays
//!                 more of one    (additive increase)           target + additive
//!                 more of both   (hyper increase)              target + i × hyper, i = fewer of both - fast
//! ```
//!
//! Time is an argument; the effects of timers are computed when a query comes. A rate that has returned to the line
//! rate, with its target, is no longer a limit.

/// Parameters of adapters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// The least time between two CNPs of a queue pair \[ps\].
    pub cnp_interval: u64,
    /// g is 1 / 2 to the power of this.
    pub gain_shift: u32,
    /// Between two decays of alpha \[ps\].
    pub alpha_timer: u64,
    /// Between two events of the timer \[ps\].
    pub rate_timer: u64,
    /// Between two events of the byte counter \[B\].
    pub byte_counter: u64,
    /// Number of events of each kind that are fast recovery (F).
    pub fast: u32,
    /// Increase of the target in additive increase \[b/s\].
    pub additive: u64,
    /// Increase in hyper increase \[b/s\].
    pub hyper: u64,
    /// No rate is below this \[b/s\].
    pub least: u64,
}

/// An alpha of 1.
const ONE: u64 = 1 << 32;

/// The rate of a queue pair after a notification of congestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Limited {
    rate: u64,
    target: u64,
    alpha: u64,
    /// When alpha decays next, and when the timer expires next \[ps\].
    decay: u64,
    event: u64,
    /// Sent since the last event of the byte counter \[B\].
    bytes: u64,
    /// Events of the timer and of the byte counter since the last CNP.
    events: [u32; 2],
}

/// The reaction point of a queue pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reaction {
    rules: Rules,
    /// That of the line \[b/s\].
    line: u64,
    limited: Option<Limited>,
    /// When it may send next \[ps\].
    next: u64,
}

impl Reaction {
    /// One that may send at the rate of its line \[b/s\].
    #[must_use]
    pub const fn new(rules: Rules, line: u64) -> Self {
        Self { rules, line, limited: None, next: 0 }
    }

    /// A CNP has come.
    pub fn notified(&mut self, now: u64) {
        self.advance(now);
        let Rules { gain_shift, alpha_timer, rate_timer, least, .. } = self.rules;
        let (rate, alpha) = self.limited.map_or((self.line, ONE), |limited| (limited.rate, limited.alpha));
        let less = (u128::from(rate) * u128::from(alpha) / u128::from(2 * ONE)) as u64;
        self.limited = Some(Limited {
            rate: (rate - less).max(least.min(self.line)),
            target: rate,
            alpha: alpha - (alpha >> gain_shift) + (ONE >> gain_shift),
            decay: now + alpha_timer,
            event: now + rate_timer,
            bytes: 0,
            events: [0, 0],
        });
    }

    /// Notes that this many bytes of the line have been sent.
    pub fn sent(&mut self, now: u64, bytes: u64) {
        self.advance(now);
        let Some(limited) = &mut self.limited else { return };
        let time = u128::from(bytes) * 8_000_000_000_000 / u128::from(limited.rate);
        self.next = self.next.max(now) + time as u64;
        limited.bytes += bytes;
        while let Some(limited) = self.limited.as_mut().filter(|own| own.bytes >= self.rules.byte_counter) {
            limited.bytes -= self.rules.byte_counter;
            self.increase(1);
        }
    }

    /// When it may send: at once if that is in the past \[ps\].
    #[must_use]
    pub fn may_send(&self) -> u64 {
        self.next
    }
    /// Whether its rate is below the line rate at `now`.
    pub fn is_limited(&mut self, now: u64) -> bool {
        self.advance(now);
        self.limited.is_some()
    }
    /// Its rate at `now` \[b/s\].
    pub fn rate(&mut self, now: u64) -> u64 {
        self.advance(now);
        self.limited.map_or(self.line, |limited| limited.rate)
    }

    /// Applies the effects of timers up to `now`.
    fn advance(&mut self, now: u64) {
        while let Some(limited) = self.limited.as_mut().filter(|own| own.event.min(own.decay) <= now) {
            if limited.decay <= limited.event {
                limited.alpha -= limited.alpha >> self.rules.gain_shift;
                limited.decay += self.rules.alpha_timer;
            } else {
                limited.event += self.rules.rate_timer;
                self.increase(0);
            }
        }
    }

    /// An event of the timer or of the byte counter.
    fn increase(&mut self, kind: usize) {
        let (Rules { fast, additive, hyper, .. }, line) = (self.rules, self.line);
        let Some(limited) = &mut self.limited else { return };
        limited.events[kind] = limited.events[kind].saturating_add(1);
        let [fewer, more] =
            [limited.events[0].min(limited.events[1]), limited.events[0].max(limited.events[1])];
        let step = match (fewer > fast, more > fast) {
            (true, _) => hyper.saturating_mul(u64::from(fewer - fast)),
            (false, true) => additive,
            (false, false) => 0,
        };
        limited.target = limited.target.saturating_add(step).min(line);
        limited.rate = (limited.rate + limited.target).div_ceil(2);
        if limited.rate >= line {
            self.limited = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;
    const LINE: u64 = 40_000_000_000;
    /// Those of the paper for 40 Gb/s.
    const PAPER: Rules = Rules {
        cnp_interval: 50 * US,
        gain_shift: 8,
        alpha_timer: 55 * US,
        rate_timer: 55 * US,
        byte_counter: 10_000_000,
        fast: 5,
        additive: 40_000_000,
        hyper: 400_000_000,
        least: 40_000_000,
    };

    /// The first CNP halves the rate (alpha is 1), and five events of the timer give 31/32 of the loss back.
    #[test]
    fn a_notification_halves_and_fast_recovery_gives_back() {
        let mut reaction = Reaction::new(PAPER, LINE);
        assert!(!reaction.is_limited(0));
        reaction.notified(0);
        assert_eq!(reaction.rate(0), LINE / 2);
        for i in 1..=5 {
            assert_eq!(reaction.rate(i * 55 * US), LINE - ((LINE / 2) >> i));
        }
        // a target at the rate of the line: it comes back to that, and is no limit then
        assert!(reaction.rate(50 * 55 * US) == LINE && !reaction.is_limited(50 * 55 * US));
    }

    /// Behind fast recovery the target rises by `additive`; once both counters are behind it, by multiples of `hyper`.
    #[test]
    fn increase_is_additive_and_then_hyper() {
        let mut reaction = Reaction::new(PAPER, LINE);
        (0..6).for_each(|_| reaction.notified(0));
        let target = |reaction: &Reaction| reaction.limited.unwrap().target;
        let before = target(&reaction);
        reaction.rate(5 * 55 * US);
        assert_eq!(target(&reaction), before);
        reaction.rate(7 * 55 * US);
        assert_eq!(target(&reaction), before + 2 * PAPER.additive);
        reaction.sent(7 * 55 * US, 5 * PAPER.byte_counter);
        assert_eq!(target(&reaction), before + 7 * PAPER.additive);
        reaction.sent(7 * 55 * US, 2 * PAPER.byte_counter);
        assert_eq!(target(&reaction), before + 7 * PAPER.additive + 3 * PAPER.hyper);
    }

    /// Alpha follows the fraction of intervals with a CNP: an old congestion costs little.
    #[test]
    fn alpha_decays_without_notifications() {
        let mut reaction = Reaction::new(Rules { rate_timer: 1 << 60, ..PAPER }, LINE);
        reaction.notified(0);
        let now = 256 * 55 * US;
        let before = reaction.rate(now);
        reaction.notified(now);
        let cut = 1.0 - reaction.rate(now) as f64 / before as f64;
        let alpha = (255.0_f64 / 256.0).powi(256);
        assert!((cut / (alpha / 2.0) - 1.0).abs() < 1e-3, "{cut}, not {}", alpha / 2.0);
    }

    #[test]
    fn what_is_sent_is_as_far_apart_as_the_rate_says() {
        let mut reaction = Reaction::new(PAPER, LINE);
        reaction.sent(0, 1000);
        assert_eq!(reaction.may_send(), 0);
        reaction.notified(0);
        reaction.sent(0, 1000);
        reaction.sent(0, 1000);
        assert_eq!(reaction.may_send(), 2 * 8000 * 1_000_000_000_000 / (LINE / 2));
        (0..100).for_each(|_| reaction.notified(0));
        assert_eq!(reaction.rate(0), PAPER.least);
    }
}
