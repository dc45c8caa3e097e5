"""Measured times and steadiness, in the words and units of reports."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from lanetwin.numbers import NARROW_SPACE, fixed, share, significant, with_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.results import Results, Round, Row, Steadiness, SteadyState

NOT_STEADY = "NOT STEADY"
"""Mark of a measurement that a longer run would not confirm."""


def why(steady: Steadiness) -> str:
    """Describe what changed during the measurement, and by how much; empty if nothing did.

    >>> why({"condition": "not-steady", "of": "rate", "range": 0.314, "slope": 0.24})
    'rate: range 31\u202f%, slope 24\u202f%'
    >>> why({"condition": "not-steady", "of": "ssd: free blocks", "lasts_seconds": 41.25})
    'ssd: free blocks: gone in 41.25\u202fs'
    >>> why({"condition": "not-steady", "of": "ssd: write buffer", "begins_seconds": 4.7})
    'ssd: write buffer: full after 4.700\u202fs'
    >>> why({"condition": "not-steady", "of": "clones in step", "apart": 1.387})
    'clones in step: +139\u202f% if they begin apart'
    """
    known = [(name, steady.get(name)) for name in ("range", "slope")]
    parts = [f"{name} {_percent(value)}" for name, value in known if isinstance(value, float)]
    if (lasts := steady.get("lasts_seconds")) is not None:
        parts.append(f"gone in {duration(lasts)}")
    if (begins := steady.get("begins_seconds")) is not None:
        parts.append(f"full after {duration(begins)}")
    if (apart := steady.get("apart")) is not None:
        parts.append(f"+{_percent(apart)} if they begin apart")
    of = steady.get("of", "")
    return f"{of}: {', '.join(parts)}" if parts else of


def _percent(fraction: float) -> str:
    return f"{fixed(fraction * 100, 0)}{NARROW_SPACE}%"


def condition(steady: Steadiness | None) -> str:
    """Describe whether a row's measurement was steady; empty if unknown.

    >>> condition({"condition": "steady"}), condition({"condition": "whole"}), condition(None)
    ('steady', 'whole', '')
    >>> condition({"condition": "not-steady", "of": "ssd: write buffer", "slope": 1.0})
    'NOT STEADY (ssd: write buffer: slope 100\u202f%)'
    >>> condition({"condition": "steady", "of": "ssd: free blocks", "lasts_seconds": 41.25})
    'steady for 41.25\u202fs (ssd: free blocks)'
    """
    if steady is None:
        return ""
    if steady["condition"] == "not-steady":
        return f"{NOT_STEADY} ({why(steady)})"
    if (lasts := steady.get("lasts_seconds")) is not None:
        return f"{steady['condition']} for {duration(lasts)} ({steady.get('of', '')})"
    return steady["condition"]


def duration(seconds: float) -> str:
    """Write a time in a fitting unit.

    >>> duration(0.0142), duration(2e-6), duration(60.0)
    ('14.20\u202fms', '2.000\u202fµs', '60.00\u202fs')
    """
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= scale:
            return with_unit(significant(seconds / scale), unit)
    return with_unit(significant(seconds / 1e-9), "ns")


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measured time and operations of neighbouring cases of a workload."""

    workload: str
    variants: str
    cases: str
    time: str
    operations: str
    steady: str


MEASUREMENT = ["workload", "variants", "cases", "measured", "operations", "steady"]
"""The columns of a table of them."""


def measurements(results: Results) -> list[Measurement]:
    """Return the measured time and steadiness of each case, equal neighbours together."""
    first: dict[tuple[str, str, str], Row] = {}
    for row in results["rows"]:
        if "seconds" in row and row.get("device") is None:
            first.setdefault((row["workload"], row["variant"], row["case"]), row)
    names = list(dict.fromkeys(variant for _, variant, _ in first))
    by_place: dict[tuple[str, str], list[Row]] = {}
    for (workload, variant, _), row in first.items():
        by_place.setdefault((workload, variant), []).append(row)
    runs: dict[tuple[str, str, str, str], list[list[Row]]] = {}
    for (workload, _), rows in by_place.items():
        for (state, of), group in groupby(rows, _kind):
            members = list(group)
            runs.setdefault((workload, _ends([row["case"] for row in members]), state, of), []).append(
                members
            )
    return [_measurement(place, groups, names) for place, groups in runs.items()]


