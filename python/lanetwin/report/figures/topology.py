"""How are components linked, and how busy are the links? Boxes, and lines with width and colour by use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from lanetwin.language import tr
from lanetwin.machine import layers, machines, opened, range_of, repeated
from lanetwin.numbers import NARROW_SPACE, fixed
from lanetwin.report.svg import BOLD, NORMAL, SMALL, Drawing, shortened, text_width

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable
    from typing import Any

    from lanetwin.machine import Edge, Machine
    from lanetwin.results import Results

LEVELS: tuple[tuple[float, str, float], ...] = (
    (0.95, "≥ 95 %", 7.0),
    (0.75, "75 – 95 %", 5.0),
    (0.40, "40 – 75 %", 3.4),
    (0.0, "< 40 %", 2.0),
)
"""Minimum use, its name, and the thickness of such a link [px]."""
MOST_ALIKE = 3
"""Number of equal components above which they share a box."""
MOST_CHANGES = 8
"""Maximum number of lines on the changes of variants."""
MOST_OF_ONE = 3
"""Maximum number of lines on the changes of one variant."""
INDENT = "\u2003"
"""Indentation of a continued line."""
MOST_ROWS = 2
"""Maximum number of components in a column of a small machine."""
LINE = 17.0
"""Height of a line of text [px]."""
BESIDE = 14.0
"""Horizontal padding of a box [px]."""
LEAST_BOX = 46.0
"""Minimum width of a box, if there is room for it [px]."""
GAP = 104.0
"""Preferred gap between two columns, for the use of both directions [px]."""
LEAST_GAP = 40.0
"""Minimum gap between two columns [px]."""
BOX = 40.0
"""Height of a component [px]."""
ROW = 58.0
"""Distance from one component to the next below it [px]."""
APART = 30.0
"""Distance between two links of the same components [px]."""
LEGEND = 24.0
"""Height of the legend [px]."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The machine of some variants, and the bottleneck components of their cases."""

    machine: Machine
    limiting: frozenset[str]
    several: bool
    """Whether other variants have a different machine."""

    @property
    def workload(self) -> str:
        """All of them."""
        return ""

    @property
    def title(self) -> str:
        """The variants of the machine."""
        first = self.machine.variants[0] if self.machine.variants else ""
        if self.several:
            return f"The machine of {', '.join(self.machine.variants)}"
        return f"The machine, and the use of its links in {first}" if first else "The machine"

    @property
    def description(self) -> str:
        """The figure in words: every link, with its use."""
        said = []
        for edge in self.machine.edges:
            via = f" through {', '.join(edge.via)}" if edge.via else ""
            way = f"{edge.name} from {edge.start} to {edge.end}{via}"
            use = _use(edge) if edge.down is not None or edge.up is not None else ""
            said.append(", ".join(filter(None, (way, edge.speed, use))))
        return "; ".join(said) + "." if said else ", ".join(node.name for node in self.machine.nodes) + "."


def topologies(results: Results) -> list[Topology]:
    """Return the machines of a run."""
    found = machines(results)
    several = len(found) > 1

    def limiting(machine: Machine) -> frozenset[str]:
        own = (one for one in results["bottlenecks"] if not several or one["variant"] in machine.variants)
        names = (name for one in own for name in one.get("together") or [one["name"]])
        return frozenset(name.partition(":")[0] for name in names)

    return [Topology(machine, limiting(machine), several) for machine in found]


def is_small(drawn: Topology) -> bool:
    """Whether two such pictures fit one above the other on the first screen of a page."""
    together = {name: group[0] for group in repeated(drawn.machine, MOST_ALIKE) for name in group}
    columns = [{together.get(name, name) for name in layer} for layer in layers(drawn.machine)]
    return max(map(len, columns), default=0) <= MOST_ROWS


def inside(drawn: Topology, name: str, part: dict[str, Any], results: Results) -> Topology:
    """Return the figure with a component opened, if the catalogue defines it as an assembly."""
    return replace(drawn, machine=opened(drawn.machine, name, part, results))


@dataclass(slots=True)
class _Place:
    """The place of a box: left, middle, width, and its text; without text where a link passes."""

    x: float
    y: float
    width: float
    name: str
    part: str


