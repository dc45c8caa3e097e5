//! Division by constants, by one multiplication each; look-ups divide often.

/// A divisor.
///
/// With `reciprocal` = ⌈2^64 / `number`⌉ the product n · `reciprocal` / 2^64 exceeds n / `number` by less than n /
/// 2^64. That does not reach the next whole number as long as n · `number` is at most 2^64 (Granlund and Montgomery
/// 1994, theorem 4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divisor {
    number: u64,
    reciprocal: u64,
    /// The product is exact up to this number.
    most: u64,
}

impl Divisor {
    /// A divisor `number`.
    ///
    /// # Panics
    /// If it is 0.
    pub const fn new(number: u64) -> Self {
        assert!(number > 0, "nothing is divided by 0");
        if number == 1 {
            return Self { number, reciprocal: 0, most: 0 };
        }
        Self { number, reciprocal: u64::MAX / number + 1, most: u64::MAX / number }
    }

    /// The divisor.
    #[inline]
    pub const fn number(self) -> u64 {
        self.number
    }

    /// The quotient of `n`.
    #[inline]
    pub const fn quotient(self, n: u64) -> u64 {
        if n > self.most {
            return n / self.number;
        }
        ((n as u128 * self.reciprocal as u128) >> 64) as u64
    }

    /// The quotient and the remainder of `n`.
    #[inline]
    pub const fn split(self, n: u32) -> (u32, u32) {
        let quotient = self.quotient(n as u64);
        (quotient as u32, (n as u64 - quotient * self.number) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_divides(number in prop_oneof![1_u64..100, 1_u64..1 << 30, any::<u64>()], times: u64, past in 0_u64..3) {
            let number = number.max(1);
            let divisor = Divisor::new(number);
            // multiples and their neighbours are where rounding would show
            let multiple = (times % (u64::MAX / number)).saturating_mul(number);
            for n in [multiple.saturating_add(past), multiple.saturating_sub(past), times, times >> 24, u64::MAX] {
                prop_assert_eq!(divisor.quotient(n), n / number);
                let half = n as u32;
                prop_assert_eq!(u64::from(divisor.split(half).0), u64::from(half) / number);
                prop_assert_eq!(u64::from(divisor.split(half).1), u64::from(half) % number);
            }
            for n in [divisor.most, divisor.most.saturating_add(1), divisor.most.saturating_sub(1)] {
                prop_assert_eq!(divisor.quotient(n), n / number);
            }
        }
    }
}
