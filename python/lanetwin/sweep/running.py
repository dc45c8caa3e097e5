"""Running a sweep: points in the cache are read, the others are simulated and stored at once."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.sweep.cache import FILE, Cache
from lanetwin.sweep.design import Design, design
from lanetwin.sweep.executors import Threads
from lanetwin.sweep.point import Job, Outcome, Stopped, planned

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from lanetwin.results import Bottleneck, Row
    from lanetwin.sweep.executors import Executor


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of a sweep, from which it can be repeated."""

    path: str
    sets: tuple[str, ...] = ()
    vary: tuple[str, ...] = ()
    zipped: tuple[str, ...] = ()
    sample: int | None = None
    seed: int | None = None
    outside: bool = False

    def design(self, *, search: bool = False) -> Design:
        """Return the design of the sweep, or of a search.

        Raises `LanetwinError` with all mistakes.
        """
        return design(
            self.path,
            sets=self.sets,
            vary=self.vary,
            zipped=self.zipped,
            sample=self.sample,
            search=search,
        )


@dataclass(slots=True)
class Swept:
    """A sweep that was run, completely or in part. Its results are in the cache, which has to be open."""

    asked: Asked
    design: Design
    name: str
    about: str
    keys: list[str | None] = field(repr=False)
    """The key of each point's result; None for one that is refused, or was not reached."""
    cache: Cache = field(repr=False)
    refused: dict[int, list[Diagnostic]] = field(default_factory=dict)
    """Points whose scenario is refused, with the reasons."""
    done: int = 0
    """Number of points with a result."""
    simulated: int = 0
    """Number of points simulated in this run; the others were in the cache."""
    cpu_seconds: float = 0.0
    """CPU time of those simulations."""
    complete: bool = True
    """Whether every point has a result, or is refused."""

    def note(self, point: int) -> str | None:
        """Return the key of a point's result; None if its scenario is refused, which is noted."""
        asked = self.asked
        sets = (*asked.sets, *self.design.sets(point))
        try:
            self.keys[point] = planned(asked.path, sets, seed=asked.seed, outside=asked.outside)
        except LanetwinError as error:
            if not error.diagnostics:
                raise
            self.refused[point] = error.diagnostics
        return self.keys[point]

    def job(self, point: int, key: str) -> Job:
        """Return the job for a worker."""
        asked = self.asked
        sets = (*asked.sets, *self.design.sets(point))
        return Job(point, key, asked.path, sets, asked.seed, asked.outside)

    def results(self) -> Iterator[tuple[int, list[Row], list[Bottleneck]]]:
        """Yield the results of the points that have one, in order."""
        for point, key in enumerate(self.keys):
            kept = self.cache.get(key) if key else None
            if kept is not None:
                yield point, kept["rows"], kept["bottlenecks"]


def sweep(
    asked: Asked,
    *,
    executor: Executor | None = None,
    cache: Cache | None = None,
    progress: Callable[[engine.Progress], object] | None = None,
) -> Swept:
    """Run every point of a sweep that is not in the cache.

    Ctrl-C makes the answer partial; finished points stay in the cache. Points whose scenario is refused are
    listed in the answer, and do not stop the sweep; if the first and the last are refused, nothing is run.

    Raises `LanetwinError` if the sweep or the scenario is wrong.
    """
    plan = asked.design()
    ends = check_ends(asked, plan)
    swept = Swept(
        asked,
        plan,
        name=Path(asked.path).stem,
        about=ends["plan"]["about"] if ends["plan"] else "",
        keys=[None] * len(plan),
        cache=cache if cache is not None else Cache(FILE),
    )
    tell = _Told(swept, progress)
    try:
        with closing(_outcomes(swept, executor or Threads(), tell)) as outcomes:
            for outcome in outcomes:
                _take(swept, outcome)
                tell(outcome.point)
    except (KeyboardInterrupt, Stopped):
        swept.complete = False
    return swept


class _Told:
    """Reports the progress of a sweep."""

    def __init__(self, swept: Swept, progress: Callable[[engine.Progress], object] | None) -> None:
        self._swept = swept
        self._progress = progress

    def __call__(self, point: int) -> None:
        if self._progress is not None:
            done = self._swept.done + len(self._swept.refused)
            plan = self._swept.design
            self._progress({"done": done, "total": len(plan), "case": plan.called(point)})


def _outcomes(swept: Swept, executor: Executor, tell: _Told) -> Generator[Outcome, None, None]:
    """Simulate unknown points, noting known and refused ones."""
    with closing(executor.run(_unknown(swept, tell))) as running:
        yield from running


def _unknown(swept: Swept, tell: _Told) -> Iterator[Job]:
    """Yield the points whose results are not in the cache, each result once."""
    asked_for = set()
    for point in range(len(swept.design)):
        key = swept.note(point)
        if key is None:
            tell(point)
            continue
        if key in asked_for or key in swept.cache:
            # two points may have the same plan, such as a depth beyond the size of a queue
            swept.done += 1
            tell(point)
            continue
        asked_for.add(key)
        yield swept.job(point, key)


def simulated(swept: Swept, executor: Executor) -> Generator[int, None, None]:
    """Simulate noted points that are unknown; yield each when its result is stored."""
    unknown = {key: point for point, key in enumerate(swept.keys) if key and key not in swept.cache}
    jobs = (swept.job(point, key) for key, point in unknown.items())
    with closing(executor.run(jobs)) as running:
        for outcome in running:
            _take(swept, outcome)
            yield outcome.point


def _take(swept: Swept, outcome: Outcome) -> None:
    """Store the outcome of a point."""
    if outcome.refused:
        swept.refused[outcome.point] = [Diagnostic.from_dict(fields) for fields in outcome.refused]
        swept.keys[outcome.point] = None
        return
    swept.cache.put(outcome.key, outcome.kept())
    swept.done += 1
    swept.simulated += 1
    swept.cpu_seconds += outcome.cpu_seconds


def check_ends(asked: Asked, plan: Design) -> Any:
    """Check the first and the last point; raise the errors of the first if both are refused."""
    found = None
    for point in (0, len(plan) - 1):
        checked = engine.check(asked.path, [*asked.sets, *plan.sets(point)], outside=asked.outside)
        if checked["plan"] is not None:
            return checked
        found = found or checked
    diagnostics = [Diagnostic.from_dict(fields) for fields in found["diagnostics"]] if found else []
    raise LanetwinError("", [one for one in diagnostics if one.severity == "error"])
