"""The first screen of a report: a tile for each workload, or one table if there are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.binding import named
from lanetwin.fit import brief
from lanetwin.numbers import NARROW_SPACE, change
from lanetwin.report.svg import SMALL, text_width
from lanetwin.steadiness import NOT_STEADY
from lanetwin.summary import ONE_SAMPLE, OUTCOMES, spread, unique, variants
from lanetwin.tails import ABOUT, is_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.glance import Glance, Line
    from lanetwin.results import Outcome, Results

MOST_TILES = 4
"""Maximum numbers of workloads, and of variants in a tile; above these a table is used."""
HALF, JUDGED, UNJUDGED = 495.0, 155.0, 125.0
"""Width of the columns of a tile, and of a value with its change, with a verdict and without [px]."""
MOST_CASES = 8
"""Maximum number of cases of a single variant in a tile."""
MARKS: dict[Outcome, str] = {"better": "▲", "worse": "▼", "equivalent": "=", "inconclusive": "?"}
"""A sign for each verdict, so that colour is not the only distinction."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a tile, its change to the baseline, and the verdict."""

    text: str
    change: str = ""
    outcome: Outcome | None = None
    hint: str = ""
    is_words: bool = False
    """Whether it is not a number."""

    @property
    def mark(self) -> str:
        """The sign of the verdict."""
        return MARKS[self.outcome] if self.outcome else ""


@dataclass(frozen=True, slots=True)
class TileRow:
    """The values of one variant."""

    variant: str
    index: int
    """Index of its colour."""
    values: list[Value]


@dataclass(frozen=True, slots=True)
class Bind:
    """The bottleneck of some variants, and the next supply."""

    variants: str
    """Empty if it limits all of them."""
    name: str
    """With its share in use."""
    why: str
    next: str


@dataclass(frozen=True, slots=True)
class Tile:
    """One workload."""

    workload: str
    case: str
    outcome: Outcome | None
    metrics: list[str]
    rows: list[TileRow]
    binds: list[Bind]
    notes: list[str]

    @property
    def has_room(self) -> bool:
        """Whether changes fit beside their values, in half the page."""
        names = max((text_width(row.variant, SMALL) for row in self.rows), default=0.0)
        columns = zip(*(row.values for row in self.rows), strict=True)
        widths = (JUDGED if any(one.outcome for one in column) else UNJUDGED for column in columns)
        return names + sum(widths) <= HALF

    @property
    def mark(self) -> str:
        """The sign of the verdict."""
        return MARKS[self.outcome] if self.outcome else ""


@dataclass(frozen=True, slots=True)
class Overview:
    """All workloads in one table: workloads down and variants across, or the other way round."""

    head: list[tuple[str, str]]
    """Name of a column, and its small print."""
    rows: list[tuple[str, str, list[Value]]]
    """Name of a row, its small print, its values."""


def tiles(results: Results, found: Sequence[Glance]) -> list[Tile]:
    """Return a tile for each workload; empty if there are too many for tiles."""
    names = variants(results)
    if len(found) > MOST_TILES or len(names) > MOST_TILES:
        return []
    return [_tile(one, names, compared=bool(results["verdicts"])) for one in found]


def _tile(one: Glance, names: list[str], *, compared: bool) -> Tile:
    rows = [
        TileRow(name, names.index(name), [value_of(line, name, names[0]) for line in one.lines])
        for name in names
        if any(name in line.values for line in one.lines)
    ]
    notes = [*([str(one.masked)] if one.masked else []), *one.notes]
    metrics = [line.metric for line in one.every] if len(names) == 1 else [line.metric for line in one.lines]
    if len(names) == 1 and one.cases > 1:
        metrics = unique(metrics)
        rows = _cases(one, names[0], metrics)
        if one.cases > len(rows):
            notes.insert(0, f"{len(rows)} of {one.cases} cases")
    elif one.cases > 1:
        why = "largest change" if compared else "most throughput"
        notes.insert(0, f"{why} of {one.cases} cases{_counts(one)}")
    case = "" if (len(names) == 1 and one.cases > 1) or one.case == one.workload else one.case
    return Tile(one.workload, case, one.outcome, metrics, rows, binds(one), notes)


