"""A scenario in the editor: its mistakes, its machine, and its sliders."""

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
"""Name of the variant of a scenario without variants."""
ALONE = ("variants=null", "compare=null")
"""Changes that reduce a scenario to its baseline."""


@contextmanager
def draft(place: Path, text: str) -> Iterator[str]:
    """Write a draft beside its scenario, so that relative file names in it are valid."""
    with tempfile.NamedTemporaryFile(
        "w", dir=place.parent, prefix=".lanetwin-draft-", suffix=".yaml", encoding="utf-8", newline=""
    ) as file:
        file.write(text)
        file.flush()
        yield file.name


def of_variant(plan: dict[str, Any], variant: str) -> list[str]:
    """Return the changes that turn the baseline into a variant and remove the others."""
    overlay = (plan.get("variants") or {}).get(variant) or {}
    return [*(f"{path}={json.dumps(value)}" for path, value in overlay.items()), *ALONE]


def checked(place: Path, text: str, variant: str = "") -> dict[str, Any]:
    """Check a draft; return its mistakes, its variants, its machine as a drawing, its sliders."""
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
    """Return empty results with only the machine."""
    found: Any = {key: [] for key in ("rows", "utilisation", "bottlenecks", "verdicts", "components")}
    found["plan"] = plan
    # a row is needed for a variant
    found["rows"] = [{"variant": BASELINE, "workload": "", "device": None}]
    return cast("Results", found)


@dataclass(frozen=True, slots=True)
class Held:
    """A reduction for a preview: a workload has fewer requests in flight than its author wants."""

    workload: str
    path: str
    at_once: int
    asked: int

    def told(self) -> dict[str, Any]:
        """Return it in the form for the page."""
        return {"workload": self.workload, "at_once": self.at_once, "asked": self.asked}


def held_back(plan: dict[str, Any]) -> list[Held]:
    """Return the reductions that bound a preview for any number of requests in flight.

    To be more than a burst, a run needs `ROUNDS` times the requests in flight. If that is many more
    operations than needed, the requests in flight are reduced accordingly.
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
    """Return the changes for a short run: one repeat, a small budget, few operations, fewer in flight."""
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
    """Return the number of target devices, each with the full load."""
    target = workload.get("target")
    return max(len(target), 1) if isinstance(target, list) else 1


def _at_once(load: dict[str, Any]) -> int:
    """Return the requests in flight of a load on a device."""
    return max((load[key] for key in AT_ONCE if isinstance(load.get(key), int)), default=1)


LIMITS = (
    ("dma", "transfers", 1500),
    ("block", "requests", 1000),
    ("fio", "requests", 1000),
    ("iometer", "requests", 1000),
    ("memory", "lines", 500),
)
"""Loads, their unit of work, and the number of units, over all targets, for a preview."""
AT_ONCE = ("outstanding", "depth", "iodepth")
"""Keys of loads for the requests in flight."""
ROUNDS = 4
"""Minimum ratio of operations to requests in flight: fewer are a burst, with other throughput and
bottlenecks."""
MOST_LOOKS = 2
"""Multiple of the needed operations above which a preview is reduced."""