def number_of(count: int) -> str:
    """Write a count, large ones in thousands or millions.

    >>> number_of(309), number_of(10_002), number_of(2_500_000)
    ('309', '10.0\u202fk', '2.50\u202fM')
    """
    for scale, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= scale:
            return with_unit(significant(count / scale, 3), unit)
    return fixed(count, 0)


def measurement(rows: Sequence[Row]) -> str:
    """Describe the measured time and the operations of one case, over its variants."""
    seconds = sorted(row["seconds"] for row in rows if "seconds" in row)
    counts = sorted(row["operations"] for row in rows if "operations" in row)
    if not seconds or not counts:
        return ""
    times = _ends([duration(seconds[0]), duration(seconds[-1])])
    operations = _ends([number_of(counts[0]), number_of(counts[-1])])
    return f"{operations} operations in {times}"


def _kind(row: Row) -> tuple[str, str]:
    steady = row.get("steady")
    return (steady["condition"], steady.get("of", "")) if steady else ("", "")


def _ends(words: Sequence[str]) -> str:
    return words[0] if len(set(words)) == 1 else f"{words[0]} … {words[-1]}"


def _measurement(
    place: tuple[str, str, str, str], groups: Sequence[Sequence[Row]], names: Sequence[str]
) -> Measurement:
    """Combine the measurements of the same cases in several variants."""
    workload, cases, _, _ = place
    rows = [row for group in groups for row in group]
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    seconds = sorted(row["seconds"] for row in rows)
    counts = sorted(row.get("operations", 0) for row in rows)
    found = [steady for row in rows if (steady := row.get("steady"))]
    worst = max(found, key=lambda one: one.get("slope") or 0.0, default=None)
    told = condition(worst)
    shares = [part for one in found if (part := one.get("of_run_time")) is not None]
    if shares and min(shares) < 1.0:
        told += f"; {share(min(shares))} of the run time simulated"
    return Measurement(
        workload,
        "all" if len(variants) == len(names) else ", ".join(variants),
        cases,
        _ends([duration(seconds[0]), duration(seconds[-1])]),
        _ends([fixed(counts[0], 0), fixed(counts[-1], 0)]),
        told,
    )


WINDOW = 5
"""Number of rounds that the rule judges (SNIA PTS 2.0.1)."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """The quantity that has to be steady: name, unit, and the divisor of the document's unit."""

    name: str
    unit: str
    scale: float
    key: str

    def of(self, one: Round) -> float:
        """Return its value in a round; 0 if the round had no I/O."""
        value = one[self.key]  # type: ignore[literal-required]
        return (value or 0.0) / self.scale


TRACKED = {
    "iops": Tracked("IOPS", "k/s", 1e3, "iops"),
    "throughput": Tracked("throughput", "MB/s", 1e6, "bytes_per_second"),
    "latency": Tracked("mean latency", "µs", 1e3, "latency_ns"),
}
"""By their names in the document."""


def cases(results: Results) -> list[SteadyState]:
    """Return the first repeat of every case with rounds, which is drawn and tabulated."""
    return [steady for steady in results.get("steady", []) if steady["repeat"] == 1]


def verdict(steady: SteadyState) -> str:
    """Describe whether and when it was steady.

    >>> one = {"rounds": [{}] * 9, "attained": True}
    >>> verdict(one)
    'after 9 rounds'
    >>> verdict(one | {"attained": False})
    'not after 9 rounds'
    """
    told = f"after {len(steady['rounds'])} rounds"
    return told if steady["attained"] else f"not {told}"


def agreement(results: Results, steady: SteadyState) -> str:
    """Describe in how many repeats it was steady."""
    place = (steady["variant"], steady["workload"], steady["case"])
    same = [s for s in results.get("steady", []) if (s["variant"], s["workload"], s["case"]) == place]
    return f"{sum(s['attained'] for s in same)} of {len(same)}"


def beside_limit(value: float | None, most: float) -> str:
    """Write a share beside its limit."""
    return "–" if value is None else f"{share(value)} of {share(most)}"
