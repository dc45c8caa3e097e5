"""The rows of a result as CSV, for spreadsheets, data frames and DuckDB."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from lanetwin.formats.declaration import Format
from lanetwin.numbers import percentile_name
from lanetwin.steadiness import condition

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
    "seconds",
    "operations",
    "steady",
    "unsettled",
]
"""The columns every file has; one per percentile follows."""


def harmless(cell: object) -> object:
    """Mark a text that a spreadsheet would treat as a formula.

    >>> harmless("=1+1"), harmless("4 KiB"), harmless(-3.5)
    ("'=1+1", '4 KiB', -3.5)
    """
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


def rows_csv(rows: list[Row]) -> str:
    """Write the rows as CSV (RFC 4180): one line per row, one column per percentile that occurs."""
    percentiles = sorted({p for row in rows for p, _ in row.get("percentiles", [])})
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(HEAD + [f"p{p:g}" for p in percentiles])
    writer.writerows(cells(row, percentiles) for row in rows)
    return text.getvalue()


def cells(row: Row, percentiles: list[float]) -> list[object]:
    """Return the cells of a row: those of `HEAD`, then these percentiles."""
    x = row["x"]
    case = [row["variant"], row["workload"], row["case"], row.get("device") or ""]
    at = [x["name"], x["value"], x["unit"]] if x else ["", "", ""]
    known = dict(row.get("percentiles", []))
    return [
        *map(harmless, case),
        *map(harmless, at),
        harmless(row["metric"]),
        *(row["unit"], row["value"], row["low"], row["high"], row["n"]),
        *(row.get("seconds", ""), row.get("operations", ""), condition(row.get("steady"))),
        " ".join(percentile_name(p) for p in row.get("unsettled", [])),
        *(known.get(p, "") for p in percentiles),
    ]


FORMAT = Format(name="csv", file="rows.csv", write=lambda results: rows_csv(results["rows"]))
