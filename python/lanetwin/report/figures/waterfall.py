"""Where does the time of I/Os go? The mean as a stacked bar, and under it each hop in its place.

One bar per variant in every row, so that a hop of only one variant is visible. The stages sum to the total.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lanetwin.fit import brief, fitting_all
from lanetwin.language import tr
from lanetwin.numbers import compact, headed, significant, with_unit
from lanetwin.report.figures.axes import series_class
from lanetwin.report.scale import Scale, linear_ticks
from lanetwin.report.svg import SMALL, Drawing, shortened, text_width
from lanetwin.sentences import told
from lanetwin.summary import variants

if TYPE_CHECKING:
    from lanetwin.fit import Fit
    from lanetwin.results import Results, Stage, Waterfall

TOTAL_BAR = 20.0
"""Height of a stacked bar [px]."""
BAR = 9.0
"""Height of a hop's bar [px]."""
BETWEEN = 3.0
"""Gap between two variants' bars of one row [px]."""
BESIDE = 16.0
"""Gap between the names of hops and their bars [px], since widths of fonts differ."""
LABELS = 0.46
"""Maximum share of the width for names of hops."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The waterfalls of one case, by variant."""

    workload: str
    case: str
    unit: str
    by_variant: dict[str, Waterfall]
    device: str = ""
    """The device or memory node that served them, if there are several."""
    operation: str = ""
    """Reads or writes, if a case has both."""

    @property
    def title(self) -> str:
        """The latency that is divided."""
        of = f" of {self.operation}s" if self.operation else ""
        on = f" on {self.device}" if self.device else ""
        return f"Mean latency{of}{on} by hop, {self.case}"

    @property
    def description(self) -> str:
        """The figure in words: every variant's total and largest stage."""
        said = []
        for variant, waterfall in self.by_variant.items():
            largest = max(waterfall["stages"], key=lambda stage: stage["value"], default=None)
            most = f", most of it {largest['name']}" if largest else ""
            said.append(f"{variant}: {with_unit(significant(waterfall['total']), self.unit)}{most}")
        return f"{self.workload}. " + "; ".join(said) + "."

    @property
    def hops(self) -> list[str]:
        """The hops of all variants along the path; one that only some have, after its predecessor."""
        order: list[str] = []
        for waterfall in self.by_variant.values():
            after = 0
            for name, _ in numbered(waterfall):
                if name in order:
                    after = order.index(name) + 1
                else:
                    order.insert(after, name)
                    after += 1
        return order

    def value(self, variant: str, hop: str) -> float | None:
        """Return the time of one hop, or None if the variant has no such hop."""
        return dict(numbered(self.by_variant[variant])).get(hop)

    def spread(self, variant: str, hop: str) -> str:
        """Return median and 99th percentile of a hop in words; empty without samples."""
        for stage in self.by_variant[variant]["stages"]:
            if stage["name"] == hop and "p50" in stage and "p99" in stage:
                return f"p50 {significant(stage['p50'], 3)}, p99 {significant(stage['p99'], 3)}"
        return ""


def numbered(waterfall: Waterfall) -> list[tuple[str, float]]:
    """Return the stages with distinct names: a second stage of the same name is counted."""
    seen: dict[str, int] = {}
    stages = []
    for stage in waterfall["stages"]:
        count = seen[stage["name"]] = seen.get(stage["name"], 0) + 1
        stages.append((stage["name"] if count == 1 else f"{stage['name']} ({count})", stage["value"]))
    return stages


def breakdowns(results: Results) -> list[Breakdown]:
    """Return the waterfalls, the variants of a case together."""
    found: dict[tuple[str, str, str, str, str], dict[str, Waterfall]] = {}
    for waterfall in results["waterfalls"]:
        kind = (waterfall.get("device", ""), waterfall.get("operation", ""))
        key = (waterfall["workload"], waterfall["case"], waterfall["unit"], *kind)
        found.setdefault(key, {})[waterfall["variant"]] = waterfall
    order = variants(results)
    rank = {name: place for place, name in enumerate(order)}
    drawn = [
        Breakdown(
            *key[:3], dict(sorted(some.items(), key=lambda item: rank.get(item[0], len(rank)))), *key[3:]
        )
        for key, some in found.items()
    ]
    return [_fitted(one, [other for other in drawn if other.workload == one.workload]) for one in drawn]


def _fitted(breakdown: Breakdown, together: list[Breakdown]) -> Breakdown:
    """Return a breakdown in the unit that fits the longest of those of its workload."""
    totals = [waterfall["total"] for other in together for waterfall in other.by_variant.values()]
    fit = fitting_all(totals, breakdown.unit)
    scaled = {name: _scaled(waterfall, fit) for name, waterfall in breakdown.by_variant.items()}
    return replace(breakdown, unit=fit.unit, by_variant=scaled)


def _scaled(waterfall: Waterfall, fit: Fit) -> Waterfall:
    stages: list[Stage] = []
    for stage in waterfall["stages"]:
        own: Stage = {**stage, "value": stage["value"] * fit.scale}
        for percentile in ("p50", "p99"):
            if percentile in stage:
                own[percentile] = stage[percentile] * fit.scale
        stages.append(own)
    return {**waterfall, "unit": fit.unit, "total": waterfall["total"] * fit.scale, "stages": stages}


