//! Decimal numbers, read exactly, without floats between the text and the integer.

/// A decimal number: `digits × 10^exponent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// Splits `12.5us` into the number and the rest; `None` if the text does not begin with a plain number: digits,
    /// optionally a point with digits, optionally an exponent.
    pub(super) fn split(text: &str) -> Option<(Self, &str)> {
        let (whole, rest) = digits(text);
        if whole.is_empty() {
            return None;
        }
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(after) => match digits(after) {
                ("", _) => return None,
                found => found,
            },
            None => ("", rest),
        };
        let (power, rest) = exponent(rest);
        // 30 digits are more than any quantity needs, and fit
        if whole.len() + fraction.len() > 30 {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse().ok()?;
        let exponent = power.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        Some((Self { digits, exponent }, rest))
    }

    /// The number times `times / per`, if that is a whole number of at most 64 bits.
    pub(super) fn whole(self, times: u128, per: u128) -> Result<u64, Inexact> {
        if self.digits == 0 {
            return Ok(0);
        }
        let ten = 10_u128.checked_pow(self.exponent.unsigned_abs());
        let product = self.digits.checked_mul(times);
        let (over, under) = match (self.exponent >= 0, ten, product) {
            (true, Some(ten), Some(product)) => (product.checked_mul(ten).ok_or(Inexact::TooLarge)?, per),
            (false, Some(ten), Some(product)) => (product, per.checked_mul(ten).ok_or(Inexact::TooFine)?),
            (false, None, _) => return Err(Inexact::TooFine),
            _ => return Err(Inexact::TooLarge),
        };
        if over % under != 0 {
            return Err(Inexact::TooFine);
        }
        u64::try_from(over / under).map_err(|_| Inexact::TooLarge)
    }

    /// The number divided by `10^power`, as the nearest float.
    pub(super) fn float(self, power: i32) -> f64 {
        let exponent = self.exponent.saturating_sub(power);
        // Rust parses decimal text to the nearest float
        format!("{}e{exponent}", self.digits).parse().expect("digits, e, an integer: a float's form")
    }
}

/// Why a decimal number is not a whole number of the unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Inexact {
    /// It is not a multiple of the unit.
    TooFine,
    /// It does not fit into 64 bits.
    TooLarge,
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// `e-12` and what follows; 0 if there is no exponent (`5e` is a number and the unit `e`).
fn exponent(text: &str) -> (i32, &str) {
    let read = || {
        let after = text.strip_prefix(['e', 'E'])?;
        let (negative, after) = match after.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, after.strip_prefix('+').unwrap_or(after)),
        };
        let (power, rest) = digits(after);
        let power: i32 = power.parse().ok().filter(|power| *power <= 400)?;
        Some((if negative { -power } else { power }, rest))
    };
    read().unwrap_or((0, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_where_the_unit_begins() {
        let split = |text| Decimal::split(text).map(|(number, rest)| (number.digits, number.exponent, rest));
        assert_eq!(split("12.5us"), Some((125, -1, "us")));
        assert_eq!(split("1e-12"), Some((1, -12, "")));
        assert_eq!(split("5e"), Some((5, 0, "e")));
        assert_eq!(split("007 ns"), Some((7, 0, " ns")));
        for wrong in ["", "us", ".5us", "5.us", "-5ns", "+5ns", &"9".repeat(31)] {
            assert_eq!(split(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn whole_is_exact_or_says_why_not() {
        let whole = |text, times, per| Decimal::split(text).expect("a number").0.whole(times, per);
        assert_eq!(whole("1.5", 1_000, 1), Ok(1_500));
        assert_eq!(whole("0.1", 1, 1), Err(Inexact::TooFine));
        assert_eq!(whole("1e-400", 1, 1), Err(Inexact::TooFine));
        assert_eq!(whole("0e-400", 1, 1), Ok(0));
        assert_eq!(whole("16", 1_000_000_000, 8), Ok(2_000_000_000));
        assert_eq!(whole("1e400", 1, 1), Err(Inexact::TooLarge));
        assert_eq!(whole("18446744073709551616", 1, 1), Err(Inexact::TooLarge));
        assert_eq!(whole("18446744073709551615", 1, 1), Ok(u64::MAX));
    }

    #[test]
    fn a_float_is_the_nearest() {
        let float = |text, power| Decimal::split(text).expect("a number").0.float(power);
        assert_eq!(float("2", 2).to_bits(), 0.02_f64.to_bits());
        assert_eq!(float("1e-12", 0).to_bits(), 1e-12_f64.to_bits());
    }
}