def draw(topology: Topology, key: str, width: float) -> str:
    """Draw the machine: hosts on the left, devices on the right."""
    machine = topology.machine
    merged = {name: group[0] for group in repeated(machine, MOST_ALIKE) for name in group}
    columns = [[name for name in layer if merged.get(name, name) == name] for layer in layers(machine)]
    told = _changes(machine, width)
    joined: dict[tuple[str, str], list[Edge]] = {}
    for edge in machine.edges:
        joined.setdefault((merged.get(edge.start, edge.start), merged.get(edge.end, edge.end)), []).append(
            edge
        )
    lanes = _lanes(columns, list(joined))
    rows = max(len(column) for column in columns)
    beside = max((len(edges) for ends, edges in joined.items() if not set(ends) & set(merged)), default=1)
    step = max(ROW, beside * APART + 24)
    bottom = LEGEND + rows * step + 8
    height = bottom + len(told) * LINE
    drawing = Drawing(width, height, key=key, title=topology.title, description=topology.description)
    ways = [way for ends in joined for way in pairwise([ends[0], *lanes.get(ends, []), ends[1]])]
    places = _places(machine, columns, merged, ways, (width, rows * step))
    _legend(drawing, width)
    apart = _apart(places, joined, lanes)
    for (start, end), edges in joined.items():
        if start not in places or end not in places:
            continue
        is_merged = any(edge.start in merged or edge.end in merged for edge in edges)
        shown = [max(edges, key=lambda edge: edge.use)] if is_merged else edges
        for nth, edge in enumerate(shown):
            offset = (nth - (len(shown) - 1) / 2) * APART + apart.get((start, end), 0.0)
            count = len(edges) if is_merged else 1
            is_fan_in = _is_fan_in(joined, start, end)
            ends = (places[start], places[end])
            if (start, end) in lanes:
                _long_link(drawing, ends, [places[lane] for lane in lanes[start, end]], edge, (count, offset))
            else:
                _link(drawing, ends, edge, offset, (count, is_fan_in))
    for name, place in places.items():
        if not place.name:
            continue
        own = {other for other, first in merged.items() if first == name} | {name}
        limits = bool(own & topology.limiting)
        _box(drawing, place, limits=limits)
    for nth, (variant, line) in enumerate(told):
        y = bottom + (nth + 0.7) * LINE
        drawing.text(0, y, line, "small", hint=variant)
    return str(drawing)


def _is_fan_in(joined: Iterable[tuple[str, str]], start: str, end: str) -> bool:
    """Whether other links end at the same component, and no other begins at the first."""
    starts = [one for one, other in joined if other == end]
    return len(starts) > 1 and sum(one == start for one, _ in joined) == 1


def _apart(
    places: dict[str, _Place], joined: Iterable[tuple[str, str]], lanes: Container[tuple[str, str]]
) -> dict[tuple[str, str], float]:
    """Return vertical offsets of horizontal links to the same component, which keep their labels apart."""
    found: dict[tuple[str, str], float] = {}
    level = [
        ends
        for ends in joined
        if ends not in lanes and set(ends) <= set(places) and not _is_fan_in(joined, *ends)
    ]
    for end in {end for _, end in level}:
        starts = sorted((start for start, other in level if other == end), key=lambda one: places[one].y)
        for nth, start in enumerate(starts):
            found[start, end] = (nth - (len(starts) - 1) / 2) * APART
    return found


