"""Output of Intel's Memory Latency Checker: matrices of nodes, peak bandwidths, latency under load."""

from __future__ import annotations

import re

from lanetwin.measured.text import DIGITS, lines
from lanetwin.measured.values import Format, Source, Value, name, number

PEAK = re.compile(rf"^(ALL Reads|\d+:\d+ Reads-Writes|Stream-triad like)\s*:\s*({DIGITS})\s*$")
LOADED = re.compile(rf"^\s*(\d{{5}})\s+({DIGITS})\s+({DIGITS})\s*$")
NODE = re.compile(rf"^\s*(\d{{1,3}})((?:\s+(?:{DIGITS}|-))+)\s*$")
HIT = re.compile(rf"^Local Socket L2->L2 (HIT|HITM)\s+latency\s+({DIGITS})\s*$")


def recognises(text: str, _source: Source) -> bool:
    """Whether it is of MLC."""
    return "Intel(R) Memory Latency Checker" in text[:100_000]


def read(text: str, source: Source) -> list[Value]:
    """Read it: a workload for each of its tests."""
    found: list[Value] = []
    matrix, nodes = "", 0
    for at, line in lines(text, source):
        lower = line.lower()
        if "numa node" in lower and not NODE.match(line):
            nodes = len(line.split()) and len(re.findall(r"\b\d+\b", line))
        elif "latencies" in lower and "idle" in lower:
            matrix, nodes = "idle-latency", 0
        elif "bandwidth" in lower and "memory bandwidths between nodes" in lower:
            matrix, nodes = "node-bandwidth", 0
        elif "peak" in lower or "loaded latenc" in lower or "cache-to-cache" in lower:
            matrix = ""
        if peak := PEAK.match(line.strip()):
            case = peak[1].lower().replace(" ", "-")
            found.append(_value("peak-bandwidth", case, "throughput", number(peak[2], source, line=at)))
        elif matrix and (row := NODE.match(line)) and nodes:
            cells = row[2].split()[:nodes]
            metric = "latency" if matrix == "idle-latency" else "throughput"
            for to, cell in enumerate(cells):
                if cell != "-":
                    case = f"node {row[1]} to {to}"
                    found.append(_value(matrix, case, metric, number(cell, source, line=at)))
        elif loaded := LOADED.match(line):
            case = f"delay {int(loaded[1])}"
            found.append(_value("loaded-latency", case, "throughput", number(loaded[3], source, line=at)))
            found.append(_value("loaded-latency", case, "latency", number(loaded[2], source, line=at)))
        elif hit := HIT.match(line.strip()):
            case = name(f"L2 to L2 {hit[1]}")
            found.append(_value("cache-to-cache", case, "latency", number(hit[2], source, line=at)))
    return found


def _value(workload: str, case: str, metric: str, value: float) -> Value:
    if metric == "latency":
        return Value(case, metric, "ns", "lower", value, workload=workload)
    return Value(case, metric, "GB/s", "higher", value / 1e3, workload=workload)


FORMAT = Format("mlc", "what Intel Memory Latency Checker prints", recognises, read)
