//! Keywords of Touchstone 2, and their values.

use crate::network::MOST_PORTS;
use crate::problem::Problem;
use core::f64::consts::FRAC_1_SQRT_2;

/// A keyword, which is written in brackets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keyword {
    Version,
    NumberOfPorts,
    TwoPortDataOrder,
    NumberOfFrequencies,
    NumberOfNoiseFrequencies,
    Reference,
    MatrixFormat,
    MixedModeOrder,
    BeginInformation,
    EndInformation,
    NetworkData,
    NoiseData,
    End,
}

impl Keyword {
    /// Parses the text between the brackets; case and the number of spaces are ignored.
    pub(super) fn named(word: &str) -> Option<Self> {
        let plain = word.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
        Some(match &*plain {
            "version" => Self::Version,
            "number of ports" => Self::NumberOfPorts,
            "two-port data order" | "two-port order" => Self::TwoPortDataOrder,
            "number of frequencies" => Self::NumberOfFrequencies,
            "number of noise frequencies" => Self::NumberOfNoiseFrequencies,
            "reference" => Self::Reference,
            "matrix format" => Self::MatrixFormat,
            "mixed-mode order" => Self::MixedModeOrder,
            "begin information" => Self::BeginInformation,
            "end information" => Self::EndInformation,
            "network data" => Self::NetworkData,
            "noise data" => Self::NoiseData,
            "end" => Self::End,
            _ => return None,
        })
    }
}

/// Cells of a matrix that are written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Shape {
    #[default]
    Full,
    Lower,
    Upper,
}

/// Values of the keywords read so far.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Header {
    pub(super) version_2: bool,
    pub(super) ports: Option<usize>,
    /// Whether S12 comes before S21, of two ports.
    pub(super) twelve_first: Option<bool>,
    pub(super) frequencies: Option<usize>,
    pub(super) shape: Shape,
    pub(super) reference: Vec<f64>,
    /// Modes as written, such as `D2,3`.
    pub(super) modes: Vec<String>,
}

impl Header {
    /// Reads a keyword whose words are on its own line.
    pub(super) fn take(&mut self, keyword: Keyword, words: &[&str]) -> Result<(), Problem> {
        let first = words.first().map_or(String::new(), |word| word.to_ascii_lowercase());
        let value = |keyword, wanted| Problem::KeywordValue { keyword, wanted };
        match keyword {
            Keyword::Version => match &*first {
                "2.0" | "2.1" | "2" => self.version_2 = true,
                "1.0" | "1.1" | "1" => self.version_2 = false,
                _ => return Err(value("Version", "1.0, 1.1, 2.0 or 2.1")),
            },
            Keyword::NumberOfPorts => match first.parse() {
                Ok(ports) if (1..=MOST_PORTS).contains(&ports) => self.ports = Some(ports),
                _ => return Err(value("Number of Ports", "a number from 1 to 128")),
            },
            Keyword::TwoPortDataOrder => match &*first {
                "12_21" => self.twelve_first = Some(true),
                "21_12" => self.twelve_first = Some(false),
                _ => return Err(value("Two-Port Data Order", "12_21 or 21_12")),
            },
            Keyword::NumberOfFrequencies => match first.parse() {
                Ok(count) => self.frequencies = Some(count),
                Err(_) => return Err(value("Number of Frequencies", "a whole number")),
            },
            Keyword::MatrixFormat => match &*first {
                "full" => self.shape = Shape::Full,
                "lower" => self.shape = Shape::Lower,
                "upper" => self.shape = Shape::Upper,
                _ => return Err(value("Matrix Format", "Full, Lower or Upper")),
            },
            _ => {}
        }
        Ok(())
    }
    /// Composition of each mode; `None` if the words do not describe each port exactly once.
    pub(super) fn modes(&self, ports: usize) -> Option<Vec<crate::network::Mode>> {
        let modes: Vec<_> = self.modes.iter().map(|word| mode(word, ports)).collect::<Option<_>>()?;
        let dot = |a: &crate::network::Mode, b: &crate::network::Mode| {
            let products = a.iter().flat_map(|(p, x)| b.iter().map(move |(q, y)| (p == q, x * y)));
            products.filter(|(same, _)| *same).map(|(_, product)| product).sum::<f64>()
        };
        let orthogonal = (0..modes.len()).all(|a| {
            (0..modes.len()).all(|b| (dot(&modes[a], &modes[b]) - f64::from(u8::from(a == b))).abs() < 1e-9)
        });
        (modes.len() == ports && orthogonal).then_some(modes)
    }
}

/// `D2,3` is a difference, `C2,3` a sum, `S4` a port by itself.
fn mode(word: &str, ports: usize) -> Option<crate::network::Mode> {
    let port = |text: &str| text.parse::<usize>().ok().filter(|p| (1..=ports).contains(p)).map(|p| p - 1);
    let kind = word.chars().next()?.to_ascii_uppercase();
    let rest = word.get(1..)?;
    if kind == 'S' {
        let port = port(rest)?;
        return Some([(port, 1.0), (port, 0.0)]);
    }
    let (p, n) = rest.split_once(',')?;
    let (p, n) = (port(p)?, port(n)?);
    match kind {
        _ if p == n => None,
        'D' => Some([(p, FRAC_1_SQRT_2), (n, -FRAC_1_SQRT_2)]),
        'C' => Some([(p, FRAC_1_SQRT_2), (n, FRAC_1_SQRT_2)]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_known_in_any_case_and_spacing() {
        assert_eq!(Keyword::named("NUMBER  of ports"), Some(Keyword::NumberOfPorts));
        assert_eq!(Keyword::named("Two-Port Data Order"), Some(Keyword::TwoPortDataOrder));
        assert_eq!(Keyword::named("Numbers of Ports"), None);
    }

    #[test]
    fn modes_name_each_port_once() {
        let of = |words: &str| {
            let modes = words.split_whitespace().map(str::to_owned).collect();
            Header { modes, ..Header::default() }.modes(3).is_some()
        };
        assert!(of("D2,3 C2,3 S1") && of("s1 d3,2 c2,3"));
        for wrong in [
            "D2,3 C2,3",
            "D2,3 D2,3 S1",
            "D2,3 C1,3 S1",
            "D2,2 C2,3 S1",
            "D2,4 C2,3 S1",
            "X1 S2 S3",
            "é1 S2 S3",
        ] {
            assert!(!of(wrong), "{wrong}");
        }
    }
}
