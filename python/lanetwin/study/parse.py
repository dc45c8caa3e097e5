"""From a file to a study: checks that keys are known, names declared, and numbers unique."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lanetwin import engine
from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.study import parse_blocks
from lanetwin.study.document import (
    KINDS,
    OUTCOMES,
    Channel,
    Cycles,
    Number,
    Pick,
    Run,
    Statement,
    Study,
    WhatIf,
)
from lanetwin.study.reading import Reports, Section, Words, closest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.engine import Outline
    from lanetwin.study.document import Block

KEYS = (
    "title",
    "about",
    "after",
    "abstract",
    "runs",
    "channels",
    "cycles",
    "numbers",
    "claims",
    "parts",
    "configuration",
    "topology",
    "method",
    "results",
    "time",
    "sensitivity",
    "threats",
    "conclusion",
    "closing",
)
"""The keys of a study."""
STATEMENT = ("says", "verdict", "cycles", "channel", "published", "claim", "expected", "within")
"""The keys of a statement."""


def load(path: Path, *, outside: bool = False) -> Study:
    """Read a study; its files must be in its folder, or anywhere with `outside`.

    Raises `LanetwinError` with all mistakes.
    """
    reports = Reports(path)
    root = Section(engine.document(str(path)), "", reports, KEYS)
    here = _Files(path.parent, outside=outside)
    names = {kind: tuple(root.keys(kind)) for kind in ("runs", "channels", "cycles", "numbers")}
    context = parse_blocks.Context(reports, names)
    runs = _runs(root, here)
    study = Study(
        file=path,
        name=_name(path),
        title=root.words("title", required=True),
        about=root.words("about", required=True),
        after=root.words("after"),
        abstract=root.words("abstract"),
        runs=runs,
        channels=_channels(root, here),
        cycles=_cycles(root, here),
        numbers=_numbers(root, context),
        claims=_claims(root),
        parts=root.names("parts"),
        configuration=parse_blocks.blocks(root, "configuration", context),
        topology=parse_blocks.blocks(root, "topology", context),
        method=parse_blocks.blocks(root, "method", context),
        results=parse_blocks.blocks(root, "results", context),
        time=parse_blocks.blocks(root, "time", context),
        sensitivity=_what_ifs(root, context, runs),
        threats=_threats(root),
        conclusion=_statements(root, context),
        closing=root.words("closing"),
    )
    _numbers_once(study, reports)
    reports.finish()
    return study


def with_results(study: Study, given: Sequence[str]) -> Study:
    """Return a study with the user's own results in place of kept ones: RUN=FOLDER.

    Raises `LanetwinError` (ST003) if a run keeps no results.
    """
    runs = dict(study.runs)
    kept = [name for name, run in runs.items() if run.is_kept]
    for one in given:
        name, equals, folder = one.partition("=")
        if not equals or name not in kept:
            message = f"the study keeps no results `{name}`" if equals else f"`{one}` is not RUN=FOLDER"
            remedy = closest(name, kept) if kept else "leave --results out"
            raise LanetwinError("", [Diagnostic("ST003", "error", message, remedy, str(study.file))])
        runs[name] = replace(runs[name], file=Path(folder))
    return replace(study, runs=runs)


def _name(path: Path) -> str:
    stem = path.parent.name if path.stem == "study" else path.stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.") or "study"


class _Files:
    """The permitted places of a study's files."""

    def __init__(self, folder: Path, *, outside: bool) -> None:
        self.folder, self.outside = folder, outside

    def named(self, section: Section, key: str) -> Path:
        """Return the file that a key names."""
        text = section.text(key, required=True)
        path = Path(text)
        leaves = path.is_absolute() or ".." in path.parts or self._leads_out(path)
        if text and leaves and not self.outside:
            remedy = "put the file beside the study, or allow it with --outside"
            section.fault(key, f"{text} lies out of the folder of the study", remedy, "ST004")
        elif text and not (self.folder / path).is_file():
            section.fault(
                key, f"there is no file {text}", "name a file, from the folder of the study", "ST003"
            )
        return self.folder / path

    def _leads_out(self, path: Path) -> bool:
        """Return whether symbolic links lead out of the folder."""
        return not (self.folder / path).resolve().is_relative_to(self.folder.resolve())


def _runs(root: Section, here: _Files) -> dict[str, Run]:
    found = {}
    for name, one in root.sections("runs", ("scenario", "results", "set", "quick")).items():
        if "results" in one:
            found[name] = _kept(name, one, here)
            continue
        is_in_quick = "quick" not in one or one.at("quick").get("text") != "no"
        quick = one.names("quick") if is_in_quick else ()
        found[name] = Run(name, here.named(one, "scenario"), _sets(one, "set"), quick, is_in_quick)
        for change in quick:
            if "=" not in change:
                one.fault(
                    "quick",
                    f"`{change}` is not of the form path=value",
                    "write `no`, or for example run.repeats=2",
                )
    return found


def _kept(name: str, one: Section, here: _Files) -> Run:
    """Return kept results, which cannot be changed."""
    for key in ("scenario", "set", "quick"):
        if key in one:
            one.fault(key, f"`{key}` says nothing of results that are kept", "leave it out, or `results`")
    return Run(name, here.named(one, "results"), (), (), True, True)


def _sets(one: Section, key: str) -> tuple[str, ...]:
    changes = one.names(key)
    for change in changes:
        if "=" not in change:
            one.fault(key, f"`{change}` is not of the form path=value", "write for example links.slot.gen=4")
    return changes


def _channels(root: Section, here: _Files) -> dict[str, Channel]:
    return {
        name: Channel(name, here.named(one, "file"), one.text("eyes", "yes") == "yes")
        for name, one in root.sections("channels", ("file", "eyes")).items()
    }


