"""Running the tests: in turn A B B A, several times; finished tests are always kept."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lanetwin import engine
from lanetwin.measure import environment
from lanetwin.measure.problem import refuse
from lanetwin.measure.repeats import row_of
from lanetwin.measured import fio_json
from lanetwin.measured.document import document_of
from lanetwin.measured.values import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lanetwin.measure.burden import Burden
    from lanetwin.measure.jobs import Left, Test
    from lanetwin.measure.target import Target
    from lanetwin.measured.values import Value
    from lanetwin.results import Results, Row

GRACE = 60.0
"""Time by which fio may exceed the expected duration before it is killed [s]. Assumed."""
Step = tuple[int, "Target", "Test"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The tests, targets and options."""

    scenario: Path
    tests: Sequence[Test]
    targets: Sequence[Target]
    left: Sequence[Left] = ()
    seconds: float = 5.0
    ramp: float = 1.0
    repeats: int = 4
    about: str = ""
    burdens: Sequence[Burden] = ()
    """The data to be written, if writing is permitted."""
    tell: Callable[[dict[str, Any]], object] | None = field(default=None, compare=False)
    keep: Callable[[Results], object] | None = field(default=None, compare=False)
    """Called with the results so far after each test."""


def order(asked: Asked) -> Iterator[Step]:
    """Yield the runs in order: forwards and backwards in turn, so that a drift affects all equally.

    For two targets and one test that is A B B A.
    """
    forth = [(target, test) for test in asked.tests for target in asked.targets]
    for repeat in range(asked.repeats):
        for target, test in forth if repeat % 2 == 0 else reversed(forth):
            yield repeat, target, test


def fio() -> str:
    """Return where fio is. Raises `LanetwinError` (MR003) if it is not installed."""
    found = shutil.which("fio")
    if not found:
        refuse("MR003", "fio is not installed", "install it (Debian: `apt install fio`)")
    return found


def measure(asked: Asked) -> Results:
    """Run every test repeatedly on every target, and return the measurements.

    Ctrl-C makes the answer partial. Raises `LanetwinError` if fio is not there or a test fails.
    """
    tool = fio()
    steps = list(order(asked))
    before = {target.variant: environment.device(target) for target in asked.targets}
    record = _Record(asked, {"machine": environment.machine(), "before": before, "after": {}})
    try:
        for done, (repeat, target, test) in enumerate(steps):
            if asked.tell:
                asked.tell(
                    {"done": done, "total": len(steps), "variant": target.variant, "workload": test.workload}
                )
            record.add(target, test, _run(tool, asked, (repeat, target, test)))
            if asked.keep and done + 1 < len(steps):
                asked.keep(record.results(stopped="interrupted"))
    except KeyboardInterrupt:
        return record.results(stopped="interrupted")
    record.environment["after"] = {target.variant: environment.device(target) for target in asked.targets}
    return record.results(stopped=None)


def _run(tool: str, asked: Asked, step: Step) -> list[Value]:
    """Run one test once."""
    repeat, target, test = step
    with tempfile.TemporaryDirectory(prefix="lanetwin-") as folder:
        job, out = Path(folder) / "job.fio", Path(folder) / "out.json"
        job.write_text(
            test.text(target, seconds=asked.seconds, ramp=asked.ramp, seed=repeat + 1), encoding="utf-8"
        )
        command = [tool, *([] if test.writes else ["--readonly"]), "--output-format=json+"]
        command += [f"--output={out}", str(job)]
        patience = asked.seconds + asked.ramp + GRACE
        try:
            done = subprocess.run(  # noqa: S603 - fio, with a job file of ours
                command, capture_output=True, text=True, timeout=patience, check=False, cwd=folder
            )
        except subprocess.TimeoutExpired:
            refuse(
                "MR004",
                f"{test.workload} did not end within {patience:.0f} s",
                "look at the device",
                file=str(target.path),
            )
        said = out.read_text(encoding="utf-8", errors="replace") if out.is_file() else ""
    if done.returncode != 0 or not said:
        last = [line for line in (said.partition("{")[0] + done.stderr).splitlines() if line.strip()][:3]
        why = "; ".join(last) or f"fio ended with status {done.returncode}"
        refuse("MR004", f"{test.workload}: {why}", HELP, file=str(target.path))
    return fio_json.read(said, Source(str(target.path), test.workload))


HELP = "O_DIRECT needs a file system that has it (not tmpfs), and io_uring a kernel that allows it"


class _Record:
    """The measurements so far."""

    def __init__(self, asked: Asked, around: dict[str, Any]) -> None:
        self._asked = asked
        self.environment = around
        self._values: dict[tuple[str, str, str, str, str], list[Value]] = {}
        self._why = {
            (target.variant, test.workload, test.case): why
            for target in asked.targets
            for test in asked.tests
            if (why := test.invalid(target))
        }

    def add(self, target: Target, test: Test, values: Sequence[Value]) -> None:
        """Add the measurements of one run of a test."""
        for value in values:
            place = (target.variant, test.workload, test.case, value.device, value.metric)
            self._values.setdefault(place, []).append(value)

    def _written(self) -> dict[str, Any]:
        """Return the expected writes to each target, and those counted by its device since [bytes]."""
        before = self.environment["before"]
        return {
            burden.target.variant: {
                "at most": burden.bytes,
                "by the device": environment.written(burden.target)
                - before[burden.target.variant].get("written", 0),
            }
            for burden in self._asked.burdens
        }

    def results(self, *, stopped: str | None) -> Results:
        """Return the results document; tests of empty targets are under `invalid`, not among rows."""
        asked = self._asked
        rows = [row_of(place, values) for place, values in self._values.items()]
        options = {
            "environment": self.environment,
            "targets": {target.variant: str(target.path) for target in asked.targets},
            "seconds": asked.seconds,
            "ramp": asked.ramp,
            "repeats": asked.repeats,
            "not_measured": [one.told() for one in asked.left],
            "written": self._written(),
            "invalid": [{**row, "why": self._why[_test(row)]} for row in rows if _test(row) in self._why],
        }
        valid = [row for row in rows if _test(row) not in self._why]
        document = document_of(valid, options, asked.scenario.stem, engine.version())
        text = asked.scenario.read_text(encoding="utf-8")
        document |= {
            "about": asked.about,
            "complete": stopped is None,
            "stopped": stopped,
            "scenario": {"path": str(asked.scenario), "text": text},
        }
        return cast("Results", document)


def _test(row: Row) -> tuple[str, str, str]:
    return row["variant"], row["workload"], row["case"]
