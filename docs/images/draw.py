"""Draw the picture of the README: what others measured, and what `lanetwin validate pcie-bench` predicts.

``python docs/images/draw.py`` writes ``docs/images/pcie-bench.svg`` anew.
The host is the one that nothing was fitted to.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from lanetwin import engine
from lanetwin.report.figures.axes import Axis, draw_frame, label_ends, label_room, series_class
from lanetwin.report.svg import Drawing

if TYPE_CHECKING:
    from lanetwin.engine import ValidationRow

PICTURE = Path(__file__).with_name("pcie-bench.svg")
CLAIM = "pcie-bench"
HOST = "Sandy Bridge"
SERIES = {
    "write": "DMA write throughput",
    "read": "DMA read throughput",
    "both at once": "DMA read + write throughput, per direction",
}
WIDTH, HEIGHT = 760.0, 400.0
MARGIN = 16.0
CELL = 64
"""Other sizes than multiples of this are left out [B]: their dots would lie upon those that are shown."""
STYLE = """
svg { font: 12.5px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #16191d; }
.paper { fill: #ffffff; }
.tick, .axis { font-size: 11.5px; fill: #59626e; }
.grid { stroke: #e7eaee; } .rule { stroke: #c9ced6; }
.s0 { --c: #0a5ea8; } .s1 { --c: #c4500a; } .s2 { --c: #00795c; }
.name { font-weight: 600; fill: var(--c); }
.line { fill: none; stroke: var(--c); stroke-width: 1.8; stroke-linejoin: round; }
.dot { fill: var(--c); stroke: #ffffff; stroke-width: 1; }
"""


def points(rows: list[ValidationRow], name: str) -> list[tuple[int, float, float]]:
    """Return size [B], published and predicted [Gb/s] of one direction, by size."""
    found = []
    for row in rows:
        if row["claim"] != CLAIM or row["quantity"] != SERIES[name] or row["role"] != "predicted":
            continue
        host, size = row["case"].split(", ")
        if host == HOST:
            found.append((int(size.removesuffix(" B")), row["published"], row["predicted"]))
    return sorted(point for point in found if point[0] % CELL == 0)


def picture(rows: list[ValidationRow]) -> str:
    """Draw marks for what was published and lines for what is predicted."""
    series = {name: points(rows, name) for name in SERIES}
    every = [point for line in series.values() for point in line]
    drawing = Drawing(
        WIDTH,
        HEIGHT,
        key=CLAIM,
        title="Payload throughput of a network card by size of transfer, published and predicted",
        description=f"{len(every)} published values of {HOST} as marks, and what lanetwin predicts as lines.",
    )
    drawing.box(-MARGIN, -MARGIN, WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN, "paper")
    x = Axis("size of a transfer", "B", CELL, max(size for size, *_ in every), logarithmic=True)
    y = Axis("payload throughput, each direction", "Gb/s", 0, max(max(point[1:]) for point in every))
    frame = draw_frame(drawing, x, y, label_room(list(series), WIDTH))
    drawing.text(frame.right, 12, "marks: measured (pcie-bench) · lines: predicted", "axis", "end")
    for index, line in enumerate(series.values()):
        css = series_class(index)
        drawing.polyline([(frame.x(size), frame.y(said)) for size, _, said in line], f"line {css}")
        for size, published, _ in line:
            drawing.mark(frame.x(size), frame.y(published), index, f"dot {css}")
    label_ends(
        drawing, frame, [(name, i, frame.y(line[-1][2])) for i, (name, line) in enumerate(series.items())]
    )
    frame_of = f"{-MARGIN:g} {-MARGIN:g} {WIDTH + 2 * MARGIN:g} {HEIGHT + 2 * MARGIN:g}"
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{frame_of}"'
    text = re.sub('<svg viewBox="[^"]*"', opening, str(drawing), count=1)
    return re.sub("(</desc>)", rf"\1<style>{STYLE}</style>", text, count=1).replace("><", ">\n<") + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(engine.validate([CLAIM])["rows"]), encoding="utf-8")