def _lanes(columns: list[list[str]], joined: list[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
    """Reserve places in the columns that links pass through, so that no link crosses a component.

    Return the names of these places for each pair of components joined by such links.
    """
    column_of = {name: at for at, column in enumerate(columns) for name in column}
    below = {name: 2 * row + 1 >= len(column) for column in columns for row, name in enumerate(column)}
    found: dict[tuple[str, str], list[str]] = {}
    for start, end in joined:
        if start not in column_of or end not in column_of:
            continue
        for at in range(column_of[start] + 1, column_of[end]):
            lane = f"{start} → {end} {at}"
            columns[at].insert(len(columns[at]) if below[start] else 0, lane)
            found.setdefault((start, end), []).append(lane)
    return found


def _changes(machine: Machine, width: float) -> list[tuple[str, str]]:
    """Return the changes of variants, as a complete hint, and as the lines that fit."""
    told: list[tuple[str, str]] = []
    for name, changed in machine.changes.items():
        whole = f"{name}: {', '.join(changed)}"
        line, lines = f"{name}: ", []
        for nth, one in enumerate(changed):
            piece = one if nth == len(changed) - 1 else f"{one}, "
            if nth and text_width(line + piece, SMALL) > width - 6:
                lines.append(line)
                line = INDENT
            line += piece
        lines.append(line)
        if changed:
            more = [] if len(lines) <= MOST_OF_ONE else [f"{INDENT}…"]
            told += [(whole, one) for one in (*lines[: MOST_OF_ONE - len(more)], *more)]
    shown = told if len(told) <= MOST_CHANGES else [*told[: MOST_CHANGES - 1], ("…", "…")]
    return [(whole, shortened(line, width - 6, SMALL)) for whole, line in shown]


def _places(
    machine: Machine,
    columns: list[list[str]],
    merged: dict[str, str],
    joined: Collection[tuple[str, str]],
    size: tuple[float, float],
) -> dict[str, _Place]:
    width, height = size
    nodes = {node.name: node for node in machine.nodes}
    told = {name: _told(name, merged) if name in nodes else "" for column in columns for name in column}
    written = max((text_width(node.part, SMALL) for node in machine.nodes), default=0.0) + BESIDE
    parts = [[nodes[name].part for name in column if name in nodes] for column in columns]
    boxes = _widths([[told[name] for name in column] for column in columns], width, written, parts)
    between = (width - sum(boxes)) / max(len(columns) - 1, 1)
    levels = _heights(columns, joined, height)
    places = {}
    for at, column in enumerate(columns):
        x = sum(boxes[:at]) + at * between if len(columns) > 1 else (width - boxes[0]) / 2
        for name in column:
            part = nodes[name].part if name in nodes else ""
            places[name] = _Place(x, LEGEND + levels[name], boxes[at], told[name], part)
    return places


def _heights(
    columns: list[list[str]], joined: Collection[tuple[str, str]], height: float
) -> dict[str, float]:
    """Return the vertical position of each component.

    It is even in the longest column, and in others next to a component's neighbours.

    >>> _heights([["a", "b"], ["c", "d", "e"]], [("a", "c"), ("b", "d"), ("b", "e")], 300.0)
    {'c': 50.0, 'd': 150.0, 'e': 250.0, 'a': 50.0, 'b': 200.0}
    """
    longest = max(range(len(columns)), key=lambda at: len(columns[at]))
    step = height / max(len(columns[longest]), 1)
    found = {name: step * (nth + 0.5) for nth, name in enumerate(columns[longest])}
    for at in [*range(longest - 1, -1, -1), *range(longest + 1, len(columns))]:
        column = columns[at]
        wanted = []
        for nth, name in enumerate(column):
            beside = [b if a == name else a for a, b in joined if name in (a, b)]
            others = [found[other] for other in beside if other in found]
            even = height / len(column) * (nth + 0.5)
            wanted.append(sum(others) / len(others) if others else even)
        found |= dict(zip(column, _spaced(wanted, step, height), strict=True))
    return found


def _spaced(wanted: list[float], step: float, height: float) -> list[float]:
    """Return heights in this order, at least a step apart, near the given ones.

    >>> _spaced([10.0, 10.0, 90.0], 20.0, 100.0), _spaced([10.0, 95.0, 95.0], 20.0, 100.0)
    ([10.0, 30.0, 90.0], [10.0, 70.0, 90.0])
    """
    groups: list[tuple[float, int]] = []  # touching ones, each as if it were the first
    for nth, one in enumerate(wanted):
        mean, count = one - nth * step, 1
        while groups and groups[-1][0] > mean:
            before, many = groups.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        groups.append((mean, count))
    first = [mean for mean, count in groups for _ in range(count)]
    low, high = step / 2, height - step * (len(wanted) - 0.5)
    return [min(max(one, low), max(low, high)) + nth * step for nth, one in enumerate(first)]


def _told(name: str, merged: dict[str, str]) -> str:
    """Name a component, or all components of its box."""
    same = [other for other, first in merged.items() if first == name]
    return range_of([name, *(one for one in same if one != name)]) if same else name


def _widths(
    columns: list[list[str]], width: float, written: float = 0.0, parts: list[list[str]] | None = None
) -> list[float]:
    """Return the width of the boxes in each column: equal, unless a name does not fit.

    `written` is the width of the longest name of a part. If it does not fit into equal boxes, but into boxes
    with the widths of their own `parts`, these widths are used.

    >>> _widths([["host"], ["ssd"]], 600.0)
    [186.0, 186.0]
    >>> [round(one) for one in _widths([["host"], ["controller"], ["root"], ["ssd"]], 350.0)]
    [46, 79, 46, 46]
    """
    count = len(columns)
    own = _own_widths(columns, parts or [])
    left = width - GAP * (count - 1) - sum(own)
    if own and left >= 0 and written > (width - GAP * (count - 1)) / count:
        return [one + left / count for one in own]
    box = max(min(max(150.0, written), (width - GAP * (count - 1)) / count), 0.62 * width / count)
    wanted = [max(text_width(name, NORMAL) for name in column) * BOLD + BESIDE for column in columns]
    if max(wanted) <= box:
        return [box] * count
    spare = [max(box - max(one, LEAST_BOX), 0.0) for one in wanted]
    lack = [max(one - box, 0.0) for one in wanted]
    given = min(sum(spare), sum(lack))
    # the rest is taken from the gaps between columns, as far as links stay visible
    between = min(sum(lack) - given, max(width - box * count - LEAST_GAP * (count - 1), 0.0))
    taken, met = (given / sum(spare) if given else 0.0), (given + between) / sum(lack)
    return [box + more * met - less * taken for less, more in zip(spare, lack, strict=True)]


def _own_widths(columns: list[list[str]], parts: list[list[str]]) -> list[float]:
    """Return the widths of the names and parts of each column.

    >>> [round(one) for one in _own_widths([["host"], ["sw"]], [["generic-host-gen4"], ["pex"]])]
    [118, 46]
    """
    return [
        max(
            *(text_width(name, NORMAL) * BOLD + BESIDE for name in names),
            *(text_width(part, SMALL) + BESIDE for part in own),
            LEAST_BOX,
        )
        for names, own in zip(columns, parts, strict=False)
    ]


def _box(drawing: Drawing, place: _Place, *, limits: bool) -> None:
    css = "node limits" if limits else "node"
    drawing.box(place.x + 1, place.y - BOX / 2, place.width - 2, BOX, css, f"{place.name}: {place.part}", 5)
    room = place.width - BESIDE
    drawing.text(place.x + 8, place.y - 3, shortened(place.name, room, NORMAL), "strong", hint=place.name)
    said = tr("limits")
    sign, limiting = ("◆ ", [f"◆ {said} · {place.part}"]) if limits else ("", [])
    below = _longest([*limiting, f"{sign}{place.part}"], room)
    # the beginning of a name is not informative
    told = below if 3 * len(below) >= 2 * len(place.part) else sign.strip()
    drawing.text(place.x + 8, place.y + 13, told, "small", hint=place.part)


def _link(
    drawing: Drawing, joined: tuple[_Place, _Place], edge: Edge, offset: float, drawn: tuple[int, bool]
) -> None:
    """Draw a link with name and use; `drawn` has the number that it represents, and whether others meet it.

    A link between different heights is horizontal at its label: before the device, or behind the host if
    other links meet it at the device.
    """
    count, is_fan_in = drawn
    css, thick = _level(edge)
    ends = joined if joined[0].x <= joined[1].x else (joined[1], joined[0])
    left, right = ends[0].x + ends[0].width, ends[1].x
    if right <= left:  # a link within a column
        left, right = ends[0].x + ends[0].width / 2, ends[1].x + ends[1].width / 2
    reach = BOX / 2 - 6
    if is_fan_in:
        level, other = ends[0].y, max(min(ends[0].y, ends[1].y + reach), ends[1].y - reach)
        start, stop = left, left + (right - left) * (0.78 if abs(level - other) > 1 else 1.0)
        points = [(left, level), (stop, level), (right, other)]
    else:
        level, other = ends[1].y, max(min(ends[1].y, ends[0].y + reach), ends[0].y - reach)
        start, stop = left + (right - left) * (0.22 if abs(level - other) > 1 else 0.0), right
        points = [(left, other), (start, level), (right, level)]
    y = level + offset
    drawing.path_line(
        [(x, at + offset) for x, at in points], f"link {css}", thick, f"{edge.name}: {_use(edge)}"
    )
    for nth, part in enumerate(edge.via):
        drawing.mark(start + (stop - start) * (nth + 1) / (len(edge.via) + 1), y, 3, "via", part)
    _words(drawing, edge, (count, offset != 0), (start, stop, y))


def _long_link(
    drawing: Drawing, joined: tuple[_Place, _Place], lanes: list[_Place], edge: Edge, drawn: tuple[int, float]
) -> None:
    """Draw a link that passes through columns, horizontal in each; its label is in the first."""
    count, offset = drawn
    css, thick = _level(edge)
    reach = BOX / 2 - 6
    first, last = lanes[0], lanes[-1]
    begin = max(min(joined[0].y + reach, first.y), joined[0].y - reach)
    stop = max(min(joined[1].y + reach, last.y), joined[1].y - reach)
    level = [(x, lane.y) for lane in lanes for x in (lane.x, lane.x + lane.width)]
    points = [(joined[0].x + joined[0].width, begin), *level, (joined[1].x, stop)]
    drawing.path_line(
        [(x, at + offset) for x, at in points], f"link {css}", thick, f"{edge.name}: {_use(edge)}"
    )
    for nth, part in enumerate(edge.via):
        x = last.x + last.width * (nth + 1) / (len(edge.via) + 1)
        drawing.mark(x, last.y + offset, 3, "via", part)
    _words(drawing, edge, (count, offset != 0), (first.x, first.x + first.width, first.y + offset))


def _words(drawing: Drawing, edge: Edge, drawn: tuple[int, bool], room: tuple[float, float, float]) -> None:
    """Write a link's label above it, and its use below it; both above it if another link is near."""
    count, is_crowded = drawn
    start, stop, y = room
    width, x = stop - start - 8, (start + stop) / 2
    many = f"{count} × {edge.speed or 'links'}"
    width_alone = edge.speed.split(" ")[-1] or edge.name
    names = (
        [many] if count > 1 else [f"{edge.name} {edge.speed}".strip(), edge.speed or edge.name, width_alone]
    )
    if is_crowded:
        both = [f"{names[0]}  {_use(edge)}", f"{edge.name} {_part(edge.use)}", edge.name]
        drawing.text(x, y - 6, _longest(both, width), "small", "middle", both[0])
        return
    drawing.text(x, y - 8, _longest(names, width), "small", "middle", names[0])
    if _use(edge):
        uses = [_use(edge), _part(edge.use), _part(edge.use).replace(NARROW_SPACE, "")]
        # a truncated number would be wrong
        said = next((one for one in uses if text_width(one, SMALL) <= width), uses[-1])
        drawing.text(x, y + 16, said, "tick", "middle", uses[0])


def _longest(words: list[str], room: float) -> str:
    """Return the first text that fits [px], or the beginning of the last."""
    fits = (word for word in words if text_width(word, SMALL) <= room)
    return next(fits, shortened(words[-1], room, SMALL))


def _level(edge: Edge) -> tuple[str, float]:
    if edge.down is None and edge.up is None:
        return "use-unknown", 2.0
    nth = next(nth for nth, (least, _, _) in enumerate(LEVELS) if edge.use >= least)
    return f"use{nth}", LEVELS[nth][2]


def _use(edge: Edge) -> str:
    """Write the use of both directions.

    >>> from lanetwin.machine import Edge
    >>> _use(Edge("slot", "cpu", "ssd", "", [], down=0.021, up=1.0))
    '→ 2\u202f%  ← 100\u202f%'
    """
    ways = [("→", edge.down), ("←", edge.up)]
    return "  ".join(f"{sign} {_part(share)}" for sign, share in ways if share is not None)


def _part(share: float) -> str:
    return f"{fixed(share * 100, 0)}{NARROW_SPACE}%"


def _legend(drawing: Drawing, width: float) -> None:
    x = 0.0
    for nth, (_, name, thick) in enumerate(reversed(LEVELS)):
        css = f"use{len(LEVELS) - 1 - nth}"
        drawing.path_line([(x, 9), (x + 20, 9)], f"link {css}", thick, "")
        drawing.text(x + 25, 13, name, "tick")
        x += 25 + text_width(name, SMALL) + 10
    said = tr("of the time busy")
    if x + text_width(said, SMALL) < width:
        drawing.text(x, 13, said, "tick")
