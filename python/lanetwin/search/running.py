"""The search itself: Optuna proposes, the executor of a sweep simulates, both are kept."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from lanetwin import engine, store
from lanetwin.errors import COMMAND_LINE, Diagnostic
from lanetwin.files import read_text
from lanetwin.search.goal import OF_PARTS, Limit, Objective
from lanetwin.search.optimiser import Optimiser, is_better, on_front
from lanetwin.search.prices import Prices
from lanetwin.search.problem import refuse
from lanetwin.sweep.design import Design
from lanetwin.sweep.executors import Threads
from lanetwin.sweep.point import Stopped
from lanetwin.sweep.running import Asked, Swept, check_ends, simulated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lanetwin.search.goal import Quantity
    from lanetwin.sweep.cache import Cache
    from lanetwin.sweep.executors import Executor

PRICES = (
    "give prices of parts with `prices:` in the scenario or --prices FILE, or `cost:` beside swept values"
)
BATCH = 8
"""Number of points proposed at a time; proposals do not depend on the executor."""


@dataclass(frozen=True, slots=True)
class Goals:
    """Goals that replace the scenario's keys of the same names."""

    maximize: tuple[str, ...] = ()
    minimize: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    trials: int | None = None
    seed: int | None = None
    """The seed of the proposals."""
    prices: Prices | None = None
    """Other parts have the prices of the scenario."""


@dataclass(frozen=True)
class Search:
    """The options of a search."""

    asked: Asked
    """The scenario and the varied paths, as in a sweep."""
    objectives: tuple[Objective, ...]
    limits: tuple[Limit, ...] = ()
    trials: int = 100
    seed: int = 0
    """The seed of the proposals; the seed of the runs is the scenario's."""
    prices: Prices = field(default_factory=Prices)

    @classmethod
    def of(cls, asked: Asked, goals: Goals) -> Self:
        """Return the search of the scenario, with the given goals.

        Raises `LanetwinError` with all mistakes.
        """
        said = engine.search_goals(
            asked.path,
            {
                "sets": list(asked.sets),
                "maximize": list(goals.maximize),
                "minimize": list(goals.minimize),
                "require": list(goals.require),
                "trials": goals.trials,
                "seed": goals.seed,
            },
        )
        own = Prices.written(said["prices"])
        return cls(
            asked,
            tuple(Objective.of(one) for one in said["objectives"]),
            tuple(Limit.of(one) for one in said["limits"]),
            said["trials"],
            said["seed"],
            goals.prices.over(own) if goals.prices else own,
        )

    @property
    def quantities(self) -> list[Quantity]:
        """The quantities: those of the objectives, then of the limits."""
        return [one.quantity for one in self.objectives] + [one.quantity for one in self.limits]

    @property
    def question(self) -> list[str]:
        """The criteria and the prices."""
        return [*(str(one) for one in (*self.objectives, *self.limits)), str(self.prices)]

    def folder_name(self) -> str:
        """Return the folder's name: that of the scenario, and a digest of this search."""
        asked = replace(self.asked, path="")
        document = [str(asked), self.question, self.seed, read_text(Path(self.asked.path))]
        return f"{store.slug(Path(self.asked.path).stem)}-search-{store.digest_of(document)}"


@dataclass(frozen=True, slots=True)
class Trial:
    """One point that was tried."""

    number: int
    point: tuple[int, ...]
    """The indices of its values, one for each axis."""
    values: tuple[float, ...] | None
    """The objectives; None if the scenario is refused there, or lacks them."""
    limits: tuple[float, ...] = ()
    """The values of the limited quantities."""
    within: bool = False
    """Whether all are within their limits."""


@dataclass(slots=True)
class Searched:
    """The results of a search."""

    search: Search
    swept: Swept
    """The points that were tried, each once, as in a sweep."""
    units: list[str]
    """Units of the objectives, then of the limits."""
    trials: list[Trial] = field(default_factory=list)
    unpriced: list[str] = field(default_factory=list)
    """Parts without a price."""
    known: int = 0
    """Number of earlier trials."""
    outdated: int = 0
    """Number of discarded earlier trials: results of another build, plan or seed."""
    complete: bool = True

    @property
    def nearest(self) -> Trial | None:
        """The trial whose largest excess over a limit, relative to that, is the smallest."""
        limits = self.search.limits
        known = [trial for trial in self.trials if trial.values and len(trial.limits) == len(limits) > 0]

        def excess(trial: Trial) -> float:
            return max(map(Limit.excess, limits, trial.limits))

        return min(known, key=excess, default=None)

    @property
    def best(self) -> Trial | None:
        """The best within all limits; for several objectives, the best in the first."""
        within = [trial for trial in self.trials if trial.within and trial.values]
        found: Trial | None = None
        for trial in within:
            if found is None or is_better(self.search.objectives, trial.values, found.values):
                found = trial
        return found

    @property
    def doubt(self) -> Diagnostic | None:
        """The note on discarded trials."""
        if not self.outdated:
            return None
        return Diagnostic(
            code="RS015",
            severity="warning",
            message=f"{self.outdated} points tried by another build or with other files do not count",
            help="nothing: the search was begun anew; with --out, each build can have a folder of its own",
        )

    def front(self) -> list[Trial]:
        """Return the undominated trials within all limits, each point once."""
        within = {trial.point: trial for trial in reversed(self.trials) if trial.within and trial.values}
        tried = sorted(within.values(), key=lambda trial: trial.number)
        return [
            trial
            for trial in tried
            if on_front(self.search.objectives, trial.values, [t.values for t in tried])
        ]


