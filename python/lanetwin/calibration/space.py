"""Parameters that a calibration may move, each between two bounds; values are places from 0 to 1."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lanetwin.calibration.problem import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REACH = 4.0
"""Default bounds: a fourth of the part's value and four times that value. Assumed."""
STEP = 0.06
"""Move of a parameter for computing dependences, as a share of its value. Assumed: large enough to exceed
chance in runs of a few hundred requests, small enough to be a slope."""
OPEN_KINDS = ("assumed", "calibrated")
"""Kinds of numbers that measurements may correct: the unconfirmed ones."""

_TIMES = {"ps": 1.0, "ns": 1e3, "us": 1e6, "µs": 1e6, "ms": 1e9, "s": 1e12}
_SIZES = {
    "B": 1.0,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
}
_RATES = {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}
_UNITS = {
    **{unit: ("ps", size) for unit, size in _TIMES.items()},
    **{unit: ("B", size) for unit, size in _SIZES.items()},
    **{unit: ("B/s", size) for unit, size in _RATES.items()},
    "": ("", 1.0),
}
_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)\s*([A-Za-zµ/]*)\s*")


def quantity(text: Any) -> tuple[float, str] | None:
    """Return a quantity in ps, B, B/s or as a count, with that unit; None if it is not a number.

    >>> quantity("4.444us"), quantity("1200"), quantity("sequential")
    ((4444000.0, 'ps'), (1200.0, ''), None)
    """
    found = _NUMBER.fullmatch(str(text))
    if not found or found[2] not in _UNITS or isinstance(text, bool):
        return None
    unit, size = _UNITS[found[2]]
    return float(found[1]) * size, unit


def written(value: float, unit: str) -> str:
    """Write a quantity as in a scenario, in a fitting unit, with four significant digits.

    >>> written(4444000.4, "ps"), written(1200.2, ""), written(0.0, "ps")
    ('4444ns', '1200', '0ps')
    """
    digits = 4
    rounded = float(f"{value:.{digits - 1}e}") if value else 0.0
    if unit == "ps":
        for name, size in (("us", 1e6), ("ns", 1e3), ("ps", 1.0)):
            if rounded >= size * 10 or name == "ps":
                return f"{rounded / size:.10g}{name}" if name != "ps" else f"{round(rounded)}ps"
    # counts are whole, and exact up to a few digits
    return f"{round(value) if value < 10**digits else round(rounded)}{unit}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a part that may move."""

    name: str
    start: float
    """The part's value, in `unit`."""
    low: float
    high: float
    unit: str
    """`ps`, `B`, `B/s`, or nothing for a count."""

    @property
    def is_ratio(self) -> bool:
        """Whether equal steps are equal ratios; from a lower bound of 0 they are equal differences."""
        return self.low > 0

    @property
    def span(self) -> float:
        """The distance between the bounds, in natural logarithms of the value."""
        return math.log(self.high / self.low) if self.is_ratio else 1.0

    def value(self, place: float) -> float:
        """Return the value at a place from 0 to 1."""
        if self.is_ratio:
            return self.low * math.exp(place * self.span)
        return self.low + place * (self.high - self.low)

    def place(self, value: float) -> float:
        """Return the place of a value."""
        if self.is_ratio:
            return math.log(value / self.low) / self.span
        return (value - self.low) / (self.high - self.low)

    def relative(self, place: float) -> float:
        """Return the relative change of the value for a step of 1 of the place, at the present place."""
        if self.is_ratio:
            return self.span
        reach = self.high - self.low
        return reach / max(self.value(place), reach / 20)

    def step(self, place: float) -> float:
        """Return a step of the place that moves the value by a few per cent, towards the middle."""
        step = STEP / self.span if self.is_ratio else STEP / 2
        if not self.unit and self.is_ratio:
            step = max(step, math.log1p(1 / self.value(place)) / self.span)
        return step if place < 0.5 else -step

    def text(self, place: float) -> str:
        """Write the value at a place."""
        return written(self.value(place), self.unit)


def candidates(part: Mapping[str, Any], settings: Mapping[str, Any], free: Sequence[str]) -> list[Parameter]:
    """Return the parameters that may move: the named ones, or all unconfirmed times and rates of the part.

    `settings` are the values that the scenario gives the component. Raises `LanetwinError` (CA004).
    """
    if free:
        return [_asked(text, settings) for text in free]
    found = []
    for number in part["parameters"]:
        known = quantity(settings.get(number["parameter"], number["value"]))
        if number["kind"] in OPEN_KINDS and known and known[1] in ("ps", "B/s") and known[0] > 0:
            value, unit = known
            found.append(Parameter(number["parameter"], value, value / REACH, value * REACH, unit))
    return found


def _asked(text: str, settings: Mapping[str, Any]) -> Parameter:
    """Read `NAME` or `NAME=LOW..HIGH`."""
    name, equals, bounds = text.partition("=")
    known = quantity(settings.get(name))
    if known is None:
        numbers = ", ".join(key for key, value in settings.items() if quantity(value))
        said = "is no number" if name in settings else "is no parameter of the part's model"
        refuse("CA004", f"`{name}` {said}", f"numbers are {numbers}", path=name)
    start, unit = known
    if not equals:
        if start <= 0:
            refuse(
                "CA004",
                f"`{name}` is 0: there is no range to guess",
                f"name one: `{name}=0..10us`",
                path=name,
            )
        return Parameter(name, start, start / REACH, start * REACH, unit)
    ends = [quantity(end) for end in bounds.split("..")]
    if len(ends) != 2 or None in ends:
        refuse(
            "CA004",
            f"`{bounds}` is no range",
            f"write `{name}=LOW..HIGH`, such as `{name}=1us..20us`",
            path=name,
        )
    (low, _), (high, unit_high) = ends[0] or (0.0, ""), ends[1] or (0.0, "")
    if unit_high != unit or not low <= start <= high or low == high:
        has = written(start, unit)
        refuse(
            "CA004",
            f"{bounds} does not hold the value that the part has, {has}",
            "widen the range",
            path=name,
        )
    return Parameter(name, start, low, high, unit)
