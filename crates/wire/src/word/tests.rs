//! The laws of a wire word, on words that use every type of field.

use super::*;
use crate::open_enum;
use proptest::prelude::*;

open_enum! {
    /// Three named values of eight.
    struct Colour(u8) {
        /// Zero.
        RED = 0;
        /// Five.
        GREEN = 5;
        /// Seven.
        BLUE = 7;
    }
}

wire! {
    /// Every kind of field, and no field where it would be convenient.
    struct Mixed(u64) {
        /// A flag
        flag / with_flag: bool = 63:63;
        /// Three bits
        colour / with_colour: Colour = 62:60;
        /// Reserved
        reserved = 59:57;
        /// Twelve bits,
        /// described on two lines
        twelve / with_twelve: u16 = 56:45;
        /// As wide as its type
        byte / with_byte: u8 = 44:37;
        /// Thirty-two
        wide / with_wide: u32 = 36:5;
        /// Reserved
        reserved = 4:3;
        /// Three
        three / with_three: u8 = 2:0;
    }

    /// One field, the widest there can be.
    struct Whole(u128) {
        /// All of it
        all / with_all: u128 = 127:0;
    }

    /// A field of a type wider than it needs.
    struct Loose(u8) {
        /// Low nibble
        low / with_low: u64 = 3:0;
        /// High nibble
        high / with_high: u32 = 7:4;
    }
}

#[test]
fn declared_words_tile() {
    assert_fields_tile::<Mixed>();
    assert_fields_tile::<Whole>();
    assert_fields_tile::<Loose>();
}

#[test]
fn a_list_of_fields_that_does_not_tile_is_told_why() {
    let field = |hi, lo| Field { name: "f", hi, lo, doc: "" };
    assert_eq!(tiling(&[field(7, 4), field(3, 0)], 8), Ok(()));
    assert_eq!(tiling(&[field(7, 4), field(4, 0)], 8), Err(Mistiled::Overlap(field(4, 0))));
    assert_eq!(tiling(&[field(7, 5), field(3, 0)], 8), Err(Mistiled::Gap(4)));
    assert_eq!(tiling(&[field(3, 0)], 8), Err(Mistiled::Gap(4)));
    assert_eq!(tiling(&[field(8, 0)], 8), Err(Mistiled::OutOfRange(field(8, 0))));
    assert_eq!(tiling(&[field(0, 7)], 8), Err(Mistiled::OutOfRange(field(0, 7))));
    assert_eq!(tiling(&[field(127, 0)], 128), Ok(()));
}

/// The check is itself tested: a word that keeps only half its bits, and one that declares too few, are caught.
#[test]
fn a_wrong_word_is_caught() {
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    struct Forgetful<const DECLARED: bool>(u8);
    impl<const DECLARED: bool> Word for Forgetful<DECLARED> {
        const NAME: &'static str = "Forgetful";
        const DOC: &'static str = "";
        const BITS: u32 = 8;
        const FIELDS: &'static [Field] =
            &[Field { name: "all", hi: if DECLARED { 7 } else { 6 }, lo: 0, doc: "" }];
        fn from_bits(bits: u128) -> Self {
            Self(bits as u8 & if DECLARED { 0xf } else { 0xff })
        }
        fn to_bits(self) -> u128 {
            self.0.into()
        }
    }
    let complaint = |check: fn()| *std::panic::catch_unwind(check).unwrap_err().downcast::<String>().unwrap();
    assert!(complaint(assert_fields_tile::<Forgetful<true>>).contains("bit 4 is lost"));
    assert!(complaint(assert_fields_tile::<Forgetful<false>>).contains("bit 7 belongs to no field"));
}

