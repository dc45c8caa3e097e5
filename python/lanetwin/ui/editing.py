"""A scenario that is being written: its mistakes, its machine, and what of it can be moved."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from lanetwin import engine
from lanetwin.report.figures import topology
from lanetwin.report.figures.axes import NARROW, WIDE
from lanetwin.ui.sliders import sliders

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lanetwin.results import Results

BASELINE = "baseline"
"""What a scenario is called that has no variants."""
ALONE = ("variants=null", "compare=null")
"""What leaves the baseline alone of a scenario."""


@contextmanager
def draft(place: Path, text: str) -> Iterator[str]:
    """Lay a text beside the scenario that it may become, so that it finds the files that it names."""
    with tempfile.NamedTemporaryFile(
        "w", dir=place.parent, prefix=".lanetwin-draft-", suffix=".yaml", encoding="utf-8", newline=""
    ) as file:
        file.write(text)
        file.flush()
        yield file.name


def of_variant(plan: dict[str, Any], variant: str) -> list[str]:
    """Return the changes that make a variant of the baseline, which is left alone by them."""
    overlay = (plan.get("variants") or {}).get(variant) or {}
    return [*(f"{path}={json.dumps(value)}" for path, value in overlay.items()), *ALONE]


def checked(place: Path, text: str, variant: str = "") -> dict[str, Any]:
    """Check a draft: what is wrong with it, its variants, its machine as a drawing, its sliders."""
    with draft(place, text) as path:
        found = engine.check(path)
        plan = found["plan"]
        alone = engine.check(path, of_variant(plan, variant))["plan"] if plan else None
    for one in found["diagnostics"]:
        if one.get("file") == path:
            one["file"] = place.name
    variants = list((plan or {}).get("variants") or {})
    answer: dict[str, Any] = {"diagnostics": found["diagnostics"], "variants": variants}
    answer["compare"] = bool(plan and len(variants) > 1)
    if alone:
        answer["sliders"] = [one.told() for one in sliders(alone)]
        answer["topology"] = drawn(_unused(alone))
    return answer


def drawn(results: Results) -> str:
    """Draw the machine of results for a screen, and for a phone; every name in the drawings is escaped."""
    found = topology.topologies(results)[:1]
    widths = (("topology", WIDE), ("topology-narrow", NARROW))
    return "".join(topology.draw(one, key, width) for one in found for key, width in widths)


def _unused(plan: dict[str, Any]) -> Results:
    """Return results of nothing, of which only the machine is known."""
    found: Any = {key: [] for key in ("rows", "utilisation", "bottlenecks", "verdicts", "components")}
    found["plan"] = plan
    # a row, so that there is a variant
    found["rows"] = [{"variant": BASELINE, "workload": "", "device": None}]
    return cast("Results", found)


@dataclass(frozen=True, slots=True)
class Held:
    """What a first look holds back: a workload asks for less at once than its author wants."""

    workload: str
    path: str
    at_once: int
    asked: int

    def told(self) -> dict[str, Any]:
        """Return it for the page."""
        return {"workload": self.workload, "at_once": self.at_once, "asked": self.asked}


def held_back(plan: dict[str, Any]) -> list[Held]:
    """Return what has to be held back so that a look is bounded, however much is asked at once.

    What is asked at once takes `ROUNDS` times as many operations to be more than a burst. Where these are
    many more than are enough, so much less is asked at once that they are not.
    """
    found = []
    for name, workload in (plan.get("workloads") or {}).items():
        for kind, _, enough in LIMITS:
            load = workload.get(kind)
            if not isinstance(load, dict):
                continue
            most = max(enough // (ROUNDS * _targets(workload)), 1)
            is_long = ROUNDS * _targets(workload) * _at_once(load) > MOST_LOOKS * enough
            found += [
                Held(name, f"workloads.{name}.{kind}.{key}", most, load[key])
                for key in AT_ONCE
                if is_long and isinstance(load.get(key), int) and load[key] > most
            ]
    return found


def shortened(plan: dict[str, Any], sets: Sequence[str], held: Sequence[Held] = ()) -> list[str]:
    """Return the changes that make a run short: one repeat, a small budget, few operations, less at once."""
    found = [*sets, "run.repeats=1", "run.budget=200ms", *(f"{one.path}={one.at_once}" for one in held)]
    least = {one.path: one.at_once for one in held}
    for name, workload in (plan.get("workloads") or {}).items():
        for kind, key, enough in LIMITS:
            load = workload.get(kind)
            if not isinstance(load, dict):
                continue
            path = f"workloads.{name}.{kind}"
            own = {one: least.get(f"{path}.{one}", load[one]) for one in AT_ONCE if one in load}
            most = max(-(-enough // _targets(workload)), ROUNDS * _at_once(own))
            if isinstance(load.get(key), int) and load[key] > most:
                found.append(f"{path}.{key}={most}")
    return found


def _targets(workload: dict[str, Any]) -> int:
    """Return how many devices are asked, each for as much as the load says."""
    target = workload.get("target")
    return max(len(target), 1) if isinstance(target, list) else 1


def _at_once(load: dict[str, Any]) -> int:
    """Return how much a load asks of a device before the first answer."""
    return max((load[key] for key in AT_ONCE if isinstance(load.get(key), int)), default=1)


LIMITS = (
    ("dma", "transfers", 1500),
    ("block", "requests", 1000),
    ("fio", "requests", 1000),
    ("iometer", "requests", 1000),
    ("memory", "lines", 500),
)
"""Loads, what they do so many times, and how many of it, for all targets, are enough for a first look."""
AT_ONCE = ("outstanding", "depth", "iodepth")
"""Keys of loads that say how much is on its way at once."""
ROUNDS = 4
"""A device is asked for at least so many times what is on its way at once: less is a burst, with other
throughput and limits."""
MOST_LOOKS = 2
"""A look at so many times what is enough is held back."""
