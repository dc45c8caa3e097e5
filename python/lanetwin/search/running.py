"""The search itself: Optuna proposes, the executor of a sweep simulates, both are kept."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from lanetwin import engine, store
from lanetwin.errors import Diagnostic
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
"""So many points are proposed before any is told: what is proposed does not depend on who simulates."""


@dataclass(frozen=True, slots=True)
class Goals:
    """What is asked for beside the scenario, each in the place of what that says under the same word."""

    maximize: tuple[str, ...] = ()
    minimize: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    trials: int | None = None
    seed: int | None = None
    """Of what is proposed."""
    prices: Prices | None = None
    """Parts that are not in it have the prices of the scenario."""


@dataclass(frozen=True)
class Search:
    """How a search is asked for."""

    asked: Asked
    """The scenario and what may be varied, as of a sweep."""
    objectives: tuple[Objective, ...]
    limits: tuple[Limit, ...] = ()
    trials: int = 100
    seed: int = 0
    """Of what is proposed; the seed of the runs is the scenario's."""
    prices: Prices = field(default_factory=Prices)

    @classmethod
    def of(cls, asked: Asked, goals: Goals) -> Self:
        """Read what the scenario looks for, with what is asked for beside it.

        Raises `LanetwinError` with everything that is wrong with it.
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
        """What is looked at: the objectives, then the limits."""
        return [one.quantity for one in self.objectives] + [one.quantity for one in self.limits]

    @property
    def question(self) -> list[str]:
        """What is judged, and by which prices."""
        return [*(str(one) for one in (*self.objectives, *self.limits)), str(self.prices)]

    def folder_name(self) -> str:
        """Return the folder's name: that of the scenario, and what tells this search of it from others."""
        asked = replace(self.asked, path="")
        document = [str(asked), self.question, self.seed, read_text(Path(self.asked.path))]
        return f"{store.slug(Path(self.asked.path).stem)}-search-{store.digest_of(document)}"


@dataclass(frozen=True, slots=True)
class Trial:
    """One point that was tried."""

    number: int
    point: tuple[int, ...]
    """The places of its values, one for each axis."""
    values: tuple[float, ...] | None
    """The objectives; none if the scenario is refused there, or has not got them."""
    limits: tuple[float, ...] = ()
    """The quantities that are limited."""
    within: bool = False
    """Whether all are within their limits."""


@dataclass(slots=True)
class Searched:
    """What a search has found."""

    search: Search
    swept: Swept
    """The points that were tried, each once, as those of a sweep."""
    units: list[str]
    """Of the objectives and then of the limits."""
    trials: list[Trial] = field(default_factory=list)
    unpriced: list[str] = field(default_factory=list)
    """Parts that prices are not known of."""
    known: int = 0
    """How many trials were there before."""
    outdated: int = 0
    """How many there were before that do not count: results of another build, plan or seed."""
    complete: bool = True

    @property
    def best(self) -> Trial | None:
        """The best within all limits; of several objectives, the best in the first."""
        within = [trial for trial in self.trials if trial.within and trial.values]
        found: Trial | None = None
        for trial in within:
            if found is None or is_better(self.search.objectives, trial.values, found.values):
                found = trial
        return found

    @property
    def doubt(self) -> Diagnostic | None:
        """What to tell of trials that were forgotten."""
        if not self.outdated:
            return None
        return Diagnostic(
            code="RS015",
            severity="warning",
            message=f"{self.outdated} points tried by another build or with other files do not count",
            help="nothing: the search was begun anew; with --out, each build can have a folder of its own",
        )

    def front(self) -> list[Trial]:
        """Return the trials within all limits that no other is better than, each point once."""
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
    """Try points until there are as many as asked for, or every one has been tried.

    What is tried stands in the SQLite file `storage`, where a search goes on; without one it is forgotten.
    Ctrl-C makes the answer partial. The same seed proposes the same points, whoever simulates and however
    often it stops.

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
    """Begin anew if a result is not that of this build, plan and seed; return how many were told."""
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
    """Judge everything that was tried, now and before, from what is kept."""
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
    """Return for each group of axes that go together its values; each says whether they have an order."""
    sizes = [len(plan.axes[group[0]]["values"]) for group in plan.groups]
    ordered = [len(group) == 1 and plan.axes[group[0]]["numeric"] for group in plan.groups]
    return [[of] * size for size, of in zip(sizes, ordered, strict=True)]


def _point(plan: Design, choice: Sequence[int]) -> tuple[int, ...]:
    """Return the places of the values of each axis for a choice of each group."""
    places = {axis: value for group, value in zip(plan.groups, choice, strict=True) for axis in group}
    return tuple(places[axis] for axis in range(len(plan.axes)))


class _Evaluation:
    """Simulates points that are not known, and says what they are worth."""

    def __init__(self, asked: Search, plan: Design, cache: Cache, executor: Executor, about: str) -> None:
        self.asked = asked
        self.places: dict[tuple[int, ...], int] = {}
        """The place of each point that was tried."""
        self.units = [""] * (len(asked.objectives) + len(asked.limits))
        self.unpriced: set[str] = set()
        self.last = ""
        self._found: set[str] = set()
        """Quantities in question that a result had."""
        self._metrics: set[str] = set()
        """What results have."""
        tried = Design(plan.axes, plan.groups, [], sampled=True, cheapest=None)
        name = Path(asked.asked.path).stem
        self.swept = Swept(asked.asked, tried, name, about, [], cache)
        self._executor = executor
        self._cost_unit = asked.prices.unit or plan.cost_unit
        self._summed: dict[int, dict[str, float]] = {}
        self._numbers: dict[int, tuple[int, ...]] = {}

    def prepare(self, number: int, point: tuple[int, ...]) -> None:
        """Note a point that is to be tried."""
        self._numbers[number] = point
        if point not in self.places:
            self.places[point] = len(self.swept.design.points)
            self.swept.design.points.append(list(point))
            self.swept.keys.append(None)
            self.swept.note(self.places[point])

    def key(self, point: tuple[int, ...]) -> str:
        """Return what the result of a point that was noted depends on; empty if its scenario is refused."""
        return self.swept.keys[self.places[point]] or ""

    def simulate(self, tell: Callable[[], object]) -> dict[int, tuple[int, ...]]:
        """Simulate what is noted and not known; return the point of each number."""
        with closing(simulated(self.swept, self._executor)) as points:
            for point in points:
                self.last = self.swept.design.called(point)
                tell()
        return self._numbers

    def judge(self, number: int, point: tuple[int, ...]) -> Trial:
        """Say what a point is worth that has been simulated."""
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

        What parts cost or draw is another matter if there are prices: which parts have none is told.
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
                "RS013", f"no result has `{goal}`", f"results have {known}; percentiles are those of rows.csv"
            )

    def _check_units(self) -> None:
        """Refuse a limit in a unit that the results do not have."""
        for limit, unit in zip(self.asked.limits, self.units[len(self.asked.objectives) :], strict=True):
            if limit.unit and limit.unit.replace("u", "µ") != unit.replace("u", "µ"):
                refuse("RS013", f"`{limit}`: the results have it in {unit}", f"write the limit in {unit}")

    def _sums(self, place: int) -> dict[str, float]:
        """Return what the parts of a point cost and draw, and what its values cost beside them."""
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
