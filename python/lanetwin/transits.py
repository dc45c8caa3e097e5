"""Times of packets in switches, as tables: of equal paths, the slowest.

Only order and grouping are computed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.summary import unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.results import Results, SwitchTransit


@dataclass(frozen=True, slots=True)
class Passage:
    """The slowest of the paths through a switch that differ only in their ports."""

    transit: SwitchTransit
    ways: int

    @property
    def way(self) -> str:
        """The path, and the number of equal ones."""
        way = self.transit["way"]
        return way if self.ways == 1 else f"{way} (of {self.ways})"

    @property
    def tlp(self) -> str:
        """The kind of packet."""
        return packet(self.transit)


@dataclass(frozen=True, slots=True)
class Latency:
    """A latency parameter of a switch: the kind of number, and the widths."""

    switch: str
    value: str
    parameter: str
    kind: str
    valid_for: str
    source: str
    used_for: str


def packet(transit: SwitchTransit) -> str:
    """Name a packet, with its size on the wire.

    >>> packet({"tlp": "MWr", "bytes": 280})
    'MWr 280 B'
    """
    return f"{transit['tlp']} {transit['bytes']} B"


def ordered(results: Results) -> list[SwitchTransit]:
    """Return all paths through switches, by workload, case and variant, each in the order of the results."""
    found = results.get("switches", [])
    words = [(transit["workload"], transit["case"], transit["variant"]) for transit in found]
    places = [unique(column) for column in zip(*words, strict=True)]
    order = sorted(
        range(len(found)),
        key=lambda nth: [place.index(word) for place, word in zip(places, words[nth], strict=True)],
    )
    return [found[nth] for nth in order]


def ends_of_sweeps(found: Sequence[Passage], most: int) -> Sequence[Passage]:
    """Return all lines or, if more than `most`, those of the first and the last case of each workload."""
    if len(found) <= most:
        return found
    cases: dict[str, list[str]] = {}
    for passage in found:
        cases.setdefault(passage.transit["workload"], []).append(passage.transit["case"])
    ends = {workload: (own[0], own[-1]) for workload, own in cases.items()}
    return [one for one in found if one.transit["case"] in ends[one.transit["workload"]]]


def varying(found: Sequence[Passage]) -> tuple[list[str], list[list[str]]]:
    """Return the fields in which lines differ (workload, case, variant, switch), and each line's values."""
    names = ("workload", "case", "variant", "switch")
    words = [
        (t["workload"], t["case"], t["variant"], t["switch"]) for t in (passage.transit for passage in found)
    ]
    kept = [nth for nth in range(len(names)) if len({line[nth] for line in words}) > 1]
    return [names[nth] for nth in kept], [[line[nth] for nth in kept] for line in words]


def passages(results: Results) -> list[Passage]:
    """Return the slowest of equal paths: one switch, one kind of packet, equal widths."""
    groups: dict[tuple[str, ...], list[SwitchTransit]] = {}
    for transit in ordered(results):
        place = (transit["workload"], transit["case"], transit["variant"], transit["switch"])
        groups.setdefault((*place, transit["widths"], transit["tlp"]), []).append(transit)
    found = []
    for group in groups.values():
        slowest = max(group, key=lambda transit: transit["longest"])
        found.append(Passage(slowest, len({(transit["from"], transit["to"]) for transit in group})))
    return found


def latencies(results: Results) -> list[Latency]:
    """Return the latency parameters of switches, each once, with its widths."""
    used: dict[tuple[str, str, str, str, str, str], list[str]] = {}
    for transit in ordered(results):
        value = f"{transit['latency']:g} {transit['unit']}"
        kind, valid_for = transit["latency_kind"], transit.get("valid_for", "")
        source = transit.get("latency_source", "")
        key = (transit["switch"], value, transit["latency_parameter"], kind, valid_for, source)
        used.setdefault(key, []).append(transit["widths"])
    return [Latency(*key, ", ".join(unique(widths))) for key, widths in used.items()]
