"""Inserts figures from results into an author's text, so that it stays correct with other results.

`{{runs RUN}}` is the number and length of the program's runs, `{{made RUN}}` the day, and `{{within RUN
METRIC VARIANT…}}` how far a metric's intervals reach from its value, relative to the value.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from lanetwin.language import current, tr
from lanetwin.numbers import NARROW_SPACE, fixed
from lanetwin.study.document import Pick
from lanetwin.study.paper import Entry, Paragraph, Plot, Table
from lanetwin.study.picking import rows_of

if TYPE_CHECKING:
    from lanetwin.results import Results
    from lanetwin.study.evidence import Evidence
    from lanetwin.study.paper import Content
    from lanetwin.study.picking import Place

UNKNOWN = "–"
"""Placeholder for a figure that results do not have."""
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_BLANK = re.compile(r"\{\{([^{}]*)\}\}")


def filled(content: Content, evidence: Evidence, place: Place) -> Content:
    """Return content with the figures inserted.

    Raises `LanetwinError` if a name does not exist.
    """

    def text(words: str) -> str:
        return _BLANK.sub(lambda found: _figure(found[1].split(), evidence, place), words)

    if isinstance(content, Paragraph):
        return Paragraph(text(content.text))
    if isinstance(content, Plot):
        return replace(content, notes=tuple(map(text, content.notes)))
    if isinstance(content, Table):
        rows = tuple(tuple(_entry(cell, text(cell.text)) for cell in row) for row in content.rows)
        return replace(content, rows=rows, notes=tuple(map(text, content.notes)))
    return content


def _entry(cell: Entry, text: str) -> Entry:
    return cell if text == cell.text else replace(cell, text=text)


def _figure(words: list[str], evidence: Evidence, place: Place) -> str:
    what, run, more = (words[:1] or [""])[0], (words[1:2] or [""])[0], words[2:]
    results = evidence.runs.get(run)
    if results is None and (run in evidence.left_out or not evidence.is_complete):
        return UNKNOWN
    if results is None:
        known = ", ".join(evidence.runs)
        raise place.error(f"`{{{{{' '.join(words)}}}}}` names no run", f"name one of {known}")
    if what == "runs" and not more:
        return _times(results)
    if what == "made" and not more:
        return _day(results)
    if what == "within" and len(more) > 1:
        return _reach(results, run, more, place)
    raise place.error(
        f"`{{{{{' '.join(words)}}}}}` is no figure of results",
        "write `{{runs RUN}}`, `{{made RUN}}` or `{{within RUN METRIC VARIANT…}}`",
    )


def _times(results: Results) -> str:
    """Describe how often each variant ran, and for how long: the last word of the command is the seconds."""
    options = results["options"] or {}
    repeats, seconds = options.get("repeats"), str((options.get("command") or [""])[-1])
    if not repeats or not seconds.isdecimal():
        return UNKNOWN
    return f"{repeats} × {seconds}{NARROW_SPACE}s"


def _day(results: Results) -> str:
    made = (results["options"] or {}).get("made")
    if not made:
        return UNKNOWN
    day = date.fromisoformat(made)
    month = MONTHS[day.month - 1] if current() == "en" else day.month
    return tr("{day} {month} {year}", day=day.day, month=month, year=day.year)


def _reach(results: Results, run: str, more: list[str], place: Place) -> str:
    metric, *names = more
    parts = []
    for variant in names:
        rows = rows_of(results, Pick(run, variant=variant, metric=metric))
        if len(rows) != 1 or not rows[0]["value"]:
            raise place.error(
                f"{run}, {variant}, {metric}: {len(rows)} rows of the run fit",
                "name a metric and variants of it",
            )
        value, low, high = (rows[0][end] for end in ("value", "low", "high"))
        parts.append(max(high - value, value - low) / value)
    ends = list(
        dict.fromkeys(f"±{NARROW_SPACE}{fixed(part * 100, 0)}{NARROW_SPACE}%" for part in sorted(parts))
    )
    return ends[0] if len(ends) == 1 else tr("{least} to {most}", least=ends[0], most=ends[-1])
