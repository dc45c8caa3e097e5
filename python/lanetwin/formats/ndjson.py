"""The rows of a result as NDJSON, a line of JSON for each: for jq, DuckDB and log collectors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lanetwin.formats.declaration import Format

if TYPE_CHECKING:
    from lanetwin.results import Results


def rows_ndjson(results: Results) -> str:
    """Write the rows of the document, each with the run's name, digest and kind.

    A missing value, such as an interval, has no key. Numbers are those of the
    document, to the last digit.
    """
    run = {"run": results["name"], "digest": results["digest"], "kind": results["kind"]}
    lines = (json.dumps({**run, **row}, ensure_ascii=False, allow_nan=False) for row in results["rows"])
    return "".join(f"{line}\n" for line in lines)


FORMAT = Format(name="ndjson", file="rows.ndjson", write=rows_ndjson)