def draw(breakdown: Breakdown, key: str, width: float, longest: float | None = None) -> str:
    """Draw the breakdown; `longest` [in its unit] makes the scale the same for several."""
    names, hops = list(breakdown.by_variant), breakdown.hops
    rows_height = [len(names) * (BAR + BETWEEN) + 6] * len(hops)
    many = len(names) > 1
    top = len(names) * (TOTAL_BAR + 6) + 10
    height = top + sum(rows_height) + 40
    labels = [text_width(hop, SMALL) for hop in hops] + [text_width(name) for name in names if many]
    label_width = min(max(labels, default=0) + BESIDE, width * LABELS)
    totals = {
        name: with_unit(significant(w["total"]), breakdown.unit) for name, w in breakdown.by_variant.items()
    }
    value_width = max(text_width(total) for total in totals.values()) + 8
    drawing = Drawing(width, height, key=key, title=breakdown.title, description=breakdown.description)
    most = longest or max(waterfall["total"] for waterfall in breakdown.by_variant.values()) or 1.0
    scale = Scale(0, most, label_width, width - value_width)
    _axis(drawing, scale, breakdown.unit, 0, height - 34)

    for index, (name, waterfall) in enumerate(breakdown.by_variant.items()):
        y = index * (TOTAL_BAR + 6)
        label, css = (name, f"name {series_class(index)}") if many else (tr("total"), "strong")
        drawing.text(0, y + TOTAL_BAR / 2 + 4.5, shortened(label, label_width - 6), css, hint=label)
        start = 0.0
        for place, (hop, value) in enumerate(numbered(waterfall)):
            x, end = scale(start), scale(start + value)
            shade = f"stack {series_class(index)} shade{place % 2}"
            drawing.box(
                x, y, end - x, TOTAL_BAR, shade, f"{hop}: {with_unit(significant(value), breakdown.unit)}"
            )
            start += value
        drawing.text(scale(start) + 6, y + TOTAL_BAR / 2 + 4.5, totals[name], "strong")

    y = top
    starts = dict.fromkeys(names, 0.0)
    for hop, row_height in zip(hops, rows_height, strict=True):
        drawing.line(0, y, width, y, "hair")
        middle = y + row_height / 2
        drawing.text(0, middle + 4, _label(hop, label_width - BESIDE + 2), "small", hint=hop)
        for index, name in enumerate(names):
            hop_value = breakdown.value(name, hop)
            bar_y = y + 4 + index * (BAR + BETWEEN)
            if hop_value is None:
                continue
            x, end = scale(starts[name]), scale(starts[name] + hop_value)
            reading = _reading(hop_value, breakdown.unit)
            spread = breakdown.spread(name, hop)
            hint = f"{name}, {hop}: {with_unit(significant(hop_value), breakdown.unit)}"
            hint += f" ({spread})" if spread else ""
            drawing.box(x, bar_y, max(end - x, 1.2), BAR, f"fill {series_class(index)}", hint)
            _value_beside(drawing, reading, x, end, bar_y + BAR - 0.5, width)
            starts[name] += hop_value
        y += row_height
    return str(drawing)


def _label(hop: str, room: float) -> str:
    """Cut the name of a hop to the available width [px]: preferably its place, not its kind.

    >>> _label("slot host → cmmh.controller: wire", 160)
    'slot host → cmmh.co…: wire'
    >>> _label("cmmh.controller: DRAM precharge", 124), _label("ssd: firmware, without an engine", 124)
    ('…: DRAM precharge', 'ssd: firmware, with…')
    """
    hop = told(hop)
    place, colon, what = hop.rpartition("：" if "：" in hop else ": ")
    left = room - text_width(colon + what, SMALL)
    if text_width(hop, SMALL) <= room or not colon:
        return shortened(hop, room, SMALL)
    if left < text_width("slot…", SMALL):
        long_place = text_width(place, SMALL) > room / 2
        return shortened(f"…{colon}{what}" if long_place else hop, room, SMALL)
    return shortened(place, left, SMALL) + colon + what


def _reading(value: float, unit: str) -> str:
    """Write the time of a hop, in the unit of the axis, or in a smaller one if the time is small.

    >>> _reading(7.3, "ms"), _reading(0.231, "ms"), _reading(0.0005, "ms"), _reading(0.0, "ms")
    ('7.30\u202fms', '231\u202fµs', '500\u202fns', '0')
    """
    return brief(value, unit, digits=3) if value > 0 else "0"


def _value_beside(drawing: Drawing, text: str, x: float, end: float, y: float, width: float) -> None:
    """Write a bar's value after it, or before it if there is no room."""
    if end + 5 + text_width(text, SMALL) <= width:
        drawing.text(end + 5, y, text, "value")
    else:
        drawing.text(x - 5, y, text, "value", "end")


def _axis(drawing: Drawing, scale: Scale, unit: str, top: float, bottom: float) -> None:
    for tick in linear_ticks(0, scale.high, 4):
        if tick <= scale.high * 1.0001:
            drawing.line(scale(tick), top, scale(tick), bottom, "grid")
            drawing.text(
                scale(tick), bottom + 16, compact(tick) if tick % 1 else f"{tick:.0f}", "tick", "middle"
            )
    drawing.text(scale.end, bottom + 32, headed(tr("time"), unit), "axis", "end")