def _cycles(root: Section, here: _Files) -> dict[str, Cycles]:
    known = ("file", "variants", "tests", "count", "power-count", "quick")
    found = {}
    for name, one in root.sections("cycles", known).items():
        count = one.count("count", 10_000)
        found[name] = Cycles(
            name,
            here.named(one, "file"),
            one.names("variants"),
            one.names("tests") or ("all",),
            count,
            one.count("power-count", max(count // 10, 1)),
            one.count("quick", min(count, 1000)),
        )
    return found


def _numbers(root: Section, context: parse_blocks.Context) -> dict[str, Number]:
    """Return the study's numbers: each with its kind, source and date, or from a run."""
    known = ("title", "unit", "value", "kind", "source", "date", *parse_blocks.PICK)
    found = {}
    for name, one in root.sections("numbers", known).items():
        pick = parse_blocks.pick_of(one, Pick())
        value = None if pick.run else one.number("value")
        kind, date = one.text("kind"), one.text("date")
        if pick.run:
            context.require("runs", pick.run, one, "run")
        elif value is None:
            one.fault("value", "the number has no value", "write `value: 3`, or `run: …` if a run has it")
        elif kind not in KINDS:
            one.fault("kind", f"there is no kind `{kind}` of numbers", closest(kind, KINDS))
        elif not one.words("source"):
            one.fault("source", "the number has no source", "say who told it: an offer, a list, an estimate")
        elif date and not is_date(date):
            one.fault("date", f"`{date}` is no date", "write when it was so, as 2026-01-31")
        title = one.words("title") or Words.of(name)
        unit = one.text("unit", required=True)
        node = one.node
        found[name] = Number(node, one.path, title, unit, value, pick, kind, one.words("source"), date)
    return found


def is_date(text: str) -> bool:
    """Whether a text is a date as 2026-01-31.

    >>> is_date("2026-01-31"), is_date("2026-02-31")
    (True, False)
    """
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _claims(root: Section) -> tuple[str, ...]:
    names = root.names("claims")
    known = [one["claim"] for one in engine.claims()] if names else []
    for name in names:
        if name not in known:
            root.fault("claims", f"there is no claim `{name}`", closest(name, known), "ST003")
    return names


def _threats(root: Section) -> tuple[Words, ...]:
    found = []
    for item, path in root.items("threats"):
        inner = Section({**item, "entries": [("text", item)]}, path, root.reports, None)
        found.append(inner.words("text"))
    return tuple(found)


def _what_ifs(root: Section, context: parse_blocks.Context, runs: dict[str, Run]) -> tuple[WhatIf, ...]:
    found = []
    for item, path in root.items("sensitivity"):
        one = Section(item, path, root.reports, ("says", "run", "set", "watch"))
        run = one.text("run", required=True)
        context.require("runs", run, one, "run")
        if run in runs and runs[run].is_kept:
            one.fault("run", f"nothing can be changed in the results `{run}`", "name a run of a scenario")
        picks = [
            parse_blocks.pick_of(Section(watched, where, root.reports, parse_blocks.PICK), Pick(run=run))
            for watched, where in one.items("watch")
        ]
        found.append(
            WhatIf(item, path, one.words("says", required=True), run, _sets(one, "set"), tuple(picks))
        )
    return tuple(found)


def _statements(root: Section, context: parse_blocks.Context) -> tuple[Statement, ...]:
    found = []
    for item, path in root.items("conclusion"):
        one = Section(item, path, root.reports, STATEMENT)
        kinds = [kind for kind in ("verdict", "cycles", "channel", "published", "claim") if kind in one]
        if len(kinds) != 1:
            one.fault(
                "says", "a statement rests on one thing", "say verdict, cycles, channel, published or claim"
            )
            continue
        found.append(_statement(one, item, kinds[0], context))
    return tuple(found)


def _statement(one: Section, item: Outline, kind: str, context: parse_blocks.Context) -> Statement:
    pick, of = Pick(), ""
    if kind == "verdict":
        inner = Section(one.at(kind), f"{one.path}.{kind}", one.reports, parse_blocks.PICK)
        pick = parse_blocks.pick_of(inner, Pick())
        context.require("runs", pick.run, inner, "run")
    elif kind in ("cycles", "channel"):
        inner = Section(one.at(kind), f"{one.path}.{kind}", one.reports, ("of", "variant"))
        of = inner.text("of", required=True)
        pick = Pick(variant=inner.text("variant", "*"))
        context.require("cycles" if kind == "cycles" else "channels", of, inner, "of")
    else:
        of = one.text(kind)
    expected = one.text("expected", "equivalent" if kind == "verdict" else "")
    if kind == "verdict" and expected not in OUTCOMES:
        one.fault("expected", f"there is no verdict `{expected}`", closest(expected, OUTCOMES))
    within = one.number("within", 10.0) or 10.0
    return Statement(item, one.path, one.words("says", required=True), kind, pick, of, expected, within)


def _numbers_once(study: Study, reports: Reports) -> None:
    seen: dict[tuple[bool, str], Block] = {}
    for chapter in (study.configuration, study.topology, study.method, study.results, study.time):
        for block in chapter:
            if block.number in ("", parse_blocks.NUMBERED_HERE):
                continue
            if re.fullmatch(r"A\d+", block.number):
                message = f"{block.number} is a number of what the program adds"
                reports.add("ST002", block.node, block.path, message, "write `+`, and it is given one")
            key = (parse_blocks.is_figure(block), block.number)
            if key in seen:
                kind = "figure" if key[0] else "table"
                message = f"{kind} {block.number} stands at line {seen[key].node['line']} already"
                reports.add("ST002", block.node, block.path, message, "give it a number of its own")
            seen.setdefault(key, block)
