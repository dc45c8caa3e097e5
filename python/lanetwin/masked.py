"""Cases in which "equivalent" does not answer the question, because a third thing limits both variants.

Four drives whose host has a core for each of them reach the same rate over eight lanes and over sixteen. That
is true of this machine, but does not answer the question about the lanes. So the first line names the common
bottleneck, and what to change to test the question. Workloads with one request at a time are excluded, and
those that wait for tags or other places: their limit is a latency, which is the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lanetwin.binding import Binding
    from lanetwin.glance import Line
    from lanetwin.results import Results

LIMITING = 0.95
"""A supply in use for a smaller share of the time than this is not the only limit."""
REMEDIES = {
    "cores": "give the host more of them (cores of the host, or of its driver), or ask from more jobs",
    "queue entries": "use more or deeper queues",
    "firmware engines": "use a faster drive, or more of them",
    "dies of the medium": "use a faster drive, or more of them",
    "channels of the medium": "use a faster drive, or more of them",
    "power": "use a drive with a higher power limit, or more of them",
}
"""The change that removes this supply as the bottleneck."""
OF_A_LINK = "make that link faster or wider too"
"""The change if the wire of a link limits both."""


@dataclass(frozen=True, slots=True)
class Masked:
    """The bottleneck of the baseline and of variants equivalent to it."""

    variants: list[str]
    """The baseline first."""
    limit: str
    """With its share in use."""
    changed: list[str]
    """Paths of the values that the variants change: none of them belongs to the bottleneck."""
    remedy: str
    """The change to make; empty if unknown."""

    def __str__(self) -> str:
        first, *others = self.variants
        names = f"{first} and {len(others)} more" if len(others) > 1 else " and ".join(self.variants)
        tested = ", ".join(self.changed)
        said = (
            f"{names} are equivalent because {self.limit}, limits them, and not what was changed ({tested})"
        )
        return f"{said}. To put that to the test: {self.remedy}" if self.remedy else said


def masked(results: Results, lines: Sequence[Line], binding: Mapping[str, Binding]) -> Masked | None:
    """Return the bottleneck that hides the answer; None if the verdict is an answer.

    Args:
        lines: The lines of one case of one workload.
        binding: The bottleneck of that case, by variant.

    """
    judged = [line for line in lines if line.verdicts]
    base = next(iter({v["baseline"] for line in judged for v in line.verdicts.values()}), "")
    limit = binding.get(base)
    # requests that wait for power wait for no answer
    is_places = limit is not None and limit.is_places and not limit.name.endswith(": power")
    if limit is None or limit.is_load or is_places or (limit.share or 0.0) < LIMITING:
        return None
    overlays = results["plan"].get("variants", {})
    held, changed = [], []
    for name in dict.fromkeys(name for line in judged for name in line.verdicts):
        paths = _changed(overlays, base, name)
        same = name in binding and _kind(binding[name].name) == _kind(limit.name)
        if paths and same and _all_equivalent(judged, name) and not _touches(paths, limit):
            held.append(name)
            changed += paths
    if not held:
        return None
    return Masked([base, *held], str(limit), list(dict.fromkeys(changed)), _remedy(limit.name))


def _all_equivalent(lines: Iterable[Line], variant: str) -> bool:
    return all(
        line.verdicts[variant]["verdict"] == "equivalent" for line in lines if variant in line.verdicts
    )


def _changed(overlays: Mapping[str, Any], base: str, name: str) -> list[str]:
    """Return the paths that differ in two overlays."""
    one, other = overlays.get(base) or {}, overlays.get(name) or {}
    return sorted(path for path in {*one, *other} if one.get(path) != other.get(path))


def _kind(limit: str) -> str:
    """Name a bottleneck without the number of the component.

    >>> _kind("driver/ssd3: cores") == _kind("driver/ssd0: cores"), _kind("up: sw → host")
    (True, 'up: sw → host')
    """
    return re.sub(r"\d+", "", limit)


def _touches(paths: Iterable[str], limit: Binding) -> bool:
    """Whether a changed path names the bottleneck, or something that contains it.

    >>> from lanetwin.binding import Binding
    >>> _touches(["links.up.width"], Binding("driver/ssd3: cores", "", 1.0, None))
    False
    >>> _touches(["machine.host.driver.cores"], Binding("driver: cores", "", 1.0, None))
    True
    >>> both = Binding("a, b: tags", "", 1.0, None, together=("a: tags", "b: tags"))
    >>> _touches(["machine.b.part"], both), _touches(["machine.c.part"], both)
    (True, False)
    """
    words = set(re.findall(r"[\w-]+", " ".join([limit.name, *limit.together])))
    return any(words & set(re.findall(r"[\w-]+", path)) for path in paths)


def _remedy(limit: str) -> str:
    if "→" in limit:
        return OF_A_LINK
    return REMEDIES.get(limit.rpartition(": ")[2], "")
