"""Tables of results: cases down, variants across, each with its comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin import tails
from lanetwin.fit import fitting_all
from lanetwin.numbers import NARROW_SPACE, change, measured, percentile_name
from lanetwin.report.svg import text_width
from lanetwin.steadiness import NOT_STEADY
from lanetwin.summary import spread, tables

if TYPE_CHECKING:
    from lanetwin.results import Outcome, Results, Row
    from lanetwin.summary import CaseLine, ResultTable

HALF_PAGE = 512.0
"""Width of a table beside another one [px]: `.tables` in style.css."""
BODY, SMALL = 14.0, 12.0
"""Sizes of the font in cells and of small print under them [px]: `table` and `td small` in style.css."""
GAP = 16.0
"""Gap between two columns [px]."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a table, and the small print under it."""

    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One case of a table."""

    case: str
    cells: list[Cell]
    comparisons: list[tuple[Cell, Outcome | None]]


@dataclass(frozen=True, slots=True)
class Table:
    """One metric of one workload, ready to print."""

    workload: str
    metric: str
    unit: str
    baseline: str | None
    variants: list[str]
    compared: list[str]
    lines: list[Line]

    @property
    def is_broad(self) -> bool:
        """Whether it needs the page's whole width."""
        has_tails = any(cell.notes for line in self.lines for cell in line.cells)
        return len(self.variants) > 2 or (has_tails and len(self.variants) > 1) or self._width() > HALF_PAGE

    def _width(self) -> float:
        """Estimate the width of its columns [px]."""
        columns = [[("case", BODY), *((line.case, BODY) for line in self.lines)]]
        for nth, name in enumerate(self.variants):
            # a key of the variant's colour is before its name
            columns.append([(f"    {name}", BODY), *((line.cells[nth].text, BODY) for line in self.lines)])
        for nth, _ in enumerate(self.compared):
            judged = [line.comparisons[nth] for line in self.lines]
            columns.append([(note, SMALL) for cell, _ in judged for note in (cell.text, *cell.notes)])
            columns.append([(f"  {outcome}  ", SMALL) for _, outcome in judged if outcome] or [("–", BODY)])
        widest = (max((text_width(text, size) for text, size in column), default=0.0) for column in columns)
        return sum(widest) + GAP * (len(columns) - 1)


def result_tables(results: Results) -> list[Table]:
    """Return the tables of results."""
    return [_table(table) for table in tables(results)]


def _table(table: ResultTable) -> Table:
    compared = table.compared
    fit = fitting_all([row["value"] for line in table.lines for row in line.values.values()], table.unit)
    lines = [_line(line, table.variants, compared, fit.scale) for line in table.lines]
    return Table(table.workload, table.metric, fit.unit, table.baseline, table.variants, compared, lines)


def _line(line: CaseLine, names: list[str], compared: list[str], scale: float) -> Line:
    cells = [_cell(line.values[name], scale) if name in line.values else Cell("–") for name in names]
    comparisons: list[tuple[Cell, Outcome | None]] = []
    for name in compared:
        verdict = line.verdicts.get(name)
        if verdict is None:
            comparisons.append((Cell("–"), None))
        else:
            notes = (spread(verdict), *((NOT_STEADY,) if verdict.get("not_steady") else ()))
            comparisons.append((Cell(change(verdict["change"]), notes), verdict["verdict"]))
    return Line(line.case, cells, comparisons)


SHOWN_PERCENTILES = (50.0, 99.0, 99.9, 100.0)
"""The percentiles in a table; `rows.csv` has all of them."""


def _cell(row: Row, scale: float) -> Cell:
    shown = [(p, value) for p, value in row.get("percentiles", []) if p in SHOWN_PERCENTILES]
    under = [
        f"{percentile_name(p)}{NARROW_SPACE}{tails.told(row, p, value * scale, 3)}" for p, value in shown
    ]
    value, low, high = (number * scale for number in (row["value"], row["low"], row["high"]))
    return Cell(measured(value, low, high), tuple(under))
