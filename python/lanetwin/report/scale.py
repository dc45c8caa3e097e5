"""Mapping of values to positions on a drawing, and round values for ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass

SMALLEST = 1e-290
"""Smallest span of a scale: in a smaller one values could not be distinguished."""
FAR = 1000.0
"""Maximum distance of a position from the scale, in lengths of the scale."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps `low`…`high` to `start`…`end` [px], linearly or logarithmically."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Return the position of a value [px]; values far off the scale are limited to a distance from it."""
        if self.logarithmic:
            span = math.log(self.high / self.low)
            part = math.log(max(value, self.low * 1e-3) / self.low) / span if span else 0.5
        else:
            span = self.high - self.low
            part = (value - self.low) / span if span else 0.5
        return self.start + max(-FAR, min(part, FAR)) * (self.end - self.start)


def round_step(span: float, about: int) -> float:
    """Return the step of 1, 2, 2.5 or 5 times a power of ten that gives about this many parts of `span`."""
    if span <= SMALLEST or not math.isfinite(span):
        return 1.0
    rough = span / max(about, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if rough <= step * power * (1 + 1e-9))


def linear_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round values from at or below `low` to at or above `high`.

    >>> linear_ticks(0, 53.7)
    [0.0, 20.0, 40.0, 60.0]
    """
    step = round_step(high - low, about)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    decimals = max(0, 1 - math.floor(math.log10(step)))
    return [round(index * step, decimals) for index in range(first, max(last, first + 1) + 1)]


def binary_ticks(low: float, high: float, at_most: int) -> list[float]:
    """Return powers of two inside `low`…`high`, evenly thinned to at most this many.

    >>> binary_ticks(16, 2048, 4)
    [16.0, 64.0, 256.0, 1024.0]
    """
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    every = max(1, math.ceil((last - first + 1) / max(at_most, 1)))
    return [2.0**power for power in range(first, last + 1, every)]


def decimal_ticks(low: float, high: float, at_most: int = 8) -> list[float]:
    """Return 1, 2 and 5 times powers of ten inside `low`…`high`, only the powers if that is too many.

    >>> decimal_ticks(40, 3000)
    [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**power for power in powers for step in steps]
        inside = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(inside) <= at_most:
            return inside
    every = math.ceil(len(inside) / at_most)
    return inside[::every]


def spread(places: list[float], gap: float, low: float, high: float) -> list[float]:
    """Move positions apart until they are `gap` from each other, in the same order and inside `low`…`high`.

    >>> spread([10.0, 12.0, 40.0], 14, 0, 100)
    [4.0, 18.0, 40.0]
    """
    order = sorted(range(len(places)), key=lambda index: places[index])
    groups: list[tuple[float, float, int]] = []  # desired centre, centre, number of touching labels
    for index in order:
        wish, count = places[index], 1
        centre = _inside(wish, count, gap, low, high)
        while groups and centre - groups[-1][1] < (count + groups[-1][2]) * gap / 2:
            other, _, others = groups.pop()
            wish = (wish * count + other * others) / (count + others)
            count += others
            centre = _inside(wish, count, gap, low, high)
        groups.append((wish, centre, count))
    moved = [c + (slot - (count - 1) / 2) * gap for _, c, count in groups for slot in range(count)]
    placed = dict(zip(order, moved, strict=True))
    return [placed[index] for index in range(len(places))]


def _inside(wish: float, count: int, gap: float, low: float, high: float) -> float:
    """Return the centre nearest to `wish` that keeps a group inside; a too large one begins at `low`."""
    reach = (count - 1) * gap / 2
    return max(min(wish, high - reach), low + reach)
