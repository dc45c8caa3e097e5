"""Calculations: sums and products of numbers of the study, with their sources, or of runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lanetwin.language import tr
from lanetwin.numbers import change, significant
from lanetwin.study.paper import Entry, Table
from lanetwin.study.picking import Place, cite_run, reading_of
from lanetwin.study.tables import NOT_COMPUTED, kind_word, plain_number
from lanetwin.summary import unique

if TYPE_CHECKING:
    from lanetwin.study.document import Number, Reckoned
    from lanetwin.study.tables import Desk


def table(block: Reckoned, desk: Desk) -> Table:
    """Return the result of each row, its calculation and ratio to the first, and every number's source.

    Raises `LanetwinError` if a run does not have a requested number.
    """
    told, numbers = desk.language, desk.study.numbers
    used = unique(
        factor
        for _, terms, per in block.rows
        for term in (*terms, per)
        for factor in term
        if factor in numbers
    )
    known = {name: _value(numbers[name], desk) for name in used}
    rows: list[tuple[Entry, ...]] = []
    first: float | None = None
    for name, terms, per in block.rows:
        value = _total(terms, per, known)
        beside = change(value / first - 1) if rows and value is not None and first else ""
        first = value if not rows else first
        shown = NOT_COMPUTED if value is None else significant(value)
        way = _way(terms, per, desk)
        rows.append(
            (Entry(name.told(told)), Entry(way), Entry(shown, is_number=True), Entry(beside, is_number=True))
        )
    head = (
        Entry(block.corner.told(told)),
        Entry(tr("reckoned as")),
        Entry(block.unit, is_number=True),
        Entry(tr("beside the first"), is_number=True),
    )
    notes = [_told(numbers[name], known[name], desk) for name in used]
    if block.note:
        notes.append(block.note.told(told))
    runs = unique(numbers[name].pick.run for name in used if numbers[name].pick.run)
    cites = tuple(cite_run(desk.evidence, run) for run in runs)
    return Table(block.number, block.title.told(told), head, tuple(rows), tuple(notes), cites)


def _value(number: Number, desk: Desk) -> float | None:
    if number.value is not None:
        return number.value
    place = Place(desk.study.file, number.node, number.path)
    reading = reading_of(desk.evidence, number.pick, number.unit, place)
    return reading.value if reading else None


def _product(factors: tuple[str, ...], known: dict[str, float | None]) -> float | None:
    values = [known[factor] if factor in known else float(factor) for factor in factors]
    return None if None in values else math.prod(value for value in values if value is not None)


def _total(
    terms: tuple[tuple[str, ...], ...], per: tuple[str, ...], known: dict[str, float | None]
) -> float | None:
    products = [_product(term, known) for term in terms]
    divisor = _product(per, known)
    if None in products or not divisor:
        return None
    return math.fsum(value for value in products if value is not None) / divisor


def _way(terms: tuple[tuple[str, ...], ...], per: tuple[str, ...], desk: Desk) -> str:
    def named(factors: tuple[str, ...]) -> str:
        numbers = desk.study.numbers
        return " × ".join(
            numbers[factor].title.told(desk.language) if factor in numbers else factor for factor in factors
        )

    text = " + ".join(named(term) for term in terms)
    if not per:
        return text
    above = f"({text})" if len(terms) > 1 else text
    below = f"({named(per)})" if len(per) > 1 else named(per)
    return f"{above} / {below}"


def _told(number: Number, value: float | None, desk: Desk) -> str:
    """Describe a number and its source."""
    title = number.title.told(desk.language)
    write = significant if number.value is None else plain_number
    shown = NOT_COMPUTED if value is None else f"{write(value)} {number.unit}".strip()
    if number.value is None:
        return tr("{name}: {value}, of the run {run}.", name=title, value=shown, run=number.pick.run)
    source = number.source.told(desk.language)
    said = tr("{what}, {when}", what=source, when=number.date) if number.date else source
    return tr(
        "{name}: {value} ({kind}: {source}).",
        name=title,
        value=shown,
        kind=kind_word(number.kind),
        source=said,
    )
