"""How long is a packet in an empty switch, and how long in a loaded one? A line for each load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.numbers import significant, with_unit
from lanetwin.report.figures.axes import series_class
from lanetwin.report.scale import Scale, linear_ticks
from lanetwin.report.svg import SMALL, Drawing, shortened, text_width
from lanetwin.transits import ends_of_sweeps, passages, varying

if TYPE_CHECKING:
    from lanetwin.results import Results, SwitchTransit
    from lanetwin.transits import Passage

STEP = 21.0
"""Distance from one line to the next [px]."""
MOST_LINES = 24
"""Number of lines above which only the first and the last case of a workload are drawn."""
POINTS = ("empty switch", "median", "99 %", "last")
"""The values marked on a line."""


@dataclass(frozen=True, slots=True)
class Transits:
    """Packets of one kind in one switch, between links of the same widths."""

    switch: str
    tlp: str
    widths: str
    unit: str
    lines: list[tuple[str, Passage]]

    @property
    def workload(self) -> str:
        """The switch, independent of the workload."""
        return self.switch

    @property
    def title(self) -> str:
        """Which packets in which switch."""
        return f"{self.tlp} in {self.switch}, {self.widths}"

    @property
    def description(self) -> str:
        """The figure in words: every line."""
        said = [f"{label}: {reading(passage.transit)}" for label, passage in self.lines]
        return f"Time in {self.switch}. " + "; ".join(said) + "."


def values(transit: SwitchTransit) -> tuple[float, float, float, float]:
    """Return the marked values of a line, in the order of `POINTS`."""
    return transit["idle"], transit["median"], transit["p99"], transit["longest"]


def reading(transit: SwitchTransit) -> str:
    """Describe a line."""
    named = zip(POINTS, values(transit), strict=True)
    return ", ".join(f"{name} {with_unit(significant(value), transit['unit'])}" for name, value in named)


def transits(results: Results) -> list[Transits]:
    """Return a figure for each switch, kind of packet and pair of widths."""
    groups: dict[tuple[str, str, str, str], list[Passage]] = {}
    for passage in passages(results):
        one = passage.transit
        groups.setdefault((one["switch"], one["tlp"], one["widths"], one["unit"]), []).append(passage)
    return [Transits(*key, _lines(own)) for key, own in groups.items()]


def _lines(found: list[Passage]) -> list[tuple[str, Passage]]:
    """Label each line by its differences from the others."""
    shown = ends_of_sweeps(found, MOST_LINES)
    _, words = varying(shown)
    label = [", ".join(line) or one.transit["variant"] for one, line in zip(shown, words, strict=True)]
    return list(zip(label, shown, strict=True))


def draw(shown: Transits, key: str, width: float) -> str:
    """Draw the lines, each from the empty switch to the last packet."""
    label = min(max(text_width(name, SMALL) for name, _ in shown.lines) + 10, width * 0.45)
    longest = [significant(passage.transit["longest"]) for _, passage in shown.lines]
    right = width - max(text_width(text, SMALL) for text in longest) - 16
    top = 26.0
    bottom = top + len(shown.lines) * STEP
    drawing = Drawing(width, bottom + 40, key=key, title=shown.title, description=shown.description)
    ticks = linear_ticks(0.0, max(passage.transit["longest"] for _, passage in shown.lines), 4)
    scale = Scale(0.0, ticks[-1], label + 6, right - 6)
    _legend(drawing)
    for tick in ticks:
        drawing.line(scale(tick), top, scale(tick), bottom, "grid" if tick else "rule")
        drawing.text(
            scale(tick), bottom + 16, significant(tick, 3) if tick % 1 else f"{tick:.0f}", "tick", "middle"
        )
    drawing.text(right, bottom + 34, f"time in the switch [{shown.unit}]", "axis", "end")
    for row, (name, passage) in enumerate(shown.lines):
        transit = passage.transit
        y = top + (row + 0.5) * STEP
        drawing.text(label - 6, y + 4, shortened(name, label - 8, SMALL), "small", "end", name)
        drawing.line(scale(transit["idle"]), y, scale(transit["longest"]), y, "rule")
        for shape, value in enumerate(values(transit)):
            hint = f"{name}, {passage.way}: {POINTS[shape]} {with_unit(significant(value), shown.unit)}"
            drawing.mark(scale(value), y, shape, f"dot {series_class(shape)}", hint)
        drawing.text(width, y + 4, longest[row], "value", "end")
    return str(drawing)


def _legend(drawing: Drawing) -> None:
    x = 4.0
    for shape, name in enumerate(POINTS):
        drawing.mark(x, 8, shape, f"dot {series_class(shape)}")
        drawing.text(x + 8, 12, name, "tick")
        x += text_width(name, SMALL) + 22
