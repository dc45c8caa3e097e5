"""Bounded least squares of logarithms, and the uncertainty that remains.

The fit minimises the sum of squares of ln(predicted / measured), relative to the noise of measurements, and
of the move of each parameter, relative to the width of its range: a parameter that no row determines keeps
its value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lanetwin.calibration.libraries import libraries
from lanetwin.calibration.simulator import logarithms
from lanetwin.calibration.slopes import PRIOR, row_weights, scattered, slopes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.calibration.rows import Target
    from lanetwin.calibration.simulator import Point, Simulator
    from lanetwin.calibration.space import Parameter

STARTS = 3
"""Number of points for each parameter that are tried before the fit begins. Assumed."""
BEGINNINGS = 2
"""Number of the best of these points from which the fit begins, beside the part's own values. Assumed."""
MOST_STEPS = 10
"""Maximum number of steps of a fit. Assumed."""
FURTHER = 10
"""Number of further start points if the misfit is too large. Assumed."""
FIRST_STEPS, GOING_ON = 4, 2
"""Number of steps from each further start point, and number of the best of these that get all steps.
Assumed."""
MISSED = 3.0
"""A misfit of more than this many times the noise is not explained by chance. Assumed."""
FOLLOWING = 3
"""Number of steps in which the other parameters follow one that is held; they begin near their optimum.
Assumed."""
WELL_TOLD = 0.1
"""A parameter whose standard deviation is below this share of its value is determined by the rows.
Assumed."""
PROFILED = WELL_TOLD / 2
"""For a parameter above this share, the ends of the range that the rows allow are computed. Assumed."""
DISTANCES = (2.0, 1.0, 0.5, 0.25)
"""Distances, in standard deviations, to which a parameter is moved to find an end: the first good one
counts."""
AS_GOOD = 4.0
"""Permitted increase of the sum of squares for an equally good explanation: two standard deviations."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The parameters and rows of a fit."""

    simulator: Simulator
    parameters: Sequence[Parameter]
    rows: Sequence[Target]
    noise: float

    def residuals(self, places: Sequence[float]) -> Any:
        """Return the residuals, whose squares are summed."""
        np, _, _ = libraries()
        point = tuple(float(place) for place in places)
        start = np.array([one.place(one.start) for one in self.parameters])
        rows = self.errors(point) * self._weights() / self.noise
        return np.concatenate([rows, (np.array(point) - start) / PRIOR])

    def slopes(self, places: Sequence[float]) -> Any:
        """Return the derivatives of the residuals with respect to the places."""
        np, _, _ = libraries()
        point = tuple(float(place) for place in places)
        found = slopes(self.simulator, self.parameters, self.rows, point, self._only())
        rows = found * self._weights()[:, None] / self.noise
        return np.concatenate([rows, np.eye(len(self.parameters)) / PRIOR])

    def errors(self, point: Point) -> Any:
        """Return ln(predicted / measured) of every row."""
        np, _, _ = libraries()
        keys = [row.key for row in self.rows]
        predicted = np.array(logarithms(self.simulator.at(self.parameters, point, self._only()), keys))
        return predicted - np.log([row.measured for row in self.rows])

    def cost(self, point: Point) -> float:
        """Return the sum of squares."""
        return float((self.residuals(point) ** 2).sum())

    def misfit(self, point: Point) -> float:
        """Return the root mean square of ln(predicted / measured)."""
        np, _, _ = libraries()
        return float(np.sqrt((self.errors(point) ** 2).mean()))

    def _only(self) -> list[str]:
        return sorted({row.key[1] for row in self.rows})

    def _weights(self) -> Any:
        return row_weights(self.rows)


@dataclass(frozen=True, slots=True)
class Fit:
    """The minimum of the sum of squares."""

    problem: Problem
    point: Point
    misfit: float
    """Root mean square of ln(predicted / measured) of the rows that calibrate."""
    others: Sequence[Point]
    """Local minima from other start points."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The uncertainty of the parameters."""

    deviations: Sequence[float]
    """Standard deviation of each parameter, as a share of its value."""
    conditional: Sequence[float]
    """The standard deviation if all other parameters were known."""
    alternatives: Sequence[tuple[str, Point]]
    """Points that explain the rows equally well, each at an end of a parameter's range."""


