"""Previews for sliders: throughput, latency and bottleneck of one variant, by a short run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.errors import LanetwinError
from lanetwin.fit import brief
from lanetwin.glance import glances
from lanetwin.numbers import NARROW_SPACE, share
from lanetwin.ui.editing import draft, drawn, held_back, of_variant, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lanetwin.glance import Glance
    from lanetwin.results import Results


RATES = ("throughput", "IOPS")
"""Metrics that do not depend on the requests in flight if the load is not the bottleneck."""
LOAD = "load:"
WIDE = 0.1
"""Relative half-width of the interval above which a rate is not usable."""


def answered(
    place: Path, text: str, moved: Sequence[str], variant: str = "", *, is_whole: bool = False
) -> dict[str, Any]:
    """Run a draft briefly with some values moved.

    A first preview is bounded for any number of requests in flight: it reduces them, reports this, and omits
    latencies, which would differ. A second preview, `is_whole`, reduces nothing.

    Raises `LanetwinError` with the mistakes of the draft.
    """
    start = time.monotonic()
    with draft(place, text) as path:
        plan = engine.check(path)["plan"]
        if plan is None:
            raise LanetwinError("the scenario has mistakes: correct them first")
        sets = [*of_variant(plan, variant), *moved]
        alone = engine.check(path, sets)["plan"] or {}
        held = [] if is_whole else held_back(alone)
        results = engine.run(path, sets=shortened(alone, sets, held))
    less = {one.workload for one in held}
    return {
        "workloads": [_held(one) if one["name"] in less else one for one in workloads(results)],
        "held": [one.told() for one in held],
        "topology": drawn(results),
        "seconds": round(time.monotonic() - start, 3),
    }


def workloads(results: Results) -> list[dict[str, Any]]:
    """Return the results of each workload at its most informative case, and its bottleneck."""
    return [_workload(one) for one in glances(results)]


def _held(workload: dict[str, Any]) -> dict[str, Any]:
    """Leave out values that depend on the requests in flight.

    >>> lines = [{"metric": "throughput"}, {"metric": "read latency"}, {"metric": "p99"}]
    >>> _held({"lines": lines, "binds": "load: 31 in flight", "why": "", "next": ""})
    {'lines': [{'metric': 'throughput'}], 'binds': '', 'why': '', 'next': ''}
    """
    lines = [one for one in workload["lines"] if one["metric"].split(" ")[-1] in RATES]
    if workload["binds"].startswith(LOAD):
        return workload | {"lines": lines, "binds": "", "why": "", "next": ""}
    return workload | {"lines": lines}


def _workload(one: Glance) -> dict[str, Any]:
    bind = next(iter(one.binding.values()), None)
    lines = []
    for line in one.lines:
        row = next(iter(line.values.values()))
        lines.append(
            {
                "metric": line.metric,
                "text": brief(row["value"], row["unit"], row["metric"]),
                "value": row["value"],
            }
        )
    return {
        "name": one.workload,
        "case": "" if one.case == one.workload else one.case,
        "lines": lines,
        "binds": str(bind) if bind else "",
        "doubt": _doubt(one),
        "why": bind.short_why if bind else "",
        "next": str(bind.next) if bind and bind.next else "",
    }


def _doubt(one: Glance) -> str:
    """Describe the error of the rate, if large: few operations with many in flight are a burst."""
    for line in one.lines:
        row = next(iter(line.values.values()))
        if line.metric.split(" ")[-1] in RATES and row["value"]:
            reach = max(row["high"] - row["value"], row["value"] - row["low"]) / row["value"]
            if reach > WIDE:
                return f"not steady: {line.metric} is known to ±{NARROW_SPACE}{share(reach)} only"
    return ""
