//! Flow control: the classes of traffic, and the credits that a TLP needs before it may be sent.
//!
//! Not here: counting credits as TLPs come and go (the link's logic); scaled flow control, so a receiver has at most
//! 127 headers and 2047 data credits outstanding in a class; merged credits; virtual channels other than VC0.

use super::constants::{
    DATA_CREDIT_DWORDS, DATA_CREDITS_MAX, HEADER_CREDITS_MAX, MINIMUM_HEADER_CREDITS,
    MINIMUM_NON_POSTED_DATA_CREDITS,
};
use super::fc_class::FcClass;
use super::size::{Dwords, Mps};
use super::tlp::TlpKind;

/// A number of header credits: one for each TLP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct HeaderCredits(pub u16);

/// A number of data credits: one for each 16 B of payload, or part of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct DataCredits(pub u16);

impl Dwords {
    /// The credits that a payload of this many dwords needs, rounded up.
    #[must_use]
    pub const fn data_credits(self) -> DataCredits {
        DataCredits(self.0.div_ceil(DATA_CREDIT_DWORDS as u16))
    }
}

/// Header and data credits of one class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Credits {
    /// For headers.
    pub header: HeaderCredits,
    /// For payload.
    pub data: DataCredits,
}

impl Credits {
    /// What a TLP with this payload needs.
    #[must_use]
    pub const fn needed(payload: Dwords) -> Self {
        Self { header: HeaderCredits(1), data: payload.data_credits() }
    }
    /// Whether these suffice for a TLP that needs `other`: of both kinds, for neither stands in for the other.
    #[must_use]
    pub const fn cover(self, other: Self) -> bool {
        self.header.0 >= other.header.0 && self.data.0 >= other.data.0
    }
}

/// What a receiver grants when the link initialises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Advertised<C> {
    /// So many.
    Finite(C),
    /// Never checked: the field is zero on the wire.
    Infinite,
}

/// A receiver's advertisement for one class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Advertisement {
    /// For headers.
    pub header: Advertised<HeaderCredits>,
    /// For payload.
    pub data: Advertised<DataCredits>,
}

impl Advertisement {
    /// No limit at all.
    pub const INFINITE: Self = Self { header: Advertised::Infinite, data: Advertised::Infinite };

    /// Exactly `credits`; none if the counters cannot hold so many, or either is zero (which would mean infinite).
    #[must_use]
    pub const fn finite(credits: Credits) -> Option<Self> {
        let Credits { header, data } = credits;
        let header_fits = 0 < header.0 && header.0 as u64 <= HEADER_CREDITS_MAX;
        let data_fits = 0 < data.0 && data.0 as u64 <= DATA_CREDITS_MAX;
        if header_fits && data_fits {
            Some(Self { header: Advertised::Finite(header), data: Advertised::Finite(data) })
        } else {
            None
        }
    }

    /// The least that a receiver may advertise for `class`.
    #[must_use]
    pub const fn minimum(class: FcClass, receiver: Receiver, mps: Mps) -> Self {
        let data = match (class, receiver) {
            (FcClass::Completion, Receiver::RootComplexOrEndpoint) => return Self::INFINITE,
            (FcClass::NonPosted, _) => DataCredits(MINIMUM_NON_POSTED_DATA_CREDITS as u16),
            (FcClass::Posted | FcClass::Completion, _) => mps.dwords().data_credits(),
        };
        let header = HeaderCredits(MINIMUM_HEADER_CREDITS as u16);
        Self { header: Advertised::Finite(header), data: Advertised::Finite(data) }
    }
}

/// Who receives: whether completions end here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Receiver {
    /// Completions end here, and answer requests for which there was room.
    RootComplexOrEndpoint,
    /// Completions pass through.
    Switch,
}

impl TlpKind {
    /// What a TLP of this kind needs of its class' credits.
    #[must_use]
    pub const fn credits(self, payload: Dwords) -> Credits {
        Credits::needed(if self.has_data() { payload } else { Dwords::ZERO })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every payload there is: the credits hold it, and one fewer would not.
    #[test]
    fn data_credits_are_the_least_that_hold_the_payload() {
        for dwords in (0..=1024).map(Dwords) {
            let held = u32::from(dwords.data_credits().0) * 16;
            assert!(held >= dwords.bytes() && held < dwords.bytes() + 16, "{dwords:?}");
        }
        assert_eq!(
            TlpKind::MWr.credits(Dwords(64)),
            Credits { header: HeaderCredits(1), data: DataCredits(16) }
        );
        assert_eq!(TlpKind::MRd.credits(Dwords(64)).data, DataCredits(0));
    }

    #[test]
    fn header_and_data_do_not_stand_in_for_each_other() {
        let credits = |header, data| Credits { header: HeaderCredits(header), data: DataCredits(data) };
        assert!(credits(1, 16).cover(credits(1, 16)));
        assert!(!credits(0, 100).cover(credits(1, 16)) && !credits(100, 15).cover(credits(1, 16)));
    }

    #[test]
    fn the_least_advertisement_takes_one_tlp_of_full_size() {
        for mps in Mps::ALL {
            for receiver in [Receiver::RootComplexOrEndpoint, Receiver::Switch] {
                let data = Advertised::Finite(DataCredits(mps.bytes() / 16));
                let posted = Advertisement::minimum(FcClass::Posted, receiver, mps);
                assert_eq!(posted, Advertisement { header: Advertised::Finite(HeaderCredits(1)), data });
                let non_posted = Advertisement::minimum(FcClass::NonPosted, receiver, mps);
                assert_eq!(non_posted.data, Advertised::Finite(DataCredits(1)));
            }
            let at_switch = Advertisement::minimum(FcClass::Completion, Receiver::Switch, mps);
            assert_eq!(at_switch.data, Advertised::Finite(DataCredits(mps.bytes() / 16)));
            let at_end = Advertisement::minimum(FcClass::Completion, Receiver::RootComplexOrEndpoint, mps);
            assert_eq!(at_end, Advertisement::INFINITE);
        }
    }

    #[test]
    fn an_advertisement_fits_the_counters() {
        let finite = |header, data| {
            Advertisement::finite(Credits { header: HeaderCredits(header), data: DataCredits(data) })
                .is_some()
        };
        assert!(finite(1, 1) && finite(127, 2047));
        assert!(!finite(0, 1) && !finite(1, 0) && !finite(128, 1) && !finite(1, 2048));
    }
}
