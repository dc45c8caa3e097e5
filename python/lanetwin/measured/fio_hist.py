"""Histogram logs of fio: completion latencies in bins, interval by interval (`write_hist_log`)."""

from __future__ import annotations

import math
import re

from lanetwin.measured.values import USUAL, Format, Source, Value, number, percentiles_of, refuse

NAME = re.compile(r"_clat_hist(?:\.\d+)?$")
BINS = 1856
"""Bins of fio 3 without coarsening: 29 groups of 64 (`FIO_IO_U_PLAT_NR`, stat.h)."""
BITS = 6
"""A group has 64 bins (`FIO_IO_U_PLAT_BITS`)."""
WAYS = ("read ", "write ", "trim ")
MOST_LINES = 200_000
"""Length above which logs are refused."""


def bin_middle(index: int, coarse: int = 0) -> float:
    """Return the middle of a bin [ns], as in fio (`plat_idx_to_val`, stat.c), for 2^coarse bins in one.

    >>> bin_middle(63), bin_middle(128), bin_middle(192)
    (63.0, 129.0, 258.0)
    """
    if coarse:
        low, high = bin_middle(index << coarse), bin_middle(((index + 1) << coarse) - 1)
        return (low + high) / 2
    if index < 2 << BITS:
        return float(index)
    shift = (index >> BITS) - 1
    return float((1 << (shift + BITS)) + (index % (1 << BITS) + 0.5) * (1 << shift))


def recognises(text: str, source: Source) -> bool:
    """Whether a file is such a log: by its name, and by the number of values in a line."""
    return bool(NAME.search(source.stem)) and text.split("\n", 1)[0].count(",") > 16


def read(text: str, source: Source) -> list[Value]:
    """Read it: all intervals together, by direction."""
    ways: dict[str, list[float]] = {}
    for line, row in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        if not row.strip():
            continue
        if line > MOST_LINES:
            refuse("ME005", source, f"a histogram log has no more than {MOST_LINES} lines", line=line)
        fields = row.split(",")
        if len(fields) < 4:
            refuse("ME003", source, "a line has a time, a direction, a size, and bins", line=line)
        _, way, _, *counts = (number(field.strip(), source, line=line) for field in fields[: BINS + 4])
        if way not in (0.0, 1.0, 2.0):
            refuse("ME003", source, "the second number of a line is a direction: 0, 1 or 2", line=line)
        known = ways.setdefault(WAYS[int(way)], [0.0] * len(counts))
        if len(known) != len(counts) or len(counts) not in [BINS >> shift for shift in range(7)]:
            refuse("ME003", source, f"a line has {BINS} bins, or a half, a quarter … of them", line=line)
        for at, count in enumerate(counts):
            known[at] += count
    found = []
    for name, counts in sorted(ways.items()):
        coarse = (BINS // len(counts)).bit_length() - 1
        bins = [(bin_middle(at, coarse), count) for at, count in enumerate(counts)]
        total = math.fsum(counts)
        if total <= 0:
            continue
        mean = math.fsum(value * count for value, count in bins) / total
        metric = f"{name if len(ways) > 1 else ''}completion latency"
        tails = percentiles_of(bins, USUAL)
        found.append(Value(NAME.sub("", source.stem), metric, "ns", "lower", mean, tails))
    return found


FORMAT = Format("fio-hist", "fio's histogram logs of completion latency, version 3", recognises, read)
