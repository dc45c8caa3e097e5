"""The rows of a result as CSV, for spreadsheets, data frames and DuckDB."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanetwin.results import Row

HEAD = [
    "variant",
    "workload",
    "case",
    "device",
    "x_name",
    "x_value",
    "x_unit",
    "metric",
    "unit",
    "value",
    "low",
    "high",
    "n",
]
"""The columns every file has; one per percentile follows."""


def rows_csv(rows: list[Row]) -> str:
    """Write the rows as CSV (RFC 4180): one line per row, one column per percentile that occurs."""
    percentiles = sorted({p for row in rows for p, _ in row.get("percentiles", [])})
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(HEAD + [f"p{p:g}" for p in percentiles])
    for row in rows:
        x = row["x"]
        case = [row["variant"], row["workload"], row["case"], row.get("device") or ""]
        at = [x["name"], x["value"], x["unit"]] if x else ["", "", ""]
        known = dict(row.get("percentiles", []))
        writer.writerow(
            [*case, *at, row["metric"], row["unit"]]
            + [row["value"], row["low"], row["high"], row["n"]]
            + [known.get(p, "") for p in percentiles]
        )
    return text.getvalue()