def _cases(one: Glance, variant: str, metrics: list[str]) -> list[TileRow]:
    """Return the cases of a single variant, the most informative one and its neighbours."""
    names = unique(line.case for line in one.every)
    first = max(0, min(names.index(one.case) - MOST_CASES // 2, len(names) - MOST_CASES))
    rows = []
    for name in names[first : first + MOST_CASES]:
        known = {line.metric: line for line in one.every if line.case == name}
        values = [value_of(known[m], variant, variant) if m in known else Value("–") for m in metrics]
        mark = " ◂" if name == one.case else ""
        rows.append(TileRow(name + mark, 0, values))
    return rows


def _counts(one: Glance) -> str:
    """Describe the number of verdicts of each kind over all cases."""
    kinds = {
        variant: ", ".join(f"{counts[kind]} {kind}" for kind in OUTCOMES if kind in counts)
        for variant, counts in one.outcomes.items()
    }
    said = [f"{variant} {told}" for variant, told in kinds.items()]
    if len(set(kinds.values())) == 1:
        said = [*kinds.values()][:1] if len(said) == 1 else [f"each {next(iter(kinds.values()))}"]
    return f"; in all: {'; '.join(said)}" if said else ""


def value_of(line: Line, name: str, base: str) -> Value:
    """Return the value of a variant, and its comparison."""
    row = line.values.get(name)
    if row is None:
        return Value("–")
    sign = f"{ABOUT}{NARROW_SPACE}" if is_tail(row) and row.get("unsettled") else ""
    text = sign + brief(row["value"], row["unit"], row["metric"])
    changed = line.change(name, base)
    if name == base or changed is None:
        return Value(text)
    verdict = line.verdicts.get(name)
    if verdict is None:
        return Value(text, change(changed))
    interval = spread(verdict)
    hint = interval if interval == ONE_SAMPLE else f"95 %: {interval}"
    if unsteady := verdict.get("not_steady", ""):
        hint = f"{NOT_STEADY} ({unsteady}). {hint}"
    return Value(text, change(changed), verdict["verdict"], hint)


def binds(one: Glance) -> list[Bind]:
    """Return the bottlenecks of a workload, variants with the same one together."""
    found = []
    for name in unique(binding.name for binding in one.binding.values()):
        same = {variant: binding for variant, binding in one.binding.items() if binding.name == name}
        first = next(iter(same.values()))
        found.append(
            Bind(
                named(list(same), list(one.binding)),
                name,
                first.short_why,
                str(first.next) if first.next else "",
            )
        )
    return found


def overview(results: Results, found: Sequence[Glance]) -> Overview | None:
    """Return one table of all workloads, if there are too many for tiles."""
    names = variants(results)
    shown = [(one, line) for one in found if (line := one.primary)]
    if not shown or (len(found) <= MOST_TILES and len(names) <= MOST_TILES):
        return None
    if len(names) > len(shown):
        head = [(one.workload, f"{line.metric}, {one.case}") for one, line in shown]
        rows = [(name, "", [value_of(line, name, names[0]) for _, line in shown]) for name in names]
        limits = [Value("; ".join(_bind(bind) for bind in binds(one)), is_words=True) for one, _ in shown]
        return Overview(head, [*rows, ("limited by", "", limits)])
    head = [(name, "") for name in names] + [("limited by", ""), ("closest behind it", "")]
    rows = []
    for one, line in shown:
        limit = binds(one)
        cells = [value_of(line, name, names[0]) for name in names]
        cells.append(Value("; ".join(_bind(bind) for bind in limit), is_words=True))
        cells.append(Value(next((bind.next for bind in limit), ""), is_words=True))
        rows.append((one.workload, f"{line.metric}, {one.case}", cells))
    return Overview(head, rows)


def _bind(bind: Bind) -> str:
    return f"{bind.name} ({bind.variants})" if bind.variants else bind.name
