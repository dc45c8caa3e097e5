"""Goals of a search: quantities of a result to be maximised, minimised, or kept within a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lanetwin.results import Row

OF_PARTS = ("cost", "power")
"""Quantities that are sums over parts and values, not simulated."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A metric of the results, or the cost or power of parts."""

    metric: str
    workload: str = ""
    """The workload; empty for all workloads with the metric."""
    percentile: float | None = None

    def __str__(self) -> str:
        said = self.metric + (f" p{self.percentile:g}" if self.percentile is not None else "")
        return said + (f"@{self.workload}" if self.workload else "")

    def value(self, rows: Iterable[Row], parts: Mapping[str, float]) -> tuple[float, str] | None:
        """Return it with its unit, the worst over workloads and variants; None if it is not in the results.

        For a workload with several cases, it is that of the case with the most throughput.
        """
        if self.metric in OF_PARTS:
            found = parts.get(self.metric)
            return None if found is None else (found, "")
        whole = [row for row in rows if row.get("device") is None]
        cases = _fastest_cases(whole)
        found_in: list[tuple[float, str, bool]] = []
        for row in whole:
            at = (row["variant"], row["workload"])
            if row["metric"] != self.metric or (self.workload and row["workload"] != self.workload):
                continue
            if cases[at] != row["case"]:
                continue
            value = _at(row, self.percentile)
            if value is not None:
                found_in.append((value, row["unit"], row["better"] == "higher"))
        if not found_in:
            return None
        values, (_, unit, more_is_better) = [one[0] for one in found_in], found_in[0]
        return (min(values) if more_is_better else max(values)), unit


def _at(row: Row, percentile: float | None) -> float | None:
    """Return the value of a row, or one of its percentiles."""
    if percentile is None:
        return row["value"]
    return next((value for at, value in row.get("percentiles", []) if at == percentile), None)


def _fastest_cases(rows: Iterable[Row]) -> dict[tuple[str, str], str]:
    """Return the case with the most throughput of each variant and workload, or the first one."""
    best: dict[tuple[str, str], tuple[float, str]] = {}
    for row in rows:
        at = (row["variant"], row["workload"])
        known = row["value"]
        value = known if row["metric"] == "throughput" and known is not None else -1.0
        if at not in best or value > best[at][0]:
            best[at] = (value, row["case"])
    return {at: case for at, (_, case) in best.items()}


@dataclass(frozen=True, slots=True)
class Objective:
    """A quantity to be maximised or minimised."""

    quantity: Quantity
    direction: Literal["maximize", "minimize"]

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Parse an objective of the engine."""
        return cls(Quantity(**written["quantity"]), written["direction"])

    def __str__(self) -> str:
        return f"{self.direction} {self.quantity}"


@dataclass(frozen=True, slots=True)
class Limit:
    """A quantity that has to stay on one side of a value."""

    quantity: Quantity
    at_most: bool
    bound: float
    unit: str

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Parse a limit of the engine."""
        return cls(Quantity(**written["quantity"]), written["at_most"], written["bound"], written["unit"])

    def __str__(self) -> str:
        return f"{self.quantity} {'<=' if self.at_most else '>='} {self.bound:g} {self.unit}".rstrip()

    def excess(self, value: float) -> float:
        """Return the excess of a value over the bound, relative to it; at most 0 if it is within."""
        beyond = value - self.bound if self.at_most else self.bound - value
        return beyond / (abs(self.bound) or 1.0)
