"""Logs of fio, value by value: `write_bw_log`, `write_iops_log`, `write_lat_log`."""

from __future__ import annotations

import math
import re

from lanetwin.measured.values import (
    USUAL,
    Format,
    Source,
    Value,
    number,
    percentiles_of,
    refuse,
)

NAME = re.compile(r"_(bw|iops|lat|clat|slat)(?:\.\d+)?$")
"""The contents of a log, by the suffix of its name."""
LINE = re.compile(r"^\s*\d+\s*,\s*-?[0-9.]+\s*,\s*[0-2]\s*(,\s*(0x)?[0-9a-fA-F]+\s*){1,5}$")
WAYS = ("read ", "write ", "trim ")
METRICS = {
    "bw": ("throughput", "MB/s", 1024 / 1e6),
    "iops": ("IOPS", "k/s", 1e-3),
    "lat": ("latency", "ns", 1.0),
    "clat": ("completion latency", "ns", 1.0),
    "slat": ("submission latency", "ns", 1.0),
}
"""Metric, unit, and the size of the log's unit in it: KiB/s, 1/s, ns (fio 3)."""
MOST_LINES = 2_000_000
"""Length above which logs are refused."""


def recognises(text: str, source: Source) -> bool:
    """Whether a file is such a log: by its name and its first line."""
    return bool(NAME.search(source.stem)) and bool(LINE.match(text.lstrip("\ufeff").split("\n", 1)[0]))


def read(text: str, source: Source) -> list[Value]:
    """Read it: the mean over the log, by direction, and percentiles of latencies."""
    kind = NAME.search(source.stem)
    if kind is None:
        refuse("ME002", source, "the name of the file does not say what its values are", help_=HELP)
    metric, unit, scale = METRICS[kind[1]]
    ways: dict[str, list[float]] = {}
    for line, row in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        if not row.strip():
            continue
        if line > MOST_LINES:
            refuse("ME005", source, f"a log has no more than {MOST_LINES} lines", line=line)
        if not LINE.match(row):
            refuse("ME003", source, "this is no line of a log: time, value, direction, size", line=line)
        _, value, way, *_ = (field.strip() for field in row.split(","))
        ways.setdefault(WAYS[int(way)], []).append(number(value, source, line=line) * scale)
    found = []
    for way, values in sorted(ways.items()):
        head = way if len(ways) > 1 else ""
        mean = math.fsum(values) / len(values)
        is_time = unit == "ns"
        tails = percentiles_of(((value, 1.0) for value in values), USUAL) if is_time else ()
        better = "lower" if is_time else "higher"
        case = NAME.sub("", source.stem)
        restates = kind[1] in ("iops", "clat", "slat")
        found.append(Value(case, f"{head}{metric}", unit, better, mean, tails, restates=restates))  # type: ignore[arg-type]
    return found


HELP = "name it as fio does: NAME_bw.1.log, NAME_iops.1.log, NAME_lat.1.log, NAME_clat.1.log, NAME_slat.1.log"
FORMAT = Format("fio-log", "fio's logs of bandwidth, IOPS and latencies, value by value", recognises, read)
