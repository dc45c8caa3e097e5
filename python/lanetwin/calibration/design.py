"""The dependence of rows on parameters over their whole range, and the choice of informative rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanetwin.calibration.libraries import libraries
from lanetwin.calibration.rows import places
from lanetwin.calibration.slopes import PRIOR, row_weights, scattered, slopes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.calibration.rows import Place, Target
    from lanetwin.calibration.simulator import Simulator
    from lanetwin.calibration.space import Parameter

POINTS = 2
"""Number of points beside the part's own values at which dependences are computed, since bottlenecks differ
between points. Assumed."""
LEAST = 0.02
"""A parameter that moves no row by more than this over its whole range does not matter. Assumed: the spread
of repeated measurements."""


def slopes_over_range(
    simulator: Simulator, parameters: Sequence[Parameter], rows: Sequence[Target]
) -> list[Any]:
    """Return the dependences at the part's own values and at points spread over the bounds."""
    start = tuple(one.place(one.start) for one in parameters)
    if not parameters:
        return []
    points = [start, *scattered(POINTS, len(parameters))]
    return [slopes(simulator, parameters, rows, point) for point in points]


def matter(slopes_there: Sequence[Any]) -> list[int]:
    """Return the parameters on which some row depends at some point."""
    if not slopes_there:
        return []
    most = max_over(slopes_there)
    return [at for at, size in enumerate(most) if size > LEAST]


def max_over(slopes_there: Sequence[Any]) -> list[float]:
    """Return the largest dependence of any row on each parameter."""
    np, _, _ = libraries()
    return [float(size) for size in np.max([np.abs(one).max(axis=0) for one in slopes_there], axis=0)]


def choose(rows: Sequence[Target], slopes_there: Sequence[Any], number: int, noise: float) -> list[Place]:
    """Return the places from which all rows are predicted best, chosen one by one.

    The criterion is the logarithm of the variance of a row, including that of its measurement, summed over
    rows and points.
    """
    np, _, _ = libraries()
    every = places(rows)
    weights = row_weights(rows) / noise
    of_place = {place: [at for at, row in enumerate(rows) if row.place == place] for place in every}
    known = [np.eye(one.shape[1]) / PRIOR**2 for one in slopes_there]
    chosen: list[Place] = []

    def with_place(place: Place) -> list[Any]:
        lines = [one[of_place[place]].T * weights[of_place[place]] for one in slopes_there]
        return [info + line @ line.T for info, line in zip(known, lines, strict=True)]

    def open_after(place: Place) -> float:
        total = 0.0
        for one, info in zip(slopes_there, with_place(place), strict=True):
            variances = (one * np.linalg.solve(info, one.T).T).sum(axis=1)
            total += float(np.log1p(variances / noise**2).sum())
        return total

    while len(chosen) < number:
        best = min((place for place in every if place not in chosen), key=open_after)
        known = with_place(best)
        chosen.append(best)
    return [place for place in every if place in chosen]
