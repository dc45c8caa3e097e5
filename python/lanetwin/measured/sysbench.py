"""Output of sysbench: fileio, memory, cpu and database tests of version 1."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lanetwin.measured.text import DIGITS, after, lines
from lanetwin.measured.values import Format, Source, Value

if TYPE_CHECKING:
    from lanetwin.results import Better

MIB = (1 << 20) / 1e6
LINES: tuple[tuple[str, str, str, Better, float], ...] = (
    (rf"^\s*reads/s:\s+({DIGITS})", "read IOPS", "k/s", "higher", 1e-3),
    (rf"^\s*writes/s:\s+({DIGITS})", "write IOPS", "k/s", "higher", 1e-3),
    (rf"^\s*fsyncs/s:\s+({DIGITS})", "fsyncs", "k/s", "higher", 1e-3),
    (rf"^\s*read, MiB/s:\s+({DIGITS})", "read throughput", "MB/s", "higher", MIB),
    (rf"^\s*written, MiB/s:\s+({DIGITS})", "write throughput", "MB/s", "higher", MIB),
    (rf"MiB transferred \(({DIGITS}) MiB/sec\)", "throughput", "MB/s", "higher", MIB),
    (rf"^\s*transactions:\s+\d+\s+\(({DIGITS}) per sec", "transactions", "k/s", "higher", 1e-3),
    (rf"^\s*queries:\s+\d+\s+\(({DIGITS}) per sec", "queries", "k/s", "higher", 1e-3),
    (rf"^\s*events per second:\s+({DIGITS})", "operations", "k/s", "higher", 1e-3),
)
"""Patterns and their meaning."""


def recognises(text: str, _source: Source) -> bool:
    """Whether it is of sysbench."""
    return bool(re.search(r"^sysbench \d", text[:100_000], re.MULTILINE))


def read(text: str, source: Source) -> list[Value]:
    """Read it: each test in the output is a case."""
    found: list[Value] = []
    test, mean, block = 0, 0.0, False
    for at, line in lines(text, source):
        test += line.startswith("sysbench ")
        case = "test" if test < 2 else f"test {test}"
        for pattern, metric, unit, better, scale in LINES:
            if (value := after(pattern, line, source, at)) is not None:
                found.append(Value(case, metric, unit, better, value * scale, restates="IOPS" in metric))
        block = line.startswith("Latency (ms)") or (block and bool(line.strip()))
        if block and (value := after(rf"^\s*avg:\s+({DIGITS})", line, source, at)) is not None:
            mean = value * 1e6
            found.append(Value(case, "latency", "ns", "lower", mean))
        tail = re.search(rf"^\s*(\d+)th percentile:\s+({DIGITS})", line) if block else None
        if tail and found and found[-1].metric == "latency" and float(tail[1]) <= 100:
            pair = ((float(tail[1]), float(tail[2]) * 1e6),) if float(tail[2]) > 0 else ()
            found[-1] = Value(case, "latency", "ns", "lower", mean, pair)
    return _told(found)


def _told(found: list[Value]) -> list[Value]:
    """Leave out operations that were not done, and latencies too short for two decimals of a millisecond."""
    done = [value for value in found if value.value > 0]
    # for tests that report transactions or transfers, these are the operations
    told = {value.case for value in done if value.metric not in ("operations", "latency")}
    kept = [value for value in done if value.metric != "operations" or value.case not in told]
    ways = {(value.case, value.metric.split(" ")[0]) for value in kept}
    several = {case for case, _ in ways if {(case, "read"), (case, "write")} <= ways}
    return [
        value
        if value.case in several
        else replace(value, metric=value.metric.removeprefix("read ").removeprefix("write "))
        for value in kept
    ]


FORMAT = Format("sysbench", "what sysbench 1 prints: fileio, memory, cpu, databases", recognises, read)
