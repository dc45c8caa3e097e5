"""How does a metric change along an axis of a sweep? Lines between combinations, dots where drawn."""

from __future__ import annotations

from dataclasses import dataclass

from lanetwin.fit import fitting_all
from lanetwin.numbers import significant, with_unit
from lanetwin.report.figures.axes import Axis, draw_frame, label_ends, label_room, series_class
from lanetwin.report.figures.sweep import MARKS_UP_TO, is_geometric
from lanetwin.report.svg import Drawing


@dataclass(frozen=True, slots=True)
class Mark:
    """One point of the sweep in a figure."""

    x: float
    y: float
    name: str
    """Name of the point."""


@dataclass(frozen=True, slots=True)
class Points:
    """A metric against an axis, or against another metric."""

    workload: str
    title: str
    x_name: str
    x_unit: str
    names: dict[float, str]
    """The horizontal ticks, if positions have names; empty for numbers."""
    metric: str
    unit: str
    series: dict[str, list[Mark]]
    joined: bool
    """Whether the marks of a series are joined by a line."""
    from_zero: bool = True

    @property
    def description(self) -> str:
        """The figure in words: both ends of every series."""
        said = []
        for name, marks in self.series.items():
            ends = [f"{with_unit(significant(m.y), self.unit)} at {m.name}" for m in (marks[0], marks[-1])]
            said.append(f"{name or self.metric}: from {ends[0]} to {ends[1]}")
        return "; ".join(said) + "."


def draw(data: Points, key: str, width: float) -> str:
    """Draw it."""
    marks = [mark for marks in data.series.values() for mark in marks]
    fit = fitting_all([mark.y for mark in marks], data.unit, data.metric)
    x_fit = fitting_all([mark.x for mark in marks], data.x_unit) if not data.names else None
    scale = x_fit.scale if x_fit else 1.0
    xs, ys = [mark.x * scale for mark in marks], [mark.y * fit.scale for mark in marks]
    x = Axis(data.x_name, x_fit.unit if x_fit else "", min(xs), max(xs), is_geometric(xs))
    low = min(0.0, *ys) if data.from_zero else min(ys)
    y = Axis(data.metric, fit.unit, low, max(ys) if max(ys) > low else low + 1.0)
    drawing = Drawing(width, round(width * 0.6), key=key, title=data.title, description=data.description)
    frame = draw_frame(drawing, x, y, label_room(list(data.series), width), data.names or None)
    ends = []
    for index, (name, own) in enumerate(data.series.items()):
        places = [(frame.x(mark.x * scale), frame.y(mark.y * fit.scale)) for mark in own]
        if data.joined:
            drawing.polyline(places, f"line{index and 2} {series_class(index)}")
        for mark, (left, top) in zip(own, places, strict=True):
            if not data.joined or len(own) <= MARKS_UP_TO:
                hint = f"{mark.name}: {with_unit(significant(mark.y * fit.scale), fit.unit)}"
                drawing.mark(left, top, index, f"dot {series_class(index)}", hint)
        ends.append((name, index, places[-1][1]))
    label_ends(drawing, frame, ends)
    return str(drawing)
