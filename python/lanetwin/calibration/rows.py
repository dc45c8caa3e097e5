"""The rows of a calibration: measurements, predictions of the scenario, and the use of each row."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lanetwin.comparison import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.results import Results, Row

Place = tuple[str, str, str]
"""Variant, workload and case: the rows of one place are used together, since a rate and a mean latency of a
closed loop have the same information."""
Key = tuple[str, str, str, str]
"""A place and a metric."""


@dataclass(frozen=True, slots=True)
class Target:
    """One measured number that the scenario predicts."""

    key: Key
    unit: str
    measured: float

    @property
    def place(self) -> Place:
        """The place of the measurement."""
        return self.key[:3]


def key_of(row: Row) -> Key:
    """Return the key by which a row is found."""
    return (row["variant"], row["workload"], row["case"], row["metric"])


def values(results: Results) -> dict[Key, Row]:
    """Return the independent rows of whole cases with positive values."""
    own = (row for row in results["rows"] if not row.get("device") and not row.get("restates"))
    return {key_of(row): row for row in own if row["value"] > 0}


def targets(measured: Results, predicted: Results) -> tuple[list[Target], list[str]]:
    """Return the common rows, in the order of the scenario, and the names that were matched."""
    truth, notes = aligned(measured, predicted)
    known = values(truth)
    both = [
        key for key, row in values(predicted).items() if key in known and known[key]["unit"] == row["unit"]
    ]
    return [Target(key, known[key]["unit"], known[key]["value"]) for key in both], notes


def places(rows: Sequence[Target]) -> list[Place]:
    """Return the places of rows, each once."""
    return list(dict.fromkeys(row.place for row in rows))


def named(all_places: Sequence[Place], patterns: Sequence[str]) -> list[Place]:
    """Return the places whose workload, or workload and case, fits one of some patterns (`randread-*`)."""

    def fits(place: Place) -> bool:
        names = (place[1], f"{place[1]}.{place[2]}", f"{place[0]}.{place[1]}", ".".join(place))
        return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)

    return [place for place in all_places if fits(place)]
