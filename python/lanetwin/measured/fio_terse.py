"""Terse output of fio (``--minimal``), versions 2 to 5: a line of fields for each job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lanetwin.measured.fio_json import Job, groups
from lanetwin.measured.text import lines
from lanetwin.measured.values import Format, number, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.measured.values import Source, Value

HEAD = {"2": ("jobname", "groupid", "error")} | dict.fromkeys(
    "345", ("fio version", "jobname", "groupid", "error")
)
"""Fields between the version of the format and the results of reads (fio HOWTO, "Terse output")."""
DIRECTIONS = {"2": ("read", "write", "trim"), "3": ("read", "write")} | dict.fromkeys(
    "45", ("read", "write", "trim")
)
RATES = ("io_kib", "bw_kib", "iops", "runtime")
LATENCY = ("min", "max", "mean", "stddev")
PERCENTILES = 20
BANDWIDTH = {"5": 11} | dict.fromkeys("234", 5)
"""Number of fields on the variation of the rate; version 5 has samples, and the same for IOPS."""
LINE = re.compile(r"^[2-5];[^;]*;")
FEWEST = 80
"""Minimum number of fields of a line: two directions alone have more."""
KIB = 1024.0


def recognises(text: str, _source: Source) -> bool:
    """Whether it is terse output of fio."""
    return any(_is_job(line) for line in text[:200_000].split("\n", 1000)[:1000])


def _is_job(line: str) -> bool:
    return bool(LINE.match(line)) and line.count(";") >= FEWEST


def read(text: str, source: Source) -> list[Value]:
    """Read it: a group of jobs is a case, as in JSON."""
    told = [(line.strip().split(";"), at) for at, line in lines(text, source) if _is_job(line)]
    return groups([_job(fields, source, at) for fields, at in told])


def _job(fields: Sequence[str], source: Source, line: int) -> Job:
    """Return a job in the form of JSON, in its units: bytes, nanoseconds."""
    version = fields[0]
    head = dict(zip(HEAD[version], fields[1:], strict=False))
    at = 1 + len(HEAD[version])
    length = len(RATES) + 3 * len(LATENCY) + PERCENTILES + BANDWIDTH[version]
    told: dict[str, Any] = {
        "jobname": head["jobname"],
        "groupid": number(head["groupid"], source, line=line),
    }
    for way in DIRECTIONS[version]:
        own = fields[at : at + length]
        if len(own) < length:
            refuse("ME003", source, f"the line ends before what was {way}", line=line)
        told[way] = _direction(own, source, line)
        at += length
    return Job(told, f"line {line}", source)


def _direction(own: Sequence[str], source: Source, line: int) -> dict[str, Any]:
    def of(at: int) -> float:
        return number(own[at], source, line=line)

    kib, bandwidth, iops, runtime = (of(at) for at in range(len(RATES)))
    found: dict[str, Any] = {
        # it has no number of I/Os, and truncates the rate to an integer
        "total_ios": max(iops * runtime / 1e3, 1.0) if kib else 0.0,
        "bw_bytes": bandwidth * KIB,
        "iops": iops,
        "runtime": runtime,
    }
    at = len(RATES)
    for short, behind in (("slat", 0), ("clat", PERCENTILES), ("lat", 0)):
        # µs, as in fio 2
        found[short] = {name: of(at + nth) for nth, name in enumerate(LATENCY)}
        at += len(LATENCY)
        pairs = [one.partition("%=") for one in own[at : at + behind]]
        if behind:
            found[short]["percentile"] = {percent: value for percent, _, value in pairs}
        at += behind
    return found


FORMAT = Format("fio-terse", "fio --minimal, --output-format=terse, versions 2 to 5", recognises, read)
