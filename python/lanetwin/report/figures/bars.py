"""How do a few series stand beside each other, group by group? Upright bars, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.numbers import compact, headed, significant
from lanetwin.report.figures.axes import series_class
from lanetwin.report.scale import Scale, linear_ticks
from lanetwin.report.svg import SMALL, Drawing, shortened, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

PLOT = 190.0
"""Height of the bars' field [px]."""
WIDEST_BAR = 44.0
"""Maximum width of a bar [px]."""
RAISED = 12.0
"""Offset of every other value above narrow bars [px]."""
SPARE = 3.0
"""Excess of a value's estimated width over its bar that still fits, as digits are narrow [px]."""


@dataclass(frozen=True, slots=True)
class Height:
    """One bar."""

    value: float
    low: float
    high: float
    text: str
    published: float | None = None


@dataclass(frozen=True, slots=True)
class Bars:
    """Groups of bars: in each a bar of every series, or none."""

    title: str
    quantity: str
    unit: str
    series: list[str]
    groups: list[tuple[str, list[Height | None]]]

    @property
    def workload(self) -> str:
        """Empty: it has no single workload."""
        return ""

    @property
    def description(self) -> str:
        """The figure in words: every bar."""
        said = []
        for name, bars in self.groups:
            told = [
                f"{series} {bar.text} {self.unit}".strip()
                for series, bar in zip(self.series, bars, strict=True)
                if bar
            ]
            said.append(f"{name}: {', '.join(told)}")
        return "; ".join(said) + "."


def draw(drawn: Bars, key: str, width: float) -> str:
    """Draw the bars on one scale from zero, the names of the series above them."""
    legend = _legend_rows(drawn.series, width)
    is_tight = _bar_width(drawn, width) < _widest(drawn) - SPARE
    top = 26.0 + 17.0 * len(legend) + (RAISED if is_tight else 0.0)
    bottom = top + PLOT
    room = _room(drawn, width)
    is_steep = any(text_width(name, SMALL) > room - 4 for name, _ in drawn.groups)
    lines = max((len(_broken(name, room)) for name, _ in drawn.groups), default=1) if is_steep else 1
    drawing = Drawing(
        width, bottom + 12 + 15 * lines, key=key, title=drawn.title, description=drawn.description
    )
    drawing.text(0, 12, headed(drawn.quantity, drawn.unit), "axis")
    _legend(drawing, legend)
    most = _most(drawn)
    ticks = linear_ticks(0, most, 5)
    scale = Scale(0, max(ticks[-1], most), bottom, top)
    left = max(text_width(compact(tick), SMALL) for tick in ticks) + 10
    for tick in ticks:
        drawing.line(left, scale(tick), width, scale(tick), "grid")
        drawing.text(left - 6, scale(tick) + 4, compact(tick), "tick", "end")
    _groups(drawing, drawn, scale, (left, width, bottom))
    drawing.line(left, bottom, width, bottom, "rule")
    return str(drawing)


def _most(drawn: Bars) -> float:
    """Return the largest drawn value; intervals count up to twice their bars."""
    heights = [bar for _, bars in drawn.groups for bar in bars if bar]
    tops = [max(bar.value, min(bar.high, bar.value * 2.0), bar.published or 0.0) for bar in heights]
    return max(tops, default=1.0) or 1.0


def _room(drawn: Bars, width: float) -> float:
    return (width - 40) / max(len(drawn.groups), 1)


def _bar_width(drawn: Bars, width: float) -> float:
    return min(WIDEST_BAR, _room(drawn, width) * 0.8 / max(len(drawn.series), 1))


def _widest(drawn: Bars) -> float:
    """Return the width of the widest value's text [px]."""
    return max((text_width(bar.text, SMALL) for _, bars in drawn.groups for bar in bars if bar), default=0.0)


def _broken(name: str, room: float) -> list[str]:
    """Break a name at its spaces into lines that fit."""
    lines: list[str] = []
    for word in name.split():
        if lines and text_width(f"{lines[-1]} {word}", SMALL) <= room - 4:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [shortened(line, room - 2, SMALL) for line in lines] or [""]


def _groups(drawing: Drawing, drawn: Bars, scale: Scale, place: tuple[float, float, float]) -> None:
    left, right, bottom = place
    room = (right - left) / max(len(drawn.groups), 1)
    count = len(drawn.series)
    bar = min(WIDEST_BAR, room * 0.8 / max(count, 1))
    widest = _widest(drawn)
    # values wider than their bars alternate between two heights
    is_tight = count > 1 and widest > bar + SPARE
    has_values = widest <= (2 * bar if count > 1 else room)
    for nth, (name, bars) in enumerate(drawn.groups):
        middle = left + room * (nth + 0.5)
        for line, words in enumerate(_broken(name, room)):
            drawing.text(middle, bottom + 16 + 14 * line, words, "small", "middle", name)
        for index, one in enumerate(bars):
            if one is not None:
                x = middle + (index - count / 2) * bar
                raised = RAISED if is_tight and index % 2 else 0.0
                place_of = (x, bar, scale)
                said = (index, f"{name}, {drawn.series[index]}", has_values)
                _bar(drawing, one, place_of, said, raised)


def _bar(
    drawing: Drawing,
    one: Height,
    place: tuple[float, float, Scale],
    said: tuple[int, str, bool],
    raised: float,
) -> None:
    x, width, scale = place
    index, name, has_value = said
    y, bottom = scale(one.value), scale(0)
    drawing.box(x + 1, y, width - 2, bottom - y, f"fill {series_class(index)}", f"{name}: {one.text}")
    middle, top = x + width / 2, y
    if one.high > one.low:
        high, low = max(scale(one.high), scale(scale.high)), scale(max(one.low, 0.0))
        drawing.line(middle, low, middle, high, "whisker-ink")
        top = min(top, high)
    if one.published is not None:
        at = scale(one.published)
        drawing.line(x - 2, at, x + width + 2, at, "published")
        top = min(top, at)
    if has_value:
        drawing.text(middle, top - 4 - raised, one.text, "value", "middle")


def _legend_rows(series: Sequence[str], width: float) -> list[list[tuple[int, str, float]]]:
    """Lay the names of the series out in rows: index, name, place."""
    if len(series) < 2:
        return []
    rows: list[list[tuple[int, str, float]]] = [[]]
    x = 0.0
    for index, name in enumerate(series):
        taken = 16 + text_width(name, SMALL) + 14
        if rows[-1] and x + taken > width:
            rows.append([])
            x = 0.0
        rows[-1].append((index, name, x))
        x += taken
    return rows


def _legend(drawing: Drawing, rows: list[list[tuple[int, str, float]]]) -> None:
    for line, row in enumerate(rows):
        y = 30.0 + 17 * line
        for index, name, x in row:
            drawing.box(x, y - 9, 10, 10, f"fill {series_class(index)}", round_=2)
            drawing.text(x + 15, y, name, "small")


def height(value: float, low: float, high: float, published: float | None = None) -> Height:
    """Return a bar with its value in three digits."""
    return Height(
        value,
        low,
        high,
        significant(value, 3).rstrip(".") if value < 1000 else significant(value, 4),
        published,
    )
