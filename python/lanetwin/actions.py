"""Results of commands that workloads send at given times, in the words and units of reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanetwin.numbers import fixed, significant, with_unit

if TYPE_CHECKING:
    from lanetwin.results import ActionOutcome, LoggedError, LogValue, Results

COLUMNS = ["action", "host", "drive", "at", "during", "status", "took", "operation took"]
"""Columns of an action, after those of its place."""
LOGS = ["log", "at", "field", "value"]
"""Columns of a field of a log, after those of its place."""

NS_PER_S = 1e9


def duration(nanoseconds: float | None) -> str:
    r"""Write a duration.

    >>> duration(80_012_345.0), duration(None)
    ('80.01\u202fms', '–')
    """
    if nanoseconds is None:
        return "–"
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= scale:
            return with_unit(significant(nanoseconds / scale), unit)
    return with_unit(significant(nanoseconds), "ns")


def told(one: ActionOutcome) -> list[str]:
    """Return the columns of an action."""
    took, operation = (duration(one.get(key)) for key in ("latency_ns", "operation_ns"))  # type: ignore[arg-type]
    at = duration(one["at_seconds"] * NS_PER_S)
    return [one["action"], one["host"], one["drive"], at, one["during"], one["status"], took, operation]


def fields(one: ActionOutcome) -> list[list[str]]:
    """Return the columns of each field that the log of an action has, and of each error in it."""
    head = [one["action"], duration(one["at_seconds"] * NS_PER_S)]
    values = [[*head, value["name"], _value(value)] for value in one.get("values", [])]
    return values + [[*head, f"error {error['count']}", _error(error)] for error in one.get("errors", [])]


def _value(value: LogValue) -> str:
    unit = value.get("unit", "")
    number = fixed(value["value"], 0)
    return f"{number} × {unit}" if unit.startswith("1000") else f"{number} {unit}".rstrip()


def _error(error: LoggedError) -> str:
    where = "no command" if "queue" not in error else f"opcode {error['opcode']:02x}h, queue {error['queue']}"
    return f"{error['status']}: {where}, namespace {error['namespace']}, LBA {error['lba']}"


def found(results: Results) -> list[ActionOutcome]:
    """Return all actions, in the order of the document."""
    return results.get("actions", [])
