"""What relations between runs are made of: a scenario with both sides as variants, and what has to hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

    from lanetwin.results import Results

Document = dict[str, Any]

SCALES = {"MB/s": 1e-3, "Gb/s": 1 / 8, "k/s": 1e3, "us": 1e3}
"""Units are such that numbers are readable; here they are GB/s, 1/s and ns."""
RATE_SLACK = 0.04
"""What a rate may fall by where it should not, as a share: a core that is full finds two completions at a
time in one cycle and three in another, and which it is follows from nanoseconds."""
LATENCY_SLACK = 0.01
"""What a mean latency of one request at a time may rise by where it should not, as a share."""


@dataclass(frozen=True)
class Answers:
    """What a run has told."""

    document: Results

    def value(self, metric: str, variant: str, workload: str, case: str | None = None) -> float:
        """Return the value of all devices together."""
        for row in self.document["rows"]:
            same = row["metric"] == metric and row["variant"] == variant and row["workload"] == workload
            if same and row.get("device") is None and case in {None, row["case"]}:
                return row["value"] * SCALES.get(row["unit"], 1.0)
        message = f"no {metric} of {workload} in {variant}"
        raise KeyError(message)

    def slack(self, metric: str, variant: str, workload: str) -> float:
        """Return half the interval, as a share of the value: of loads that are random it is more than 0."""
        for row in self.document["rows"]:
            if (row["metric"], row["variant"], row["workload"], row.get("device")) == (
                metric,
                variant,
                workload,
                None,
            ):
                return (row["high"] - row["value"]) / row["value"] if row["value"] else 0.0
        return 0.0


@dataclass(frozen=True)
class Asked:
    """A relation, and a scenario to which it applies."""

    relation: str
    document: Document
    broken: Callable[[Answers], list[str]]
    """What of it does not hold."""


def not_slower(answers: Answers, workload: str, slow: str, fast: str, slack: float = RATE_SLACK) -> list[str]:
    """Say whether `fast` has less throughput than `slow`."""
    before, after = (answers.value("throughput", variant, workload) for variant in (slow, fast))
    room = slack + max(answers.slack("throughput", variant, workload) for variant in (slow, fast))
    if after < before * (1 - room):
        return [f"{workload}: {fast} {after:.4g} is below {slow} {before:.4g} ({after / before - 1:+.1%})"]
    return []


def not_longer(
    answers: Answers, workload: str, slow: str, fast: str, slack: float = LATENCY_SLACK
) -> list[str]:
    """Say whether `fast` has a longer mean latency than `slow`."""
    before, after = (answers.value("latency", variant, workload) for variant in (slow, fast))
    if after > before * (1 + slack):
        return [f"{workload}: {fast} {after:.5g} is above {slow} {before:.5g} ({after / before - 1:+.2%})"]
    return []


def no_better(answers: Answers, workloads: list[str], slow: str, fast: str) -> list[str]:
    """Say where `slow` beats `fast`: in throughput, or in latency of one at a time."""
    found = []
    for workload in workloads:
        if workload == "rate":
            found += not_slower(answers, workload, slow, fast)
        else:
            found += not_longer(answers, workload, slow, fast)
    return found


Change = Callable[[Document, "random.Random"], dict[str, Any] | None]
"""What changes a drawn document: paths and values of a variant; none where it does not apply."""
Relation = Callable[[Document, "random.Random"], Asked | None]
"""What asks something of a drawn document."""


def better(name: str, change: Change, workloads: list[str] | None = None) -> Relation:
    """Make a relation: with this change nothing is worse."""

    def ask(document: Document, draw: random.Random) -> Asked | None:
        changed = change(document, draw)
        if changed is None:
            return None
        document["variants"]["better"] = changed
        among = workloads or list(document["workloads"])
        return Asked(name, document, lambda told: no_better(told, among, "base", "better"))

    return ask


def worse(name: str, change: Change) -> Relation:
    """Make a relation: with this change nothing is better."""

    def ask(document: Document, draw: random.Random) -> Asked | None:
        changed = change(document, draw)
        if changed is None:
            return None
        document["variants"]["worse"] = changed
        among = list(document["workloads"])
        return Asked(name, document, lambda told: no_better(told, among, "worse", "base"))

    return ask


def same_twice(document: Document, _draw: random.Random) -> Asked:
    """Ask whether two names for one machine have one result."""
    document["variants"]["again"] = {}

    def broken(told: Answers) -> list[str]:
        one, other = (
            {
                (row["workload"], row["case"], row.get("device"), row["metric"]): row["value"]
                for row in told.document["rows"]
                if row["variant"] == variant
            }
            for variant in ("base", "again")
        )
        if one.keys() != other.keys():
            return [f"other rows: {one.keys() ^ other.keys()}"]
        return [f"{key}: {one[key]} and {other[key]}" for key in one if one[key] != other[key]]

    return Asked("the same twice is the same", document, broken)


def waterfalls(document: Document, _draw: random.Random) -> Asked:
    """Ask whether the stages of a waterfall add up to its total, and that to the latency told.

    The stages exactly; the latency is a mean over repeats, and what is followed of many a sample.
    """

    def broken(told: Answers) -> list[str]:
        found = []
        for fall in told.document["waterfalls"]:
            workload = fall["workload"]
            for index, total in enumerate(fall["totals_ps"]):
                parts = sum(stage["sums_ps"][index] for stage in fall["stages"])
                if parts != total:
                    found.append(f"{workload}: stages come to {parts} ps, all to {total} ps")
            latency = told.value("latency", fall["variant"], workload)
            if fall.get("device") is None and not math.isclose(fall["total"], latency, rel_tol=0.03):
                found.append(f"{workload}: {fall['total']:.6g} ns in the waterfall, {latency:.6g} ns told")
            negative = [stage["name"] for stage in fall["stages"] if min(stage["sums_ps"]) < 0]
            found += [f"{workload}: {name} takes less than nothing" for name in negative]
        return found

    return Asked("stages add up to the latency", document, broken)
