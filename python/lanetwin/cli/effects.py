"""The effect of a claim's assumptions on its predicted rows: on the most affected ones, or on all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lanetwin.cli.console import as_written
from lanetwin.cli.tables import plain_table
from lanetwin.numbers import signed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from lanetwin.engine import Claim, ValidationRow

NAMED = ((180, 3), (140, 2), (0, 1))
"""Number of rows that are named, by the minimum width of the terminal."""

TO_EITHER_SIDE = "…"


@dataclass(frozen=True)
class Moved:
    """A number that was moved, and the effect of each end on each predicted row [%]."""

    assumption: str
    ends: list[str]
    changes: list[list[float | None]]

    def of_row(self, row: int) -> list[float | None]:
        """Return the effect of each end on a row; None where it was not moved."""
        return [changes[row] for changes in self.changes]

    def most(self, row: int) -> float:
        """Return the largest effect on a row."""
        return max((abs(change) for change in self.of_row(row) if change is not None), default=0.0)

    def worst(self) -> list[int]:
        """Return the rows, the most affected first."""
        return sorted(range(len(self.changes[0])), key=self.most, reverse=True)


def moved(claim: Claim) -> list[Moved]:
    """Return the numbers that were moved, the one with the largest effect first."""
    found: dict[str, Moved] = {}
    for effect in claim.get("effects", []):
        one = found.setdefault(effect["mechanism"], Moved(effect["mechanism"], [], []))
        one.ends.append(effect["end"])
        one.changes.append(effect["changes_pct"])
    return sorted(found.values(), key=lambda one: one.most(one.worst()[0]), reverse=True)


def names(rows: list[ValidationRow]) -> list[str]:
    """Name the predicted rows by their case, and by the compared quantity if several have the same case."""
    predicted = [row for row in rows if row["role"] == "predicted"]
    cases = Counter(row["case"] for row in predicted)
    return [
        row["case"] if cases[row["case"]] == 1 else f"{row['case']}: {row['quantity']}" for row in predicted
    ]


def summary(claim: Claim, rows: list[ValidationRow], width: int) -> Table:
    """Describe the rows that each number moves most: a line each, with as many rows as fit."""
    count = next(count for columns, count in NAMED if width >= columns)
    called = names(rows)
    columns = [("assumption", False), ("moved to", False)]
    columns += [("moves most" if place == 0 else "then", False) for place in range(count)]
    table = plain_table("What assumptions do to the predicted rows [%], largest first", columns)
    for one in moved(claim):
        cells = [f"{called[row]} {_both(one.of_row(row))}" for row in one.worst()[:count]]
        table.add_row(
            as_written(one.assumption),
            as_written(f" {TO_EITHER_SIDE} ".join(one.ends)),
            *map(as_written, cells),
        )
    return table


def matrix(claim: Claim, rows: list[ValidationRow]) -> Iterator[dict[str, Any]]:
    """Yield the effect of every end on every row in which it was moved."""
    called = [(row["case"], row["quantity"]) for row in rows if row["role"] == "predicted"]
    for effect in claim.get("effects", []):
        for (case, quantity), change in zip(called, effect["changes_pct"], strict=True):
            if change is not None:
                yield {
                    "claim": claim["claim"],
                    "assumption": effect["mechanism"],
                    "moved_to": effect["end"],
                    "case": case,
                    "quantity": quantity,
                    "change_pct": change,
                }


def _both(changes: list[float | None]) -> str:
    told = (signed(change, 1) for change in changes if change is not None)
    return f" {TO_EITHER_SIDE} ".join(told)
