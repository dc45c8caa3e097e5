"""The folder of a sweep: its rows in one table, the document, the report."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lanetwin import engine, store
from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.files import read_text
from lanetwin.formats.csv import HEAD, cells, harmless
from lanetwin.formats.parquet import FIELDS, flat, pyarrow
from lanetwin.sweep.running import Asked
from lanetwin.sweep.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lanetwin.sweep.analysis import Analysis
    from lanetwin.sweep.design import Design
    from lanetwin.sweep.running import Swept

SCHEMA = "lanetwin-sweep/1"
MARKER = "sweep.json"
"""The file that identifies the folder of a sweep."""
GROUP = 20_000
"""Number of rows of a Parquet file in memory at a time."""


def folder_name(asked: Asked, plan: Design) -> str:
    """Return the folder's name: that of the scenario, and a digest of this sweep."""
    digest = store.digest_of([plan.written(), asked.sets, asked.seed, read_text(Path(asked.path))])
    return f"{store.slug(Path(asked.path).stem)}-sweep-{digest}"


def begin(folder: Path, asked: Asked, plan: Design) -> None:
    """Write the data for resuming a sweep that is killed, unless they exist."""
    if (folder / MARKER).exists():
        return
    document = _document(asked, plan) | {"complete": False, "done": 0}
    store.replace(folder, lambda fresh: _write_json(fresh / MARKER, document), MARKER)


def tabulate(swept: Swept) -> tuple[Table, list[float]]:
    """Read every result once: metrics as columns of numbers, and the percentiles in any row."""
    table = Table(len(swept.design))
    percents: set[float] = set()
    for point, rows, limits in swept.results():
        table.add(point, rows, limits)
        percents.update(p for row in rows for p, _ in row.get("percentiles", []))
    return table, sorted(percents)


def save(
    swept: Swept,
    folder: Path,
    *,
    page: str,
    found: Analysis,
    percentiles: list[float],
    formats: Iterable[str] = (),
) -> Path:
    """Write the folder and return its path; rows are read and written point by point.

    Raises `LanetwinError` if it cannot be written.
    """

    def write(fresh: Path) -> None:
        with (fresh / "rows.csv").open("w", encoding="utf-8", newline="") as file:
            write_csv(swept, percentiles, file)
        if "parquet" in formats:
            write_parquet(swept, fresh / "rows.parquet")
        _write_json(fresh / MARKER, document(swept, found))
        (fresh / "report.html").write_text(page, encoding="utf-8", newline="")

    return store.replace(folder, write, MARKER)


def _document(asked: Asked, plan: Design) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "version": engine.version(),
        "name": Path(asked.path).stem,
        "asked": asdict(asked),
        "design": plan.written(),
    }


def document(swept: Swept, found: Analysis) -> dict[str, Any]:
    """Return the options and results of the sweep, without its rows."""
    return _document(swept.asked, swept.design) | {
        "about": swept.about,
        "complete": swept.complete,
        "done": swept.done,
        "refused": {str(point): [str(one) for one in why] for point, why in swept.refused.items()},
        "metrics": [
            {
                **asdict(column.place),
                "unit": column.unit,
                "better": column.better,
                "values": column.optional(),
            }
            for column in found.columns
        ],
        "costs": found.costs,
        "shares": found.shares,
        "front": found.front,
        "chosen": found.chosen,
        "effects": [asdict(effect) for effect in found.effects],
    }


def _write_json(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False) + "\n", encoding="utf-8")


def write_csv(swept: Swept, percentiles: list[float], file: TextIO) -> None:
    """Write every row of every point as CSV, after the point, its values and its cost."""
    writer = csv.writer(file)
    plan = swept.design
    names = [harmless(axis["name"]) for axis in plan.axes]
    writer.writerow(["point", *names, "cost", *HEAD, *(f"p{p:g}" for p in percentiles)])
    for point, rows, _ in swept.results():
        cost = plan.cost(point)
        at = [point, *(harmless(level["text"]) for level in plan.levels(point)), "" if cost is None else cost]
        for row in rows:
            writer.writerow([*at, *cells(row, percentiles)])


def csv_text(swept: Swept, percentiles: list[float]) -> str:
    """Return the rows as CSV."""
    text = io.StringIO(newline="")
    write_csv(swept, percentiles, text)
    return text.getvalue()


def write_parquet(swept: Swept, file: Path) -> None:
    """Write every row of every point as Parquet; values that are plain numbers are numbers.

    Raises `LanetwinError` if pyarrow is not installed.
    """
    pa, parquet = pyarrow()
    schema = arrow_schema(swept.design, pa)
    with parquet.ParquetWriter(file, schema) as writer:
        held: list[dict[str, Any]] = []
        for row in records(swept):
            held.append(row)
            if len(held) >= GROUP:
                writer.write_table(pa.Table.from_pylist(held, schema=schema))
                held = []
        writer.write_table(pa.Table.from_pylist(held, schema=schema))


def arrow_schema(plan: Design, pa: Any) -> Any:
    """Return the columns of all rows of a sweep for pyarrow."""
    kinds = {"text": pa.string(), "number": pa.float64(), "count": pa.uint32()}
    kinds |= {"map": pa.map_(pa.float64(), pa.float64()), "list": pa.list_(pa.float64())}
    plain = plain_axes(plan)
    axes = [
        (axis["name"], kinds["number" if is_plain else "text"])
        for axis, is_plain in zip(plan.axes, plain, strict=True)
    ]
    own = [("point", kinds["count"]), *axes, ("cost", kinds["number"])]
    return pa.schema([*own, *((name, kinds[kind]) for name, kind in FIELDS.items())])


def records(swept: Swept) -> Iterable[dict[str, Any]]:
    """Yield every row of every point as one mapping, with the point, its values and its cost."""
    plan = swept.design
    plain = plain_axes(plan)
    for point, rows, _ in swept.results():
        levels = plan.levels(point)
        at: dict[str, Any] = {"point": point, "cost": plan.cost(point)}
        for axis, level, is_plain in zip(plan.axes, levels, plain, strict=True):
            at[axis["name"]] = level["number"] if is_plain else level["text"]
        for row in rows:
            yield at | flat(row)


def plain_axes(plan: Design) -> list[bool]:
    """Return for each axis whether its values are numbers without a unit."""
    return [
        of["numeric"] and not of["unit"] and not any(level["text"][:1] == "x" for level in of["values"])
        for of in plan.axes
    ]


def resumed(folder: Path) -> Asked:
    """Return the options of the sweep in a folder.

    Raises `LanetwinError` if it is not the folder of a sweep.
    """
    file = folder / MARKER if folder.is_dir() else folder
    try:
        document = json.loads(read_text(file))
        asked = document["asked"]
        lists = {name: tuple(asked[name]) for name in ("sets", "vary", "zipped")}
        return Asked(**(asked | lists))
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        found = Diagnostic(
            code="RS010",
            severity="error",
            message=f"there is no sweep to go on with: {_why(error)}",
            help="name the folder of a sweep, as it was printed: runs/NAME-sweep-DIGEST",
            file=str(file),
        )
        raise LanetwinError("", [found]) from error


def _why(error: Exception) -> str:
    """Say why the document of a sweep cannot be used, without what only programmers read."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "its document is not one that this version writes"
