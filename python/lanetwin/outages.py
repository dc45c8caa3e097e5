"""Links that went down and came back, in the words and units of reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanetwin.actions import duration
from lanetwin.numbers import significant, with_unit
from lanetwin.summary import unique

if TYPE_CHECKING:
    from lanetwin.results import LinkOutage, Results

COLUMNS = ["link", "down at", "taken down by", "down for", "back as", "carried before", "carried after"]
"""Columns of an outage, after those of its place."""

NS_PER_S = 1e9
BYTES_PER_GB = 1e9


def told(one: LinkOutage) -> list[str]:
    """Return the columns of an outage."""
    at, lasts = (duration(one[key] * NS_PER_S) for key in ("at_seconds", "seconds"))
    return [
        one["link"],
        at,
        one.get("by") or "–",
        lasts,
        back_as(one),
        _rate(one["before_bytes_per_second"]),
        _rate(one.get("after_bytes_per_second")),
    ]


def back_as(one: LinkOutage) -> str:
    """Describe the state in which a link came back, with a mark if it is degraded.

    >>> back_as({"generation": 4, "lanes": 2, "whole": False})
    'Gen4 x2 !'
    """
    return f"Gen{one['generation']} x{one['lanes']}" + ("" if one["whole"] else " !")


def in_short(results: Results) -> str:
    """Return how many times links came back, and which of them degraded; empty if none was down."""
    every = found(results)
    if not every:
        return ""
    links = ", ".join(unique(one["link"] for one in every))
    less = unique(
        f"{one['link']} {back_as(one)[:-2]} ({one['variant']})" for one in every if not one["whole"]
    )
    said = f"with less than before: {', '.join(less)}" if less else "as before"
    times = "once" if len(every) == 1 else f"{len(every)} times"
    return f"{links}: came back {times}, {said}. Each time: --full"


def found(results: Results) -> list[LinkOutage]:
    """Return all outages, in the order of the document."""
    return results.get("outages", [])


def _rate(bytes_per_second: float | None) -> str:
    if bytes_per_second is None:
        return "–"
    return with_unit(significant(bytes_per_second / BYTES_PER_GB), "GB/s")
