"""Figures of machines with many parts: equal parts are shown together, and short hops in one row.

Nothing is left out: sums are unchanged, and the tables below the figures have every hop and link.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, cast

from lanetwin.machine import alike, machines, range_of
from lanetwin.report.figures.topology import MOST_ALIKE
from lanetwin.report.figures.waterfall import numbered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lanetwin.report.figures.utilisation import LinkUse
    from lanetwin.report.figures.waterfall import Breakdown
    from lanetwin.results import Results, Stage, Utilisation, Waterfall

MOST_HOPS = 20
"""Number of hops, about a page, above which a figure merges the short ones."""
SHORT = (0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1)
"""Shares of the total below which a hop is short; the first that leaves few enough is used."""
MOST_BARS = 24
"""Number of directions of links in a figure, the busiest ones."""
_NAME = re.compile(r"[\w.-]+")


def names_together(results: Results) -> dict[str, str]:
    """Return the common names of components and links that are equal in every variant."""
    found: dict[str, str] = {}
    apart: set[str] = set()
    for machine in machines(results):
        own: dict[str, str] = {}
        for group in alike(machine):
            if len(group) > MOST_ALIKE:
                links = [edge.name for name in group for edge in machine.edges if edge.end == name]
                own |= dict.fromkeys(group, range_of(group)) | dict.fromkeys(links, range_of(links))
        names = {node.name for node in machine.nodes} | {edge.name for edge in machine.edges}
        apart |= {name for name in names if found.get(name, own.get(name)) != own.get(name)}
        found |= own
    return {name: together for name, together in found.items() if name not in apart}


def _together(text: str, names: Mapping[str, str]) -> str:
    """Replace names in a text by their common names.

    >>> _together("bay2 sw → ssd2: wire", {"ssd2": "ssd1…8", "bay2": "bay1…8"})
    'bay1…8 sw → ssd1…8: wire'
    """
    return _NAME.sub(lambda match: names.get(match[0], match[0]), text)


def few_hops(breakdown: Breakdown, names: Mapping[str, str]) -> Breakdown:
    """Return a breakdown in which hops of equal parts are added up, and runs of short hops merged."""
    if len(breakdown.hops) <= MOST_HOPS:
        return breakdown
    merged = replace(
        breakdown,
        by_variant={
            variant: {**of, "stages": _summed((_together(name, names), stage) for name, stage in _named(of))}
            for variant, of in breakdown.by_variant.items()
        },
    )
    if len(merged.hops) <= MOST_HOPS:
        return merged
    ways = [_rows(merged, share) for share in SHORT]
    rows = next((way for way in ways if len(set(way.values())) <= MOST_HOPS), ways[-1])
    order = {name: place for place, name in enumerate(merged.hops)}
    return replace(
        merged,
        by_variant={
            variant: {
                **of,
                "stages": _summed(
                    (rows[name], stage) for name, stage in sorted(_named(of), key=lambda one: order[one[0]])
                ),
            }
            for variant, of in merged.by_variant.items()
        },
    )


def _named(waterfall: Waterfall) -> list[tuple[str, Stage]]:
    return [(name, stage) for (name, _), stage in zip(numbered(waterfall), waterfall["stages"], strict=True)]


def _rows(breakdown: Breakdown, share: float) -> dict[str, str]:
    """Return the row of each hop: its own, or that of a run of short ones."""
    hops = breakdown.hops
    rows: dict[str, str] = {}
    places = {name: place for place, name in enumerate(hops, 1)}
    for is_short, run in groupby(hops, key=lambda hop: _is_short(breakdown, hop, share)):
        own = list(run)
        label = f"hops {places[own[0]]}…{places[own[-1]]} (each < {share * 100:g}%)".replace("%", "\u202f%")
        rows |= {hop: label if is_short and len(own) > 1 else hop for hop in own}
    return rows


def _is_short(breakdown: Breakdown, hop: str, share: float) -> bool:
    return all(
        (breakdown.value(variant, hop) or 0.0) < share * of["total"]
        for variant, of in breakdown.by_variant.items()
    )


def _summed(stages: Iterable[tuple[str, Stage]]) -> list[Stage]:
    """Add up stages of one name, at the place of the first; a single stage keeps its percentiles."""
    found: dict[str, Stage] = {}
    for name, stage in stages:
        if name in found:
            found[name] = cast("Stage", {"name": name, "value": found[name]["value"] + stage["value"]})
        else:
            found[name] = {**stage, "name": name}
    return list(found.values())


def few_links(use: LinkUse, names: Mapping[str, str]) -> LinkUse:
    """Return the use of the busiest of equal links, and of the busiest ones if there are many."""
    chosen: dict[tuple[str, str, str], Utilisation] = {}
    for one in use.directions:
        place = (_together(one["link"], names), _together(one["direction"], names), one["variant"])
        if place not in chosen or one["tlp"] > chosen[place]["tlp"]:
            chosen[place] = one
    ways: dict[tuple[str, str], float] = {}
    for (link, direction, _), one in chosen.items():
        ways[link, direction] = max(ways.get((link, direction), 0.0), one["tlp"])
    most = max(2, MOST_BARS // max(use.variants, 1))
    kept = sorted(ways, key=lambda way: -ways[way])[:most]
    directions = [one for (link, direction, _), one in chosen.items() if (link, direction) in kept]
    return replace(use, directions=directions, left_out=len(use.directions) - len(directions))
