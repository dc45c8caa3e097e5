"""The common frame of plots: grid, ticks, names of the axes, names of the series at their ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.numbers import compact, quantity
from lanetwin.report.scale import Scale, binary_ticks, decimal_ticks, linear_ticks, spread
from lanetwin.report.svg import BOLD, NORMAL, SMALL, shortened, text_width

if TYPE_CHECKING:
    from lanetwin.report.svg import Drawing

WIDE = 520.0
"""Width of a figure on a desktop [px]; two fit side by side."""
BROAD = 720.0
"""Width of a figure across the page of a study [px]."""
NARROW = 350.0
"""Width of a figure on a phone, and of each of two on paper [px]."""
SERIES = 6
"""Number of colours of series."""
LINE_STEP = 15.0
"""Minimum distance between two lines of text [px]."""


def series_class(index: int) -> str:
    """Return the CSS class of a series' colour."""
    return f"s{index % SERIES}"


@dataclass(frozen=True, slots=True)
class Axis:
    """The quantity and scale of an axis."""

    name: str
    unit: str
    low: float
    high: float
    logarithmic: bool = False

    @property
    def title(self) -> str:
        """Name and unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def ticks(self, at_most: int) -> list[float]:
        """Return the values of ticks; if logarithmic, powers of two for sizes and counts, else of ten."""
        if not self.logarithmic:
            return linear_ticks(self.low, self.high, at_most)
        counts = not self.unit and self.low >= 1 and self.high / self.low < 5000
        if self.unit == "B" or counts:
            return binary_ticks(self.low, self.high, at_most)
        return decimal_ticks(self.low, self.high, at_most)

    def label(self, tick: float) -> str:
        """Write a tick; sizes with their multiple, since powers of two are hard to read without."""
        if self.unit == "B":
            return quantity(tick, "B")
        return compact(tick)


@dataclass(frozen=True, slots=True)
class Frame:
    """The scales of a plot whose grid has been drawn."""

    x: Scale
    y: Scale
    right: float


def draw_frame(
    drawing: Drawing, x: Axis, y: Axis, right_margin: float, names: dict[float, str] | None = None
) -> Frame:
    """Draw grid, ticks and titles; return the scales. With `names`, these are the ticks across."""
    y_ticks = y.ticks(5)
    left = max(text_width(y.label(tick), SMALL) for tick in y_ticks) + 10
    top, bottom, right = 30.0, drawing.height - 42, drawing.width - right_margin
    y_ends = (y.low, y.high) if y.logarithmic else (min(y_ticks[0], y.low), max(y_ticks[-1], y.high))
    y_scale = Scale(*y_ends, bottom, top, y.logarithmic)
    for tick in y_ticks:
        place = y_scale(tick)
        drawing.line(left, place, right, place, "grid")
        drawing.text(left - 6, place + 4, y.label(tick), "tick", "end")
    drawing.text(0, 12, y.title, "axis")

    x_scale = Scale(x.low, x.high, left + 8, right - 8, x.logarithmic)
    drawing.line(left, bottom, right, bottom, "rule")
    for tick, name in (names or _ticks_across(x, right - left)).items():
        place = x_scale(tick)
        if left - 1 <= place <= right + 1:
            drawing.line(place, bottom, place, bottom + 4, "rule")
            drawing.text(place, bottom + 17, name, "tick", "middle")
    drawing.text(right, bottom + 35, x.name if x.unit == "B" else x.title, "axis", "end")
    return Frame(x_scale, y_scale, right)


def _ticks_across(x: Axis, room: float) -> dict[float, str]:
    """Return as many ticks as fit [px], with their labels."""
    widest = max((text_width(x.label(tick), SMALL) for tick in x.ticks(99)), default=30.0)
    at_most = max(2, int(room / (widest + 14)))
    return {tick: x.label(tick) for tick in x.ticks(at_most)}


def label_room(names: list[str], width: float) -> float:
    """Return the right margin for the names of the series [px]; a small one for a single series."""
    if len(names) < 2:
        return 10.0
    most = 0.37 if width > NARROW else 0.4
    return min(max(text_width(name) for name in names) * BOLD + 16, width * most)


def label_ends(drawing: Drawing, frame: Frame, ends: list[tuple[str, int, float]]) -> None:
    """Write each series' name beside its last point; `ends` are name, index and height [px]."""
    if len(ends) < 2:
        return
    room = drawing.width - frame.right - 12
    heights = spread([height for _, _, height in ends], LINE_STEP, 18, drawing.height - 46)
    for (name, index, _), height in zip(ends, heights, strict=True):
        drawing.text(
            frame.right + 4,
            height + 4,
            shortened(name, room, NORMAL),
            f"name {series_class(index)}",
            hint=name,
        )
