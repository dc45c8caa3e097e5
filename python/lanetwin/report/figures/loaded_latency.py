"""What latency does a throughput cost? Throughput across, latency up, load along the line.

Not for a sweep of the transfer size, where both change with the size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.numbers import capital, significant, with_unit
from lanetwin.report.figures.axes import LINE_STEP, Axis, draw_frame, label_room, series_class
from lanetwin.report.figures.sweep import sweeps, value_axis
from lanetwin.report.scale import spread
from lanetwin.report.svg import NORMAL, Drawing, shortened, text_width

if TYPE_CHECKING:
    from lanetwin.report.figures.sweep import Sweep
    from lanetwin.results import Results, Row


@dataclass(frozen=True, slots=True)
class LoadedLatency:
    """Throughput and latency of one workload at the same loads: pairs by variant, in ascending load."""

    workload: str
    load: str
    metric: str
    throughput_unit: str
    latency_unit: str
    series: dict[str, list[tuple[Row, Row]]]

    @property
    def title(self) -> str:
        """The quantities of both axes."""
        return f"{capital(self.metric)} against throughput"

    @property
    def description(self) -> str:
        """The figure in words: both ends of every line."""
        said = []
        for variant, pairs in self.series.items():
            ends = [
                f"{with_unit(significant(latency['value']), self.latency_unit)} at "
                f"{with_unit(significant(throughput['value']), self.throughput_unit)}"
                for throughput, latency in (pairs[0], pairs[-1])
            ]
            said.append(f"{variant}: from {ends[0]} to {ends[1]}")
        return f"{self.workload}, each point one {self.load}. " + "; ".join(said) + "."


def curves(results: Results) -> list[LoadedLatency]:
    """Return the workloads with a sweep of the load and both metrics."""
    found = sweeps(results)
    pairs = []
    for throughput in found:
        if throughput.metric != "throughput" or throughput.x_unit == "B":
            continue
        for latency in found:
            same = (latency.workload, latency.x_name) == (throughput.workload, throughput.x_name)
            if same and "latency" in latency.metric:
                pairs.append(_pair(throughput, latency))
    return [curve for curve in pairs if curve.series]


def _pair(throughput: Sweep, latency: Sweep) -> LoadedLatency:
    series = {}
    for variant, rows in throughput.series.items():
        latencies = {row["case"]: row for row in latency.series.get(variant, [])}
        both = [(row, latencies[row["case"]]) for row in rows if row["case"] in latencies]
        if len(both) > 1:
            series[variant] = both
    return LoadedLatency(
        throughput.workload, throughput.x_name, latency.metric, throughput.unit, latency.unit, series
    )


def draw(curve: LoadedLatency, key: str, width: float) -> str:
    """Draw the curve."""
    pairs = [pair for points in curve.series.values() for pair in points]
    x = Axis("throughput", curve.throughput_unit, 0.0, max(t["value"] for t, _ in pairs) * 1.02)
    y = value_axis(curve.metric, curve.latency_unit, [latency for _, latency in pairs])
    drawing = Drawing(width, round(width * 0.6), key=key, title=curve.title, description=curve.description)
    frame = draw_frame(drawing, x, y, label_room(list(curve.series), width))
    ends = []
    for index, (variant, points) in enumerate(curve.series.items()):
        places = [(frame.x(t["value"]), frame.y(latency["value"])) for t, latency in points]
        drawing.polyline(places, f"line{index and 2} {series_class(index)}")
        for (throughput, latency), place in zip(points, places, strict=True):
            reading = (
                f"{with_unit(significant(latency['value']), curve.latency_unit)} at "
                f"{with_unit(significant(throughput['value']), curve.throughput_unit)}"
            )
            drawing.mark(
                *place, index, f"dot {series_class(index)}", f"{variant}, {throughput['case']}: {reading}"
            )
        ends.append((variant, index, max(places)))  # at the largest throughput: delays run backwards
    if len(ends) > 1:
        _name_ends(drawing, ends)
    return str(drawing)


def _name_ends(drawing: Drawing, ends: list[tuple[str, int, tuple[float, float]]]) -> None:
    """Write each series' name to the right of its largest throughput: lines may end before the edge."""
    heights = spread([y for _, _, (_, y) in ends], LINE_STEP, 18, drawing.height - 46)
    apart = all(
        abs(a[1] - b[1]) >= LINE_STEP or abs(a[0] - b[0]) > text_width(max(one, other, key=len)) + 16
        for nth, (one, _, a) in enumerate(ends)
        for other, _, b in ends[:nth]
    )
    for (name, index, (own, y)), height in zip(ends, heights, strict=True):
        reach = own + text_width(name) + 16
        x = max(other for _, _, (other, _) in ends if own <= other <= reach)  # not over another line's end
        place = (x + 8, (y if apart else height) + 4)
        room = drawing.width - x - 8
        drawing.text(*place, shortened(name, room, NORMAL), f"name {series_class(index)}", hint=name)
