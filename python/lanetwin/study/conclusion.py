"""Whether the statements of a study hold: derived from verdicts, cycles, channels, errors and claims."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lanetwin.language import tr
from lanetwin.numbers import change, fixed, share
from lanetwin.sentences import case_told
from lanetwin.sentences import told as in_language
from lanetwin.study.paper import Entry
from lanetwin.study.picking import Place, verdicts_of
from lanetwin.study.tables import budget_word, thousands, word

if TYPE_CHECKING:
    from lanetwin.study.document import Statement
    from lanetwin.study.tables import Compared, Desk

HOLDS, FAILS, OPEN = "better", "worse", "inconclusive"
"""Colours of the answers."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A statement, whether it holds, and the evidence."""

    statement: str
    outcome: str
    evidence: str

    @property
    def entry(self) -> Entry:
        """As an item of a list."""
        return Entry(self.statement, (self.evidence,), verdict=self.outcome, word=self.word)

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return {HOLDS: tr("holds"), FAILS: tr("does not hold")}.get(self.outcome, tr("cannot be told"))


def judged(desk: Desk, compared: list[Compared]) -> list[Judged]:
    """Judge every statement of the conclusion."""
    found = []
    for statement in desk.study.conclusion:
        judge = {"verdict": _verdicts, "cycles": _cycles, "channel": _channel, "claim": _claim}.get(
            statement.kind
        )
        outcome, evidence = judge(statement, desk) if judge else _published(statement, compared)
        found.append(Judged(statement.text.told(desk.language), outcome, evidence))
    return found


def _not_here() -> tuple[str, str]:
    return OPEN, tr("left out of a quick study")


def _verdicts(statement: Statement, desk: Desk) -> tuple[str, str]:
    results = desk.evidence.runs.get(statement.pick.run)
    if results is None:
        return _not_here()
    found = verdicts_of(results, statement.pick)
    if not found and not results["complete"]:
        return OPEN, tr("stopped before it was computed")
    if not found:
        place = Place(desk.study.file, statement.node, statement.path)
        raise place.error(
            f"{statement.pick}: the run has no such verdict", "name variants and metrics that it compares"
        )
    fitting = [one for one in found if one["verdict"] == statement.outcome]
    against = [one for one in found if one["verdict"] not in (statement.outcome, "inconclusive")]
    largest = max(found, key=lambda one: abs(one["change"]))
    metric = largest["metric"]
    evidence = tr(
        "{count} of {all} verdicts: {outcome} (margin ±{margin}); "
        "the largest change is {change} ({case}, {metric})",
        count=len(fitting),
        all=len(found),
        outcome=word(statement.outcome),
        margin=share(largest["margin"]),
        change=change(largest["change"]),
        case=case_told(largest["case"]),
        metric=tr(metric),
    )
    if unsteady := [one for one in found if one.get("not_steady")]:
        evidence = tr("{evidence}; NOT STEADY in {count} of them", evidence=evidence, count=len(unsteady))
    if against:
        return FAILS, evidence
    return (HOLDS if len(fitting) == len(found) else OPEN), evidence


def _cycles(statement: Statement, desk: Desk) -> tuple[str, str]:
    found = desk.evidence.cycles.get(statement.of)
    if found is None:
        return _not_here()
    tests = [
        test
        for series in found["series"]
        if fnmatchcase(series["name"], statement.pick.variant)
        for test in series["tests"]
    ]
    passed = sum(test["passed"] for test in tests)
    performed = passed + sum(test["failed"] for test in tests)
    evidence = tr(
        "{tests} tests, {passed} of {cycles} cycles passed",
        tests=len(tests),
        passed=thousands(passed),
        cycles=thousands(performed),
    )
    if performed and passed < performed:
        return FAILS, evidence
    every = bool(tests) and all(test["passed"] + test["failed"] for test in tests)
    return (HOLDS if every and found["complete"] else OPEN), evidence


def _channel(statement: Statement, desk: Desk) -> tuple[str, str]:
    budget = desk.evidence.budgets.get(statement.of)
    if budget is None:
        return _not_here()
    segments = [
        segment
        for one in budget["variants"]
        if fnmatchcase(one["name"], statement.pick.variant)
        for segment in one["segments"]
    ]
    if not segments:
        place = Place(desk.study.file, statement.node, statement.path)
        names = ", ".join(one["name"] for one in budget["variants"])
        raise place.error(f"the channel has no variant {statement.pick.variant}", f"it has {names}")
    told = tr("; ").join(
        tr("{loss} dB of {budget} dB", loss=fixed(one["loss_db"], 2), budget=fixed(one["budget_db"], 1))
        for one in segments
    )
    is_over = any(one["verdict"] == "exceeds" for one in segments)
    evidence = tr("{what}: {said}", what=told, said=budget_word("exceeds" if is_over else "fits"))
    return (HOLDS if is_over == (statement.outcome == "exceeds") else FAILS), evidence


def _claim(statement: Statement, desk: Desk) -> tuple[str, str]:
    found = desk.evidence.validation
    claim = next((one for one in found["claims"] if one["claim"] == statement.of), None) if found else None
    if claim is None and not desk.evidence.is_quick:
        return OPEN, tr("stopped before it was computed")
    if claim is None:
        return OPEN, tr("claim {claim} is not computed in a quick study", claim=statement.of)
    evidence = tr("claim {claim}, bar: {bar}", claim=statement.of, bar=in_language(claim["bar"]))
    return (HOLDS if claim["met"] else FAILS), evidence


def _published(statement: Statement, compared: list[Compared]) -> tuple[str, str]:
    own = [
        one
        for one in compared
        if one.role == "predicted" and statement.of in ("all", one.table.partition(" (")[0])
    ]
    errors = [abs(one.error) for one in own if one.error is not None]
    if not errors:
        return OPEN, tr("no published value has a prediction here")
    mean = sum(errors) / len(errors)
    evidence = tr(
        "{count} predicted values: mean absolute error {mean}, largest {most}; asked for {within} %",
        count=len(errors),
        mean=share(mean),
        most=share(max(errors)),
        within=f"{statement.within:g}",
    )
    if len(errors) < len(own):
        return OPEN, evidence
    return (HOLDS if mean <= statement.within / 100 else FAILS), evidence
