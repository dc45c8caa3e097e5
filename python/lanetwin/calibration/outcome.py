"""The result of a calibration: parameters with their uncertainty, rows with their errors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING, Any

from lanetwin.calibration.estimate import WELL_TOLD
from lanetwin.calibration.space import written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lanetwin.calibration.rows import Target
    from lanetwin.calibration.space import Parameter

OPEN = 0.05
"""A row that other explanations move by more than this depends on undetermined parameters. Assumed: the error
that predictions should have at most."""


class Role(StrEnum):
    """The use of a row."""

    CALIBRATED = "calibrated"
    PREDICTED = "predicted"
    APART = "apart"
    """Held back, and dependent on parameters that the calibrating rows do not determine."""


@dataclass(frozen=True, slots=True)
class Value:
    """A measured row with the part's predictions before and after."""

    row: Target
    role: Role
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Line:
    """A row with its result."""

    value: Value
    role: Role
    low: float
    high: float
    """The range of predictions of other explanations."""
    rests_on: Sequence[str]
    """The undetermined parameters that move it."""

    @property
    def error(self) -> float:
        """The relative error of the calibrated part."""
        return self.value.after / self.value.row.measured - 1

    @property
    def error_before(self) -> float:
        """The relative error of the part that it was made from."""
        return self.value.before / self.value.row.measured - 1


def judged(value: Value, others: Sequence[tuple[str, float]]) -> Line:
    """Return a row with the predictions of other explanations."""
    low = min([value.after, *(other for _, other in others)])
    high = max([value.after, *(other for _, other in others)])
    far = [name for name, other in others if abs(other / value.after - 1) > OPEN] if value.after else []
    role = Role.APART if far and value.role is Role.PREDICTED else value.role
    return Line(value, role, low, high, list(dict.fromkeys(far)) if role is Role.APART else [])


NEAR = 0.01
"""A value within this share of the range from a bound counts as being at the bound. Assumed."""


@dataclass(frozen=True, slots=True)
class Told:
    """A parameter after the fit."""

    parameter: Parameter
    value: float
    deviation: float
    """Its standard deviation, as a share of its value."""
    conditional: float
    """The standard deviation if the others were known."""

    @property
    def is_told(self) -> bool:
        """Whether the rows determine it without knowledge of the other parameters."""
        return self.deviation < WELL_TOLD

    @property
    def how(self) -> str:
        """How well the rows determine it, in words."""
        if self.is_told:
            return "told"
        return "only with others" if self.conditional < WELL_TOLD else "not told"

    @property
    def is_at_bound(self) -> bool:
        """Whether it is at a bound, beyond which the fit may be better."""
        return not NEAR < self.parameter.place(self.value) < 1 - NEAR

    @property
    def text(self) -> str:
        """The value as a part has it."""
        return written(self.value, self.parameter.unit)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A calibration."""

    part: Mapping[str, Any]
    """The part that it began with."""
    scenario: str
    parameters: Sequence[Told]
    idle: Sequence[Parameter]
    """Parameters on which no row depends."""
    rows: Sequence[Line]
    noise: float
    misfit: float
    """Root mean square error of the rows that calibrated."""
    runs: int
    notes: Sequence[str]

    def of(self, role: Role) -> list[Line]:
        """Return the rows of a role."""
        return [line for line in self.rows if line.role is role]


def median_error(lines: Sequence[Line]) -> float | None:
    """Return the median of the absolute errors; None of no rows."""
    return median(abs(line.error) for line in lines) if lines else None


def largest_error(lines: Sequence[Line]) -> float | None:
    """Return the largest absolute error; None of no rows."""
    return max((abs(line.error) for line in lines), default=None)


def document(outcome: Outcome) -> dict[str, Any]:
    """Return it as a JSON document."""
    return {
        "part": outcome.part["name"],
        "scenario": outcome.scenario,
        "noise": outcome.noise,
        "misfit": outcome.misfit,
        "runs": outcome.runs,
        "taken_for": list(outcome.notes),
        "parameters": [
            {
                "parameter": one.parameter.name,
                "from": written(one.parameter.start, one.parameter.unit),
                "to": one.text,
                "low": written(one.parameter.low, one.parameter.unit),
                "high": written(one.parameter.high, one.parameter.unit),
                "deviation": one.deviation,
                "told": one.how,
            }
            for one in outcome.parameters
        ],
        "no_row_depends_on": [one.name for one in outcome.idle],
        "rows": [_row(line) for line in outcome.rows],
        "median_error": {role.value: median_error(outcome.of(role)) for role in Role},
        "largest_error": {role.value: largest_error(outcome.of(role)) for role in Role},
    }


def _row(line: Line) -> dict[str, Any]:
    variant, workload, case, metric = line.value.row.key
    return {
        "variant": variant,
        "workload": workload,
        "case": case,
        "metric": metric,
        "unit": line.value.row.unit,
        "role": line.role.value,
        "measured": line.value.row.measured,
        "before": line.value.before,
        "predicted": line.value.after,
        "low": line.low,
        "high": line.high,
        "error": line.error,
        "rests_on": list(line.rests_on),
    }
