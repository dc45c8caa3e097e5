"""Output of YCSB: `[READ], AverageLatency(us), 123.4`."""

from __future__ import annotations

import re

from lanetwin.measured.text import lines
from lanetwin.measured.values import Format, Source, Value, name, number

LINE = re.compile(r"^\[([^\]]{1,60})\], ([^,]{1,60}), (\S{1,40})$")
UNITS = {"us": 1e3, "ms": 1e6, "ns": 1.0}


def recognises(text: str, _source: Source) -> bool:
    """Whether it is of YCSB."""
    return "[OVERALL], " in text[:2_000_000]


def read(text: str, source: Source) -> list[Value]:
    """Read it: a case for each operation, with its mean latency and percentiles."""
    found: list[Value] = []
    means: dict[str, float] = {}
    tails: dict[str, list[tuple[float, float]]] = {}
    for at, line in lines(text, source):
        told = LINE.match(line.strip())
        if not told:
            continue
        operation, what = name(told[1]), told[2]
        if operation == "OVERALL" and what.startswith("Throughput(ops/sec)"):
            rate = number(told[3], source, line=at) / 1e3
            found.append(Value("all", "operations", "k/s", "higher", rate))
        latency = re.fullmatch(r"(Average|(\d{1,3}(?:\.\d+)?)thPercentile)Latency\((us|ms|ns)\)", what)
        if latency and operation not in ("CLEANUP",) and not operation.endswith("-FAILED"):
            value = number(told[3], source, line=at) * UNITS[latency[3]]
            if latency[2] is None:
                means[operation] = value
            elif float(latency[2]) <= 100:
                tails.setdefault(operation, []).append((float(latency[2]), value))
    for operation, mean in means.items():
        case = operation.lower()
        found.append(Value(case, "latency", "ns", "lower", mean, tuple(sorted(tails.get(operation, [])))))
    return found


FORMAT = Format("ycsb", "what YCSB prints", recognises, read)
