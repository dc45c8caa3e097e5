//! The words of a channel's description: every key, declared once.

use crate::language::{Field, Holds};
use lanetwin_phy::element::Family;
use lanetwin_ports::Dimension;

const fn field(name: &'static str, holds: Holds, about: &'static str) -> Field {
    Field { name, holds, default: None, required: false, about }
}
const fn required(name: &'static str, about: &'static str) -> Field {
    Field { name, holds: Holds::Text, default: None, required: true, about }
}
const fn one_of(words: &'static [&'static str]) -> Holds {
    Holds::One(Dimension::Choice(words))
}

/// The document.
pub(super) const DOCUMENT: &[Field] = &[
    required("about", "the question, in a sentence"),
    required("gen", "the generation it runs at, 1 to 7, or its rate as in `32GT/s`"),
    Field {
        name: "chain",
        holds: Holds::Ignored,
        default: None,
        required: true,
        about: "the elements, from the root port to the device",
    },
    Field {
        name: "corner",
        holds: one_of(&["low", "nominal", "high"]),
        default: Some("nominal"),
        required: false,
        about: "which end of production, temperature and humidity: the least loss, as stated, the most loss",
    },
    Field {
        name: "stress",
        holds: one_of(&["calibrated", "constants"]),
        default: Some("calibrated"),
        required: false,
        about: "noise and jitter of eyes: such that a channel of the budget's loss just meets the mask, or those of the constants",
    },
    field("library", Holds::Text, "a file of elements of your own, of the form of those in `parts/phy/`"),
    field(
        "constants",
        Holds::Text,
        "a corrected copy of `crates/phy/data/equalisation.yaml`: transmitter, receiver, mask, jitter, noise",
    ),
    field("variants", Holds::Variants, "the variants: names and, for each, what it changes"),
];

/// An element of the chain; exactly one of the kinds is given.
pub(super) const ELEMENT: &[Field] = &[
    field("name", Holds::Text, "its name; otherwise its kind"),
    field("package", Holds::Text, "a package with its die"),
    field("board", Holds::Text, "a trace on a board, by its material"),
    field("via", Holds::Text, "a via"),
    field("connector", Holds::Text, "a connector"),
    field("cable", Holds::Text, "a cable with its ends"),
    field("retimer", Holds::Text, "a retimer: the channel ends here and another begins"),
    field("touchstone", Holds::Text, "a Touchstone file, beside this one"),
    field(
        "die",
        Holds::Text,
        "the pads of a die by themselves, as in `55fF`, beside a package that is a file",
    ),
    field("length", Holds::Text, "the length of a board's trace or a cable"),
    field("ports", Holds::Ignored, "who is who in a Touchstone file: P near, N near, P far, N far, from 1"),
    field(
        "lane",
        Holds::One(Dimension::Count { least: 1, most: 32 }),
        "which lane of a Touchstone file, from 1; otherwise the first",
    ),
    field(
        "share",
        one_of(&["root-package", "system-board", "connector", "add-in-card"]),
        "the part of the standard's split that it counts in",
    ),
];

/// An element that is put in.
pub(super) const AFTER: &str = "after";

/// The kinds of elements that come from the library.
pub(super) const FAMILIES: [(&str, Family); 6] = [
    ("package", Family::Packages),
    ("board", Family::Materials),
    ("via", Family::Vias),
    ("connector", Family::Connectors),
    ("cable", Family::Cables),
    ("retimer", Family::Retimers),
];

/// Every kind of element.
pub(super) const KINDS: [&str; 8] =
    ["package", "board", "via", "connector", "cable", "retimer", "touchstone", "die"];
