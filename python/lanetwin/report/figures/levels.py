"""What did each variant reach? A bar for each, with its interval, at the most informative case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.fit import fitting_all, told
from lanetwin.report.figures.axes import series_class
from lanetwin.report.scale import Scale
from lanetwin.report.svg import BOLD, SMALL, Drawing, shortened, text_width
from lanetwin.sentences import word
from lanetwin.summary import unique, variants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.glance import Glance
    from lanetwin.results import Results, Row

BAR = 10.0
"""Height of a bar [px]."""
STEP = 15.5
"""Distance from one bar to the next [px]."""
HEAD = 19.0
"""Margin above the bars of a workload [px]."""
MOST_BARS = 10
"""Maximum number of bars of a workload."""
MOST_TOGETHER = 16
"""Maximum number of bars in total; further workloads are only in the table."""
WIDEST = 1.5
"""Multiple of the longest bar at which intervals are cut off."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One value."""

    name: str
    index: int
    """Index of its colour."""
    row: Row


@dataclass(frozen=True, slots=True)
class Group:
    """The bars of one workload."""

    heading: str
    metric: str
    bars: list[Bar]


@dataclass(frozen=True, slots=True)
class Levels:
    """The main metric of each workload, of every variant at the most informative case, or of every case."""

    groups: list[Group]

    @property
    def workload(self) -> str:
        """All of them together."""
        return ""

    @property
    def title(self) -> str:
        """What is drawn."""
        return "What was reached, with 95 % intervals"

    @property
    def description(self) -> str:
        """The figure in words: every bar."""
        said = []
        for group in self.groups:
            bars = ", ".join(f"{bar.name} {told(bar.row)}" for bar in group.bars)
            said.append(f"{group.heading}: {bars}")
        return "; ".join(said) + "."


def levels(results: Results, found: Sequence[Glance]) -> list[Levels]:
    """Return the figure in a list, which is empty if nothing was measured."""
    order = variants(results)
    groups: list[Group] = []
    for one in found:
        group = _group(one, order)
        if group and (not groups or sum(len(g.bars) for g in groups) + len(group.bars) <= MOST_TOGETHER):
            groups.append(group)
    return [Levels(groups)] if groups else []


def _group(one: Glance, order: list[str]) -> Group | None:
    line = one.primary
    if line is None:
        return None
    if len(order) > 1:
        place = ", ".join(unique((one.workload, one.case)))
        heading = f"{place}: {word(line.metric)}"
        bars = [Bar(name, nth, line.values[name]) for nth, name in enumerate(order) if name in line.values]
    else:
        heading = f"{one.workload}: {word(line.metric)}"
        same = [other for other in one.every if other.metric == line.metric]
        bars = [Bar(other.case, 0, row) for other in same for row in other.values.values()]
    return Group(heading, line.metric, bars[:MOST_BARS])


def draw(drawn: Levels, key: str, width: float) -> str:
    """Draw the bars, workload by workload, each on its own scale from zero."""
    names = [bar.name for group in drawn.groups for bar in group.bars]
    label = min(max(text_width(name, SMALL) for name in names) + 10, width * 0.3)
    height = sum(HEAD + len(group.bars) * STEP + 5 for group in drawn.groups) + 4
    drawing = Drawing(width, height, key=key, title=drawn.title, description=drawn.description)
    y = 0.0
    for group in drawn.groups:
        drawing.text(0, y + 13, shortened(group.heading, (width - 4) / BOLD), "strong", hint=group.heading)
        y = _bars(drawing, group, (label, y + HEAD)) + 5
    return str(drawing)


def _bars(drawing: Drawing, group: Group, place: tuple[float, float]) -> float:
    """Draw the bars of one workload; return their lower end."""
    label, y = place
    rows = [bar.row for bar in group.bars]
    fit = fitting_all([row["value"] for row in rows], rows[0]["unit"], group.metric)
    longest = max(abs(row["value"]) for row in rows) * fit.scale or 1.0
    highest = max(abs(row["high"]) for row in rows) * fit.scale
    room = max(text_width(told(row), SMALL) for row in rows) + 10
    scale = Scale(0, max(longest, min(highest, longest * WIDEST)), label, drawing.width - room)
    for bar in group.bars:
        name, row, css = bar.name, bar.row, series_class(bar.index)
        middle = y + BAR / 2
        end = scale(max(row["value"] * fit.scale, 0.0))
        drawing.text(label - 6, middle + 4, shortened(name, label - 8, SMALL), "small", "end", name)
        drawing.box(label, y, end - label, BAR, f"fill {css}", f"{name}: {told(row)}")
        low, high = (scale(max(row[side] * fit.scale, 0.0)) for side in ("low", "high"))
        if high - low > 0.5:
            high = min(high, scale.end)
            drawing.line(low, middle, high, middle, "whisker-ink")
            drawing.line(high, middle - 3, high, middle + 3, "whisker-ink")
        drawing.text(max(end, min(high, scale.end)) + 6, middle + 4, told(row), "value")
        y += STEP
    return y
