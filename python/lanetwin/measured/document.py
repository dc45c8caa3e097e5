"""Measurements as a results document: each file is read by the reader of its format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from lanetwin.files import read_text
from lanetwin.measured.formats import FORMATS, format_of, named
from lanetwin.measured.values import MOST_BYTES, MOST_VALUES, Source, name, refuse
from lanetwin.results import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lanetwin.measured.values import Value
    from lanetwin.results import Results, Row

VARIANT = "as-is"
"""Name of a measurement's variant, the same as in a scenario without variants."""
FOR_PEOPLE = "this is what fio prints for people: run it with --output-format=json (json,normal prints both)"
_PRINTED_BY_FIO = re.compile(r"^\S.*: \(groupid=\d+, jobs=\d+\): err=", re.MULTILINE)


def imported(
    files: Sequence[Path],
    *,
    version: str,
    format_: str | None = None,
    variant: str = VARIANT,
    workload: str | None = None,
    about: str = "",
) -> Results:
    """Read measurements and return them as results of kind `measured`.

    Each file is a workload with the name of the file, unless `workload` names it or its format has several.

    Raises `LanetwinError` with code, place and remedy if a file cannot be read, has no known format or
    contains no measurement.
    """
    rows: list[Row] = []
    formats: dict[str, str] = {}
    for path in files:
        source = Source(str(path), path.name.removesuffix(path.suffix))
        text = _text(path, source)
        if not text.strip():
            refuse("ME006", source, "the file is empty")
        known = named(format_) if format_ else format_of(text, source)
        if known is None:
            help_ = FOR_PEOPLE if _PRINTED_BY_FIO.search(text) else f"known: {', '.join(_names())}"
            refuse("ME002", source, "this is of no format that is read", help_=help_)
        values = known.read(text, source)
        if not values:
            refuse("ME006", source, f"there is nothing in it that {known.name} measured")
        if len(values) + len(rows) > MOST_VALUES:
            refuse("ME005", source, f"more than {MOST_VALUES} values are no summary of a test")
        formats[str(path)] = known.name
        rows += [_row(value, variant, workload or value.workload or name(source.stem)) for value in values]
    title = name(workload or files[0].name.removesuffix(files[0].suffix)) if files else "measured"
    return cast(
        "Results", document_of(_distinct(rows), {"imported": formats}, title, version) | {"about": about}
    )


def is_measurement(path: Path) -> bool:
    """Whether a file has a supported format; false for a folder and for an unreadable file."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return False
        return format_of(read_text(path), Source(str(path), path.name.removesuffix(path.suffix))) is not None
    except (OSError, UnicodeDecodeError):
        return False


def is_no_document(path: Path) -> bool:
    """Whether a file exists but cannot be a result of lanetwin: it is empty, or not a JSON object."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return False
        return not read_text(path).lstrip("\ufeff \t\r\n").startswith("{")
    except (OSError, UnicodeDecodeError):
        return False


def _names() -> list[str]:
    return [one.name for one in FORMATS]


def _text(path: Path, source: Source) -> str:
    help_ = "give a text file as the program wrote it"
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            refuse("ME005", source, f"it is larger than {MOST_BYTES >> 20} MiB", help_="give a summary of it")
        return read_text(path)
    except UnicodeDecodeError:
        refuse("ME001", source, "the file cannot be read: it is neither UTF-8 nor UTF-16", help_=help_)
    except OSError as error:
        refuse("ME001", source, f"the file cannot be read: {error.strerror or error}", help_=help_)


def _row(value: Value, variant: str, workload: str) -> Row:
    row: dict[str, Any] = {
        "variant": name(variant),
        "workload": name(workload),
        "case": name(value.case),
        "x": None,
        "metric": value.metric,
        "unit": value.unit,
        "better": value.better,
        "value": value.value,
        "low": value.value,
        "high": value.value,
        "n": 1,
        "percentiles": [list(pair) for pair in value.percentiles],
    }
    if value.device:
        row["device"] = name(value.device)
    if value.restates:
        row["restates"] = True
    return cast("Row", row)


def _distinct(rows: Sequence[Row]) -> list[Row]:
    """Add numbers to tests of the same name, from the second on."""
    seen: dict[tuple[object, ...], int] = {}
    found: list[Row] = []
    for row in rows:
        place = (row["variant"], row["workload"], row["case"], row.get("device"), row["metric"])
        count = seen[place] = seen.get(place, 0) + 1
        found.append(row if count == 1 else cast("Row", {**row, "case": f"{row['case']} #{count}"}))
    return found


def document_of(rows: list[Row], options: dict[str, Any], title: str, version: str) -> dict[str, Any]:
    """Return measurements as a results document, with notes on them in `options`."""
    return {
        "schema": SCHEMA,
        "kind": "measured",
        "name": title,
        "version": version,
        "seed": None,
        "digest": None,
        "complete": True,
        "stopped": None,
        "options": options,
        "scenario": {"path": "", "text": ""},
        "plan": {},
        "rows": rows,
        "waterfalls": [],
        "utilisation": [],
        "bottlenecks": [],
        "verdicts": [],
        "assumptions": [],
        "not_modelled": [],
        "parts": [],
        "cost": {"events": 0, "tlp_hops": 0, "cpu_seconds": 0.0},
    }
