"""The rows of a result as Parquet, for data frames and DuckDB: columns with types, and samples as lists."""

from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.formats.declaration import Format

if TYPE_CHECKING:
    from lanetwin.results import Results, Row

FIELDS = {
    **dict.fromkeys(("variant", "workload", "case", "device", "x_name"), "text"),
    "x_value": "number",
    "x_unit": "text",
    "metric": "text",
    "unit": "text",
    "value": "number",
    "low": "number",
    "high": "number",
    "n": "count",
    "percentiles": "map",
    "samples": "list",
}
"""The columns and their contents."""


def pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its Parquet writer; raises `LanetwinError` if they are not installed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        found = Diagnostic(
            code="RS007",
            severity="error",
            message="rows cannot be written as Parquet: pyarrow is not installed",
            help="install it with `pip install 'lanetwin[parquet]'`, or leave out `--format parquet`",
        )
        raise LanetwinError("", [found]) from error


def _write(results: Results) -> bytes:
    """Write a line per row: the columns of `rows.csv`, all percentiles as a map, and all samples."""
    pa, parquet = pyarrow()
    kinds = {"text": pa.string(), "number": pa.float64(), "count": pa.uint32()}
    kinds |= {"map": pa.map_(pa.float64(), pa.float64()), "list": pa.list_(pa.float64())}
    schema = pa.schema([(name, kinds[kind]) for name, kind in FIELDS.items()])
    table = pa.Table.from_pylist([flat(row) for row in results["rows"]], schema=schema)
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


def flat(row: Row) -> dict[str, Any]:
    """Return a row with its place on an axis in columns of its own."""
    x = row["x"]
    at = {"x_name": x["name"], "x_value": x["value"], "x_unit": x["unit"]} if x else {}
    return {**row, **at, "percentiles": [tuple(pair) for pair in row.get("percentiles", [])]}


FORMAT = Format(name="parquet", file="rows.parquet", write=_write, require=pyarrow)
