"""The short answer: for each workload the most informative case, its values and its bottleneck."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from lanetwin.binding import bindings, named
from lanetwin.masked import masked
from lanetwin.steadiness import condition, measurement
from lanetwin.summary import OUTCOMES, tables, unique, variants
from lanetwin.tails import TAIL, doubt, is_unsettled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lanetwin.binding import Binding
    from lanetwin.masked import Masked
    from lanetwin.results import Outcome, Results, Row, Steadiness, Verdict
    from lanetwin.summary import CaseLine, ResultTable

MOST_METRICS = 4
"""Maximum number of metrics shown for a workload."""
RESTATED = ("transfers", "reads", "writes", "completion latency", "submission latency")
"""Suffixes of metrics that restate another one, or a part of it."""
ALL_CACHED = "each load was found in a cache; throughput is what memory moves"
"""The reason why the throughput of a memory load is 0."""
WIDE_TAIL = 0.05
"""Relative half-width above which the interval of a tail is shown."""


@dataclass(frozen=True, slots=True)
class Line:
    """One metric of one case: the value and the comparison of each variant."""

    workload: str
    case: str
    metric: str
    values: dict[str, Row]
    verdicts: dict[str, Verdict]

    def change(self, variant: str, baseline: str) -> float | None:
        """Return the relative change: the engine's, or the plain ratio for a metric without a verdict."""
        if variant in self.verdicts:
            return self.verdicts[variant]["change"]
        pair = [self.values[name]["value"] for name in (variant, baseline) if name in self.values]
        if variant == baseline or len(pair) < 2 or not pair[1]:
            return None
        ratio = pair[0] / pair[1]
        return ratio - 1 if math.isfinite(ratio) else None


@dataclass(frozen=True, slots=True)
class Glance:
    """One workload at its most informative case."""

    workload: str
    case: str
    cases: int
    """Number of cases of the workload."""
    lines: list[Line]
    every: list[Line]
    """The same metrics of all its cases."""
    bindings: dict[str, dict[str, Binding]]
    """The bottlenecks of each case, by variant."""
    outcomes: dict[str, dict[Outcome, int]]
    """Number of verdicts of each kind, by variant, over all cases."""
    notes: list[str]
    """Caveats."""
    measured: str
    """The measured time; empty if unknown."""
    masked: Masked | None
    """The bottleneck of equivalent variants, if it is not what they change."""

    @property
    def binding(self) -> dict[str, Binding]:
        """The bottlenecks of this case, by variant."""
        return self.bindings.get(self.case, {})

    @property
    def outcome(self) -> Outcome | None:
        """The most important verdict."""
        here = {v["verdict"] for line in self.lines for v in line.verdicts.values()}
        return next((outcome for outcome in OUTCOMES if outcome in here), None)

    @property
    def unsteady_elsewhere(self) -> list[str]:
        """The other cases that were not steady."""
        rows = ((line.case, row) for line in self.every for row in line.values.values())
        others = ((case, row.get("steady")) for case, row in rows if case != self.case)
        return unique(case for case, steady in others if steady and _is_unsteady(steady))

    @property
    def primary(self) -> Line | None:
        """The main metric of the workload: latency if it has one request at a time."""
        binding = next(iter(self.binding.values()), None)
        if binding and binding.is_serial:
            return next((line for line in self.lines if line.metric == "latency"), self.lines[0])
        return self.lines[0] if self.lines else None


def baseline(results: Results) -> str:
    """Return the baseline of the comparisons, or the first variant."""
    return next(iter(variants(results)), "")


def glances(results: Results) -> list[Glance]:
    """Return every workload at the case of the largest change, or of the most throughput."""
    by_workload: dict[str, list[ResultTable]] = {}
    for table in tables(results):
        by_workload.setdefault(table.workload, []).append(table)
    binding = bindings(results)
    found = []
    for workload, own in by_workload.items():
        every = lines_of(own)
        case = _telling(every)
        lines = [line for line in every if line.case == case]
        names = unique(name for line in lines for name in line.values)
        cases = unique(line.case for line in every)
        binds = {
            case: {name: binding[place] for name in names if (place := (name, workload, case)) in binding}
            for case in cases
        }
        notes = _notes(results, workload, case)
        measured = measurement(
            [row for row in results["rows"] if (row["workload"], row["case"]) == (workload, case)]
        )
        held = masked(results, lines, binds[case])
        found.append(
            Glance(workload, case, len(cases), lines, every, binds, _outcomes(own), notes, measured, held)
        )
    return found


def lines_of(own: Sequence[ResultTable]) -> list[Line]:
    """Return the lines of a workload's tables, case by case, each latency followed by its tail."""
    found: list[Line] = []
    for case in unique(line.case for table in own for line in table.lines):
        for table in _shown([table for table in own if any(line.case == case for line in table.lines)]):
            one = next(line for line in table.lines if line.case == case)
            found += [line for line in (_line(table, one), _tail(table, one)) if line is not None]
    return found


def all_lines(results: Results) -> list[Line]:
    """Return the lines of every case of every workload."""
    every = tables(results)
    workloads = unique(table.workload for table in every)
    return [
        line for name in workloads for line in lines_of([table for table in every if table.workload == name])
    ]


