"""The tables of accuracy in README.md and CLAIMS.md: a row for each claim, written from what it comes to.

They stand between the marks `<!-- generated: accuracy -->` and `<!-- end -->`. A run of some claims rewrites
their rows and leaves the others, so that claims that take minutes are not run for every change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from lanetwin import engine

MARKED = re.compile(r"(?<=<!-- generated: accuracy -->\n).*?(?=<!-- end -->)", re.S)
ROW = re.compile(r"^\| `([a-z0-9-]+)`.*\n", re.M)


@dataclass(frozen=True, slots=True)
class Figures:
    """What one claim came to."""

    claim: engine.Claim
    worst_pct: float
    """The largest error of what is predicted [%]."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page: its head, and the cells of a claim behind its name."""

    head: str
    cells: Callable[[Figures], Iterable[str]]

    def row(self, figures: Figures) -> str:
        """Return the row of a claim."""
        name = f"`{figures.claim['claim']}`"
        return f"| {' | '.join([name, *self.cells(figures)])} |\n"


def percent(value: float | None) -> str:
    """Write an error as far as it can be trusted; a dash if there is none."""
    if value is None:
        return "–"
    if 0 < value < 0.001:
        return "< 0.001 %"
    digits = 1 if value >= 1 else 2 if value >= 0.1 else 3
    return f"{value:.{digits}f} %" if value else "0 %"


def _errors(found: Figures) -> list[str]:
    claim = found.claim
    return [
        str(claim["predicted_rows"]),
        percent(claim["mape_pct"]),
        percent(found.worst_pct),
        percent(claim["baseline_mape_pct"]),
    ]


def _met(found: Figures) -> str:
    return "met" if found.claim["met"] else "**missed**"


README = Table(
    "| Claim | What is predicted | Values | Error, mean | largest | closed form | Bar |\n"
    "|---|---|--:|--:|--:|--:|---|\n",
    lambda found: [found.claim["about"], *_errors(found), _met(found)],
)
CLAIMS = Table(
    "| Claim | Bar | Values | Error, mean | largest | closed form | Free numbers | Bar is"
    " | Command |\n"
    "|---|---|--:|--:|--:|--:|--:|---|---|\n",
    lambda found: [
        found.claim["bar"],
        *_errors(found),
        str(found.claim["free_parameters"]),
        _met(found),
        f"`.venv/bin/lanetwin validate {found.claim['claim']}`",
    ],
)


def figures(validation: engine.Validation) -> list[Figures]:
    """Return what each claim of a validation came to."""
    return [
        Figures(claim, max(abs(row["error_pct"]) for row in validation["rows"] if _predicts(row, claim)))
        for claim in validation["claims"]
    ]


def _predicts(row: engine.ValidationRow, claim: engine.Claim) -> bool:
    return row["claim"] == claim["claim"] and row["role"] == "predicted"


def claims_of(page: str) -> list[str]:
    """Return the claims that the table of a page has a row on, in order."""
    return ROW.findall(_block(page))


def rewritten(page: str, table: Table, found: list[Figures], order: list[str]) -> str:
    """Return the page with the rows of these claims as they are now; rows of other claims in `order` stay."""
    rows = {row[1]: row[0] for row in ROW.finditer(_block(page)) if row[1] in order}
    rows |= {one.claim["claim"]: table.row(one) for one in found}
    body = table.head + "".join(rows[name] for name in order if name in rows)
    return MARKED.sub(lambda _: body, page, count=1)


def _block(page: str) -> str:
    found = MARKED.search(page)
    if not found:
        raise ValueError("the page has no block `<!-- generated: accuracy -->` … `<!-- end -->`")
    return found[0]


def _shipped_parts(scenario: Path) -> set[str]:
    """Return the parts that a scenario names, in its machine, its links and its variants."""
    found: set[str] = set()

    def look(node: object, key: str = "") -> None:
        name = key.rsplit(".", 1)[-1]
        if isinstance(node, dict):
            for inner, value in node.items():
                look(value, str(inner))
        elif isinstance(node, list):
            for value in node:
                look(value, key)
        elif isinstance(node, str) and name in ("part", "via"):
            found.add(node)

    document = yaml.safe_load(scenario.read_text(encoding="utf-8"))
    for section in ("machine", "links", "variants"):
        look(document.get(section))
    return found


def by_part(root: Path) -> str:
    """Return the table by part: in which claims it stands, and how far those are from what was published."""
    page = (root / "CLAIMS.md").read_text(encoding="utf-8")
    cells = {row[1]: row[0].strip("| \n").split(" | ") for row in ROW.finditer(_block(page))}
    shipped = {part.stem for part in (root / "parts").glob("*.yaml")}
    rows = []
    for claim, (_, _bar, values, mean, largest, closed, *_, met, _command) in cells.items():
        described = yaml.safe_load(
            (root / "validation" / "claims" / f"{claim}.yaml").read_text(encoding="utf-8")
        )
        for scenario in sorted({table.get("scenario", "") for table in described["tables"]}):
            if scenario and not scenario.startswith("link/"):
                figures = f"`scenarios/{scenario}` | {values} | {mean} | {largest} | {closed} | {met}"
                parts = _shipped_parts(root / "scenarios" / scenario) & shipped
                rows += [f"| `{part}` | `{claim}` | {figures} |\n" for part in parts]
    head = (
        "| Part | Claim | Shipped in | Published values | Error, mean | largest | closed form | Bar is |\n"
        "|---|---|---|--:|--:|--:|--:|---|\n"
    )
    return head + "".join(sorted(rows))
