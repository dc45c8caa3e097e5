"""How does a metric change along a sweep? One line per variant, with its confidence band.

Not for cases without an order, which are shown in a table or a figure of verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.language import tr
from lanetwin.numbers import capital, measured, with_unit
from lanetwin.report.figures.axes import Axis, draw_frame, label_ends, label_room, series_class
from lanetwin.report.svg import Drawing
from lanetwin.summary import together, unique, variants

if TYPE_CHECKING:
    from lanetwin.results import Results, Row

LOG_FROM = 16.0
"""Ratio of the ends from which a sweep has a logarithmic axis."""
MARKS_UP_TO = 48
"""Maximum number of points on a line with individual marks."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """One metric of one workload along one swept quantity: points by variant and curve, in their order."""

    workload: str
    metric: str
    unit: str
    x_name: str
    x_unit: str
    series: dict[str, list[Row]]

    @property
    def title(self) -> str:
        """The quantities of both axes."""
        return f"{capital(self.metric)} against {self.x_name}"

    @property
    def description(self) -> str:
        """The figure in words: both ends of every line."""
        said = []
        for variant, rows in self.series.items():
            ends = [
                f"{with_unit(_reading(row), row['unit'])} at {row['case']}" for row in (rows[0], rows[-1])
            ]
            said.append(f"{variant}: from {ends[0]} to {ends[1]}")
        return f"{self.workload}. " + "; ".join(said) + "."


def _x(row: Row) -> float:
    return row["x"]["value"] if row["x"] else 0.0


def _reading(row: Row) -> str:
    return measured(row["value"], row["low"], row["high"])


def sweeps(results: Results) -> list[Sweep]:
    """Return every sweep: rows with an abscissa, of one workload and metric, with at least two points."""
    order = variants(results)
    found: dict[tuple[str, str, str, str, str], list[Row]] = {}
    for row in together(results):
        if row["x"]:
            key = (row["workload"], row["metric"], row["unit"], row["x"]["name"], row["x"]["unit"])
            found.setdefault(key, []).append(row)
    drawn = []
    for key, rows in found.items():
        series = {
            _name(variant, curve, many=len(order) > 1): sorted(points, key=_x)
            for variant in order
            for curve, points in _curves([row for row in rows if row["variant"] == variant]).items()
        }
        if len(unique(row["case"] for row in rows)) > 1:
            drawn.append(Sweep(*key, series))
    return drawn


COMPONENTS: dict[str, dict[str, str]] = {
    "device cache hits": {"device cache hits": "device cache hits"},
    "traffic with the disk": {
        "fetched": "fetched from the disk",
        "written back": "written back to the disk",
    },
    "blocks erased": {"blocks erased": "blocks erased"},
}
"""Metrics of components drawn along a sweep: common figures, their metrics, titles of separate figures."""


def component_sweeps(results: Results) -> list[Sweep]:
    """Return metrics of devices' caches and disks along a sweep.

    Variants differ by colour: if there are several, each metric has its own figure. Metrics that are always
    zero are left out.
    """
    several = len(variants(results)) > 1
    figures = {title: tuple(metrics) for title, metrics in COMPONENTS.items()}
    if several:
        figures = {title: (metric,) for metrics in COMPONENTS.values() for metric, title in metrics.items()}
    rows = [row for row in results["rows"] if row.get("device") is not None and row["x"]]
    found = [
        _component_sweep(results, title, [row for row in rows if row["workload"] == workload], metrics)
        for workload in unique(row["workload"] for row in rows)
        for title, metrics in figures.items()
    ]
    return [sweep for sweep in found if sweep]


def _component_sweep(results: Results, title: str, rows: list[Row], metrics: tuple[str, ...]) -> Sweep | None:
    order = variants(results)
    own = [row for row in rows if row["metric"] in metrics]
    devices = {row.get("device") for row in own}
    series: dict[str, list[Row]] = {}
    for row in sorted(own, key=lambda row: order.index(row["variant"])):
        curve = row["x"].get("curve", "") if row["x"] else ""
        words = [
            row["variant"] if len(order) > 1 or not (curve or len(metrics) > 1) else "",
            curve,
            str(row.get("device")) if len(devices) > 1 else "",
            row["metric"] if len(metrics) > 1 else "",
        ]
        series.setdefault(": ".join(word for word in words if word), []).append(row)
    drawable = max((len(points) for points in series.values()), default=0) > 1
    if not drawable or not any(row["value"] for row in own):
        return None
    axes = [(x["name"], x["unit"]) for row in own if (x := row["x"])]
    points = {name: sorted(line, key=_x) for name, line in series.items()}
    return Sweep(rows[0]["workload"], title, own[0]["unit"], *axes[0], points)


def _curves(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["x"].get("curve", "") if row["x"] else "", []).append(row)
    return found


def _name(variant: str, curve: str, *, many: bool) -> str:
    """Name a line by its variant, its curve, or by both if there are several of each."""
    if not curve:
        return variant
    return f"{variant}: {curve}" if many else curve


def is_geometric(values: list[float]) -> bool:
    """Whether values need a logarithmic axis: all positive, and the ends far apart."""
    return min(values) > 0 and max(values) / min(values) >= LOG_FROM


def draw(sweep: Sweep, key: str, width: float) -> str:
    """Draw the sweep."""
    rows = [row for points in sweep.series.values() for row in points]
    xs = [_x(row) for row in rows]
    x = Axis(sweep.x_name, sweep.x_unit, min(xs), max(xs), is_geometric(xs))
    metric = sweep.metric
    y = value_axis(tr(metric), sweep.unit, rows)
    drawing = Drawing(width, round(width * 0.6), key=key, title=sweep.title, description=sweep.description)
    frame = draw_frame(drawing, x, y, label_room(list(sweep.series), width))
    for index, points in enumerate(sweep.series.values()):
        band = [(frame.x(_x(p)), frame.y(p["high"])) for p in points]
        band += [(frame.x(_x(p)), frame.y(p["low"])) for p in reversed(points)]
        drawing.polygon(band, f"band {series_class(index)}")
    for index, (variant, points) in enumerate(sweep.series.items()):
        # The first line is drawn broader, so that it shows where another lies upon it.
        drawing.polyline(
            [(frame.x(_x(p)), frame.y(p["value"])) for p in points],
            f"line{index and 2} {series_class(index)}",
        )
        for point in points if len(points) <= MARKS_UP_TO else ():
            hint = f"{variant}, {point['case']}: {with_unit(_reading(point), sweep.unit)}"
            drawing.mark(
                frame.x(_x(point)), frame.y(point["value"]), index, f"dot {series_class(index)}", hint
            )
    ends = [(name, i, frame.y(points[-1]["value"])) for i, (name, points) in enumerate(sweep.series.items())]
    label_ends(drawing, frame, ends)
    return str(drawing)


def value_axis(metric: str, unit: str, rows: list[Row]) -> Axis:
    """Return the axis of a metric: from zero, or logarithmic if values are more than two decades apart."""
    values = [row["value"] for row in rows]
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    if min(values) > 0 and low > 0 and max(values) / min(values) > 100:
        return Axis(metric, unit, low * 0.8, high * 1.25, logarithmic=True)
    return Axis(metric, unit, min(0.0, low), high if high > 0 else 1.0)
