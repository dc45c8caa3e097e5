"""Predictions of the scenario for parameters between their bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.calibration.rows import Key, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from lanetwin.calibration.space import Parameter
    from lanetwin.results import Results

Point = tuple[float, ...]
"""A place from 0 to 1 for each parameter."""


class Simulator:
    """Runs the scenario with values of parameters, each set of values once."""

    def __init__(
        self,
        scenario: Path,
        components: Sequence[str],
        sets: Sequence[str] = (),
        tell: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        self._scenario = scenario
        self._components = components
        self._sets = list(sets)
        self._tell = tell
        self._workloads: list[str] = []
        self._known: dict[tuple[tuple[str, ...], tuple[str, ...]], dict[Key, float]] = {}
        self.runs = 0
        """Number of runs of the scenario."""

    def base(self) -> Results:
        """Run the unchanged scenario."""
        results = self._run([])
        self._workloads = list(dict.fromkeys(row["workload"] for row in results["rows"]))
        return results

    def at(
        self, parameters: Sequence[Parameter], point: Iterable[float], only: Iterable[str] | None = None
    ) -> dict[Key, float]:
        """Return the value of every row, or of those of some workloads, at a point."""
        texts = tuple(f"{one.name}={one.text(place)}" for one, place in zip(parameters, point, strict=True))
        wanted = tuple(sorted(self._workloads if only is None else set(only)))
        known = self._known.get((texts, wanted))
        if known is None:
            moved = [f"machine.{component}.{text}" for component in self._components for text in texts]
            left_out = [f"workloads.{name}=null" for name in self._workloads if name not in wanted]
            results = self._run([*moved, *left_out])
            known = {key: row["value"] for key, row in values(results).items()}
            self._known[texts, wanted] = known
        return known

    def _run(self, sets: Sequence[str]) -> Results:
        results = engine.run(str(self._scenario), sets=[*self._sets, *sets])
        if not results["complete"]:
            raise KeyboardInterrupt
        self.runs += 1
        if self._tell:
            self._tell({"done": self.runs, "total": None, "case": f"{self.runs} runs"})
        return results


def logarithms(of: Mapping[Key, float], keys: Sequence[Key]) -> list[float]:
    """Return the logarithms of some values; a missing value means a rate too low to be measured."""
    return [math.log(of.get(key, 1e-6)) for key in keys]
