"""Metrics of all points as columns of numbers: the data of figures, tables and the analysis."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lanetwin.glance import RESTATED
from lanetwin.summary import unique
from lanetwin.tails import TAIL

if TYPE_CHECKING:
    from lanetwin.results import Better, Bottleneck, Row

NOTHING = math.nan
"""The value of a point without the metric."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The owner of a metric: cases are numbered, since a sweep may change their names."""

    variant: str
    workload: str
    case: int
    metric: str


@dataclass(slots=True)
class Column:
    """One metric of one case at every point."""

    place: Place
    unit: str
    better: Better
    restates: bool
    values: array[float]
    cases: set[str] = field(default_factory=set)
    """The names of the case."""

    @property
    def case(self) -> str:
        """The name of the case, if it is the same at all points."""
        return next(iter(self.cases)) if len(self.cases) == 1 else ""

    def known(self) -> list[float]:
        """Return the values of points with the metric."""
        return [value for value in self.values if not math.isnan(value)]

    def optional(self) -> list[float | None]:
        """Return the values, None for points without the metric."""
        return [None if math.isnan(value) else value for value in self.values]


class Table:
    """The metrics of all points. Only numbers are held: complete rows would not fit for large sweeps."""

    def __init__(self, points: int) -> None:
        self.points = points
        self.done = 0
        """Number of points with metrics."""
        self.columns: dict[Place, Column] = {}
        self.limits: dict[tuple[str, str, int], dict[int, str]] = {}
        """The bottleneck of each case at each point."""
        self.unsteady: dict[str, set[int]] = {}
        """Points at which a workload was not steady."""
        self._names: dict[str, str] = {}

    def add(self, point: int, rows: list[Row], bottlenecks: list[Bottleneck]) -> None:
        """Add the rows of a point; those of single devices are only in the files."""
        self.done += 1
        cases: dict[tuple[str, str], list[str]] = {}
        for row in rows:
            if row.get("device") is not None:
                continue
            of = cases.setdefault((row["variant"], row["workload"]), [])
            if row["case"] not in of:
                of.append(row["case"])
            case = of.index(row["case"])
            self._put(point, case, row, row["metric"], row["value"])
            steady = row.get("steady")
            if steady is not None and steady["condition"] == "not-steady":
                self.unsteady.setdefault(row["workload"], set()).add(point)
            tail = dict(row.get("percentiles", [])).get(TAIL)
            if row["metric"] == "latency" and tail is not None:
                self._put(point, case, row, f"latency p{TAIL:g}", tail)
        for limit in bottlenecks:
            of = cases.get((limit["variant"], limit["workload"]), [])
            if limit["case"] in of:
                place = (limit["variant"], limit["workload"], of.index(limit["case"]))
                name = self._names.setdefault(limit["name"], limit["name"])
                self.limits.setdefault(place, {})[point] = name

    def _put(self, point: int, case: int, row: Row, metric: str, value: float | None) -> None:
        place = Place(row["variant"], row["workload"], case, metric)
        column = self.columns.get(place)
        if column is None:
            restates = row.get("restates", False) or metric.endswith(RESTATED)
            values = array("d", [NOTHING]) * self.points
            column = self.columns[place] = Column(place, row["unit"], row["better"], restates, values)
        column.values[point] = NOTHING if value is None else value
        column.cases.add(row["case"])

    @property
    def variants(self) -> list[str]:
        """The variants, in the order of the scenario."""
        return unique(place.variant for place in self.columns)

    @property
    def workloads(self) -> list[str]:
        """The workloads, in the order of the scenario."""
        return unique(place.workload for place in self.columns)

    def telling(self, variant: str, workload: str) -> list[Column]:
        """Return the main metrics of a workload, for its case with the largest value of the first."""
        of = [c for p, c in self.columns.items() if (p.variant, p.workload) == (variant, workload)]
        shown = [column for column in of if not column.restates and column.better != "neither"]
        if not shown:
            return []
        first = [column for column in shown if column.place.metric == shown[0].place.metric]
        case = max(first, key=lambda column: max(column.known(), default=-math.inf)).place.case
        return [column for column in shown if column.place.case == case]

    def limit(self, column: Column, point: int) -> str:
        """Return the bottleneck of a column's case at a point; empty if unknown."""
        place = (column.place.variant, column.place.workload, column.place.case)
        return self.limits.get(place, {}).get(point, "")
