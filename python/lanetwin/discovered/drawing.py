"""The tree of a machine as an SVG drawing and as an HTML page: each link as trained and as capable."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from lanetwin.discovered.names import RATES, end
from lanetwin.discovered.pictures import gib, link_of, short, text_of, walk
from lanetwin.language import HTML_NAMES, current
from lanetwin.numbers import significant
from lanetwin.report.svg import Drawing, text_width
from lanetwin.report.translation import translated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROW, INDENT, BAR, MARGIN = 24.0, 22.0, 180.0, 12.0
"""Height of a line, width of a step of the tree, length of the widest link, edge of the picture [px]."""
STYLE = """
svg{font:12.5px system-ui,sans-serif;fill:#1c2733;background:#fff}
.branch{stroke:#9aa7b4;stroke-width:1.2;fill:none}
.can{fill:#dde4ea}.runs{fill:#2f7d5b}.lacks{fill:#c8641b}.warn{fill:#a34708;font-weight:600}.quiet{fill:#5b6a79}
"""
PAGE = """
body{font:15px/1.5 system-ui,sans-serif;color:#1c2733;max-width:75rem;margin:2rem auto;padding:0 1rem}
.wide{overflow-x:auto}table{border-collapse:collapse}
td,th{padding:.2rem .8rem;text-align:left;border-bottom:1px solid #dde4ea}
code{background:#f2f5f7;padding:0 .2rem}
"""
"""Style of the page around the drawing."""


def svg(found: Mapping[str, Any]) -> str:
    """Draw the tree: a line for each function, with a bar of its link's possible and present throughput.

    The length of a bar is rate times width, relative to the widest link of the machine; the missing part is
    light.
    """
    rows = walk(found)
    marked = short(found)
    texts = [text_of(device, found) for device, _ in rows]
    depths = [len(stem) // 3 for _, stem in rows]
    right = max(
        [MARGIN + depth * INDENT + text_width(text) for depth, text in zip(depths, texts, strict=True)] or [0]
    )
    widest = max([_carries(device["link"]["capable"]) for device, _ in rows if device["link"]] or [1.0])
    height = 2 * MARGIN + ROW * max(len(rows), 1)
    drawing = Drawing(
        right + BAR + 3 * MARGIN,
        height,
        key="machine",
        title="PCIe functions of a machine",
        description=f"{len(rows)} functions in a tree; {len(marked)} links do less than both ends can",
    )
    lines: dict[int, float] = {}
    for nth, ((device, _), text, depth) in enumerate(zip(rows, texts, depths, strict=True)):
        x, y = MARGIN + depth * INDENT, MARGIN + nth * ROW
        if depth:
            stem = x - INDENT + 5
            drawing.path_line([(stem, lines[depth - 1]), (stem, y + 12), (x - 4, y + 12)], "branch", 1.2)
        lines[depth] = y + 18
        drawing.text(x, y + 16, text, "warn" if device["address"] in marked else "")
        _bar(drawing, device, right + 2 * MARGIN, y, widest, is_short=device["address"] in marked)
    body = str(drawing)
    opening, _, rest = body.partition(">")
    return _told(f'{opening} xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style>{rest}\n')


def _bar(
    drawing: Drawing, device: Mapping[str, Any], x: float, y: float, widest: float, *, is_short: bool
) -> None:
    """Draw the possible and the present throughput of a link, once for each link, at its lower end."""
    link = device["link"]
    if not link or not link_of(device):
        return
    said = f"runs at {end(link['trained'])}, can do {end(link['capable'])}"
    for key, css in (("capable", "can"), ("trained", "lacks" if is_short else "runs")):
        drawing.box(x, y + 7, BAR * min(_carries(link[key]) / widest, 1), 10, css, said)


def _carries(of: Mapping[str, int]) -> float:
    """Return rate times width [GT/s]."""
    return RATES.get(of["generation"], 0.0) * of["width"]


def html(found: Mapping[str, Any]) -> str:
    """Write a self-contained page: the drawing, the findings, further tables. It loads nothing."""
    parts = [
        "<h1>PCIe functions of a machine</h1>",
        f'<div class="wide">{svg(found)}</div>',
        "<p>The bars are rate times width of each link; light is what it can do and does not.</p>",
        "<h2>Findings</h2>",
        *(_finding(one) for one in found["findings"]),
    ]
    if not found["findings"]:
        parts.append("<p>None.</p>")
    for title, heads, rows in _beside(found):
        if rows:
            parts.append(_table(title, heads, rows))
    head = f'<meta charset="utf-8"><title>PCIe functions of a machine</title><style>{PAGE}</style>'
    opening = f'<!doctype html>\n<html lang="{HTML_NAMES[current()]}"><head>{head}</head><body>\n'
    return _told(opening + "\n".join(parts) + "\n</body></html>\n")


def _told(page: str) -> str:
    return page if current() == "en" else translated(page)


def _beside(
    found: Mapping[str, Any],
) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Yield the tables of other components: title, headings, rows."""
    yield (
        "NUMA nodes",
        ("", "CPUs", "memory"),
        [(f"node {one['node']}", one["cpus"] or "none", gib(one["memory_bytes"])) for one in found["nodes"]],
    )
    yield (
        "CXL memories",
        ("", "function", "volatile", "persistent"),
        [
            (one["name"], one["address"] or "", gib(one["volatile_bytes"]), gib(one["persistent_bytes"]))
            for one in found["memories"]
        ],
    )
    yield (
        "NVMe drives",
        ("", "function", "model", "capacity"),
        [
            (one["name"], one["address"] or "", one["model"], f"{one['capacity_bytes'] / 1e9:.4g} GB")
            for one in found["drives"]
        ],
    )


def _finding(one: Mapping[str, Any]) -> str:
    cost = one.get("costs_gb_s")
    said = (
        f"{one['message']}; it costs {significant(cost, 3)} GB/s in each direction"
        if cost
        else one["message"]
    )
    evidence = "".join(
        f"<li>{escape(fact['address'])} {escape(fact['register'])} <code>{escape(fact['value'])}</code> "
        f"{escape(fact['reads'])}</li>"
        for fact in one["evidence"]
    )
    return (
        f"<h3>{escape(one['code'])} {escape(one['address'])}</h3><p>{escape(said)}.</p><ul>{evidence}</ul>"
        f"<p>Likely: {escape(one['cause'])}.<br>Remedy: {escape(one['remedy'])}.</p>"
    )


def _table(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    def line(cells: tuple[str, ...], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<h2>{escape(title)}</h2><table>{line(heads, 'th')}{body}</table>"