def search(
    asked: Search,
    *,
    storage: Path | None,
    cache: Cache,
    executor: Executor | None = None,
    progress: Callable[[engine.Progress], object] | None = None,
) -> Searched:
    """Try points until the number of trials is reached, or every point has been tried.

    Trials are kept in the SQLite file `storage`, from which a search continues; without one they are lost.
    Ctrl-C makes the answer partial. The same seed proposes the same points, with any executor and after any
    stops.

    Raises `LanetwinError` if Optuna is not installed, or the scenario or a goal is wrong.
    """
    plan = asked.asked.design(search=True)
    if not asked.objectives:
        refuse(
            "RS013", "there is nothing to search for", "say what is best: --maximize throughput, or `search:`"
        )
    space = _space(plan)
    about = check_ends(asked.asked, plan)["plan"]["about"]
    optimiser = Optimiser(space, asked, storage)
    run = _Evaluation(asked, plan, cache, executor or Threads(), about)
    outdated = _forget(optimiser, run, plan)
    if outdated:
        run = _Evaluation(asked, plan, cache, executor or Threads(), about)
    searched = Searched(asked, run.swept, run.units, known=optimiser.finished(), outdated=outdated)
    most = min(asked.trials, math.prod(len(values) for values in space))
    try:
        for number, choice in optimiser.tried():
            run.prepare(number, _point(plan, choice))
        run.simulate(lambda: _tell(progress, 0, most, run.last))
        while batch := optimiser.batch(min(BATCH, most - optimiser.finished())):
            for number, choice in batch:
                _tell(progress, optimiser.finished(), most, "")
                run.prepare(number, _point(plan, choice))
            results = run.simulate(lambda: _tell(progress, optimiser.finished(), most, run.last))
            for number, _ in batch:
                trial = run.judge(number, results[number])
                optimiser.tell(trial, run.key(trial.point))
            run.check_metrics()
            _tell(progress, optimiser.finished(), most, run.last)
    except (KeyboardInterrupt, Stopped):
        searched.complete = False
    _collect(searched, run, plan, optimiser)
    return searched


def _forget(optimiser: Optimiser, run: _Evaluation, plan: Design) -> int:
    """Discard trials if a result has another build, plan or seed; return the number discarded."""
    for number, choice in optimiser.tried():
        point = _point(plan, choice)
        run.prepare(number, point)
        if optimiser.key(number) != run.key(point):
            told = optimiser.finished()
            optimiser.restart()
            return told
    return 0


def _tell(progress: Callable[[engine.Progress], object] | None, done: int, total: int, case: str) -> None:
    if progress is not None:
        progress({"done": done, "total": total, "case": case})


def _collect(searched: Searched, run: _Evaluation, plan: Design, optimiser: Optimiser) -> None:
    """Judge all present and earlier trials from kept results."""
    for number, choice in optimiser.tried():
        point = _point(plan, choice)
        run.prepare(number, point)
        key = run.swept.keys[run.places[point]]
        if key is None or key in run.swept.cache:
            searched.trials.append(run.judge(number, point))
    searched.swept.done = sum(key is not None and key in run.swept.cache for key in run.swept.keys)
    searched.swept.complete = searched.complete
    searched.unpriced = sorted(run.unpriced)


def _space(plan: Design) -> list[list[bool]]:
    """Return the values of each group of axes that change together, with a flag for ordered values."""
    sizes = [len(plan.axes[group[0]]["values"]) for group in plan.groups]
    ordered = [len(group) == 1 and plan.axes[group[0]]["numeric"] for group in plan.groups]
    return [[of] * size for size, of in zip(sizes, ordered, strict=True)]


def _point(plan: Design, choice: Sequence[int]) -> tuple[int, ...]:
    """Return the indices of the values of each axis for a choice of each group."""
    places = {axis: value for group, value in zip(plan.groups, choice, strict=True) for axis in group}
    return tuple(places[axis] for axis in range(len(plan.axes)))


