"""The evidence of a study: runs, channels, cycles and claims, each with the command that reproduces it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.places import from_here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lanetwin.engine import Validation
    from lanetwin.results import Results
    from lanetwin.study.document import Cycles, Study, WhatIf

SEED = 1
"""The seed of stability cycles."""


@dataclass(slots=True)
class Evidence:
    """Results, by name."""

    is_quick: bool
    runs: dict[str, Results] = field(default_factory=dict)
    budgets: dict[str, dict[str, Any]] = field(default_factory=dict)
    eyes: dict[str, dict[str, Any]] = field(default_factory=dict)
    cycles: dict[str, dict[str, Any]] = field(default_factory=dict)
    changed: dict[str, Results] = field(default_factory=dict)
    """Runs of changed assumptions, by their place in the study."""
    validation: Validation | None = None
    commands: dict[str, str] = field(default_factory=dict)
    """The command that reproduces each result, by kind and name ("run performance")."""
    left_out: list[str] = field(default_factory=list)
    """Runs and claims that a quick study leaves out."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing was interrupted."""
        results = [*self.runs.values(), *self.changed.values()]
        links = [*self.cycles.values(), *self.eyes.values()]
        return all(one["complete"] for one in results) and all(one["complete"] for one in links)


Report = dict[str, Any]
"""A report of progress: steps done, steps in total, name of the present one."""


def gather(
    study: Study, *, quick: bool, progress: Callable[[Report], object] | None = None, outside: bool = True
) -> Evidence:
    """Compute all evidence of a study, one after the other."""
    evidence = Evidence(quick)
    steps = list(_steps(study, evidence, outside=outside))
    for nth, (what, step) in enumerate(steps):
        _tell(progress, nth, len(steps), what)
        step(_within(progress, nth, len(steps), what))
        if not evidence.is_complete:
            break
    return evidence


def _tell(progress: Callable[[Report], object] | None, done: float, total: int, what: str) -> None:
    if progress:
        progress({"done": done, "total": total, "workload": what})


def _within(
    progress: Callable[[Report], object] | None, nth: int, total: int, what: str
) -> Callable[[Report], object] | None:
    """Return a function that shows the progress of one step."""
    if progress is None:
        return None

    def report(line: Report) -> None:
        part = float(line.get("done") or 0) / (float(line.get("total") or 0) or 1.0)
        progress({"done": nth + min(part, 1.0), "total": total, "workload": what, "case": line.get("case")})

    return report


Step = tuple[str, "Callable[[Callable[[Report], object] | None], None]"]


def _steps(study: Study, evidence: Evidence, *, outside: bool) -> Iterator[Step]:
    for run in study.runs.values():
        if evidence.is_quick and not run.is_in_quick:
            evidence.left_out.append(run.name)
            continue
        if run.is_kept:
            evidence.commands[f"run {run.name}"] = _command("report", from_here(run.file))
            yield run.name, _kept_step(evidence.runs, run.name, run.file)
            continue
        sets = [*run.sets, *(run.quick if evidence.is_quick else ())]
        evidence.commands[f"run {run.name}"] = _run_command(run.file, sets, outside=outside)
        yield run.name, _run_step(evidence.runs, run.name, run.file, sets, outside=outside)
    for channel in study.channels.values():
        evidence.commands[f"budget {channel.name}"] = _command("link", "budget", from_here(channel.file))
        yield channel.name, _budget_step(evidence, channel.name, channel.file)
        if channel.has_eyes:
            evidence.commands[f"eye {channel.name}"] = _command("link", "eye", from_here(channel.file))
            yield channel.name, _eye_step(evidence, channel.name, channel.file)
    for cycles in study.cycles.values():
        yield cycles.name, _cycle_step(evidence, cycles)
    for what in study.sensitivity:
        if what.run in evidence.left_out:
            continue
        yield from _what_if(study, evidence, what, outside=outside)
    if study.claims and evidence.is_quick:
        evidence.left_out += study.claims
    elif study.claims:
        evidence.commands["claims"] = _command("validate", *study.claims)
        yield ", ".join(study.claims), _claims_step(evidence, study.claims)


def _run_step(
    found: dict[str, Results], name: str, scenario: Path, sets: list[str], *, outside: bool
) -> Callable[[Callable[[Report], object] | None], None]:
    def step(progress: Callable[[Report], object] | None) -> None:
        found[name] = engine.run(from_here(scenario), sets=sets, outside=outside, progress=progress)

    return step


def _kept_step(
    found: dict[str, Results], name: str, file: Path
) -> Callable[[Callable[[Report], object] | None], None]:
    def step(_: Callable[[Report], object] | None) -> None:
        found[name] = engine.load_file(file)

    return step


def _budget_step(
    evidence: Evidence, name: str, file: Path
) -> Callable[[Callable[[Report], object] | None], None]:
    def step(_: Callable[[Report], object] | None) -> None:
        evidence.budgets[name] = engine.link_budget(from_here(file))

    return step


def _eye_step(
    evidence: Evidence, name: str, file: Path
) -> Callable[[Callable[[Report], object] | None], None]:
    def step(progress: Callable[[Report], object] | None) -> None:
        evidence.eyes[name] = engine.link_eye(from_here(file), progress=progress)

    return step


def _cycle_step(evidence: Evidence, cycles: Cycles) -> Callable[[Callable[[Report], object] | None], None]:
    count = cycles.quick if evidence.is_quick else cycles.count
    power = max(count * cycles.power_count // cycles.count, 1)
    words = ["link", "cycle", "--channel", from_here(cycles.file), "--count", str(count)]
    words += ["--power-count", str(power)]
    for flag, names in (("--test", cycles.tests), ("--variant", cycles.variants)):
        words += [word for name in names for word in (flag, name)]
    evidence.commands[f"cycles {cycles.name}"] = _command(*words)
    request = {
        "tests": list(cycles.tests),
        "count": count,
        "power_count": power,
        "dwell_ms": 10,
        "max_correctable": 0,
        "max_failures": None,
        "as_found": False,
        "margins": False,
        "i_know": None,
        "serial": None,
        "max_celsius": 70,
        "hook": None,
        "journal": None,
    }
    options = {"variants": list(cycles.variants), "width": 4, "utilisation": 0.0, "seed": SEED}

    def step(progress: Callable[[Report], object] | None) -> None:
        source = {"channel": from_here(cycles.file), "sets": []}
        evidence.cycles[cycles.name] = engine.link_cycle(
            source, request=request, options=options, progress=progress
        )

    return step


def _what_if(study: Study, evidence: Evidence, what: WhatIf, *, outside: bool) -> Iterator[Step]:
    run = study.runs[what.run]
    sets = [*run.sets, *(run.quick if evidence.is_quick else ()), *what.sets]
    evidence.commands[f"changed {what.path}"] = _run_command(run.file, sets, outside=outside)
    yield what.run, _run_step(evidence.changed, what.path, run.file, sets, outside=outside)


def _claims_step(
    evidence: Evidence, claims: tuple[str, ...]
) -> Callable[[Callable[[Report], object] | None], None]:
    def step(progress: Callable[[Report], object] | None) -> None:
        evidence.validation = engine.validate(claims, progress)

    return step


def _command(*words: str) -> str:
    return shlex.join(["lanetwin", *words])


def _run_command(scenario: Path, sets: list[str], *, outside: bool) -> str:
    words = ["run", from_here(scenario)]
    if outside:
        words.append("--outside")
    for change in sets:
        words += ["--set", change]
    return _command(*words)
