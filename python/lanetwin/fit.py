"""Values in units that fit them: 1.17 ms rather than 1 168 958 ns, 28.7 GB/s, 280 k IOPS."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.numbers import measured, significant, with_unit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lanetwin.results import Row

_LADDERS: tuple[tuple[tuple[str, float], ...], ...] = (
    (("ps", 1e-12), ("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)),
    (("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)),
    (("b/s", 1.0), ("kb/s", 1e3), ("Mb/s", 1e6), ("Gb/s", 1e9), ("Tb/s", 1e12)),
    (("1/s", 1.0), ("k/s", 1e3), ("M/s", 1e6), ("G/s", 1e9)),
)
"""Units of one quantity, each with its size in the unit of size 1, the smallest first."""
_LADDER_OF = {unit: ladder for ladder in _LADDERS for unit, _ in ladder}
_OF_IOPS = {"1/s": "IOPS", "k/s": "k IOPS", "M/s": "M IOPS", "G/s": "G IOPS"}
"""Units of I/O rates."""
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")
_SIZE_STEP = 1024
_LONG_SIZE = re.compile(r"\b(\d{5,})[  ](B|KiB|MiB|GiB)\b")
SHORT = 3
"""Significant digits of a brief value."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A unit for values: the factor and the name."""

    scale: float
    unit: str


def fitting(value: float, unit: str, metric: str = "") -> Fit:
    """Return the largest unit of which the value is at least one.

    A unit without multiples is kept, and so is the unit of a value without a size.

    >>> fitting(1_168_958, "ns"), fitting(280, "k/s", "IOPS")
    (Fit(scale=1e-06, unit='ms'), Fit(scale=1.0, unit='k IOPS'))
    """
    ladder = _LADDER_OF.get(unit, ((unit, 1.0),))
    own = dict(ladder)[unit]
    chosen, size = unit, own
    if value and math.isfinite(value):
        # a value that rounds to 1000 with three digits is 1 of the next unit
        chosen, size = ladder[0]
        for name, step in ladder:
            if abs(value) * own >= step * 0.9995:
                chosen, size = name, step
    is_iops = metric.split(" ")[-1] == "IOPS"
    return Fit(_ratio(own, size), _OF_IOPS.get(chosen, chosen) if is_iops else chosen)


def _ratio(own: float, size: float) -> float:
    """Divide two powers of ten without an error in the last digit."""
    return 1.0 if own == size else float(f"{own / size:.0e}")


def fitting_all(values: Iterable[float], unit: str, metric: str = "") -> Fit:
    """Return the unit that fits the largest of several values on an axis."""
    sizes = [abs(value) for value in values if math.isfinite(value)]
    return fitting(max(sizes, default=0.0), unit, metric)


def brief(value: float, unit: str, metric: str = "", digits: int = SHORT) -> str:
    """Write a value in a unit that fits.

    >>> brief(1_168_958, "ns"), brief(28_734, "MB/s"), brief(280, "k/s", "IOPS"), brief(0.5, "k/s")
    ('1.17\u202fms', '28.7\u202fGB/s', '280\u202fk IOPS', '500\u202f1/s')
    """
    fit = fitting(value, unit, metric)
    return with_unit(significant(value * fit.scale, digits), fit.unit)


def with_fitting_sizes(case: str) -> str:
    """Write long sizes in the name of a case, which are exact in a small unit, in fitting units.

    >>> with_fitting_sizes("4201216 KiB, 8 in flight"), with_fitting_sizes("1536 KiB")
    ('4.01 GiB, 8 in flight', '1536 KiB')
    """
    return _LONG_SIZE.sub(lambda found: _in_larger_unit(int(found[1]), found[2]), case)


def _in_larger_unit(count: int, unit: str) -> str:
    at = _SIZES.index(unit)
    size = float(count)
    while size >= _SIZE_STEP and at + 1 < len(_SIZES):
        size, at = size / _SIZE_STEP, at + 1
    return with_unit(significant(size, SHORT), _SIZES[at])


def converted(value: float, unit: str, to: str) -> float | None:
    """Return a value in another unit of the same quantity; None if the quantities differ.

    >>> converted(1235, "MB/s", "GB/s"), converted(3.0, "GB/s", "Gb/s"), converted(2.5, "M/s", "k IOPS")
    (1.235, 24.0, 2500.0)
    >>> converted(1.0, "ns", "MB/s")
    """
    rates = {name: plain for plain, name in _OF_IOPS.items()}
    unit, to = rates.get(unit, unit), rates.get(to, to)
    if unit == to:
        return value
    bits = 1.0
    if unit.endswith("B/s") and to.endswith("b/s"):
        unit, bits = unit.replace("B", "b"), 8.0
    elif unit.endswith("b/s") and to.endswith("B/s"):
        unit, bits = unit.replace("b", "B"), 0.125
    sizes = dict(_LADDER_OF.get(unit, ()))
    return value * bits * _ratio(sizes[unit], sizes[to]) if to in sizes else None


def told(row: Row) -> str:
    """Write the value of a row with its interval in a unit that fits.

    >>> told({"value": 1.5e6, "low": 1.4e6, "high": 1.6e6, "unit": "ns", "metric": "latency"})
    '1.50 ± 0.10\u202fms'
    """
    fit = fitting(row["value"], row["unit"], row["metric"])
    value, low, high = (row[end] * fit.scale for end in ("value", "low", "high"))
    return with_unit(measured(value, low, high), fit.unit)
