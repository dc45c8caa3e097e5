//! Bit masks of inputs by class.

use super::spec::CLASSES;

/// One bit for each class.
pub(super) const EVERY_CLASS: u128 = (1 << CLASSES) - 1;

const EVERY_THIRD_BIT: u128 = ((1 << 126) - 1) / 7;

const CLASS_MASKS: [u128; CLASSES] = [EVERY_THIRD_BIT, EVERY_THIRD_BIT << 1, EVERY_THIRD_BIT << 2];

/// The inputs, or return rings, of one class: every third bit.
#[inline]
pub(super) const fn class_mask(class: usize) -> u128 {
    CLASS_MASKS[class]
}

/// Indices of the bits that are set, lowest first.
#[inline]
pub(super) fn bits(mut mask: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lowest < u128::BITS).then_some(lowest as usize)
    })
}
