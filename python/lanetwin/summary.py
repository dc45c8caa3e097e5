"""A results document for people: answers, tables of variants side by side, bottlenecks.

Only order and grouping are computed here: every value, interval and verdict comes from the engine.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

from lanetwin import tails
from lanetwin.fit import told as reading
from lanetwin.numbers import (
    NARROW_SPACE,
    NO_SPREAD,
    capital,
    change,
    change_interval,
    fixed,
    share,
    significant,
    with_unit,
)
from lanetwin.steadiness import NOT_STEADY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lanetwin.results import (
        Bottleneck,
        Cost,
        Outcome,
        Results,
        Row,
        Verdict,
    )

NO_BREAK_SPACE = "\u00a0"
OUTCOMES: tuple[Outcome, ...] = ("worse", "better", "inconclusive", "equivalent")
"""In the order of importance for a reader."""


def unique(names: Iterable[str]) -> list[str]:
    """Return the names in the order of their first appearance."""
    return list(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Answer:
    """One sentence that answers the question of the run."""

    outcome: Outcome | None
    subject: str
    statement: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.statement}"


@dataclass(slots=True)
class CaseLine:
    """One case of a table: the value of each variant, and its comparison with the baseline."""

    case: str
    values: dict[str, Row] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResultTable:
    """One metric of one workload: cases down, variants across."""

    workload: str
    metric: str
    unit: str
    variants: list[str]
    lines: list[CaseLine]

    @property
    def baseline(self) -> str | None:
        """The variant the others are compared with, if any are."""
        return next((v["baseline"] for line in self.lines for v in line.verdicts.values()), None)

    @property
    def compared(self) -> list[str]:
        """The variants that have verdicts."""
        with_verdict = {name for line in self.lines for name in line.verdicts}
        return [name for name in self.variants if name in with_verdict]

    @property
    def percentiles(self) -> list[float]:
        """The percentiles in any row."""
        rows = (row for line in self.lines for row in line.values.values())
        return sorted({p for row in rows for p, _ in row.get("percentiles", [])})


@dataclass(frozen=True, slots=True)
class DeviceLine:
    """The results of one of several devices in one case of one variant."""

    case: str
    variant: str
    device: str
    throughput: Row | None = None
    latency: Row | None = None

    def percentile(self, percent: float) -> float | None:
        """Return a percentile of its latency, if there is one."""
        known = self.latency.get("percentiles", []) if self.latency else []
        return next((value for p, value in known if p == percent), None)

    def tail(self, percent: float) -> str:
        """Write that percentile."""
        value = self.percentile(percent)
        return "–" if value is None or self.latency is None else tails.told(self.latency, percent, value)


@dataclass(frozen=True, slots=True)
class DeviceTable:
    """The devices of one workload side by side: for one kind of operation, if there are two."""

    workload: str
    operation: str
    throughput_unit: str
    latency_unit: str
    lines: list[DeviceLine]

    @property
    def title(self) -> str:
        """The heading: the workload, and the kind of operation if there are two."""
        return " ".join(word for word in (f"{self.workload}:", self.operation, "by device") if word)

    @property
    def cases(self) -> list[str]:
        """The cases in their order."""
        return unique(line.case for line in self.lines)

    @property
    def variants(self) -> list[str]:
        """The variants in their order."""
        return unique(line.variant for line in self.lines)


def variants(results: Results) -> list[str]:
    """Return the variants in their order, the baseline first."""
    names = unique(row["variant"] for row in results["rows"])
    baselines = unique(verdict["baseline"] for verdict in results["verdicts"])
    return unique([name for name in baselines if name in names] + names)


def tables(results: Results) -> list[ResultTable]:
    """Return the results as one table per workload and metric."""
    order = variants(results)
    by_table: dict[tuple[str, str, str], dict[str, CaseLine]] = {}
    for row in together(results):
        lines = by_table.setdefault((row["workload"], row["metric"], row["unit"]), {})
        lines.setdefault(row["case"], CaseLine(row["case"])).values[row["variant"]] = row
    for verdict in results["verdicts"]:
        for (workload, metric, _), lines in by_table.items():
            if (workload, metric) == (verdict["workload"], verdict["metric"]) and verdict["case"] in lines:
                lines[verdict["case"]].verdicts[verdict["variant"]] = verdict
    found = []
    for (workload, metric, unit), lines in by_table.items():
        present = {name for line in lines.values() for name in line.values}
        found.append(
            ResultTable(workload, metric, unit, [v for v in order if v in present], list(lines.values()))
        )
    return found


def together(results: Results) -> list[Row]:
    """Return the rows for all devices of a workload together."""
    return [row for row in results["rows"] if row.get("device") is None]


def device_tables(results: Results) -> list[DeviceTable]:
    """Return the results of each of several devices, by case and by variant."""
    found: dict[tuple[str, str], dict[tuple[str, str, str], dict[str, Row]]] = {}
    for row in results["rows"]:
        device = row.get("device")
        *words, metric = row["metric"].split(" ")
        if device is not None and metric in ("throughput", "latency"):
            lines = found.setdefault((row["workload"], " ".join(words)), {})
            lines.setdefault((row["case"], row["variant"], device), {})[metric] = row
    tables = []
    for (workload, operation), lines in found.items():
        units = {metric: row["unit"] for line in lines.values() for metric, row in line.items()}
        unit_of = {metric: units.get(metric, "") for metric in ("throughput", "latency")}
        own = [DeviceLine(*key, line.get("throughput"), line.get("latency")) for key, line in lines.items()]
        own.sort(key=_place(own))
        tables.append(DeviceTable(workload, operation, unit_of["throughput"], unit_of["latency"], own))
    return tables


def _place(lines: list[DeviceLine]) -> Callable[[DeviceLine], tuple[int, ...]]:
    """Order lines by case, variant and device, each in order of appearance."""
    cases, names, devices = (
        unique(getattr(line, part) for line in lines) for part in ("case", "variant", "device")
    )
    return lambda line: (cases.index(line.case), names.index(line.variant), devices.index(line.device))


def case_range(cases: Sequence[str]) -> str:
    """Name a run of neighbouring cases by its ends."""
    return cases[0] if len(cases) == 1 else f"{cases[0]} … {cases[-1]}"


def answers(results: Results) -> list[Answer]:
    """Return the findings: a sentence per kind of verdict, or per metric without a comparison."""
    if results["verdicts"]:
        return _placements(results) + _comparisons(results["verdicts"])
    found = tables(results)
    # reads and writes add up to the throughput, which has the sentence
    whole = {table.workload for table in found if table.metric == "throughput"}
    told = [
        table for table in found if table.workload not in whole or table.metric not in ("reads", "writes")
    ]
    return [answer for table in told for answer in _levels(table)]


MOST_PLACEMENTS = 4
"""Number of speeds above which only the ends are named."""


def _placements(results: Results) -> list[Answer]:
    """Describe the speed of the baseline's workloads on other placements than the first, if there are any."""
    held = [one for one in results.get("relative", []) if one["variant"] == one["baseline_variant"]]
    first = next(iter(variants(results)), "")
    found = []
    for workload in unique(one["workload"] for one in held):
        own = [one for one in held if (one["workload"], one["variant"]) == (workload, first)]
        names = unique(one["baseline_case"].split(", ")[0] for one in own)
        if not own:
            continue
        if len(own) > MOST_PLACEMENTS:
            slowest, fastest = (end(own, key=lambda one: one["value"]) for end in (min, max))
            ends = (f"{fixed(one['value'], 2)} (at {_unbroken(one['case'])})" for one in (slowest, fastest))
            told = "from " + " to ".join(ends)
        else:
            told = "; ".join(f"{fixed(one['value'], 2)} at {_unbroken(one['case'])}" for one in own)
        baseline = names[0] if len(names) == 1 else "the first placement"
        found.append(Answer(None, workload, f"Speed with {first}, where {baseline} is 1: {told}."))
    return found