def geometric_mean(changes: Sequence[float]) -> float | None:
    """Return the geometric mean of relative changes; None if there are none, or a value is 0.

    >>> round(geometric_mean([1.0, -0.5]), 12)
    0.0
    """
    if not changes or any(change <= -1 or not math.isfinite(change) for change in changes):
        return None
    return math.exp(math.fsum(math.log1p(change) for change in changes) / len(changes)) - 1


def _shown(own: Sequence[ResultTable]) -> list[ResultTable]:
    """Choose the main metrics: first those with verdicts, each in its place."""
    told = [table for table in own if not table.metric.endswith(RESTATED)] or list(own)
    judged = [table for table in told if table.compared]
    rest = [table for table in told if not table.compared]
    room = MOST_METRICS - any(table.metric == "latency" for table in told)  # its tail follows it
    if len(told) <= room:
        return told
    first = _asked(told) if judged else []
    room = max(room, min(len(first) + 2, MOST_METRICS))
    rest = [table for table in rest if table not in first]
    kept = [table for table in first + judged + rest if not table.metric.endswith("IOPS")][:room] or told[
        :room
    ]
    return [table for table in told if table in kept]


def _asked(told: Sequence[ResultTable]) -> list[ResultTable]:
    """Return the metrics of the requested load, which precede those with verdicts."""
    return list(takewhile(lambda table: not table.compared, told))


def _line(table: ResultTable, line: CaseLine) -> Line:
    return Line(table.workload, line.case, table.metric, line.values, line.verdicts)


def _tail(table: ResultTable, line: CaseLine) -> Line | None:
    """Return the tail of a latency as a separate line without a verdict."""
    values: dict[str, Row] = {}
    for variant, row in line.values.items():
        value = dict(row.get("percentiles", [])).get(TAIL)
        if value is not None:
            known = {p: (low, high) for p, low, high in row.get("percentile_intervals", [])}
            low, high = known.get(TAIL, (value, value))
            if max(high - value, value - low) <= WIDE_TAIL * value:
                low = high = value
            own = [TAIL] if is_unsettled(row, TAIL) else []
            name = f"p{TAIL:g}"
            tail: Row = {**row, "metric": name, "value": value, "low": low, "high": high, "unsettled": own}
            values[variant] = tail
    if not values or table.metric != "latency":
        return None
    return Line(table.workload, line.case, f"p{TAIL:g}", values, {})


def _telling(lines: Sequence[Line]) -> str:
    """Return the case of the largest change, or of the most throughput without a comparison."""
    verdicts = [verdict for line in lines for verdict in line.verdicts.values()]
    if verdicts:
        return max(verdicts, key=lambda verdict: abs(verdict["change"]))["case"]
    first = lines[0]
    same = [line for line in lines if line.metric == first.metric]
    best = max(same, key=lambda line: max((row["value"] for row in line.values.values()), default=0.0))
    return (best if first.metric.endswith("throughput") else first).case


def _outcomes(own: Sequence[ResultTable]) -> dict[str, dict[Outcome, int]]:
    found: dict[str, dict[Outcome, int]] = {}
    for table in own:
        for line in table.lines:
            for variant, verdict in line.verdicts.items():
                counts = found.setdefault(variant, {})
                counts[verdict["verdict"]] = counts.get(verdict["verdict"], 0) + 1
    return found


def _notes(results: Results, workload: str, case: str) -> list[str]:
    """Return notes on the numbers of a case: the number of repeats, and whether it was steady."""
    rows = [row for row in results["rows"] if (row["workload"], row["case"]) == (workload, case)]
    notes = []
    if {row["n"] for row in rows} == {1}:
        notes.append("one repeat")
    first = {row["variant"]: row.get("steady") for row in reversed(rows)}
    names = list(reversed(first))
    notes += _of_variants(((name, ALL_CACHED) for name in names if _is_all_cached(rows, name)), names)
    unsteady = {name: steady for name, steady in first.items() if steady and _is_unsteady(steady)}
    notes += _of_variants(((name, condition(unsteady[name])) for name in names if name in unsteady), names)
    whole = [row for row in rows if row.get("device") is None]
    doubts = ((name, doubt(row for row in whole if row["variant"] == name)) for name in names)
    return notes + _of_variants(((variant, text) for variant, text in doubts if text), names)


def _is_all_cached(rows: Sequence[Row], variant: str) -> bool:
    """Whether memory moved no data in a variant, because each load hit a cache."""
    own = {row["metric"]: row["value"] for row in rows if row["variant"] == variant}
    return own.get("throughput") == 0.0 and own.get("found in caches") == 100.0


def _is_unsteady(steady: Steadiness) -> bool:
    return steady["condition"] == "not-steady"


def _of_variants(notes: Iterable[tuple[str, str]], every: Sequence[str]) -> list[str]:
    """Return each text once, after the names of its variants unless it applies to all.

    >>> _of_variants([("a", "one repeat"), ("b", "late"), ("c", "one repeat")], ["a", "b", "c"])
    ['a, c: one repeat', 'b: late']
    >>> _of_variants([("a", "late"), ("b", "late")], ["a", "b"])
    ['late']
    """
    of: dict[str, list[str]] = {}
    for variant, text in notes:
        of.setdefault(text, []).append(variant)
    heads = ((named(variants, every), text) for text, variants in of.items())
    return [f"{head}: {text}" if head else text for head, text in heads]
