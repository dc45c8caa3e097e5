//! The loss budget of a rate, and the parts that it is split into.

use crate::element::Number;
use crate::quantity::Dimension;
use serde::Serialize;
use std::collections::BTreeMap;

/// The parts that a budget is split into.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// The package of the root port.
    RootPackage,
    /// The system board.
    SystemBoard,
    /// The connector of the slot.
    Connector,
    /// The add-in card with its package.
    AddInCard,
}

impl Share {
    /// Every share, from the root on.
    pub const ALL: [Self; 4] = [Self::RootPackage, Self::SystemBoard, Self::Connector, Self::AddInCard];

    /// `root-package`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RootPackage => "root-package",
            Self::SystemBoard => "system-board",
            Self::Connector => "connector",
            Self::AddInCard => "add-in-card",
        }
    }
}

/// The loss budget of a rate.
#[derive(Clone, PartialEq, Debug)]
pub struct Budget {
    total_db: f64,
    bit_errors: f64,
    shares: BTreeMap<Share, f64>,
    numbers: BTreeMap<String, Number>,
}

impl Budget {
    pub(crate) fn new(numbers: BTreeMap<String, Number>) -> Result<Self, String> {
        let read = |name: &str, dimension: Dimension| {
            numbers.get(name).map(|number| dimension.read(&number.value)).transpose()
        };
        let needed =
            |name: &str, dimension| read(name, dimension)?.ok_or_else(|| format!("`{name}:` is missing"));
        let (total_db, bit_errors) =
            (needed("total", Dimension::Loss)?, needed("bit-errors", Dimension::Ratio)?);
        let mut shares = BTreeMap::new();
        for share in Share::ALL {
            if let Some(db) = read(share.name(), Dimension::Loss)? {
                shares.insert(share, db);
            }
        }
        let known = |name: &str| {
            ["total", "bit-errors"].contains(&name) || Share::ALL.iter().any(|s| s.name() == name)
        };
        match numbers.keys().find(|name| !known(name)) {
            Some(name) => Err(format!("there is no share `{name}`")),
            None => Ok(Self { total_db, bit_errors, shares, numbers }),
        }
    }
    /// Die to die, at the Nyquist frequency \[dB\].
    #[must_use]
    pub const fn total_db(&self) -> f64 {
        self.total_db
    }
    /// The bit error ratio for which it holds.
    #[must_use]
    pub const fn bit_errors(&self) -> f64 {
        self.bit_errors
    }
    /// Share of a part \[dB\]; `None` if no split is known.
    #[must_use]
    pub fn share_db(&self, share: Share) -> Option<f64> {
        self.shares.get(&share).copied()
    }
    /// Its numbers as they are written, by name.
    #[must_use]
    pub const fn numbers(&self) -> &BTreeMap<String, Number> {
        &self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataRate;
    use crate::element::Library;

    #[test]
    fn every_rate_has_a_budget_and_a_split_adds_up_to_it() {
        for rate in DataRate::ALL {
            let budget = Library::standard().budget(rate).unwrap();
            assert!((9.0..=40.0).contains(&budget.total_db()) && budget.bit_errors() <= 1e-6);
            if budget.share_db(Share::RootPackage).is_some() {
                let sum: f64 = Share::ALL.iter().map(|share| budget.share_db(*share).unwrap()).sum();
                assert!((sum - budget.total_db()).abs() < 1e-9, "{rate:?} {sum}");
            }
        }
        assert_eq!(Library::standard().budget(DataRate::Gen5).unwrap().total_db(), 36.0);
    }

    #[test]
    fn a_budget_without_a_total_or_with_a_share_too_many_is_refused() {
        let number = |value: &str| Number {
            value: value.into(),
            kind: lanetwin_units::NumberKind::Assumed,
            source: "test".into(),
            confidence: crate::element::Confidence::Unconfirmed,
            to: None,
            note: None,
        };
        let of = |names: &[(&str, &str)]| {
            Budget::new(names.iter().map(|(name, value)| ((*name).into(), number(value))).collect()).err()
        };
        assert_eq!(of(&[("total", "36dB"), ("bit-errors", "1e-12")]), None);
        assert!(of(&[("bit-errors", "1e-12")]).unwrap().contains("total"));
        assert!(of(&[("total", "36"), ("bit-errors", "1e-12")]).unwrap().contains("36"));
        assert!(
            of(&[("total", "36dB"), ("bit-errors", "1e-12"), ("riser", "1dB")]).unwrap().contains("riser")
        );
    }
}
