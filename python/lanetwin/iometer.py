"""Iometer's own metrics as tables: case by case, and all cases side by side."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from lanetwin.summary import unique, variants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.results import IometerMetric, Results


@dataclass(frozen=True, slots=True)
class IometerLine:
    """One of Iometer's metrics: the value of each variant, or the reason why there is none."""

    family: str
    metric: str
    unit: str
    values: dict[str, float | None]
    not_modelled: str


@dataclass(frozen=True, slots=True)
class IometerBar:
    """A variant's throughput in a case [MB/s], as a share of the largest, and the change from the first."""

    variant: str
    value: float
    share: float
    change: float | None


@dataclass(frozen=True, slots=True)
class IometerBars:
    """A case of the table of all cases."""

    workload: str
    case: str
    bars: list[IometerBar]


@dataclass(frozen=True, slots=True)
class IometerTable:
    """Iometer's metrics of one case, variants side by side."""

    workload: str
    case: str
    variants: list[str]
    lines: list[IometerLine]

    @property
    def families(self) -> list[tuple[str, list[IometerLine]]]:
        """Metrics with a value, by family."""
        known = [line for line in self.lines if not line.not_modelled]
        return [(name, list(lines)) for name, lines in groupby(known, lambda line: line.family)]

    @property
    def missing(self) -> list[IometerLine]:
        """Metrics that are not modelled."""
        return [line for line in self.lines if line.not_modelled]

    def value(self, metric: str, variant: str) -> float | None:
        """Return one value, if there is one."""
        return next((line.values.get(variant) for line in self.lines if line.metric == metric), None)


def iometer_tables(results: Results) -> list[IometerTable]:
    """Return Iometer's own metrics, case by case; empty if no workload was of Iometer."""
    order = variants(results)
    by_case: dict[tuple[str, str], dict[tuple[str, str, str], list[IometerMetric]]] = {}
    for metric in (one for one in results.get("iometer", []) if not one.get("of")):
        lines = by_case.setdefault((metric["workload"], metric["case"]), {})
        lines.setdefault((metric["family"], metric["metric"], metric["unit"]), []).append(metric)
    tables = []
    for (workload, case), lines in by_case.items():
        own = []
        for (family, name, unit), found in lines.items():
            values = {metric["variant"]: metric["value"] for metric in found}
            whys = unique(metric.get("not_modelled", "") for metric in found)
            own.append(IometerLine(family, name, unit, values, whys[0] if all(whys) else ""))
        present = {variant for line in own for variant in line.values}
        tables.append(IometerTable(workload, case, [v for v in order if v in present], own))
    return tables


TOTAL = "Total MBs per Second (Decimal)"
"""The metric of Iometer for the comparison of cases."""


def iometer_bars(tables: Sequence[IometerTable]) -> list[IometerBars]:
    """Return the throughput of all cases and variants, side by side; empty for a single number."""
    found = [(table, name, table.value(TOTAL, name)) for table in tables for name in table.variants]
    known = [value for _, _, value in found if value is not None]
    if len(known) < 2:
        return []
    most = max(known) or 1.0
    lines = []
    for table in tables:
        own = [(name, value) for one, name, value in found if one is table and value is not None]
        first = own[0][1] if own else 0.0
        bars = [
            IometerBar(name, value, value / most, (value / first - 1) if nth and first else None)
            for nth, (name, value) in enumerate(own)
        ]
        lines.append(IometerBars(table.workload, table.case, bars))
    return lines
