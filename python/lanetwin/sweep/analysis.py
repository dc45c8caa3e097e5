"""The analysis of a sweep's points by the engine: front, cheapest, effects of axes.

This module selects the metrics; it computes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lanetwin import engine

if TYPE_CHECKING:
    from lanetwin.sweep.design import Cheapest, Design
    from lanetwin.sweep.table import Column, Table

OBJECTIVES = ("throughput", "latency")
"""Metrics of the Pareto front if no value has a cost."""
MOST_COLUMNS = 24
"""Maximum number of metrics, over all workloads and variants; others are only in the files."""
LEAST = 1e-3
"""An axis matters for a metric if it changes its mean by more than this share."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of an axis on a metric."""

    axis: int
    """The first axis of its group."""
    column: int
    explained: float
    """The share of the variance over all points that it explains by itself, 0 to 1."""
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of the points."""

    columns: list[Column]
    """The main metrics of each variant and workload."""
    objectives: list[int]
    """Indices of the metrics of the front."""
    required: list[int]
    """Indices of the metrics that have to reach a share of their best."""
    front: list[bool]
    """Whether each point is on the Pareto front."""
    shares: list[float | None]
    """Each point's share of the best, in the worst of the required metrics: 1 is the best in all."""
    enough: list[bool]
    chosen: int | None
    """The cheapest point that is good enough."""
    best: int | None
    """The point that is the best in the worst of the required metrics; of several, the first cheapest."""
    costs: list[float | None]
    effects: list[Effect] = field(default_factory=list)


def analyse(plan: Design, table: Table) -> Analysis:
    """Let the engine analyse the points."""
    every = [
        column
        for variant in table.variants
        for workload in table.workloads
        for column in table.telling(variant, workload)
    ]
    asked_for = _required(every, plan.cheapest)
    # the metric of the question comes first
    columns = [every[n] for n in asked_for] + [c for n, c in enumerate(every) if n not in asked_for]
    columns = columns[:MOST_COLUMNS]
    objectives = [n for n, column in enumerate(columns) if column.place.metric.endswith(OBJECTIVES)]
    objectives = objectives or list(range(len(columns)))
    required = _required(columns, plan.cheapest) or objectives
    if plan.has_costs:
        # with a metric too many, everything is on the front
        objectives = required
    costs = [plan.cost(point) for point in range(len(plan))]
    found: dict[str, Any] = engine.sweep_analysis(
        {
            "columns": [{"better": c.better, "values": c.optional()} for c in columns],
            "factors": [_levels(plan, group[0]) for group in plan.groups],
            "objectives": objectives,
            "costs": costs,
            "required": required,
            "at_least": plan.cheapest["at_least"] if plan.cheapest else 1.0,
        }
    )
    choice = found["choice"]
    return Analysis(
        columns,
        objectives,
        required,
        found["front"] or [False] * len(plan),
        choice["shares"],
        choice["enough"],
        choice["chosen"],
        _best(choice["shares"], costs),
        costs,
        list(_effects(plan, found["effects"])),
    )


def _best(shares: list[float | None], costs: list[float | None]) -> int | None:
    """Return the point with the largest share; of several, the first cheapest."""
    places = enumerate(zip(shares, costs, strict=True))
    known = [(share, -(cost or 0.0), -point) for point, (share, cost) in places if share is not None]
    return -max(known)[2] if known else None


def _required(columns: list[Column], asked: Cheapest | None) -> list[int]:
    """Return the indices of the metrics of the question of least cost; without one, those of throughput."""
    metric, workloads = (asked["of"], asked["workloads"]) if asked else (OBJECTIVES[0], [])
    some = [
        (n, column.place)
        for n, column in enumerate(columns)
        if not workloads or column.place.workload in workloads
    ]
    exact = {(place.variant, place.workload) for _, place in some if place.metric == metric}
    return [
        n
        for n, place in some
        if place.metric == metric
        # a mix of reads and writes has one of each
        or ((place.variant, place.workload) not in exact and place.metric.endswith(f" {metric}"))
    ]


def _levels(plan: Design, axis: int) -> list[int]:
    """Return the index of an axis' value at each point; for numbers, in their order."""
    values = plan.axes[axis]["values"]
    order = sorted(range(len(values)), key=lambda n: (values[n]["number"] or 0.0, n))
    if not plan.axes[axis]["numeric"]:
        order = list(range(len(values)))
    rank = {value: place for place, value in enumerate(order)}
    return [rank[point[axis]] for point in plan.points]


def _effects(plan: Design, found: list[list[dict[str, float] | None]]) -> Any:
    if len(plan.groups) < 2:
        return  # one axis explains everything
    moves = [
        any(effect and not math.isclose(effect["low"], effect["high"], rel_tol=LEAST) for effect in own)
        for own in zip(*found, strict=True)
    ]
    for group, of_columns in zip(plan.groups, found, strict=True):
        for column, effect in enumerate(of_columns):
            # shares of what does not change are shares of noise
            if moves[column] and effect is not None and math.isfinite(effect["explained"]):
                yield Effect(group[0], column, effect["explained"], effect["low"], effect["high"])
