"""Percentiles that are not settled, with their intervals in words.

The engine marks them: their intervals reach more than 10 % to a side, or there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanetwin.numbers import NARROW_SPACE, percentile_name, signed, significant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lanetwin.results import Row

NOT_SETTLED = "NOT SETTLED"
"""Mark of a percentile that a longer run may not confirm."""
ABOUT = "≈"
"""Sign before such a percentile in a table."""
TAIL = 99.0
"""The percentile shown beside the mean."""


def is_unsettled(row: Row, percent: float) -> bool:
    """Whether a percentile of a row is not settled.

    >>> row = {"unsettled": [99.9]}
    >>> is_unsettled(row, 99.9), is_unsettled(row, 99.0), is_unsettled({}, 99.0)
    (True, False, False)
    """
    return percent in row.get("unsettled", [])


def is_tail(row: Row) -> bool:
    """Whether a row is the tail of a latency, which is a separate metric beside the mean.

    >>> is_tail({"metric": "p99"}), is_tail({"metric": "latency"})
    (True, False)
    """
    return row["metric"] == percentile_name(TAIL)


def told(row: Row, percent: float, value: float, digits: int = 4) -> str:
    """Write a percentile of a row, with a sign before one that is not settled.

    >>> told({"unsettled": [99.9]}, 99.9, 2.5), told({}, 99.0, 2.5, 3)
    ('≈\u202f2.500', '2.50')
    """
    text = significant(value, digits)
    return f"{ABOUT}{NARROW_SPACE}{text}" if is_unsettled(row, percent) else text


def reach(row: Row, percent: float) -> str:
    """Write the ends of a percentile's interval, relative to the percentile.

    >>> row = {"percentiles": [(99.0, 200.0)], "percentile_intervals": [(99.0, 180.0, 354.0)]}
    >>> reach(row, 99.0), reach({"percentiles": [(99.0, 200.0)]}, 99.0)
    ('−10 … +77\u202f%', 'too few I/Os to tell')
    """
    value = dict(row["percentiles"])[percent]
    known = {of: (low, high) for of, low, high in row.get("percentile_intervals", [])}
    if percent not in known or not value:
        return "too few I/Os to tell"
    low, high = (signed(100 * (end / value - 1), 0) for end in known[percent])
    return f"{low} … {high}{NARROW_SPACE}%"


def doubt(rows: Iterable[Row]) -> str:
    """Describe the 99th percentiles of a case that are not settled; empty if all are.

    >>> row = {"metric": "read latency", "unsettled": [99.0, 99.9], "percentiles": [(99.0, 200.0)]}
    >>> doubt([row, {"metric": "write latency"}])
    'p99 NOT SETTLED (read latency: too few I/Os to tell)'
    >>> doubt([{"metric": "latency", "unsettled": [99.9]}])
    ''
    """
    found = [f"{row['metric']}: {reach(row, TAIL)}" for row in rows if is_unsettled(row, TAIL)]
    return f"{percentile_name(TAIL)} {NOT_SETTLED} ({'; '.join(found)})" if found else ""