class _Evaluation:
    """Simulates unknown points, and judges them."""

    def __init__(self, asked: Search, plan: Design, cache: Cache, executor: Executor, about: str) -> None:
        self.asked = asked
        self.places: dict[tuple[int, ...], int] = {}
        """The index of each tried point."""
        self.units = [""] * (len(asked.objectives) + len(asked.limits))
        self.unpriced: set[str] = set()
        self.last = ""
        self._found: set[str] = set()
        """Quantities of the search that some result had."""
        self._metrics: set[str] = set()
        """Metrics of the results."""
        tried = Design(plan.axes, plan.groups, [], sampled=True, cheapest=None)
        name = Path(asked.asked.path).stem
        self.swept = Swept(asked.asked, tried, name, about, [], cache)
        self._executor = executor
        self._cost_unit = asked.prices.unit or plan.cost_unit
        self._summed: dict[int, dict[str, float]] = {}
        self._numbers: dict[int, tuple[int, ...]] = {}

    def prepare(self, number: int, point: tuple[int, ...]) -> None:
        """Note a point to be tried."""
        self._numbers[number] = point
        if point not in self.places:
            self.places[point] = len(self.swept.design.points)
            self.swept.design.points.append(list(point))
            self.swept.keys.append(None)
            self.swept.note(self.places[point])

    def key(self, point: tuple[int, ...]) -> str:
        """Return the key of a noted point's result; empty if its scenario is refused."""
        return self.swept.keys[self.places[point]] or ""

    def simulate(self, tell: Callable[[], object]) -> dict[int, tuple[int, ...]]:
        """Simulate noted points without a result; return the point of each number."""
        with closing(simulated(self.swept, self._executor)) as points:
            for point in points:
                self.last = self.swept.design.called(point)
                tell()
        return self._numbers

    def judge(self, number: int, point: tuple[int, ...]) -> Trial:
        """Judge a simulated point."""
        place = self.places[point]
        key = self.swept.keys[place]
        kept = self.swept.cache.get(key) if key else None
        if kept is None:
            return Trial(number, point, None)
        sums = self._sums(place)
        goals = self.asked.quantities
        found = [goal.value(kept["rows"], sums) for goal in goals]
        self._metrics.update(row["metric"] for row in kept["rows"] if row.get("device") is None)
        for at, one in enumerate(found):
            if one is not None:
                self._found.add(str(goals[at]))
                self.units[at] = one[1] or {"power": "W", "cost": self._cost_unit}.get(goals[at].metric, "")
        if None in found:
            return Trial(number, point, None)
        values = [one[0] for one in found if one is not None]
        self._check_units()
        first, rest = values[: len(self.asked.objectives)], values[len(self.asked.objectives) :]
        within = all(limit.excess(value) <= 0 for limit, value in zip(self.asked.limits, rest, strict=True))
        return Trial(number, point, tuple(first), tuple(rest), within)

    def check_metrics(self) -> None:
        """Refuse a quantity that no result has had, if there was any result.

        Cost and power are excepted if there are prices: parts without a price are reported.
        """
        if not self._metrics:
            return
        for goal in self.asked.quantities:
            if str(goal) in self._found or (goal.metric in OF_PARTS and self.asked.prices.parts):
                continue
            if goal.metric in OF_PARTS:
                refuse("RS013", f"nothing says what the {goal.metric} of a point is", PRICES)
            known = ", ".join(sorted(self._metrics))
            refuse(
                "RS013",
                f"no result has `{goal}`",
                f"results have {known}; percentiles are those of rows.csv",
                COMMAND_LINE,
            )

    def _check_units(self) -> None:
        """Refuse a limit in a unit that the results do not have."""
        for limit, unit in zip(self.asked.limits, self.units[len(self.asked.objectives) :], strict=True):
            if limit.unit and limit.unit.replace("u", "µ") != unit.replace("u", "µ"):
                refuse("RS013", f"`{limit}`: the results have it in {unit}", f"write the limit in {unit}")

    def _sums(self, place: int) -> dict[str, float]:
        """Return cost and power of a point's parts, including the costs of its values."""
        if place in self._summed:
            return self._summed[place]
        asked, plan = self.asked.asked, self.swept.design
        found: dict[str, float] = {}
        if self.asked.prices.parts:
            text = engine.planned(asked.path, (*asked.sets, *plan.sets(place)), outside=asked.outside)
            found, missing = self.asked.prices.of(text)
            self.unpriced.update(missing)
        own = plan.cost(place)
        if own is not None and (found or not self.asked.prices.parts):
            found["cost"] = found.get("cost", 0.0) + own
        self._summed[place] = found
        return found
