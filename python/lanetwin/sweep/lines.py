"""The table of a sweep: the selection of points, and the contents of their lines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.fit import brief
from lanetwin.numbers import compact, share, with_unit
from lanetwin.sentences import word
from lanetwin.steadiness import NOT_STEADY

if TYPE_CHECKING:
    from lanetwin.sweep.analysis import Analysis
    from lanetwin.sweep.design import Design
    from lanetwin.sweep.table import Column, Table

CHOSEN, FRONT = "◀", "•"
"""Marks of the answer, and of points of the Pareto front."""


@dataclass(frozen=True, slots=True)
class Line:
    """One point."""

    point: int
    levels: list[str]
    cost: str
    share: str
    values: list[str]
    limit: str
    is_chosen: bool
    on_front: bool

    @property
    def mark(self) -> str:
        """A sign for the answer, and for points of the Pareto front."""
        return CHOSEN if self.is_chosen else FRONT if self.on_front else ""


def whose(found: Analysis) -> list[str]:
    """Return the owner of each metric: variant and workload, if there are several."""
    variants = {column.place.variant for column in found.columns}
    workloads = {column.place.workload for column in found.columns}
    return [
        " ".join(
            [column.place.variant] * (len(variants) > 1) + [column.place.workload] * (len(workloads) > 1)
        )
        for column in found.columns
    ]


def headings(found: Analysis) -> list[str]:
    """Return the names of the metrics, as short as is unambiguous."""
    names = zip(whose(found), found.columns, strict=True)
    return [f"{name} {word(column.place.metric)}".lstrip() for name, column in names]


def answer_of(plan: Design, found: Analysis) -> int | None:
    """Return the point of the answer: the cheapest that is good enough, or the best."""
    return found.chosen if plan.cheapest else found.best


def worth_a_line(plan: Design, found: Analysis) -> list[int]:
    """Return the points with results: the cheapest first, then the best; without costs as designed."""
    known = [
        point
        for point in range(len(plan))
        if any(column.values[point] == column.values[point] for column in found.columns)
    ]
    if plan.has_costs:
        dear = math.inf
        known.sort(key=lambda point: (_or(found.costs[point], dear), -(found.shares[point] or 0.0), point))
    elif plan.sampled:
        known.sort(key=lambda point: (-(found.shares[point] or 0.0), point))
    return known


def _or(cost: float | None, otherwise: float) -> float:
    return otherwise if cost is None else cost


def line(plan: Design, table: Table, found: Analysis, point: int) -> Line:
    """Return the line of a point."""
    cost, of_best = found.costs[point], found.shares[point]
    limits = dict.fromkeys(limit for n in found.required if (limit := table.limit(found.columns[n], point)))
    return Line(
        point,
        [level["text"] for level in plan.levels(point)],
        "" if cost is None else priced(plan, cost),
        "" if of_best is None else share(of_best),
        [value_of(column, point) for column in found.columns],
        "; ".join(limits),
        is_chosen=point == answer_of(plan, found),
        on_front=found.front[point],
    )


def value_of(column: Column, point: int) -> str:
    """Write the value of a metric at a point, in a fitting unit."""
    value = column.values[point]
    return "–" if value != value else told(column, value)


def told(column: Column, value: float) -> str:
    """Write a value of a metric, in a fitting unit."""
    return brief(value, column.unit, column.place.metric)


def priced(plan: Design, cost: float) -> str:
    """Write a cost."""
    return with_unit(compact(cost, 6), plan.cost_unit)


def answer(plan: Design, found: Analysis) -> list[str]:
    """Answer the question of the sweep, in sentences."""
    best = found.best
    if best is None:
        return ["No point has a result."]
    reached = _reached(found, best)
    if not plan.cheapest:
        what = " and ".join(dict.fromkeys(found.columns[n].place.metric for n in found.required))
        return [f"Best in {what}: {plan.called(best)} ({reached})."]
    asked = plan.cheapest
    bar = f"{share(asked['at_least'])} of the best {asked['of']}"
    if found.chosen is None:
        return [f"No point that has a cost reaches {bar}.", f"The best: {plan.called(best)} ({reached})."]
    chosen, cost = found.chosen, found.costs[found.chosen]
    said = [
        f"Cheapest with at least {bar}: {plan.called(chosen)}. "
        f"It costs {priced(plan, cost or 0.0)} and reaches {share(found.shares[chosen] or 0.0)} "
        f"({_reached(found, chosen)})."
    ]
    full = found.costs[best]
    if best != chosen and full is not None:
        said.append(f"The best costs {priced(plan, full)}: {plan.called(best)} ({reached}).")
    return said


def doubts(plan: Design, table: Table) -> list[str]:
    """Describe unsteady workloads, with the number of points, and the effect of missing points on axes."""
    all_ = len(plan)
    found = [
        f"{workload} {NOT_STEADY} at {len(points)} of {all_} points: a longer run may have other numbers."
        for workload, points in table.unsteady.items()
    ]
    if table.done < all_ and len(plan.groups) > 1:
        # in an incomplete grid, axes are correlated
        said = f"What an axis explains is of {table.done} of {all_} points"
        found.append(f"{said}: without the others one axis may stand for another.")
    return found


def _reached(found: Analysis, point: int) -> str:
    """Write the values of the required metrics at a point."""
    names = whose(found)
    told_of = [(names[n], value_of(found.columns[n], point)) for n in found.required]
    return ", ".join(f"{name} {value}".lstrip() for name, value in told_of)