#[test]
fn what_does_not_fit_is_refused_and_named() {
    let refused = Mixed::ZERO.with_twelve(0x1000).unwrap_err();
    assert_eq!((refused.word, refused.field.name, refused.value), ("Mixed", "twelve", 0x1000));
    assert_eq!(refused.to_string(), "4096 does not fit into the 12 bits of Mixed.twelve");
    assert!(Mixed::ZERO.with_twelve(0xfff).is_ok());
    assert!(Mixed::ZERO.with_colour(Colour(8)).is_err());
    assert!(Loose::ZERO.with_low(u64::MAX).is_err());
    assert_eq!(Whole::ZERO.with_all(u128::MAX).unwrap().all(), u128::MAX);
}

#[test]
fn a_word_prints_its_fields_and_only_reserved_bits_that_are_set() {
    let word = Mixed::ZERO.with_colour(Colour::BLUE).unwrap().with_three(5).unwrap();
    assert_eq!(
        format!("{word:?}"),
        "Mixed { flag: false, colour: BLUE, twelve: 0, byte: 0, wide: 0, three: 5 }"
    );
    assert!(format!("{:?}", Mixed::from_raw(0b1_1000)).ends_with(", three: 0, reserved[4:3]: 3 }"));
}

#[test]
fn the_table_is_the_declaration() {
    assert_eq!(
        table::<Loose>(),
        "| bits | field | meaning |\n|---|---|---|\n| 3:0 | `low` | Low nibble |\n| 7:4 | `high` | High nibble |\n"
    );
    assert!(table::<Mixed>().contains("| 56:45 | `twelve` | Twelve bits, described on two lines |\n"));
    assert_eq!(Loose::DOC.trim(), "A field of a type wider than it needs.");
}

/// All 256 values: a named one prints its name, any other its number, and none is changed.
#[test]
fn an_open_enum_keeps_what_it_does_not_know() {
    for value in 0..=u8::MAX {
        let colour = Colour::from_bits(value.into());
        assert_eq!(colour.to_bits(), u128::from(value));
        let named = Colour::NAMED.iter().find(|named| named.value == u128::from(value));
        assert_eq!(colour.name(), named.map(|named| named.name));
        let text = named.map_or(format!("Colour({value:#x})"), |named| named.name.to_owned());
        assert_eq!(colour.to_string(), text);
    }
    assert_eq!(Colour::GREEN.name(), Some("GREEN"));
}

/// A test of one field: what was put in comes out, and no other bit changes.
macro_rules! round_trip {
    ($word:expr, $value:expr, $word_type:ident, $field:ident, $with:ident) => {
        let before = $word_type::from_raw($word);
        let after = before.$with($value).unwrap();
        prop_assert_eq!(after.$field(), $value);
        let field = $word_type::FIELDS.iter().find(|field| field.name == stringify!($field)).unwrap();
        prop_assert_eq!(after.to_bits() & !field.mask(), before.to_bits() & !field.mask());
        prop_assert_eq!(after.$with(before.$field()).unwrap(), before);
    };
}

proptest! {
    #[test]
    fn every_field_round_trips_and_leaves_the_others_alone(word: u64, value: u64, low in 0u64..16) {
        round_trip!(word, value & 1 != 0, Mixed, flag, with_flag);
        round_trip!(word, Colour(value as u8 & 7), Mixed, colour, with_colour);
        round_trip!(word, value as u16 & 0xfff, Mixed, twelve, with_twelve);
        round_trip!(word, value as u8, Mixed, byte, with_byte);
        round_trip!(word, value as u32, Mixed, wide, with_wide);
        round_trip!(word, value as u8 & 7, Mixed, three, with_three);
        round_trip!(word as u8, low, Loose, low, with_low);
        round_trip!(word as u8, low as u32, Loose, high, with_high);
    }

    #[test]
    fn the_values_of_the_fields_are_the_whole_word(word: u64) {
        let sum = values(Mixed::from_raw(word)).map(|(field, value)| value << field.lo).sum::<u128>();
        prop_assert_eq!(sum, u128::from(word));
    }

    #[test]
    fn a_builder_accepts_exactly_what_fits(word: u64, value: u16) {
        prop_assert_eq!(Mixed::from_raw(word).with_twelve(value).is_ok(), value < 1 << 12);
    }
}
