"""Bars as in Iometer's display: families of metrics, each with one bar for each manager, worker or device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanetwin.fit import brief
from lanetwin.numbers import NARROW_SPACE, percentile_name
from lanetwin.summary import unique
from lanetwin.tails import ABOUT, is_unsettled

if TYPE_CHECKING:
    from lanetwin.results import Results

FIRST = (
    "Total I/Os per Second",
    "Total MBs per Second (Decimal)",
    "Average I/O Response Time",
    "Maximum I/O Response Time",
    "% CPU Utilization (total)",
    "Total Error Count",
    "throughput",
    "IOPS",
    "latency",
)
"""The initial metrics of Iometer's display; for other loads, their main metrics."""
TAILS = (50.0, 99.0, 99.9, 100.0)
"""Percentiles with a separate chart."""
CHARTS = 6
"""Number of charts."""


def bars(results: Results) -> dict[str, Any]:
    """Return every metric with its bars: in total, and by device if known.

    For Iometer's workloads with several workers, by manager, worker and target.

    A bar has a name, its value, and the value in words.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for row in results["rows"]:
        own = {
            "who": f"{row['workload']}, {row['variant']}",
            "case": row["case"],
            "target": row.get("device") or "",
            "value": row["value"],
            "text": brief(row["value"], row["unit"], row["metric"]),
        }
        found.setdefault(row["metric"], []).append(own)
        for percent, value in row.get("percentiles", []):
            if percent in TAILS:
                sign = f"{ABOUT}{NARROW_SPACE}" if is_unsettled(row, percent) else ""
                text = sign + brief(value, row["unit"], row["metric"])
                tail = {**own, "value": value, "text": text}
                found.setdefault(f"{row['metric']}, {percentile_name(percent)}", []).append(tail)
    for metric in results.get("iometer", []):
        if metric["value"] is not None:
            own = {
                "who": f"{metric['workload']}, {metric['variant']}",
                "case": metric["case"],
                "target": metric.get("of", ""),
                "value": metric["value"],
                "text": brief(metric["value"], metric["unit"], metric["metric"]),
            }
            found.setdefault(metric["metric"], []).append(own)
    names = list(found)
    first = [name for name in FIRST if name in found]
    targets = unique(one["target"] for own in found.values() for one in own if one["target"])
    return {"charts": unique([*first, *names])[:CHARTS], "metrics": found, "targets": targets}
