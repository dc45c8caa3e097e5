"""A study as it is written: what is computed, and the tables, figures and statements that are made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lanetwin.study.reading import Words

if TYPE_CHECKING:
    from pathlib import Path

    from lanetwin.engine import Outline

ROLES = ("predicted", "calibrated", "input")
"""What a published number was to the model, as in a validation."""
KINDS = ("datasheet", "measured", "standard", "assumed")
"""How a number that the study gives was come by, as in parts."""
OUTCOMES = ("equivalent", "better", "worse", "inconclusive")
"""What a verdict can be."""


@dataclass(frozen=True, slots=True)
class Run:
    """A scenario that is run, or results that were kept of a run or of programs on an emulated drive."""

    name: str
    file: Path
    sets: tuple[str, ...]
    quick: tuple[str, ...]
    """Changes that make it short."""
    is_in_quick: bool
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel whose budget, and perhaps eyes, are computed."""

    name: str
    file: Path
    has_eyes: bool


@dataclass(frozen=True, slots=True)
class Cycles:
    """Stability cycles of simulated links."""

    name: str
    file: Path
    variants: tuple[str, ...]
    tests: tuple[str, ...]
    count: int
    power_count: int
    quick: int
    """How many of each in a quick study."""


@dataclass(frozen=True, slots=True)
class Pick:
    """Which row of which run; patterns of shells in every name."""

    run: str = ""
    variant: str = "*"
    workload: str = "*"
    cases: tuple[str, ...] = ()
    """Every pattern has to fit the case."""
    metric: str = "*"
    device: str = ""
    percentile: float | None = None

    def fits(self, variant: str, workload: str, case: str, metric: str) -> bool:
        """Return whether a row of the run is meant."""
        pairs = ((variant, self.variant), (workload, self.workload), (metric, self.metric))
        return all(fnmatchcase(name, pattern) for name, pattern in pairs) and all(
            fnmatchcase(case, pattern) for pattern in self.cases
        )

    def __str__(self) -> str:
        words = (self.run, self.variant, self.workload, *self.cases, self.metric, self.device)
        return ", ".join(word for word in words if word and word != "*")


@dataclass(frozen=True, slots=True)
class Published:
    """What the original says."""

    value: float
    role: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a table of results."""

    pick: Pick
    published: Published | None


@dataclass(frozen=True, slots=True)
class Block:
    """What every block has: its kind, number and title, and where it stands."""

    node: Outline
    path: str
    number: str = ""
    title: Words = field(default_factory=Words)
    note: Words = field(default_factory=Words)


@dataclass(frozen=True, slots=True)
class Prose(Block):
    """Text of the author, in Markdown."""

    text: Words = field(default_factory=Words)


@dataclass(frozen=True, slots=True)
class Missing(Block):
    """A table or figure of the original that is not modelled yet, or a photograph."""

    is_figure: bool = False
    why: Words = field(default_factory=Words)
    is_photograph: bool = False


@dataclass(frozen=True, slots=True)
class Listing(Block):
    """A table that the author wrote."""

    columns: tuple[Words, ...] = ()
    rows: tuple[tuple[Words, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Grid(Block):
    """Values of runs, rows by columns, beside what was published."""

    unit: str = ""
    corner: Words = field(default_factory=Words)
    columns: tuple[Words, ...] = ()
    rows: tuple[tuple[Words, tuple[Cell | None, ...]], ...] = ()
    change: str = ""
    """Against which column the others are held; empty for none."""


@dataclass(frozen=True, slots=True)
class Sheet(Block):
    """The data sheet of a part."""

    part: str = ""


@dataclass(frozen=True, slots=True)
class Stability(Block):
    """Passed of performed cycles: tests by links."""

    cycles: str = ""
    links: tuple[tuple[str, Words], ...] = ()
    tests: tuple[tuple[str, Words], ...] = ()


@dataclass(frozen=True, slots=True)
class Budget(Block):
    """The loss budget of a channel."""

    channel: str = ""


@dataclass(frozen=True, slots=True)
class Reckoned(Block):
    """What things come to by the study's own numbers: each row is a sum of products over a product."""

    unit: str = ""
    corner: Words = field(default_factory=Words)
    rows: tuple[tuple[Words, tuple[tuple[str, ...], ...], tuple[str, ...]], ...] = ()
    """Name, products to be added, product that is divided by; factors are names of numbers, or digits."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number that the study gives, with where it comes from, or one that a run has."""

    node: Outline
    path: str
    title: Words
    unit: str
    value: float | None
    """None if a run has it."""
    pick: Pick
    kind: str
    source: Words
    date: str


@dataclass(frozen=True, slots=True)
class Drawn(Block):
    """A figure of results: `kind` says which."""

    kind: str = ""
    of: str = ""
    """The run or the channel."""
    pick: Pick = field(default_factory=Pick)
    series: tuple[tuple[str, Words], ...] = ()
    groups: tuple[tuple[Words, Pick], ...] = ()
    unit: str = ""
    whole: tuple[tuple[str, float], ...] = ()
    """Of a sweep: what is 100 % of each variant, in `unit`; empty draws the metric itself."""
    inside: str = ""
    """Of a topology: the component that is drawn with what it is made of."""


@dataclass(frozen=True, slots=True)
class Packet(Block):
    """A figure of the fields of a packet: name, size, whether it is data."""

    fields: tuple[tuple[Words, Words, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the conclusion, and what has to hold for it."""

    node: Outline
    path: str
    text: Words
    kind: str
    """verdict, cycles, channel, published, claim."""
    pick: Pick
    of: str
    outcome: str
    within: float


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A changed assumption, and what is watched."""

    node: Outline
    path: str
    text: Words
    run: str
    sets: tuple[str, ...]
    picks: tuple[Pick, ...]


@dataclass(frozen=True, slots=True)
class Study:
    """The whole."""

    file: Path
    name: str
    title: Words
    about: Words
    after: Words
    """The document that it follows."""
    abstract: Words
    runs: dict[str, Run]
    channels: dict[str, Channel]
    cycles: dict[str, Cycles]
    numbers: dict[str, Number]
    claims: tuple[str, ...]
    parts: tuple[str, ...]
    configuration: tuple[Block, ...]
    topology: tuple[Block, ...]
    method: tuple[Block, ...]
    results: tuple[Block, ...]
    time: tuple[Block, ...]
    sensitivity: tuple[WhatIf, ...]
    threats: tuple[Words, ...]
    conclusion: tuple[Statement, ...]
    closing: Words
