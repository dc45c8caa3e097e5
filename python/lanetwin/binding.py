"""What limits a case, and what is closest to its limit behind that: by how much of each was in use.

Nothing is computed here but order: every share is the engine's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.results import Results, Utilisation

IN_USE = ", in use"
"""How the name of a supply's metric ends: the share of it that was in use, on average."""
WAITED = ", waited for"
"""How another metric of it ends if it is a number of places, which something can wait for."""
FULL = 0.95
"""Places of which more are taken are full because of what binds, and tell nothing of what would be next."""
ALIKE = 0.005
"""What is in use as much as what binds, but for so much, binds as well: the other drives of a shelf."""
Place = tuple[str, str, str]
"""Variant, workload and case."""


def part(share: float) -> str:
    """Write a share in use.

    >>> part(0.9968), part(0.085)
    ('100\u202f%', '8.5\u202f%')
    """
    return f"{fixed(share * 100, 0 if share >= 0.1 else 1)}\u202f%"


@dataclass(frozen=True, slots=True)
class Use:
    """How much of one thing was in use in one case."""

    name: str
    share: float
    """0 to 1."""
    is_places: bool = False
    """Whether it is a number of places that something can wait for."""

    def __str__(self) -> str:
        return f"{self.name}, {part(self.share)}"


@dataclass(frozen=True, slots=True)
class Binding:
    """What limits a case."""

    name: str
    why: str
    share: float | None
    """How much of it was in use, 0 to 1; none of a load, which is no supply."""
    next: Use | None
    """What of the rest is closest to its limit; none if nothing else is known."""
    is_places: bool = False
    """Whether it is a number of places, held as long as an answer takes: a latency limits them."""

    @property
    def is_load(self) -> bool:
        """Whether the workload asks for no more, so that the machine has something left."""
        return self.name.startswith("load: ")

    @property
    def is_serial(self) -> bool:
        """Whether it is the latency of one thing at a time."""
        return self.is_load and ("one at a time" in self.name or self.name == "load: one thread")

    @property
    def short_why(self) -> str:
        """The evidence without what is closest, which is told apart."""
        return self.why.split("; closest to its limit", 1)[0]

    def __str__(self) -> str:
        return self.name if self.share is None else f"{self.name}, {part(self.share)}"


def named(some: Sequence[str], every: Sequence[str]) -> str:
    """Name some of the variants in few words; all of them need no name.

    >>> named(["a", "b"], ["a", "b"]), named(["a", "b", "c"], ["a", "b", "c", "d"])
    ('', 'all but d')
    """
    others = [name for name in every if name not in some]
    if not others:
        return ""
    return f"all but {', '.join(others)}" if len(others) * 2 < len(some) else ", ".join(some)


def busy(direction: Utilisation) -> float:
    """Return the share of the time in which a direction of a link sends anything.

    >>> busy({"tlp": 0.5, "dllp": 0.25, "skp": 0.0, "replay": 0.0})
    0.75
    """
    return min(
        1.0, sum(direction[part] for part in ("tlp", "dllp", "skp", "replay")) + direction.get("message", 0.0)
    )


def uses(results: Results) -> dict[Place, list[Use]]:
    """Return what was in use in each case: directions of links, and what components have only so many of."""
    found: dict[Place, list[Use]] = {}
    for link in results["utilisation"]:
        place = (link["variant"], link["workload"], link["case"])
        found.setdefault(place, []).append(Use(f"{link['link']}: {link['direction']}", busy(link)))
    metrics = results.get("components", [])
    places = {
        (m["component"], m["metric"].removesuffix(WAITED)) for m in metrics if m["metric"].endswith(WAITED)
    }
    for metric in metrics:
        if metric["metric"].endswith(IN_USE) and metric["unit"] == "%":
            place = (metric["variant"], metric["workload"], metric["case"])
            supply = metric["metric"].removesuffix(IN_USE)
            is_places = (metric["component"], supply) in places
            use = Use(f"{metric['component']}: {supply}", metric["value"] / 100, is_places)
            found.setdefault(place, []).append(use)
    return found


def bindings(results: Results) -> dict[Place, Binding]:
    """Return what limits each case."""
    known = uses(results)
    found = {}
    for bottleneck in results["bottlenecks"]:
        place = (bottleneck["variant"], bottleneck["workload"], bottleneck["case"])
        every = known.get(place, [])
        binds = [use for use in every if _same(use, bottleneck["name"])]
        own = max((use.share for use in binds), default=None)
        others = [
            use
            for use in every
            if 0 < use.share < (2.0 if own is None else own - ALIKE)
            and not (use.is_places and use.share >= FULL)
            and not _same(use, bottleneck["name"])
        ]
        closest = max(others, key=lambda use: use.share, default=None)
        found[place] = Binding(
            bottleneck["name"], bottleneck["why"], own, closest, any(use.is_places for use in binds)
        )
    return found


def _same(use: Use, name: str) -> bool:
    """Whether it is what binds; a link that waits for credits is still that link."""
    return use.name == name or name.startswith(f"{use.name}: ")
