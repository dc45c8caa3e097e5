"""Results files of Iometer (CSV): columns are found by their titles, which differ from version to version."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from lanetwin.measured.values import Format, Source, Value, name, number, refuse

if TYPE_CHECKING:
    from lanetwin.results import Better

TYPE, TARGET, SPEC = "target type", "target name", "access specification name"
MEGA = 1e6
COLUMNS: tuple[tuple[tuple[str, ...], str, str, Better, float], ...] = (
    (("mbps (decimal)",), "throughput", "MB/s", "higher", 1.0),
    (("mbps (binary)", "mbps"), "throughput", "MB/s", "higher", (1 << 20) / MEGA),
    (("iops",), "IOPS", "k/s", "higher", 1e-3),
    (("average response time",), "latency", "ns", "lower", 1e6),
    (("maximum response time",), "maximum latency", "ns", "lower", 1e6),
    (("% cpu utilization", "% cpu utilization (total)"), "CPU use", "%", "lower", 1.0),
    (("errors",), "errors", "", "lower", 1.0),
)
"""Titles and their meaning: metric, unit, direction, size of Iometer's unit in it."""
MOST_ROWS = 100_000
"""Length above which files are refused."""


def recognises(text: str, _source: Source) -> bool:
    """Whether a text is a results file of Iometer."""
    head = text[:100_000].lower()
    return "target type,target name,access specification name" in head


def read(text: str, source: Source) -> list[Value]:
    """Read the rows of a whole test, and those of its disks."""
    found: list[Value] = []
    titles: list[str] = []
    try:
        for row in (rows := csv.reader(io.StringIO(text))):
            if rows.line_num > MOST_ROWS:
                refuse(
                    "ME005", source, f"a results file has no more than {MOST_ROWS} lines", line=rows.line_num
                )
            if row and row[0].strip("' ").lower() == TYPE:
                titles = [title.strip("' ").lower() for title in row]
            elif titles and row and row[0].strip().upper() in ("ALL", "DISK"):
                found += _row(dict(zip(titles, row, strict=False)), source, rows.line_num)
    except csv.Error as error:
        refuse("ME003", source, f"this is not CSV: {error}", line=rows.line_num)
    return found


def _row(fields: dict[str, str], source: Source, line: int) -> list[Value]:
    case = name(fields.get(SPEC, "").strip("' "))
    device = name(fields.get(TARGET, "")) if fields[TYPE].strip().upper() == "DISK" else ""
    found: dict[str, Value] = {}
    for titles, metric, unit, better, scale in COLUMNS:
        cell = next((fields[title] for title in titles if fields.get(title, "").strip()), None)
        if cell is not None and metric not in found:
            value = number(cell.strip(), source, line=line, path=titles[0]) * scale
            found[metric] = Value(
                case,
                metric,
                unit,
                better,
                value,
                device=device,
                restates=metric in ("IOPS", "maximum latency"),
            )
    return list(found.values())


FORMAT = Format("iometer", "results files of Iometer (CSV), 2004.07.30 to 1.1.0", recognises, read)
