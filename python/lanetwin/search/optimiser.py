"""The functions of Optuna that a search needs: propose points, record their values, continue from a file."""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lanetwin.search.problem import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lanetwin.search.goal import Objective
    from lanetwin.search.running import Search, Trial

Values = tuple[float, ...] | None
TRIED = "tried"
"""The attribute of a tried trial: the key of its result. Other trials are repetitions."""


def is_better(objectives: Sequence[Objective], one: Values, other: Values) -> bool:
    """Return whether values are better than others: by the first objective, then by the next."""
    if one is None or other is None:
        return other is None and one is not None
    signs = [-1.0 if of.direction == "maximize" else 1.0 for of in objectives]
    return [s * v for s, v in zip(signs, one, strict=True)] < [
        s * v for s, v in zip(signs, other, strict=True)
    ]


def on_front(objectives: Sequence[Objective], own: Values, others: Sequence[Values]) -> bool:
    """Return whether no other is as good in every objective and better in one."""
    signs = [-1.0 if of.direction == "maximize" else 1.0 for of in objectives]
    mine = [s * v for s, v in zip(signs, own or (), strict=True)]
    for other in others:
        theirs = [s * v for s, v in zip(signs, other or (), strict=True)]
        if theirs != mine and all(a <= b for a, b in zip(theirs, mine, strict=True)):
            return False
    return True


def optuna() -> Any:
    """Return the library. Raises `LanetwinError` (RS011) without it."""
    try:
        found = import_module("optuna")
    except ImportError:
        refuse("RS011", "a search needs optuna, which is not installed", "pip install 'lanetwin[search]'")
    found.logging.set_verbosity(found.logging.ERROR)
    return found


class Optimiser:
    """A study of Optuna. Its proposals depend only on the seed and the recorded values.

    Each proposal has a new sampler, seeded by its number, so that a continued search proposes the same points
    as an uninterrupted one.
    """

    def __init__(self, space: list[list[bool]], asked: Search, storage: Path | None) -> None:
        self._optuna = optuna()
        self._space = space
        self._asked = asked
        self._storage = None if storage is None else f"sqlite:///{storage}"
        question = json.dumps([asked.question, space]).encode()
        self._name = f"search {hashlib.blake2b(question, digest_size=8).hexdigest()}"
        self._begin()

    def _begin(self) -> None:
        """Load the trials of this question from the storage."""
        self._study = self._optuna.create_study(
            storage=self._storage,
            study_name=self._name,
            directions=[one.direction for one in self._asked.objectives],
            load_if_exists=True,
        )
        self._open: list[tuple[int, tuple[int, ...]]] = [
            (trial.number, self._choice(trial.params))
            for trial in self._study.get_trials(deepcopy=False)
            if not trial.state.is_finished() and len(trial.params) == len(self._space)
        ]
        self._told = len(self.tried())

    def finished(self) -> int:
        """Return the number of recorded trials."""
        return self._told

    def tried(self) -> list[tuple[int, tuple[int, ...]]]:
        """Return number and choice of every recorded trial."""
        every = self._study.get_trials(deepcopy=False)
        return [
            (trial.number, self._choice(trial.params))
            for trial in every
            if trial.state.is_finished() and TRIED in trial.user_attrs
        ]

    def restart(self) -> None:
        """Discard all trials."""
        self._optuna.delete_study(study_name=self._name, storage=self._study._storage)
        self._begin()

    def key(self, number: int) -> str:
        """Return the key of a trial's recorded result."""
        return str(self._study.get_trials(deepcopy=False)[number].user_attrs[TRIED])

    def batch(self, count: int) -> list[tuple[int, tuple[int, ...]]]:
        """Propose this many points, beginning with earlier proposals that were never recorded."""
        found, self._open = self._open[: max(count, 0)], self._open[max(count, 0) :]
        known = {choice for _, choice in self.tried()} | {choice for _, choice in found}
        while len(found) < count:
            number, choice = self._propose(known)
            known.add(choice)
            found.append((number, choice))
        return found

    def tell(self, trial: Trial, key: str) -> None:
        """Record the values of a point, and the key of its result."""
        states = self._optuna.trial.TrialState
        own = self._trial(trial.number)
        objectives = self._asked.objectives
        limits = zip(self._asked.limits, trial.limits, strict=False)
        if TRIED not in own.user_attrs:
            for at, (limit, value) in enumerate(limits):
                own.set_constraint(f"limit{at}", limit.excess(value))
            own.set_user_attr(TRIED, key)
        if trial.values is None:
            self._study.tell(trial.number, state=states.FAIL)
        else:
            self._study.tell(trial.number, list(trial.values[: len(objectives)]))
        self._told += 1

    def _trial(self, number: int) -> Any:
        every = self._study.get_trials(deepcopy=False)
        return self._optuna.trial.Trial(self._study, every[number]._trial_id)

    def _propose(self, known: set[tuple[int, ...]]) -> tuple[int, tuple[int, ...]]:
        """Return an untried point: the sampler's proposal, or the nearest one."""
        self._study.sampler = self._sampler(len(known))
        trial = self._study.ask()
        wanted = tuple(self._suggest(trial, at) for at in range(len(self._space)))
        if wanted not in known:
            return trial.number, wanted
        # adds nothing new: the sampler ignores a failed trial, and so does the count here
        self._study.tell(trial.number, state=self._optuna.trial.TrialState.FAIL)
        return self._instead(_nearest(wanted, [len(values) for values in self._space], known))

    def _instead(self, choice: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        self._study.enqueue_trial(dict(zip(self._names(), choice, strict=True)))
        trial = self._study.ask()
        for at in range(len(self._space)):
            self._suggest(trial, at)
        return trial.number, choice

    def _suggest(self, trial: Any, at: int) -> int:
        values, name = self._space[at], self._names()[at]
        if values[0]:
            return int(trial.suggest_int(name, 0, len(values) - 1))
        return int(trial.suggest_categorical(name, list(range(len(values)))))

    def _names(self) -> list[str]:
        return [f"axis{at}" for at in range(len(self._space))]

    def _choice(self, params: dict[str, Any]) -> tuple[int, ...]:
        return tuple(int(params[name]) for name in self._names())

    def _sampler(self, number: int) -> Any:
        digest = hashlib.blake2b(f"{self._asked.seed} {number}".encode(), digest_size=4).digest()
        return self._optuna.samplers.TPESampler(seed=int.from_bytes(digest, "little"))


def _nearest(wanted: tuple[int, ...], sizes: list[int], known: set[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the untried point with the fewest steps to another; ties are decided axis by axis.

    >>> _nearest((1, 1), [3, 3], {(1, 1), (0, 1)})
    (2, 1)
    """
    ring = [wanted]
    seen = {wanted}
    while ring:
        onward: list[tuple[int, ...]] = []
        for point in ring:
            for axis, size in enumerate(sizes):
                for step in (-1, 1):
                    value = point[axis] + step
                    next_ = (*point[:axis], value, *point[axis + 1 :])
                    if 0 <= value < size and next_ not in seen:
                        if next_ not in known:
                            return next_
                        seen.add(next_)
                        onward.append(next_)
        ring = onward
    return wanted
