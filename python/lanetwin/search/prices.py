"""Costs and power of parts: the user's own table, each line with its source and date."""

from __future__ import annotations

import csv
import datetime
import io
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from lanetwin.files import read_text
from lanetwin.search.problem import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

COLUMNS = ("part", "cost", "unit", "power_w", "source", "date")
"""The columns of the table; cost or power may be empty."""


@dataclass(frozen=True, slots=True)
class Price:
    """Cost and power of one part."""

    cost: float | None
    power_w: float | None
    source: str
    date: str


@dataclass(frozen=True)
class Prices:
    """Prices of parts, in one unit."""

    unit: str = ""
    parts: dict[str, Price] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a CSV table with the columns part, cost, unit, power_w, source, date.

        Raises `LanetwinError` (RS014) with the line if one is wrong.
        """
        try:
            text = read_text(file)
        except OSError as error:
            refuse("RS014", f"prices cannot be read: {error.strerror}", "name a CSV table", str(file))
        reader = csv.DictReader(io.StringIO(text))
        if set(reader.fieldnames or ()) != set(COLUMNS):
            refuse("RS014", f"its columns are not {', '.join(COLUMNS)}", "begin it with that line", str(file))
        parts: dict[str, Price] = {}
        units: set[str] = set()
        for row in reader:
            parts[row["part"].strip()] = _price(row, str(file), reader.line_num)
            if row["cost"]:
                units.add(row["unit"].strip())
        if len(units) > 1:
            refuse("RS014", f"costs are in {' and '.join(sorted(units))}", "write all in one unit", str(file))
        return cls(next(iter(units), ""), parts)

    @classmethod
    def written(cls, section: Mapping[str, Any]) -> Self:
        """Return the prices of a scenario, from the engine's output."""
        return cls(section["unit"], {part: Price(**price) for part, price in section["parts"].items()})

    def over(self, others: Prices) -> Prices:
        """Return these prices, completed by others.

        Raises `LanetwinError` (RS014) if their costs are not in one unit.
        """
        units = {prices.unit for prices in (self, others) if prices.has_costs}
        if len(units) > 1:
            said = " and ".join(sorted(unit or "no unit" for unit in units))
            refuse("RS014", f"costs of the table and the scenario are in {said}", "write all in one unit")
        return Prices(self.unit or others.unit, {**others.parts, **self.parts})

    @property
    def has_costs(self) -> bool:
        """Whether any part has a cost."""
        return any(price.cost is not None for price in self.parts.values())

    def of(self, plan: str) -> tuple[dict[str, float], list[str]]:
        """Return cost and power of a plan if every part has them, and the parts without a price."""
        if not self.parts:
            return {}, []
        used = list(_parts(json.loads(plan)))
        missing = sorted({part for part in used if part not in self.parts})
        found: dict[str, float] = {}
        for name, values in (
            ("cost", [self.parts[part].cost for part in used if part in self.parts]),
            ("power", [self.parts[part].power_w for part in used if part in self.parts]),
        ):
            if not missing and None not in values:
                found[name] = math.fsum(value for value in values if value is not None)
        return found, missing


def _price(row: dict[str, Any], file: str, line: int) -> Price:
    def number(name: str) -> float | None:
        text = (row[name] or "").strip()
        try:
            value = float(text) if text else None
        except ValueError:
            value = math.nan
        if value is not None and not 0 <= value < math.inf:
            refuse(
                "RS014", f"line {line}: `{text}` is no {name}", "write a number that is not negative", file
            )
        return value

    source, date = ((row[name] or "").strip() for name in ("source", "date"))
    try:
        datetime.date.fromisoformat(date)
    except ValueError:
        refuse("RS014", f"line {line}: `{date}` is no date", "write when it was so, as 2026-01-31", file)
    if not source:
        refuse(
            "RS014", f"line {line}: it has no source", "say who told it: an offer, a list, an estimate", file
        )
    return Price(number("cost"), number("power_w"), source, date)


def _parts(plan: dict[str, Any]) -> Iterator[str]:
    """Yield the part of every component and of every device in a link."""
    for name, component in plan.get("machine", {}).items():
        # a component without a part appears by its own name among those without a price
        yield component.get("part") or name if isinstance(component, dict) else str(component)
    for link in plan.get("links", {}).values():
        for via in link.get("via") or []:
            yield via["part"] if isinstance(via, dict) else str(via)
