//! The keys of a channel's description, each declared once.

use lanetwin_document::declaration::{Field, Holds};
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
/// Ports of a Touchstone file.
const PORTS: Holds = Holds::Many(Dimension::Count { least: 1, most: 128 });

/// The document.
pub const DOCUMENT: &[Field] = &[
    required("about", "the question, in a sentence"),
    required("gen", "the generation it runs at, 1 to 7, or its rate as in `32GT/s`"),
    Field {
        name: "chain",
        holds: Holds::List(ELEMENT),
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
    Field {
        name: "equalisation",
        holds: one_of(&["presets", "coefficients"]),
        default: Some("presets"),
        required: false,
        about: "what the transmitter is searched over: its presets, or all coefficients that it must accept as well",
    },
    field("crosstalk", Holds::List(CROSSTALK), "neighbours that are data: what couples them in, and where"),
    field("library", Holds::Text, "a file of elements of your own, of the form of those in `parts/phy/`"),
    field(
        "constants",
        Holds::Text,
        "a corrected copy of `crates/phy/data/equalisation.yaml`: transmitter, receiver, mask, jitter, noise",
    ),
    field("variants", Holds::Variants, "the variants: names and, for each, what it changes"),
];

/// An element of the chain; exactly one of the kinds is given.
pub const ELEMENT: &[Field] = &[
    field("name", Holds::Text, "its name; otherwise its kind"),
    field("package", Holds::Text, "a package with its die"),
    field("board", Holds::Text, "a trace on a board, by its material"),
    field("via", Holds::Text, "a via"),
    field("connector", Holds::Text, "a connector"),
    field("cable", Holds::Text, "a cable with its ends"),
    field("retimer", Holds::Text, "a retimer: the channel ends here and another begins"),
    field(
        "redriver",
        Holds::Text,
        "a redriver: an analogue stage that amplifies what comes; the channel goes on",
    ),
    field("kit", Holds::Text, "several elements under one name, as a riser with its slot"),
    field(
        "loss",
        Holds::Text,
        "a loss that is known as a whole, at the Nyquist frequency of `gen`, as in `30dB`: a board that loses as much",
    ),
    field("touchstone", Holds::Text, "a Touchstone file, beside this one"),
    field(
        "die",
        Holds::Text,
        "the pads of a die by themselves, as in `55fF`, beside a package that is a file",
    ),
    field("length", Holds::Text, "the length of a board's trace or a cable"),
    field("ports", PORTS, "who is who in a Touchstone file: P near, N near, P far, N far, from 1"),
    field(
        "lane",
        Holds::One(Dimension::Count { least: 1, most: 32 }),
        "which lane of a Touchstone file, from 1; otherwise the first",
    ),
    field(
        "neighbours",
        one_of(&["none", "far", "both"]),
        "the other lanes of a Touchstone file as neighbours: far-end crosstalk, or near-end crosstalk as well",
    ),
    field(
        "share",
        one_of(&["root-package", "system-board", "connector", "add-in-card"]),
        "the part of the standard's split that it counts in",
    ),
];

/// A neighbour of the channel.
pub(super) const CROSSTALK: &[Field] = &[
    field("name", Holds::Text, "its name; otherwise `aggressor`"),
    required("touchstone", "a Touchstone file of the coupling, beside this one; it lets nothing through"),
    field(
        "ports",
        PORTS,
        "who is who in it: P and N where the neighbour goes in, P and N where it comes out in this lane, from 1; required of more than two ports",
    ),
    required("at", "the element of the chain that it stands in the place of, on the neighbour's way"),
    Field {
        name: "kind",
        holds: one_of(&["far", "near"]),
        default: None,
        required: true,
        about: "where the neighbour's transmitter stands: beside the transmitter (far-end crosstalk), beside the receiver (near-end)",
    },
];

/// The key for the place of an inserted element.
pub(super) const AFTER: &str = "after";

/// The kinds of elements that come from the library.
pub const FAMILIES: [(&str, Family); 8] = [
    ("package", Family::Packages),
    ("board", Family::Materials),
    ("via", Family::Vias),
    ("connector", Family::Connectors),
    ("cable", Family::Cables),
    ("retimer", Family::Retimers),
    ("redriver", Family::Redrivers),
    ("kit", Family::Kits),
];

/// Every kind of element.
pub const KINDS: [&str; 11] = [
    "package",
    "board",
    "via",
    "connector",
    "cable",
    "retimer",
    "redriver",
    "kit",
    "loss",
    "touchstone",
    "die",
];
