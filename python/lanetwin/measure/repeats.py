"""Repeats of one test as one row: their mean, its interval, and each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from lanetwin import engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.measured.values import Value
    from lanetwin.results import Row


def row_of(place: tuple[str, str, str, str, str], values: Sequence[Value]) -> Row:
    """Return a row: the mean of its repeats with their interval, and percentiles as means of theirs."""
    variant, workload, case, device, metric = place
    samples = [value.value for value in values]
    mean, low, high = engine.mean_of(samples)
    row: dict[str, Any] = {
        "variant": variant,
        "workload": workload,
        "case": case,
        "x": None,
        "metric": metric,
        "unit": values[0].unit,
        "better": values[0].better,
        "value": mean,
        "low": low,
        "high": high,
        "n": len(samples),
        "percentiles": _percentiles(values),
        "samples": samples,
    }
    if device:
        row["device"] = device
    if values[0].restates:
        row["restates"] = True
    return cast("Row", row)


def _percentiles(values: Sequence[Value]) -> list[list[float]]:
    """Return the mean of each percentile that all repeats have."""
    of_all = [dict(value.percentiles) for value in values]
    shared = [percent for percent in of_all[0] if all(percent in one for one in of_all)]
    return [[percent, engine.mean_of([one[percent] for one in of_all])[0]] for percent in shared]