def fitted(
    simulator: Simulator, parameters: Sequence[Parameter], rows: Sequence[Target], noise: float
) -> Fit:
    """Return the fit from the best of the part's own values and points spread over the bounds.

    If it explains the rows badly, further start points are tried.
    """
    problem = Problem(simulator, parameters, rows, noise)
    start = tuple(one.place(one.start) for one in parameters)
    tried = sorted(scattered(STARTS * len(parameters), len(parameters)), key=problem.cost)
    ends = [_descend(problem, begin, MOST_STEPS) for begin in (start, *tried[:BEGINNINGS])]
    if min(problem.misfit(end) for end in ends) > MISSED * noise:
        further = tried[BEGINNINGS : BEGINNINGS + FURTHER]
        near = sorted((_descend(problem, begin, FIRST_STEPS) for begin in further), key=problem.cost)
        ends += [_descend(problem, begin, MOST_STEPS) for begin in near[:GOING_ON]]
    point = min(ends, key=problem.cost)
    return Fit(problem, point, problem.misfit(point), [end for end in ends if end != point])


def _descend(problem: Problem, point: Point, steps: int) -> Point:
    """Minimise the sum of squares from a start point, in at most this many steps."""
    np, optimize, _ = libraries()
    found = optimize.least_squares(
        problem.residuals,
        np.clip(point, 1e-6, 1 - 1e-6),
        jac=problem.slopes,
        bounds=(0, 1),
        method="trf",
        xtol=1e-3,
        ftol=1e-3,
        gtol=1e-3,
        max_nfev=steps,
    )
    return tuple(float(place) for place in found.x)


def spread(simulator: Simulator, fit: Fit) -> Spread:
    """Return how well each parameter is determined, and other points that explain the rows equally well."""
    np, _, _ = libraries()
    parameters, noise = fit.problem.parameters, max(fit.problem.noise, fit.misfit)
    problem = Problem(simulator, parameters, fit.problem.rows, noise)
    jacobian = problem.slopes(fit.point)
    information = jacobian.T @ jacobian
    covariance = np.linalg.inv(information)
    sizes = np.array([one.relative(place) for one, place in zip(parameters, fit.point, strict=True)])
    deviations = np.sqrt(np.diag(covariance)) * sizes
    most = problem.cost(fit.point) + AS_GOOD
    points = [
        (at, other) for other in fit.others if problem.cost(other) < most for at in _moved(fit, other, sizes)
    ]
    for at, deviation in enumerate(deviations):
        if deviation > PROFILED:
            points += [(at, end) for end in _ends(problem, fit, jacobian, at)]
    # equally good explanations are within two standard deviations
    for at, point in points:
        deviations[at] = max(deviations[at], abs(point[at] - fit.point[at]) * sizes[at] / 2)
    alternatives = [(parameters[at].name, point) for at, point in points]
    alone = 1 / np.sqrt(np.diag(information)) * sizes
    return Spread([float(one) for one in deviations], [float(one) for one in alone], alternatives)


def _moved(fit: Fit, other: Point, sizes: Any) -> list[int]:
    """Return the parameters that differ in another explanation."""
    places = zip(fit.point, other, sizes, strict=True)
    return [at for at, (one, two, size) in enumerate(places) if abs(one - two) * size > 2 * WELL_TOLD]


def _ends(problem: Problem, fit: Fit, jacobian: Any, at: int) -> list[Point]:
    """Return the ends of a parameter's range if the others compensate for it (a likelihood profile)."""
    np, _, _ = libraries()
    least = problem.cost(fit.point)
    row = np.linalg.inv(jacobian.T @ jacobian)[at]
    # the move of each parameter for one standard deviation of the held one, in linear approximation
    way = row / row[at] ** 0.5
    found = []
    for sign in (-1, 1):
        for distance in DISTANCES:
            begin = np.clip(np.array(fit.point) + sign * distance * way, 0, 1)
            point = _followed(problem, begin, jacobian, at)
            if problem.cost(point) < least + AS_GOOD:
                found.append(point)
                break
    return found


def _followed(problem: Problem, begin: Any, jacobian: Any, at: int) -> Point:
    """Refit the other parameters while one is held: Gauss-Newton steps with the same slopes."""
    np, _, _ = libraries()
    own = np.delete(jacobian, at, axis=1)
    best = place = begin
    for _ in range(FOLLOWING):
        step = np.linalg.lstsq(own, -problem.residuals(place), rcond=None)[0]
        place = np.clip(place + np.insert(step, at, 0.0), 0, 1)
        best = min(best, place, key=lambda one: problem.cost(tuple(map(float, one))))
    return tuple(float(one) for one in best)
