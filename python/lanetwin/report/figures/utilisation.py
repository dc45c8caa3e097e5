"""What was each direction of each link busy with? One bar per direction, its length is the whole time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.numbers import compact, share
from lanetwin.report.svg import SMALL, Drawing, shortened, text_width
from lanetwin.summary import variants

if TYPE_CHECKING:
    from lanetwin.results import Results, Utilisation

KINDS: tuple[tuple[str, str], ...] = (
    ("tlp", "TLPs"),
    ("message", "messages"),
    ("dllp", "DLLPs"),
    ("skp", "SKP"),
    ("replay", "replays"),
    ("credit_stall", "waiting for credits"),
    ("down", "down or in Recovery"),
    ("idle", "idle"),
)
"""The kinds of use of a direction, in the order of drawing, with their names in the legend."""
BAR = 16.0
"""Height of a bar [px]."""
SHORTEST_QUEUE = 0.001
"""Mean length below which a queue is written as less than this."""
STEP = 42.0
"""Distance from one bar to the next, including the name above it [px]."""


@dataclass(frozen=True, slots=True)
class LinkUse:
    """The use of all links in one case."""

    workload: str
    case: str
    directions: list[Utilisation]
    variants: int
    left_out: int = 0
    """Number of further, less busy directions, which are only in the table."""

    @property
    def title(self) -> str:
        """Which case."""
        return f"Use of the links, {self.case}"

    @property
    def description(self) -> str:
        """The figure in words: the part of the time that packets take."""
        said = [
            f"{self.name(d)}: {share(d['tlp'])} TLPs, {share(shares(d)['idle'])} idle"
            for d in self.directions
        ]
        return f"{self.workload}. " + "; ".join(said) + "."

    def name(self, direction: Utilisation) -> str:
        """Name one bar; by its variant only if there are several."""
        place = f"{direction['link']}, {direction['direction']}"
        return f"{place} · {direction['variant']}" if self.variants > 1 else place


def shares(direction: Utilisation) -> dict[str, float]:
    """Return the shares of the time. They sum to one: idle is the rest."""
    parts = {
        "tlp": direction["tlp"],
        "message": direction.get("message", 0.0),
        "dllp": direction["dllp"],
        "skp": direction["skp"],
        "replay": direction["replay"],
        "credit_stall": direction["credit_stall"],
        "down": direction.get("down", 0.0),
    }
    return {**parts, "idle": max(0.0, 1.0 - sum(parts.values()))}


def uses(results: Results) -> list[LinkUse]:
    """Return the use of the links by case, the variants of a direction side by side."""
    order = {name: place for place, name in enumerate(variants(results))}
    found: dict[tuple[str, str], list[Utilisation]] = {}
    for direction in results["utilisation"]:
        found.setdefault((direction["workload"], direction["case"]), []).append(direction)
    drawn = []
    for (workload, case), directions in found.items():
        places = list(dict.fromkeys((d["link"], d["direction"]) for d in directions))
        directions.sort(key=lambda d: (places.index((d["link"], d["direction"])), order.get(d["variant"], 0)))
        drawn.append(LinkUse(workload, case, directions, len({d["variant"] for d in directions})))
    return drawn


def draw(use: LinkUse, key: str, width: float) -> str:
    """Draw the use of the links."""
    present = [
        kind for kind in KINDS if kind[0] == "idle" or any(shares(d)[kind[0]] > 0 for d in use.directions)
    ]
    legend = _legend_places(present, width)
    top = legend[-1][1] + 14
    height = top + len(use.directions) * STEP + (STEP / 2 if use.left_out else 0)
    drawing = Drawing(width, height, key=key, title=use.title, description=use.description)
    for (kind, name), (x, y) in zip(present, legend, strict=True):
        drawing.box(x, y - 9, 10, 10, f"use u-{kind}", round_=2)
        drawing.text(x + 15, y, name, "small")
    for row, direction in enumerate(use.directions):
        y = top + row * STEP
        queue = f"mean queue {_queue(direction['mean_queue'])}"
        drawing.text(
            0, y + 13, shortened(use.name(direction), width - text_width(queue, SMALL) - 12), "label"
        )
        drawing.text(width, y + 13, queue, "tick", "end")
        _bar(drawing, direction, y + 19, width)
    if use.left_out:
        y = top + len(use.directions) * STEP + 13
        drawing.text(0, y, f"{use.left_out} more, less busy, are in the table", "small")
    return str(drawing)


def _bar(drawing: Drawing, direction: Utilisation, y: float, width: float) -> None:
    parts, x = shares(direction), 0.0
    for kind, name in KINDS:
        span = parts[kind] * width
        if span <= 0:
            continue
        drawing.box(x, y, span, BAR, f"use u-{kind}", f"{name}: {share(parts[kind])}")
        reading = share(parts[kind])
        if span > text_width(reading, SMALL) + 8:
            drawing.text(x + 5, y + BAR - 4, reading, f"in-bar in-{kind}")
        x += span


def _legend_places(kinds: list[tuple[str, str]], width: float) -> list[tuple[float, float]]:
    """Break the legend's entries into lines."""
    places, x, y = [], 0.0, 11.0
    for _, name in kinds:
        room = 15 + text_width(name, SMALL) * 0.9 + 14
        if x and x + room > width + 12:
            x, y = 0.0, y + 18
        places.append((x, y))
        x += room
    return places


def _queue(mean: float) -> str:
    """Write the mean length of a queue.

    >>> _queue(0.0), _queue(0.00000049), _queue(0.0123), _queue(74.2)
    ('0', '< 0.001', '0.012', '74')
    """
    return "< 0.001" if 0 < mean < SHORTEST_QUEUE else compact(mean, 2)
