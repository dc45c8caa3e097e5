"""The contents of a study file: runs and channels, and the tables, figures and statements made from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lanetwin.study.reading import Words

if TYPE_CHECKING:
    from pathlib import Path

    from lanetwin.engine import Outline

ROLES = ("predicted", "calibrated", "input")
"""The role of a published number, as in a validation."""
KINDS = ("datasheet", "measured", "standard", "assumed")
"""The kind of a number of the study, as in parts."""
OUTCOMES = ("equivalent", "better", "worse", "inconclusive")
"""The possible verdicts."""


@dataclass(frozen=True, slots=True)
class Run:
    """A scenario to run, or kept results of a run or of programs on an emulated drive."""

    name: str
    file: Path
    sets: tuple[str, ...]
    quick: tuple[str, ...]
    """Changes for a quick study."""
    is_in_quick: bool
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel whose budget and, optionally, eyes are computed."""

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
    """Number of cycles of each test in a quick study."""


@dataclass(frozen=True, slots=True)
class Pick:
    """The selection of a run's row, by shell patterns of names."""

    run: str = ""
    variant: str = "*"
    workload: str = "*"
    cases: tuple[str, ...] = ()
    """Patterns that must all match the case."""
    metric: str = "*"
    device: str = ""
    percentile: float | None = None

    def fits(self, variant: str, workload: str, case: str, metric: str) -> bool:
        """Return whether a row of the run matches."""
        pairs = ((variant, self.variant), (workload, self.workload), (metric, self.metric))
        return all(fnmatchcase(name, pattern) for name, pattern in pairs) and all(
            fnmatchcase(case, pattern) for pattern in self.cases
        )

    def __str__(self) -> str:
        words = (self.run, self.variant, self.workload, *self.cases, self.metric, self.device)
        return ", ".join(word for word in words if word and word != "*")


@dataclass(frozen=True, slots=True)
class Published:
    """A value of the original document."""

    value: float
    role: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of a table of results."""

    pick: Pick
    published: Published | None


@dataclass(frozen=True, slots=True)
class Block:
    """Common fields of blocks: kind, number, title and place."""

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
    """Values of runs in rows and columns, beside published ones."""

    unit: str = ""
    corner: Words = field(default_factory=Words)
    columns: tuple[Words, ...] = ()
    rows: tuple[tuple[Words, tuple[Cell | None, ...]], ...] = ()
    change: str = ""
    """The column of the baseline; empty for none."""


@dataclass(frozen=True, slots=True)
class Sheet(Block):
    """The data sheet of a part."""

    part: str = ""


@dataclass(frozen=True, slots=True)
class Stability(Block):
    """Passed and performed cycles: tests by links."""

    cycles: str = ""
    links: tuple[tuple[str, Words], ...] = ()
    tests: tuple[tuple[str, Words], ...] = ()


@dataclass(frozen=True, slots=True)
class Budget(Block):
    """The loss budget of a channel."""

    channel: str = ""


@dataclass(frozen=True, slots=True)
class Reckoned(Block):
    """Calculations with the study's numbers: each row is a sum of products divided by a product."""

    unit: str = ""
    corner: Words = field(default_factory=Words)
    rows: tuple[tuple[Words, tuple[tuple[str, ...], ...], tuple[str, ...]], ...] = ()
    """Name, products to be added, divisor; factors are names of numbers, or digits."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number given by the study with its source, or taken from a run."""

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
    """A figure of results, of this `kind`."""

    kind: str = ""
    of: str = ""
    """The run or the channel."""
    pick: Pick = field(default_factory=Pick)
    series: tuple[tuple[str, Words], ...] = ()
    groups: tuple[tuple[Words, Pick], ...] = ()
    unit: str = ""
    whole: tuple[tuple[str, float], ...] = ()
    """For a sweep: the value of 100 % for each variant, in `unit`; empty draws the metric itself."""
    inside: str = ""
    """For a topology: the component that is drawn with its contents."""


@dataclass(frozen=True, slots=True)
class Packet(Block):
    """A figure of the fields of a packet: name, size, whether it is data."""

    fields: tuple[tuple[Words, Words, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the conclusion, and its condition."""

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
    """A changed assumption, and the watched rows."""

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
