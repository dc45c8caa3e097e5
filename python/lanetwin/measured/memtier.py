"""Output of memtier_benchmark (ALL STATS), versions 1.3 to 2: columns are found by their titles."""

from __future__ import annotations

import re

from lanetwin.measured.text import lines
from lanetwin.measured.values import Format, Source, Value, number, refuse

KINDS = {"Sets": "set", "Gets": "get", "Totals": "all"}


def recognises(text: str, _source: Source) -> bool:
    """Whether it is of memtier."""
    return "ALL STATS" in text[:2_000_000] and bool(
        re.search(r"^Type\s+Ops/sec", text[:2_000_000], re.MULTILINE)
    )


def read(text: str, source: Source) -> list[Value]:
    """Read the table."""
    found: list[Value] = []
    titles: list[str] = []
    for at, line in lines(text, source):
        if re.match(r"^Type\s+Ops/sec", line):
            titles = re.split(r"\s{2,}", line.strip())
            continue
        words = line.split()
        if titles and words and words[0] in KINDS:
            if len(words) != len(titles):
                refuse("ME003", source, f"{len(words)} values stand below {len(titles)} titles", line=at)
            found += _row(dict(zip(titles, words, strict=True)), KINDS[words[0]], source, at)
        if titles and line.startswith("Request Latency Distribution"):
            break
    return found


def _row(fields: dict[str, str], case: str, source: Source, at: int) -> list[Value]:
    known = {key: number(text, source, line=at) for key, text in fields.items() if _is_number(text)}
    mean = next((known[key] for key in ("Avg. Latency", "Latency") if key in known), None)
    tails = [
        (float(percent[1]), value * 1e6)
        for key, value in known.items()
        if (percent := re.fullmatch(r"p(\d{1,3}(?:\.\d+)?) Latency", key)) and float(percent[1]) <= 100
    ]
    found = []
    if "Ops/sec" in known:
        found.append(Value(case, "operations", "k/s", "higher", known["Ops/sec"] / 1e3))
    if "KB/sec" in known:
        # memtier counts KiB
        found.append(Value(case, "throughput", "MB/s", "higher", known["KB/sec"] * 1024 / 1e6, restates=True))
    if mean is not None:
        found.append(Value(case, "latency", "ns", "lower", mean * 1e6, tuple(sorted(tails))))
    return found


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"\d+(\.\d+)?", text))


FORMAT = Format("memtier", "what memtier_benchmark prints (ALL STATS)", recognises, read)
