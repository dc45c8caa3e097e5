"""Reading the blocks of a study: text, tables, figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lanetwin.study.document import (
    ROLES,
    Budget,
    Cell,
    Drawn,
    Grid,
    Listing,
    Missing,
    Packet,
    Pick,
    Prose,
    Published,
    Reckoned,
    Sheet,
    Stability,
)
from lanetwin.study.reading import Section, Words, closest, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from lanetwin.engine import Outline
    from lanetwin.study.document import Block
    from lanetwin.study.reading import Reports

PICK = ("run", "variant", "workload", "case", "metric", "device", "percentile")
"""The keys of a selection of rows."""
COMMON = ("table", "figure", "title", "note")
"""The keys of every numbered block."""
NUMBERED_HERE = "+"
"""The number of a block that the original does not have: A1, A2 and so on."""
DRAWINGS = (
    "topology",
    "bars",
    "sweep",
    "curve",
    "speed",
    "waterfall",
    "levels",
    "percentiles",
    "loss",
    "eye",
)
"""The kinds of figures."""


@dataclass(frozen=True, slots=True)
class Context:
    """Names that blocks may refer to."""

    reports: Reports
    names: dict[str, tuple[str, ...]]
    """The names of runs, channels and cycles."""

    def require(self, kind: str, name: str, section: Section, key: str) -> None:
        """Report a name that is not declared."""
        known = self.names[kind]
        if name not in known:
            remedy = closest(name, known) if known else f"declare it under `{kind}`"
            section.fault(key, f"there is no `{name}` under `{kind}`", remedy, "ST003")


def is_figure(block: Block) -> bool:
    """Return whether a block is numbered as a figure."""
    return isinstance(block, Drawn | Packet) or (isinstance(block, Missing) and block.is_figure)


def blocks(root: Section, key: str, context: Context) -> tuple[Block, ...]:
    """Return the blocks of a chapter."""
    found = []
    for item, path in root.items(key):
        block = _block(item, path, context)
        if block is not None:
            found.append(block)
    return tuple(found)


def pick_of(section: Section, base: Pick) -> Pick:
    """Return a selection of rows that narrows another one."""
    cases = section.names("case")
    percentile = section.number("percentile", base.percentile)
    return replace(
        base,
        run=section.text("run", base.run),
        variant=section.text("variant", base.variant),
        workload=_both(base.workload, section.text("workload", "*")),
        cases=base.cases + cases,
        metric=section.text("metric", base.metric),
        device=section.text("device", base.device),
        percentile=percentile,
    )


def _both(outer: str, inner: str) -> str:
    """Return a pattern for the intersection of two: a prefix and a suffix are joined.

    >>> _both("*", "read"), _both("read*", "*1"), _both("*1", "read*"), _both("read", "write")
    ('read', 'read*1', 'read*1', 'write')
    """
    if outer == "*" or inner == "*":
        return outer if inner == "*" else inner
    if outer.endswith("*") and inner.startswith("*"):
        return outer[:-1] + inner
    if inner.endswith("*") and outer.startswith("*"):
        return inner[:-1] + outer
    return inner


def _block(item: Outline, path: str, context: Context) -> Block | None:
    probe = Section(item, path, context.reports, None)
    readers: dict[str, Callable[[Outline, str, Context], Block]] = {
        "text": _prose,
        "missing": _missing,
        "photograph": _photograph,
        "head": _listing,
        "cells": _grid,
        "part": _sheet,
        "cycles": _stability,
        "budget": _budget,
        "reckon": _reckoned,
        "fields": _packet,
    }
    kinds = [kind for kind in (*readers, *DRAWINGS) if kind in probe]
    if len(kinds) != 1:
        words = ", ".join((*readers, *DRAWINGS))
        probe.fault("title", "a block is one thing", f"give it one of {words}")
        return None
    reader = readers.get(kinds[0])
    block = reader(item, path, context) if reader else _drawn(item, path, kinds[0], context)
    if not isinstance(block, Prose) and not block.number:
        probe.fault("title", "the block has no number", "write `table: …` or `figure: …`")
    return block


def _numbered(section: Section) -> tuple[str, Words, Words]:
    key = "figure" if "figure" in section else "table"
    return section.text(key), section.words("title"), section.words("note")


def _prose(item: Outline, path: str, context: Context) -> Block:
    section = Section(item, path, context.reports, ("text", "title"))
    return Prose(item, path, "", section.words("title"), Words(), section.words("text"))


def _missing(item: Outline, path: str, context: Context) -> Block:
    section = Section(item, path, context.reports, (*COMMON, "missing"))
    return Missing(item, path, *_numbered(section), "figure" in section, section.words("missing"))


def _photograph(item: Outline, path: str, context: Context) -> Block:
    section = Section(item, path, context.reports, (*COMMON, "photograph"))
    words = section.words("photograph")
    return Missing(item, path, *_numbered(section), "figure" in section, words, is_photograph=True)


def _packet(item: Outline, path: str, context: Context) -> Block:
    section = Section(item, path, context.reports, (*COMMON, "fields"))
    fields = []
    for node, where in section.items("fields"):
        one = Section(node, where, context.reports, ("name", "size", "is"))
        holds = one.text("is", "overhead")
        if holds not in ("data", "overhead"):
            one.fault("is", f"a field is data or overhead, not `{holds}`", "write `is: data`, or nothing")
        fields.append((one.words("name", required=True), one.words("size", required=True), holds == "data"))
    return Packet(item, path, *_numbered(section), tuple(fields))


def _listing(item: Outline, path: str, context: Context) -> Block:
    section = Section(item, path, context.reports, (*COMMON, "head", "rows"))
    columns = _row(section.at("head"), f"{path}.head", context)
    rows = tuple(_row(row, where, context) for row, where in section.items("rows"))
    for (row, where), cells in zip(section.items("rows"), rows, strict=True):
        if len(cells) != len(columns):
            message = f"the row has {len(cells)} cells, the table {len(columns)} columns"
            context.reports.add("ST002", row, where, message, "give every column a cell")
    return Listing(item, path, *_numbered(section), columns, rows)


def _row(node: Outline, path: str, context: Context) -> tuple[Words, ...]:
    if "items" not in node:
        context.reports.add("ST002", node, path, f"`{path}` is not a list", "write [one, two]")
        return ()
    return tuple(_words(cell, f"{path}[{nth}]", context) for nth, cell in enumerate(node["items"]))


def _words(node: Outline, path: str, context: Context) -> Words:
    holder: Outline = {"line": node["line"], "column": node["column"], "entries": [("text", node)]}
    return Section(holder, path, context.reports, None).words("text")


def _sheet(item: Outline, path: str, context: Context) -> Block:
    section = Section(item, path, context.reports, (*COMMON, "part"))
    return Sheet(item, path, *_numbered(section), section.text("part", required=True))


def _budget(item: Outline, path: str, context: Context) -> Block:
    section = Section(item, path, context.reports, (*COMMON, "budget"))
    name = section.text("budget", required=True)
    context.require("channels", name, section, "budget")
    return Budget(item, path, *_numbered(section), name)


def _reckoned(item: Outline, path: str, context: Context) -> Block:
    section = Section(item, path, context.reports, (*COMMON, "reckon", "corner", "rows"))
    rows = []
    for node, where in section.items("rows"):
        row = Section(node, where, context.reports, ("name", "sum", "per"))
        terms = tuple(_factors(text, "sum", row, context) for text in row.names("sum"))
        if not terms:
            row.fault("sum", "there is nothing to add", "write `sum: [3 * one, another]`")
        per = _factors(row.text("per"), "per", row, context) if "per" in row else ()
        rows.append((row.words("name", required=True), terms, per))
    unit = section.text("reckon", required=True)
    return Reckoned(item, path, *_numbered(section), unit, section.words("corner"), tuple(rows))


def _factors(text: str, key: str, row: Section, context: Context) -> tuple[str, ...]:
    """Return the factors of a product: names of numbers, and numbers themselves."""
    factors = tuple(word.strip() for word in text.split("*"))
    for factor in factors:
        if not factor.replace(".", "", 1).isdecimal():
            context.require("numbers", factor, row, key)
    return factors


def _stability(item: Outline, path: str, context: Context) -> Block:
    section = Section(item, path, context.reports, (*COMMON, "cycles", "links", "tests"))
    name = section.text("cycles", required=True)
    context.require("cycles", name, section, "cycles")
    return Stability(
        item, path, *_numbered(section), name, _named(section, "links"), _named(section, "tests")
    )


def _named(section: Section, key: str) -> tuple[tuple[str, Words], ...]:
    """Return names with their labels."""
    if key not in section:
        return ()
    inner = Section(section.at(key), f"{section.path}.{key}", section.reports, None)
    return tuple((name, inner.words(name)) for name in inner.entries)


def _grid(item: Outline, path: str, context: Context) -> Block:
    section = Section(
        item, path, context.reports, (*COMMON, "cells", "unit", "corner", "columns", "rows", "role", "change")
    )
    base = pick_of(Section(section.at("cells"), f"{path}.cells", context.reports, PICK), Pick())
    columns = [_part(node, where, context) for node, where in section.items("columns")]
    role = section.text("role", "predicted")
    rows = [_grid_row(node, where, (base, role, columns), context) for node, where in section.items("rows")]
    return Grid(
        item,
        path,
        *_numbered(section),
        section.text("unit", required=True),
        section.words("corner"),
        tuple(name for name, _ in columns),
        tuple(rows),
        section.text("change"),
    )


def _part(node: Outline, path: str, context: Context) -> tuple[Words, Section]:
    section = Section(node, path, context.reports, ("name", *PICK))
    return section.words("name", required=True), section


def _grid_row(
    node: Outline, path: str, given: tuple[Pick, str, list[tuple[Words, Section]]], context: Context
) -> tuple[Words, tuple[Cell | None, ...]]:
    base, role, columns = given
    section = Section(node, path, context.reports, ("name", *PICK, "published", "role"))
    own = pick_of(section, base)
    published = section.items("published")
    if published and len(published) != len(columns):
        message = f"{len(published)} published values for {len(columns)} columns"
        section.fault("published", message, "write a value for every column, `none` where there is none")
        published = []
    roles = section.names("role") or (role,)
    roles = roles * len(columns) if len(roles) == 1 else roles
    if len(roles) != len(columns) or any(one not in ROLES for one in roles):
        section.fault("role", "a role for all columns, or for each", f"known are {', '.join(ROLES)}")
        roles = ("predicted",) * len(columns)
    cells = []
    for nth, (_, column) in enumerate(columns):
        pick = pick_of(column, own)
        context.require("runs", pick.run, column, "run")
        cells.append(Cell(pick, _published(published, nth, roles[nth], context)))
    return section.words("name", required=True), tuple(cells)


def _published(found: list[tuple[Outline, str]], nth: int, role: str, context: Context) -> Published | None:
    if not found:
        return None
    node, path = found[nth]
    if node.get("text") in ("none", "–", ""):
        return None
    value = number(node, path, context.reports)
    return None if value is None else Published(value, role)


def _drawn(item: Outline, path: str, kind: str, context: Context) -> Block:
    own = {"sweep": ("whole",), "topology": ("inside",)}.get(kind, ())
    keys = (*COMMON, kind, *PICK, "series", "groups", "unit", *own)
    section = Section(item, path, context.reports, keys)
    of = section.text(kind, required=True)
    context.require("channels" if kind in ("loss", "eye") else "runs", of, section, kind)
    base = pick_of(section, Pick(run=of))
    groups = []
    for node, where in section.items("groups"):
        name, group = _part(node, where, context)
        groups.append((name, pick_of(group, base)))
    return Drawn(
        item,
        path,
        *_numbered(section),
        kind,
        of,
        base,
        _named(section, "series"),
        tuple(groups),
        section.text("unit"),
        _wholes(section, context),
        section.text("inside"),
    )


def _wholes(section: Section, context: Context) -> tuple[tuple[str, float], ...]:
    """Return the value of 100 % for each variant."""
    if "whole" not in section:
        return ()
    section.text("unit", required=True)
    found = []
    for name, node in section.at("whole").get("entries", []):
        where = f"{section.path}.whole.{name}"
        value = number(node, where, context.reports)
        if value is not None and value <= 0:
            context.reports.add("ST002", node, where, f"{value:g} cannot be 100 %", "write more than zero")
        elif value is not None:
            found.append((name, value))
    return tuple(found)
