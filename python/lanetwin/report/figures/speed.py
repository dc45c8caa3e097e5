"""How fast is a program on each placement? A bar for each, relative to the first placement, which is 1.

Also for variants of one placement, relative to the baseline. Not for sweeps, which are drawn as lines, and
not for cases that vary in two ways, which are drawn as a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.numbers import fixed
from lanetwin.report.figures.axes import series_class
from lanetwin.report.scale import Scale, linear_ticks
from lanetwin.report.svg import SMALL, Drawing, shortened, text_width
from lanetwin.summary import unique, variants

if TYPE_CHECKING:
    from lanetwin.results import Relative, Results

BAR = 13.0
"""Height of a bar [px]."""
STEP = 19.0
"""Distance from one bar to the next [px]."""
HEAD = 22.0
"""Margin above the bars of a workload [px]."""
WIDEST = 1.4
"""Multiple of the longest bar at which intervals are cut off."""
MOST_BARS = 40
"""Number of bars above which a table is used."""


@dataclass(frozen=True, slots=True)
class Speeds:
    """The speeds of all workloads of a run relative to a case of one name, or to a variant."""

    baseline: str
    bars: list[Relative]
    order: list[str]

    @property
    def workload(self) -> str:
        """All of them together."""
        return ""

    @property
    def title(self) -> str:
        """The baseline of the speeds."""
        return f"Speed beside {self.baseline}"

    @property
    def description(self) -> str:
        """The figure in words: every bar."""
        said = [f"{bar['workload']}, {self.name(bar)}: {fixed(bar['value'], 3)}" for bar in self.bars]
        return f"{self.baseline} is 1. " + "; ".join(said) + "."

    def name(self, bar: Relative) -> str:
        """Name a bar by its case, its variant, or by both if both differ."""
        words = [
            bar["variant"] if len(self.order) > 1 else "",
            bar["case"] if bar["case"] != bar["baseline_case"] or len(self.order) < 2 else "",
        ]
        return ": ".join(word for word in words if word)


def speeds(results: Results) -> list[Speeds]:
    """Return the speeds, those of one baseline together."""
    order = variants(results)
    found: dict[str, list[Relative]] = {}
    for bar in results.get("relative", []):
        is_variant = bar["variant"] != bar["baseline_variant"]
        if not is_variant and ", " in bar["case"]:
            continue  # cases that vary in two ways are a matrix
        found.setdefault(bar["baseline_variant"] if is_variant else bar["baseline_case"], []).append(bar)
    return [Speeds(name, bars, order) for name, bars in found.items() if len(bars) <= MOST_BARS]


def draw(drawn: Speeds, key: str, width: float) -> str:
    """Draw the bars, workload by workload."""
    bars, workloads = drawn.bars, unique(bar["workload"] for bar in drawn.bars)
    label = min(max(text_width(drawn.name(bar), SMALL) for bar in bars) + 10, width * 0.42)
    reading = max(text_width(fixed(bar["value"], 3), SMALL) for bar in bars) + 12
    ends = [bar["high"] if bar["high"] is not None else bar["value"] for bar in bars]
    # a useless interval must not flatten the bars
    most = max(1.1, min(max(ends), WIDEST * max(bar["value"] for bar in bars)))
    ticks = linear_ticks(0, most, 4)
    height = len(workloads) * HEAD + len(bars) * STEP + 44
    drawing = Drawing(width, height, key=key, title=drawn.title, description=drawn.description)
    scale = Scale(0, most * 1.02, label, width - reading)
    bottom = height - 40
    for tick in ticks:
        if scale(tick) <= width - reading + 1:
            drawing.line(scale(tick), 8, scale(tick), bottom, "grid")
            drawing.text(scale(tick), bottom + 16, fixed(tick, 1), "tick", "middle")
    y = 0.0
    for workload in workloads:
        drawing.text(0, y + 15, shortened(workload, width - reading), "strong", hint=workload)
        y += HEAD
        for bar in (bar for bar in bars if bar["workload"] == workload):
            css = series_class(drawn.order.index(bar["variant"]) if bar["variant"] in drawn.order else 0)
            _bar(drawing, scale, (bar, drawn.name(bar)), (label, y), css)
            y += STEP
    drawing.line(scale(1), 8, scale(1), bottom, "rule-line")
    drawing.text(width - reading, bottom + 34, f"speed, {drawn.baseline} is 1", "axis", "end")
    return str(drawing)


def _bar(
    drawing: Drawing, scale: Scale, told: tuple[Relative, str], place: tuple[float, float], css: str
) -> None:
    (bar, name), (label, y) = told, place
    value, low, high = bar["value"], bar["low"], bar["high"]
    middle = y + BAR / 2
    drawing.text(label - 6, middle + 4, shortened(name, label - 8, SMALL), "small", "end", name)
    drawing.box(label, y, scale(value) - label, BAR, f"fill {css}", f"{name}: {fixed(value, 3)}")
    end = scale(value)
    if low is not None and high is not None:
        right = min(scale(high), scale.end)
        drawing.line(scale(max(low, 0)), middle, right, middle, "whisker-ink")
        end = max(end, right)
    drawing.text(max(end, scale(1)) + 6, middle + 4, fixed(value, 3), "value")
