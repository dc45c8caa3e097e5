"""What does a channel do to the signal? Loss over frequency, pulse response, eye and bathtubs of one segment.

Values come ready from the engine; nothing is computed here but places on the drawing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from lanetwin.language import tr
from lanetwin.numbers import fixed, significant
from lanetwin.report.figures.axes import Axis, draw_frame, label_ends, label_room, series_class
from lanetwin.report.svg import Drawing

DEEPEST = 1e-20
"""Bit error ratio below which values are drawn at the edge."""


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments that one figure shows, each with its name."""

    workload: str
    title: str
    description: str
    named: list[tuple[str, dict[str, Any]]]


def ratio(ber: float) -> str:
    """Write a bit error ratio; the engine's smallest is 1e-40.

    >>> ratio(3.2e-15), ratio(1e-40)
    ('3e-15', '< 1e-39')
    """
    return "< 1e-39" if ber < 1e-39 else f"{ber:.0e}".replace("e-0", "e-")


class Decades(Axis):
    """An axis of bit error ratios: a tick every four decades, written as a power of ten."""

    def ticks(self, at_most: int) -> list[float]:
        """Return powers of ten from 1 down to the end of the axis."""
        lowest = round(math.log10(self.low))
        step = max(1, -(lowest // max(at_most, 1)))
        return [10.0**power for power in range(0, lowest - 1, -step)][::-1]

    def label(self, tick: float) -> str:
        """Write a power of ten."""
        power = round(math.log10(tick))
        return "1" if power == 0 else "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def draw_loss(figure: Segments, key: str, width: float) -> str:
    """Draw the loss of each segment over frequency, and the budget at the Nyquist frequency."""
    segments = [segment for _, segment in figure.named]
    nyquist = max(segment["nyquist_hz"] for segment in segments) / 1e9
    points = [(f, db) for segment in segments for f, db in segment["curve"] if f <= 1.5 * nyquist]
    x = Axis(tr("frequency"), "GHz", 0.0, max(f for f, _ in points))
    deepest = max([db for _, db in points] + [segment["budget_db"] for segment in segments])
    # loss grows downwards, as transmission is drawn everywhere
    y = Axis(tr("transmission"), "dB", -1.05 * deepest, 0.0)
    drawing = Drawing(width, round(width * 0.6), key=key, title=figure.title, description=figure.description)
    frame = draw_frame(drawing, x, y, label_room([name for name, _ in figure.named], width))
    ends = []
    for index, (name, segment) in enumerate(figure.named):
        curve = [(frame.x(f), frame.y(-db)) for f, db in segment["curve"] if f <= 1.5 * nyquist]
        drawing.polyline(curve, f"line{index and 2} {series_class(index)}")
        ends.append((name, index, curve[-1][1]))
    for rate in sorted({(segment["nyquist_hz"], segment["budget_db"]) for segment in segments}):
        place, height = frame.x(rate[0] / 1e9), frame.y(-rate[1])
        drawing.line(place, frame.y(0.0), place, height, "rule")
        drawing.line(frame.x(0.0), height, place, height, "rule")
        drawing.text(frame.x(0.0) + 4, height - 5, tr("budget {loss} dB", loss=fixed(rate[1], 1)), "small")
        drawing.mark(
            place, height, 3, "dot", f"budget {fixed(rate[1], 1)} dB at {significant(rate[0] / 1e9)} GHz"
        )
    label_ends(drawing, frame, ends)
    return str(drawing)


def draw_pulse(figure: Segments, key: str, width: float) -> str:
    """Draw the received pulse of a single bit after the linear equaliser, with a tick for each UI."""
    ((_, segment),) = figure.named
    points = [(t, v * 1e3) for t, v in segment["pulse"]]
    x = Axis("time from the sampling point", "UI", points[0][0], points[-1][0])
    volts = [v for _, v in points]
    drawing = Drawing(width, round(width * 0.6), key=key, title=figure.title, description=figure.description)
    frame = draw_frame(drawing, x, Axis("pulse", "mV", min(0.0, *volts), max(volts)), 10.0)
    drawing.line(frame.x(x.low), frame.y(0.0), frame.x(x.high), frame.y(0.0), "rule")
    drawing.polyline([(frame.x(t), frame.y(v)) for t, v in points], "line2 s0")
    cursors = [(t, v) for t, v in points if t == int(t)]
    for t, v in cursors:
        name = "main cursor" if t == 0 else f"cursor {t:+.0f}"
        drawing.mark(frame.x(t), frame.y(v), 0, "dot s1" if t == 0 else "dot s0", f"{name}: {fixed(v, 2)} mV")
    for number, tap in enumerate(segment["dfe_v"], 1):
        at = frame.x(float(number))
        drawing.mark(at, frame.y(tap * 1e3), 3, "dot s2", f"DFE tap {number}: {fixed(tap * 1e3, 2)} mV")
    return str(drawing)


def draw_eye(figure: Segments, key: str, width: float) -> str:
    """Draw the contours of the statistical eye at some bit error ratios, and the mask."""
    ((_, segment),) = figure.named
    contours = [contour for contour in segment["contours"] if contour["points"]]
    half_mask = segment["mask_height_v"] * 500
    highest = max([v * 1e3 for contour in contours for _, v in contour["points"]] + [half_mask]) * 1.1
    x = Axis("sampling time", "UI", -0.5, 0.5)
    drawing = Drawing(width, round(width * 0.6), key=key, title=figure.title, description=figure.description)
    names = [ratio(contour["ber"]) for contour in contours]
    frame = draw_frame(
        drawing, x, Axis("threshold", "mV", -highest, highest), label_room([*names, ""], width)
    )
    ends = []
    for index, contour in enumerate(contours):
        upper = [(frame.x(t), frame.y(v * 1e3)) for t, v in contour["points"]]
        lower = [(frame.x(t), frame.y(-v * 1e3)) for t, v in reversed(contour["points"])]
        css = series_class(index)
        drawing.polygon(upper + lower, f"band {css}")
        drawing.polyline([*upper, *lower, upper[0]], f"line2 {css}")
        ends.append((ratio(contour["ber"]), index, min(y for _, y in upper)))
    half_width, centre = segment["mask_width_ui"] / 2, segment["centre_ui"]
    corners = [(-half_width, 0.0), (0.0, half_mask), (half_width, 0.0), (0.0, -half_mask)]
    outline = [(frame.x(centre + t), frame.y(v)) for t, v in corners]
    drawing.polyline([*outline, outline[0]], "rule-line")
    drawing.text(outline[3][0], outline[3][1] + 14, "mask", "small", "middle")
    label_ends(drawing, frame, ends if len(ends) > 1 else [])
    return str(drawing)


def draw_bathtub_time(figure: Segments, key: str, width: float) -> str:
    """Draw the bit error ratio over the sampling time, of every segment."""
    return _bathtub(figure, key, width, ("bathtub_time", Axis("sampling time", "UI", -0.5, 0.5), 1.0))


def draw_bathtub_voltage(figure: Segments, key: str, width: float) -> str:
    """Draw the bit error ratio over the threshold, of every segment."""
    reach = max(segment["bathtub_voltage"][-1][0] for _, segment in figure.named) * 1e3
    return _bathtub(figure, key, width, ("bathtub_voltage", Axis("threshold", "mV", -reach, reach), 1e3))


def _bathtub(figure: Segments, key: str, width: float, along: tuple[str, Axis, float]) -> str:
    which, x, scale = along
    y = Decades("bit error ratio", "", DEEPEST, 1.0, logarithmic=True)
    drawing = Drawing(width, round(width * 0.6), key=key, title=figure.title, description=figure.description)
    frame = draw_frame(drawing, x, y, label_room([name for name, _ in figure.named], width))
    ends = []
    for index, (name, segment) in enumerate(figure.named):
        points = [(frame.x(at * scale), frame.y(max(ber, DEEPEST))) for at, ber in segment[which]]
        drawing.polyline(points, f"line2 {series_class(index)}")
        ends.append((name, index, points[-1][1]))
    for ber in sorted({segment["mask_ber"] for _, segment in figure.named}):
        height = frame.y(ber)
        drawing.line(frame.x(x.low), height, frame.x(x.high), height, "rule")
        drawing.text(frame.x(x.low) + 4, height - 5, f"mask at {ratio(ber)}", "small")
    label_ends(drawing, frame, ends)
    return str(drawing)
