"""What moving a slider does, at once: throughput, latency and what binds, of one variant, by a short run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.errors import LanetwinError
from lanetwin.fit import brief
from lanetwin.glance import glances
from lanetwin.ui.editing import draft, drawn, of_variant, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lanetwin.glance import Glance
    from lanetwin.results import Results


def answered(place: Path, text: str, moved: Sequence[str], variant: str = "") -> dict[str, Any]:
    """Run a draft for a moment with some values moved.

    Raises `LanetwinError` with what is wrong with it.
    """
    start = time.monotonic()
    with draft(place, text) as path:
        plan = engine.check(path)["plan"]
        if plan is None:
            raise LanetwinError("the scenario has mistakes: correct them first")
        sets = [*of_variant(plan, variant), *moved]
        alone = engine.check(path, sets)["plan"] or {}
        results = engine.run(path, sets=shortened(alone, sets))
    return {
        "workloads": workloads(results),
        "topology": drawn(results),
        "seconds": round(time.monotonic() - start, 3),
    }


def workloads(results: Results) -> list[dict[str, Any]]:
    """Return what each workload reaches at its telling case, and what limits it."""
    return [_workload(one) for one in glances(results)]


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
        "why": bind.short_why if bind else "",
        "next": str(bind.next) if bind and bind.next else "",
    }
