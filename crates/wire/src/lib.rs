//! Wire words: each is declared once, and everything that must agree with it is derived.
//!
//! ```text
//!                    ┌─► accessors and builders          (protocol logic)
//!                    ├─► Debug                           (traces, failing tests)
//!  wire! { … } ──────┼─► FIELDS ─► table(), values()     (documents, decoders)
//!                    └─► a proof at compile time that the fields tile the word
//!
//!  open_enum! { … } ──► a field's named values; a value without a name survives and prints as a number
//!  structure! { … } ──► words, numbers and texts at offsets of a block of bytes: a command, a log page
//! ```
//!
//! A word is a host integer; the protocol that uses it determines its place in a packet and its byte order. A structure
//! is little-endian.
//!
//! Not here: structures in big-endian order; arrays of structures; checksums; any particular protocol.
//!
//! ```
//! use lanetwin_wire::{open_enum, table, wire};
//!
//! open_enum! {
//!     /// What a lamp may show.
//!     pub struct Colour(u8) {
//!         /// Stop.
//!         RED = 0;
//!         /// Go.
//!         GREEN = 2;
//!     }
//! }
//! wire! {
//!     /// The state of a lamp.
//!     pub struct Lamp(u16) {
//!         /// What it shows
//!         colour / with_colour: Colour = 2:0;
//!         /// Whether it blinks
//!         blinks / with_blinks: bool = 3:3;
//!         /// Reserved
//!         reserved = 7:4;
//!         /// Brightness \[cd\]
//!         brightness / with_brightness: u8 = 15:8;
//!     }
//! }
//!
//! let lamp = Lamp::ZERO.with_colour(Colour::GREEN)?.with_brightness(200)?;
//! assert_eq!(lamp.raw(), 0xc802);
//! assert_eq!(format!("{lamp:?}"), "Lamp { colour: GREEN, blinks: false, brightness: 200 }");
//! assert_eq!(Lamp::from_raw(7).colour().to_string(), "Colour(0x7)"); // not named, not lost
//! assert!(lamp.with_colour(Colour(9)).is_err()); // 9 does not fit into three bits
//! assert!(table::<Lamp>().contains("| 2:0 | `colour` | What it shows |"));
//! # Ok::<(), lanetwin_wire::DoesNotFit>(())
//! ```

mod enumeration;
mod structure;
mod word;

pub use enumeration::Named;
pub use structure::{Misplaced, Part, Stored, Structure, parts_table, placing};
pub use word::{DoesNotFit, Field, Mistiled, Word, assert_fields_tile, table, tiling, values};
