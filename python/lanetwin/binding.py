"""The bottleneck of a case, and the supply that is next closest to its limit, by the shares in use.

Only the order is computed here: every share comes from the engine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lanetwin.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.results import Results, Utilisation

IN_USE = ", in use"
"""Suffix of a supply's metric: the share that was in use, on average."""
WAITED = ", waited for"
"""Suffix of another metric, which a supply has if it is a number of places that requests can wait for."""
FULL = 0.95
"""Places with a larger share in use are full because of the bottleneck, and do not show the next limit."""
ALIKE = 0.005
"""A supply whose use differs from the bottleneck's by at most this is one as well: other drives of a
shelf."""
AS_CLOSE = 0.02
"""Supplies whose uses differ by at most this share of them are as close to their limits."""
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
    """The share of one supply that was in use in one case."""

    name: str
    share: float
    """0 to 1."""
    is_places: bool = False
    """Whether it is a number of places that requests can wait for."""
    alike: int = 0
    """Number of other supplies of which as much was in use: links of a shelf."""

    def __str__(self) -> str:
        return f"{self.name}, {part(self.share)}" + (f" ({self.alike} more alike)" if self.alike else "")


@dataclass(frozen=True, slots=True)
class Binding:
    """The bottleneck of a case."""

    name: str
    why: str
    share: float | None
    """The share of it in use, 0 to 1; None for a load, which is not a supply."""
    next: Use | None
    """The next supply by its share in use; None if no other is known."""
    is_places: bool = False
    """Whether it is a number of places that are held until an answer comes, so that a latency limits them."""
    together: Sequence[str] = ()
    """The supplies that limit together, each with its component."""

    @property
    def is_load(self) -> bool:
        """Whether the workload itself is the limit, so that the machine has capacity left."""
        return self.name.startswith("load: ")

    @property
    def is_serial(self) -> bool:
        """Whether it is the latency of one request at a time."""
        return self.is_load and ("one at a time" in self.name or self.name == "load: one thread")

    @property
    def short_why(self) -> str:
        """The evidence without the next supply, which is shown separately."""
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
    """Return the share of the time in which a direction of a link is busy.

    >>> busy({"tlp": 0.5, "dllp": 0.25, "skp": 0.0, "replay": 0.0})
    0.75
    """
    return min(
        1.0, sum(direction[part] for part in ("tlp", "dllp", "skp", "replay")) + direction.get("message", 0.0)
    )


def uses(results: Results) -> dict[Place, list[Use]]:
    """Return the uses in each case: of directions of links, and of supplies of components."""
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
    """Return the bottleneck of each case."""
    known = uses(results)
    found = {}
    for bottleneck in results["bottlenecks"]:
        place = (bottleneck["variant"], bottleneck["workload"], bottleneck["case"])
        every = known.get(place, [])
        names = bottleneck.get("together") or [bottleneck["name"]]
        binds = [use for use in every if _same(use, names)]
        own = max((use.share for use in binds), default=None)
        others = [
            use
            for use in every
            if 0 < use.share < (2.0 if own is None else own - ALIKE)
            and not (use.is_places and use.share >= FULL)
            and not _same(use, names)
        ]
        closest = max(others, key=lambda use: use.share, default=None)
        if closest:
            alike = sum(use.share >= closest.share * (1 - AS_CLOSE) for use in others) - 1
            closest = replace(closest, alike=alike)
        is_places = any(use.is_places for use in binds)
        together = tuple(bottleneck.get("together", ()))
        found[place] = Binding(bottleneck["name"], bottleneck["why"], own, closest, is_places, together)
    return found


def _same(use: Use, names: Sequence[str]) -> bool:
    """Whether a use is that of a bottleneck; a link that waits for credits counts as that link."""
    return any(use.name == name or name.startswith(f"{use.name}: ") for name in names)
