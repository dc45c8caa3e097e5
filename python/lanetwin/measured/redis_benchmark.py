"""Output of redis-benchmark: in full, with -q, and with --csv."""

from __future__ import annotations

import csv
import io
import re

from lanetwin.measured.text import DIGITS, lines
from lanetwin.measured.values import Format, Source, Value, name, number, refuse

QUICK = re.compile(rf"^(.{{1,80}}?): ({DIGITS}) requests per second(?:, p50=({DIGITS}) msec)?\s*$")
TEST = re.compile(r"^====== (.{1,100}?) ======\s*$")
RATE = re.compile(rf"^\s*(?:throughput summary: )?({DIGITS}) requests per second\s*$")
CSV_HEAD = '"test","rps"'
SUMMARY = ("avg", "min", "p50", "p95", "p99", "max")
MS = 1e6


def recognises(text: str, _source: Source) -> bool:
    """Whether it is of redis-benchmark."""
    head = text[:200_000].replace("\r", "\n")
    is_whole = " requests completed in " in head and bool(re.search(r"^====== .+ ======", head, re.MULTILINE))
    is_quick = any(QUICK.match(line) for line in head.split("\n", 1000)[:1000])
    return is_whole or is_quick or CSV_HEAD in head


def read(text: str, source: Source) -> list[Value]:
    """Read it: a case for each test."""
    if CSV_HEAD in text:
        return _csv(text[text.index(CSV_HEAD) :], source)
    found: list[Value] = []
    test, titles = "", False
    # progress is overwritten on a terminal
    for at, line in lines(text.replace("\r", "\n"), source):
        heading, quick, rate = TEST.match(line), QUICK.match(line), RATE.match(line)
        if heading:
            test = name(heading[1])
        elif rate:
            found += _test(test, rate[1], {}, source, at) if test else []
        elif quick:
            found += _test(name(quick[1]), quick[2], {"p50": quick[3]} if quick[3] else {}, source, at)
        elif titles and test:
            words = line.split()
            if len(words) == len(SUMMARY):
                found.append(_latency(test, dict(zip(SUMMARY, words, strict=True)), source, at))
        titles = line.split() == list(SUMMARY)
    # a latency and its summary count once
    return _once(found)


def _csv(text: str, source: Source) -> list[Value]:
    found: list[Value] = []
    try:
        for row in (rows := csv.DictReader(io.StringIO(text))):
            tails = {
                key[:-11].removeprefix("latency_"): row[key]
                for key in row
                if key and key.endswith("_latency_ms")
            }
            test = name(row.get("test"))
            found += _test(test, row.get("rps"), {}, source, rows.line_num)
            if tails.get("avg"):
                found.append(_latency(test, tails, source, rows.line_num))
    except csv.Error as error:
        refuse("ME003", source, f"this is not CSV: {error}", line=rows.line_num)
    return found


def _test(test: str, rate: object, tails: dict[str, str], source: Source, at: int) -> list[Value]:
    found = [Value(test, "operations", "k/s", "higher", number(rate, source, line=at) / 1e3)]
    if "p50" in tails:
        median = number(tails["p50"], source, line=at) * MS
        found.append(Value(test, "median latency", "ns", "lower", median))
    return found


def _latency(test: str, told: dict[str, str], source: Source, at: int) -> Value:
    mean = number(told["avg"], source, line=at) * MS
    tails = [
        (float(key[1:]), number(text, source, line=at) * MS)
        for key, text in told.items()
        if re.fullmatch(r"p\d{1,2}", key) and text is not None
    ]
    return Value(test, "latency", "ns", "lower", mean, tuple(sorted(tails)))


def _once(found: list[Value]) -> list[Value]:
    seen: dict[tuple[str, str], Value] = {(value.case, value.metric): value for value in found}
    return list(seen.values())


FORMAT = Format("redis-benchmark", "what redis-benchmark prints, whole, -q and --csv", recognises, read)
