"""Dependences of rows on parameters, the points at which they are computed, and the weights of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanetwin.calibration.libraries import libraries
from lanetwin.calibration.rows import places
from lanetwin.calibration.simulator import logarithms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.calibration.rows import Target
    from lanetwin.calibration.simulator import Point, Simulator
    from lanetwin.calibration.space import Parameter

PRIOR = 12**-0.5
"""Standard deviation of a place of which only the bounds are known: a uniform distribution from 0 to 1."""


def scattered(number: int, dimensions: int) -> list[Point]:
    """Return evenly spread points: a Latin hypercube, always the same one."""
    _, _, qmc = libraries()
    points = qmc.LatinHypercube(dimensions, rng=1).random(number)
    return [tuple(float(place) for place in point) for point in points]


def slopes(
    simulator: Simulator,
    parameters: Sequence[Parameter],
    rows: Sequence[Target],
    point: Point,
    only: Sequence[str] | None = None,
) -> Any:
    """Return the derivatives of each row's logarithm by the parameters' places at a point, a line a row.

    With `only`, no other workloads are run.
    """
    np, _, _ = libraries()
    keys = [row.key for row in rows]
    here = np.array(logarithms(simulator.at(parameters, point, only), keys))
    columns = []
    for at, one in enumerate(parameters):
        step = one.step(point[at])
        moved = (*point[:at], point[at] + step, *point[at + 1 :])
        there = np.array(logarithms(simulator.at(parameters, moved, only), keys))
        columns.append((there - here) / step)
    return np.array(columns).T


def row_weights(rows: Sequence[Target]) -> Any:
    """Return weights by which several rows of a place count as one."""
    np, _, _ = libraries()
    counts = {place: sum(row.place == place for row in rows) for place in places(rows)}
    return np.array([counts[row.place] ** -0.5 for row in rows])
