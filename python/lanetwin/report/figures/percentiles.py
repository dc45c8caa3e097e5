"""How are latencies distributed? Percentiles across, each nine as wide as the one before; latency up."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lanetwin.fit import brief, fitting_all
from lanetwin.numbers import NARROW_SPACE, percentile_name
from lanetwin.report.figures.axes import Axis, draw_frame, label_ends, label_room, series_class
from lanetwin.report.figures.sweep import is_geometric
from lanetwin.report.svg import SMALL, Drawing, text_width
from lanetwin.summary import together, variants
from lanetwin.tails import ABOUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.glance import Glance
    from lanetwin.results import Results, Row

LEFT = 40.0
"""Width of the values on the left of the plot [px]."""
LAST = 99.999
"""Position of the maximum, which is not on the scale of nines."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The percentiles of one latency at the most informative case of a workload, by variant."""

    workload: str
    case: str
    metric: str
    unit: str
    series: dict[str, list[tuple[float, float]]]
    """Percent and value, in ascending order."""
    unsettled: dict[str, list[float]] = field(default_factory=dict)
    """The percentiles that are not settled, by variant."""

    @property
    def title(self) -> str:
        """What is drawn."""
        return f"Percentiles of {self.metric}, {self.case}" if self.case else f"Percentiles of {self.metric}"

    @property
    def description(self) -> str:
        """The figure in words: every point."""
        said = []
        for variant, points in self.series.items():
            values = ", ".join(f"{percentile_name(p)} {self.told(variant, p, value)}" for p, value in points)
            said.append(f"{variant}: {values}")
        return f"{self.workload}. " + "; ".join(said) + "."

    def told(self, variant: str, percent: float, value: float) -> str:
        """Write a percentile, with a sign before one that is not settled."""
        sign = f"{ABOUT}{NARROW_SPACE}" if percent in self.unsettled.get(variant, []) else ""
        return sign + brief(value, self.unit)


def distributions(results: Results, found: Sequence[Glance]) -> list[Distribution]:
    """Return the distributions of every workload at its most informative case."""
    order = variants(results)
    telling = {one.workload: one.case for one in found}
    grouped: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in together(results):
        if telling.get(row["workload"]) == row["case"] and len(row.get("percentiles", [])) > 2:
            key = (row["workload"], row["case"], row["metric"], row["unit"])
            grouped.setdefault(key, []).append(row)
    return [
        Distribution(
            *key,
            {
                row["variant"]: _points(row)
                for row in sorted(rows, key=lambda row: order.index(row["variant"]))
            },
            {row["variant"]: row.get("unsettled", []) for row in rows},
        )
        for key, rows in grouped.items()
    ]


def _points(row: Row) -> list[tuple[float, float]]:
    return sorted((p, value) for p, value in row["percentiles"])


def nines(percent: float) -> float:
    """Return the position of a percentile: its number of nines.

    >>> nines(90.0), nines(99.0), nines(0.0)
    (1.0, 2.0, 0.0)
    """
    return round(-math.log10(max(1 - min(percent, LAST) / 100, 1e-9)), 9) + 0.0


def _named(percents: Sequence[float], room: float) -> dict[float, str]:
    """Return the positions with labels, leaving out those too near to the previous one.

    >>> list(_named([50.0, 90.0, 95.0, 99.0, 99.9], 220.0).values())
    ['p50', 'p90', 'p99', 'p99.9']
    """
    step = room / max(nines(percents[-1]) - nines(percents[0]), 1e-9)
    names: dict[float, str] = {}
    for percent in percents:
        place, name = nines(percent), percentile_name(percent)
        if not names or (place - max(names)) * step >= text_width(name, SMALL) + 4:
            names[place] = name
    return names


def draw(drawn: Distribution, key: str, width: float) -> str:
    """Draw the percentiles."""
    values = [value for points in drawn.series.values() for _, value in points]
    fit = fitting_all(values, drawn.unit, drawn.metric)
    scaled = [value * fit.scale for value in values]
    percents = sorted({p for points in drawn.series.values() for p, _ in points})
    x = Axis("percentile", "", nines(percents[0]), nines(percents[-1]))
    low = min(scaled)
    y = (
        Axis(drawn.metric, fit.unit, low * 0.9, max(scaled) * 1.1, logarithmic=True)
        if is_geometric(scaled)
        else Axis(drawn.metric, fit.unit, min(0.0, low), max(max(scaled), 0.0) or 1.0)
    )
    drawing = Drawing(width, round(width * 0.52), key=key, title=drawn.title, description=drawn.description)
    right = label_room(list(drawn.series), width)
    frame = draw_frame(drawing, x, y, right, _named(percents, width - LEFT - right))
    ends = []
    for index, (variant, points) in enumerate(drawn.series.items()):
        places = [(frame.x(nines(p)), frame.y(value * fit.scale)) for p, value in points]
        drawing.polyline(places, f"line{index and 2} {series_class(index)}")
        for (percent, value), place in zip(points, places, strict=True):
            hint = f"{variant}, {percentile_name(percent)}: {drawn.told(variant, percent, value)}"
            drawing.mark(*place, index, f"dot {series_class(index)}", hint)
        ends.append((variant, index, places[-1][1]))
    label_ends(drawing, frame, ends)
    return str(drawing)
