"""Rows as tables of other libraries: pyarrow, pandas, polars. None is imported before it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lanetwin.errors import Diagnostic, LanetwinError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXTRAS = {
    "pyarrow": "parquet",
    "pandas": "pandas",
    "polars": "polars",
    "altair": "plots",
    "distributed": "dask",
    "ray": "ray",
    "starlette": "ui",
    "uvicorn": "ui",
}
"""The extras of this package, by library."""


def library(name: str) -> Any:
    """Import a library; raises `LanetwinError` (RS011) if it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        found = Diagnostic(
            code="RS011",
            severity="error",
            message=f"{name} is not installed",
            help=f"install it with `pip install 'lanetwin[{EXTRAS[name]}]'`",
        )
        raise LanetwinError("", [found]) from error


def to_pandas(records: Sequence[dict[str, Any]], columns: Sequence[str]) -> Any:
    """Return records as a `pandas.DataFrame`."""
    return library("pandas").DataFrame.from_records(list(records), columns=list(columns))


def to_polars(records: Sequence[dict[str, Any]], columns: Sequence[str]) -> Any:
    """Return records as a `polars.DataFrame`."""
    polars = library("polars")
    frame = polars.DataFrame(list(records), infer_schema_length=None)
    return frame.select(columns) if records else polars.DataFrame(schema=list(columns))


def to_arrow(records: Sequence[dict[str, Any]], columns: Sequence[str]) -> Any:
    """Return records as a `pyarrow.Table`."""
    pyarrow = library("pyarrow")
    if not records:
        return pyarrow.table({name: [] for name in columns})
    return pyarrow.Table.from_pylist(list(records)).select(list(columns))