def _comparisons(verdicts: Sequence[Verdict]) -> list[Answer]:
    groups: dict[tuple[str, str, str], list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault((verdict["workload"], verdict["metric"], verdict["variant"]), []).append(verdict)
    found = []
    for metrics, group in _alike(list(groups.values())):
        for outcome, steady in ((outcome, steady) for outcome in OUTCOMES for steady in (True, False)):
            members = [
                verdict
                for verdict in group
                if verdict["verdict"] == outcome and (not verdict.get("not_steady")) == steady
            ]
            if members:
                found.append(Answer(outcome, group[0]["workload"], _comparison(metrics, members, len(group))))
    return found


def _alike(groups: Sequence[list[Verdict]]) -> list[tuple[list[str], list[Verdict]]]:
    """Group metrics whose verdicts have the same text, such as throughput and transfers of one size."""
    found: dict[tuple[object, ...], tuple[list[str], list[Verdict]]] = {}
    for group in groups:
        told = [
            (v["variant"], v["case"], v["verdict"], v["margin"], v.get("not_steady", ""), *_difference(v))
            for v in group
        ]
        metrics, _ = found.setdefault((group[0]["workload"], *told), ([], group))
        metrics.append(group[0]["metric"].replace("_", " "))
    return list(found.values())


def _difference(verdict: Verdict) -> tuple[str, str]:
    return change(verdict["change"]), spread(verdict)


ONE_SAMPLE = "one sample of each"
"""Text in place of an interval."""


def spread(verdict: Verdict) -> str:
    """Write the interval of a verdict, or that there is none."""
    if verdict.get("spread") == "none":
        return ONE_SAMPLE
    return change_interval(verdict["low"], verdict["high"])


def verdict_words(verdict: Verdict) -> str:
    """Name a verdict, preceded by a mark if the measurement was not steady."""
    return f"{NOT_STEADY}: {verdict['verdict']}" if verdict.get("not_steady") else verdict["verdict"]


def _unbroken(case: str) -> str:
    """Keep a short name of a case on one line."""
    return case.replace(" ", NO_BREAK_SPACE) if len(case) <= 16 else case


def _comparison(metrics: Sequence[str], members: Sequence[Verdict], of: int) -> str:
    """Describe one verdict on `members`, the cases of a group of `of` that share it."""
    one = members[0]
    variant, baseline, metric = one["variant"], one["baseline"], " and ".join(metrics)
    many = len(metrics) > 1 or (metric.endswith("s") and not metric.endswith("ss"))
    verb, differ = ("are", "differ") if many else ("is", "differs")
    margin = share(one["margin"]).replace(".0", "")
    reference = f"{'those' if many else 'that'} with {baseline}"
    words = {
        "better": f"{metric} {verb} better with {variant} than with {baseline}",
        "worse": f"{metric} {verb} worse with {variant} than with {baseline}",
        "equivalent": f"{metric} with {variant} {verb} equivalent to {reference}, within ±{margin},",
        "inconclusive": f"whether {metric} with {variant} {differ} from {reference} cannot be said",
    }[one["verdict"]]
    words = words[:1].upper() + words[1:]
    if unsteady := one.get("not_steady", ""):
        words = f"{NOT_STEADY} ({unsteady}). {words}"
    if len(members) == 1:
        where = f" at {_unbroken(one['case'])}" if of > 1 and one["case"] else ""
        interval = spread(one)
        told = interval if interval in (NO_SPREAD, ONE_SAMPLE) else f"95{NARROW_SPACE}% interval {interval}"
        if together := one.get("judged_together"):
            told += f", too near to 0 as one of {together} metrics judged together"
        return f"{words.rstrip(',') + where}: {change(one['change'])} ({told})."
    where = f" at all {of} cases" if len(members) == of else f" at {len(members)} of {of} cases"
    low, high = min(members, key=lambda v: v["change"]), max(members, key=lambda v: v["change"])
    near = _near_of(members)
    if low["change"] == high["change"]:
        return f"{words}{where}: {change(low['change'])}.{near}"
    return (
        f"{words}{where}: {change(low['change'])} (at {_unbroken(low['case'])})"
        f" to {change(high['change'])} (at {_unbroken(high['case'])}).{near}"
    )


def _near_of(members: Sequence[Verdict]) -> str:
    """Say of a group how many intervals leave 0 out by too little, and why that is no verdict."""
    near = [together for one in members if (together := one.get("judged_together"))]
    if not near:
        return ""
    return (
        f" At {len(near)} of them the interval leaves 0 out, but is too near to it"
        f" as one of {max(near)} metrics judged together."
    )


def _levels(table: ResultTable) -> list[Answer]:
    """Describe each variant's result without a comparison: the value, or both ends of a sweep."""
    found = []
    for variant in table.variants:
        rows = [line.values[variant] for line in table.lines if variant in line.values]
        metric = capital(table.metric.replace("_", " "))
        words = f"{metric} with {variant}" if len(table.variants) > 1 else metric
        if best := _best(table.metric, rows):
            found.append(Answer(None, table.workload, f"{words} {best}."))
            continue
        ends = [
            f"{reading(row)}" + (f" at {_unbroken(row['case'])}" if len(rows) > 1 else "")
            for row in (rows if len(rows) < 3 else (rows[0], rows[-1]))
        ]
        found.append(Answer(None, table.workload, f"{words}: {', '.join(ends)}."))
    return found


BEST: dict[str, tuple[str, Callable[..., tuple[Row, str]]]] = {
    "throughput": ("highest", max),
    "latency": ("lowest", min),
}
"""The metrics with a best value: its name, and how it is found."""


def _best(metric: str, rows: Sequence[Row]) -> str | None:
    """Describe the best case if cases are two lists of names (placements, mixes), for each of the second.

    None if cases lie on an axis, or vary in only one way: then both ends are more informative.
    """
    named = [(row, row["case"].split(", ")) for row in rows]
    if metric not in BEST or any(row["x"] or len(names) != 2 for row, names in named):
        return None
    word, best_of = BEST[metric]
    clauses = []
    for other in unique(names[1] for _, names in named):
        of_other = [(row, names[0]) for row, names in named if names[1] == other]
        best, name = best_of(of_other, key=lambda entry: entry[0]["value"])
        value = reading(best)
        clauses.append(f"at {_unbroken(name)} for {_unbroken(other)} ({value})")
    return f"is {word} {', '.join(clauses)}" if len(clauses) < len(named) else None


@dataclass(frozen=True, slots=True)
class Limit:
    """The bottleneck of a run of neighbouring cases."""

    variant: str
    workload: str
    cases: str
    name: str
    whys: list[str]

    @property
    def why(self) -> str:
        """The evidence: at the first case, and at the last if that differs."""
        return _from_to(self.whys[0], self.whys[-1])


def _from_to(first: str, last: str) -> str:
    """Merge two sentences if only numbers differ.

    >>> _from_to("busy 91.2 % of the time", "busy 99.9 % of the time")
    'busy 91.2 … 99.9 % of the time'
    >>> _from_to("few tags", "few credits")
    'few tags; … few credits'
    """
    pairs = list(zip_longest(first.split(" "), last.split(" "), fillvalue=""))
    if first == last or not all(a == b or (a[:1].isdigit() and b[:1].isdigit()) for a, b in pairs):
        return first if first == last else f"{first}; … {last}"
    return " ".join(a if a == b else f"{a} … {b}" for a, b in pairs)


def limits(results: Results) -> list[Limit]:
    """Return the bottlenecks, neighbouring cases and variants with the same one merged."""
    by_run: dict[tuple[str, str], list[Bottleneck]] = {}
    for workload in unique(b["workload"] for b in results["bottlenecks"]):
        for bottleneck in results["bottlenecks"]:
            if bottleneck["workload"] == workload:
                by_run.setdefault((workload, bottleneck["variant"]), []).append(bottleneck)
    found = []
    for (workload, variant), run in by_run.items():
        for name, group in groupby(run, lambda bottleneck: bottleneck["name"]):
            members = list(group)
            cases = case_range([member["case"] for member in members])
            found.append(Limit(variant, workload, cases, name, [member["why"] for member in members]))
    return _together(found, len(variants(results)))


def _together(found: list[Limit], known: int) -> list[Limit]:
    """Merge the equal bottlenecks of a workload's variants, in their order.

    >>> one = Limit("a", "w", "4 KiB", "link", ["busy"])
    >>> [limit.variant for limit in _together([one, replace(one, variant="b")], 2)]
    ['all']
    >>> [limit.variant for limit in _together([one, replace(one, variant="c", name="x")], 3)]
    ['a', 'c']
    """
    alike: dict[tuple[str, ...], list[Limit]] = {}
    for one in found:
        alike.setdefault((one.workload, one.cases, one.name, one.why), []).append(one)
    return [
        replace(
            group[0], variant="all" if len(group) == known > 1 else ", ".join(one.variant for one in group)
        )
        for group in alike.values()
    ]


def stopped(results: Results) -> str | None:
    """Return why a result is partial; None if it is complete."""
    if results["complete"]:
        return None
    return f"partial result: {results['stopped'] or 'stopped early'}; cases that had not run are missing"


def cost_line(cost: Cost) -> str:
    """Write the cost of a run in a line.

    >>> cost_line({"events": 48211093, "tlp_hops": 0, "cpu_seconds": 2.41, "peak_memory_bytes": 163_840_000})
    '48\u202f211\u202f093 events in 2.410\u202fs of CPU time, peak memory 163.8\u202fMB'
    """
    seconds = with_unit(significant(cost["cpu_seconds"]), "s")
    line = f"{fixed(cost['events'], 0)} events in {seconds} of CPU time"
    memory = cost.get("peak_memory_bytes")
    if memory is None:
        return line
    return f"{line}, peak memory {with_unit(significant(memory / 1e6), 'MB')}"
