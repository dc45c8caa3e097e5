"""From the tables of a study to tables of a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.fit import brief
from lanetwin.language import tr
from lanetwin.numbers import by_powers, change, fixed, share
from lanetwin.study.paper import Absent, Entry, Table
from lanetwin.study.picking import Place, cite_link, cite_run, is_simulated, nature, reading_of, verdicts_of
from lanetwin.study.reading import Words
from lanetwin.summary import unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.study.document import Budget, Cell, Grid, Listing, Missing, Sheet, Stability, Study
    from lanetwin.study.evidence import Evidence
    from lanetwin.study.picking import Reading

NOT_COMPUTED = "–"
"""Placeholder for a value that a quick study leaves out."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A published value beside its prediction."""

    table: str
    case: str
    unit: str
    published: float
    predicted: float | None
    role: str

    @property
    def error(self) -> float | None:
        """The relative error of the prediction."""
        if self.predicted is None or not self.published:
            return None
        return self.predicted / self.published - 1


@dataclass(frozen=True, slots=True)
class Desk:
    """The context for tables and figures."""

    study: Study
    evidence: Evidence
    language: str


def word(outcome: str) -> str:
    """Return a verdict in the current language."""
    return {
        "better": tr("better"),
        "worse": tr("worse"),
        "equivalent": tr("equivalent"),
        "inconclusive": tr("inconclusive"),
    }.get(outcome, outcome)


def role_word(role: str) -> str:
    """Return the role of a published number in words."""
    return {
        "predicted": tr("predicted"),
        "calibrated": tr("calibrated"),
        "input": tr("given to the model"),
    }[role]


def missing(block: Missing, desk: Desk) -> Absent:
    """Return the note in place of a table or figure that is not modelled, or of a photograph."""
    told = desk.language
    reason = tr("photograph, not reproduced") if block.is_photograph else tr("not modelled yet")
    return Absent(block.number, block.title.told(told), block.is_figure, block.why.told(told), reason)


def listing(block: Listing, desk: Desk) -> Table:
    """Return a table of the author."""
    told = desk.language
    head = tuple(Entry(name.told(told)) for name in block.columns)
    rows = tuple(tuple(Entry(cell.told(told)) for cell in row) for row in block.rows)
    return Table(block.number, block.title.told(told), head, rows, _notes(block.note.told(told)))


def _notes(*texts: str) -> tuple[str, ...]:
    return tuple(text for text in texts if text)


def sheet(block: Sheet, desk: Desk) -> Table:
    """Return the data sheet of a part: every number with its kind and source."""
    part = engine.part(block.part)
    head = (tr("parameter"), tr("value"), tr("kind"), tr("source"))
    rows = tuple(
        (
            Entry(one["parameter"]),
            Entry(one["value"]),
            Entry(kind_word(one["kind"])),
            Entry("; ".join(text for text in (_source(one["source"]), one["note"]) if text)),
        )
        for one in part["parameters"]
    )
    told = desk.language
    title = block.title.told(told) or part["about"]
    original = tr("Sources are given as they were written, in English.") if told != "en" else ""
    heads = tuple(Entry(name) for name in head)
    return Table(block.number, title, heads, rows, _notes(original, block.note.told(told)))


def _source(text: str) -> str:
    """Return the source of a number; a missing source in the current language.

    >>> _source("none; an engineering estimate, beside others")
    'none; an engineering estimate, beside others'
    """
    rest = text.removeprefix("none; an engineering estimate")
    return tr("none; an engineering estimate") + rest if rest != text else text


def kind_word(kind: str) -> str:
    """Return the kind of a number in words."""
    return {
        "datasheet": tr("data sheet"),
        "measured": tr("measured"),
        "standard": tr("standard"),
        "assumed": tr("assumed"),
        "calibrated": tr("calibrated"),
    }.get(kind, kind)


def grid(block: Grid, desk: Desk) -> tuple[Table, list[Compared]]:
    """Return a table of results, and its published values beside their predictions."""
    told = desk.language
    compared: list[Compared] = []
    rows = []
    for name, cells in block.rows:
        entries = [Entry(name.told(told))]
        for column, cell in zip(block.columns, cells, strict=True):
            case = tr("{row}, {column}", row=name.told(told), column=column.told(told))
            entries.append(_cell(block, cell, case, desk, compared) if cell else Entry(NOT_COMPUTED))
        rows.append(tuple(entries))
    head = (
        Entry(block.corner.told(told)),
        *(Entry(name.told(told), is_number=True) for name in block.columns),
    )
    runs = unique(cell.pick.run for _, cells in block.rows for cell in cells if cell)
    unit = tr("All values in {unit}.", unit=block.unit)
    natures = unique(text for run in runs for text in nature(desk.evidence.runs.get(run)))
    table = Table(
        block.number,
        block.title.told(told),
        head,
        tuple(rows),
        _notes(_without(runs, desk), unit, *natures, block.note.told(told)),
        tuple(cite_run(desk.evidence, run) for run in runs if run in desk.evidence.runs),
    )
    return table, compared


def _without(runs: Sequence[str], desk: Desk) -> str:
    """Describe why values of runs are missing."""
    if all(run in desk.evidence.runs for run in runs):
        return ""
    is_quick = desk.evidence.is_quick
    why = tr("left out of a quick study") if is_quick else tr("stopped before it was computed")
    return f"{NOT_COMPUTED} {why}"


def _cell(block: Grid, cell: Cell, case: str, desk: Desk, compared: list[Compared]) -> Entry:
    place = Place(desk.study.file, block.node, block.path)
    reading = reading_of(desk.evidence, cell.pick, block.unit, place)
    notes: list[str] = []
    verdict = _verdict(cell, desk)
    if verdict:
        notes.append(change(verdict["change"]))
    results = desk.evidence.runs.get(cell.pick.run)
    if results and not is_simulated(results):
        notes += _apart(reading)
        if cell.published:
            raise place.error("what was measured is no prediction", "say in a `note` what was published")
    if cell.published:
        one = Compared(
            block.number,
            case,
            block.unit,
            cell.published.value,
            reading.value if reading else None,
            cell.published.role,
        )
        compared.append(one)
        notes.append(tr("published {value}", value=plain_number(one.published)))
        if one.error is not None:
            notes.append(tr("error {error}", error=change(one.error)))
    outcome = verdict["verdict"] if verdict else ""
    text = reading.text if reading else NOT_COMPUTED
    return Entry(text, tuple(notes), is_number=True, verdict=outcome, word=word(outcome))


def _apart(reading: Reading | None) -> list[str]:
    """Describe the spread of the runs behind a measured value, relative to their mean."""
    samples = reading.row.get("samples", []) if reading else []
    if reading is None or len(samples) < 2 or not reading.row["value"]:
        return []
    apart = (max(samples) - min(samples)) / reading.row["value"]
    return [tr("runs apart by {share}", share=share(apart))]


def _verdict(cell: Cell, desk: Desk) -> Any:
    """Return the verdict on a cell, if its variant is compared with another one."""
    results = desk.evidence.runs.get(cell.pick.run)
    # verdicts apply to all devices together
    found = verdicts_of(results, cell.pick) if results and not cell.pick.device else []
    return found[0] if len(found) == 1 and cell.pick.percentile is None else None


def plain_number(value: float) -> str:
    """Write a published number as it was printed.

    >>> plain_number(1235.0), plain_number(41.3)
    ('1\u202f235', '41.3')
    """
    decimals = 0 if value == int(value) else len(f"{value:g}".partition(".")[2])
    return fixed(value, decimals)


def values(reading: Reading | None) -> str:
    """Write a value, or a placeholder."""
    return reading.text if reading else NOT_COMPUTED


def stability(block: Stability, desk: Desk) -> Table:
    """Return passed and performed cycles, tests by links."""
    told = desk.language
    found = desk.evidence.cycles.get(block.cycles)
    series = {one["name"]: one for one in found["series"]} if found else {}
    links = block.links or tuple((name, Words.of(name)) for name in series)
    head = [Entry(tr("Test"))]
    head += [Entry(name.told(told), is_number=True) for _, name in links]
    tests = {one["test"]: one for run in series.values() for one in run["tests"]}
    shown = block.tests or tuple((key, Words.of(one["title"])) for key, one in tests.items())
    rows = []
    for key, name in shown:
        title = name.told(told)
        cells = [_passed(series.get(link), key) for link, _ in links]
        rows.append((Entry(title), *cells))
    bounds = [test["bound"] for run in series.values() for test in run["tests"] if test["bound"] is not None]
    bound = ""
    if bounds:
        bound = tr(
            "So many cycles prove a failure rate of at most {least} to {most} for each cycle (95 %).",
            least=by_powers(min(bounds)),
            most=by_powers(max(bounds)),
        )
    cites = (cite_link(desk.evidence, "cycles", block.cycles, found),) if found else ()
    return Table(
        block.number,
        block.title.told(told),
        tuple(head),
        tuple(rows),
        _notes(bound, block.note.told(told)),
        cites,
    )


def _passed(series: dict[str, Any] | None, test: str) -> Entry:
    one = next((one for one in series["tests"] if one["test"] == test), None) if series else None
    if one is None:
        return Entry(NOT_COMPUTED, is_number=True)
    performed = one["passed"] + one["failed"]
    if not performed:
        return Entry(tr("not performed"), is_number=True, verdict="inconclusive", word=one["reason"] or "")
    text = tr("{passed} pass / {cycles} cycles", passed=thousands(one["passed"]), cycles=thousands(performed))
    notes: tuple[str, ...] = ()
    longest = one["link_time"]["max_s"]
    if longest:
        notes = (tr("link up within {time}", time=brief(longest * 1e9, "ns")),)
    return Entry(text, notes, is_number=True, verdict="better" if not one["failed"] else "worse")


def thousands(count: int) -> str:
    """Write a number of cycles as in the original documents.

    >>> thousands(10_000), thousands(350)
    ('10k', '350')
    """
    return f"{count // 1000}k" if count >= 1000 and count % 1000 == 0 else fixed(count, 0)


def budget(block: Budget, desk: Desk) -> Table:
    """Return the loss budget of a channel, and whether its eyes are open."""
    found = desk.evidence.budgets[block.channel]
    eyes = desk.evidence.eyes.get(block.channel)
    open_ = {
        (one["name"], segment["segment"]): segment
        for one in (eyes["variants"] if eyes else [])
        for segment in one["segments"]
    }
    names = [tr("variant"), tr("segment"), tr("loss [dB]"), tr("budget [dB]"), tr("margin [dB]")]
    names += [tr("eye height [mV]"), tr("eye width [UI]")] if eyes else []
    rows = []
    for one in found["variants"]:
        for segment in one["segments"]:
            bad = segment["verdict"] == "exceeds"
            row = [Entry(one["name"]), Entry(f"{segment['from']} → {segment['to']}")]
            row += [Entry(fixed(segment[key], 2), is_number=True) for key in ("loss_db", "budget_db")]
            row.append(
                Entry(
                    fixed(segment["margin_db"], 2),
                    is_number=True,
                    verdict="worse" if bad else "better",
                    word=budget_word(segment["verdict"]),
                )
            )
            row += _eye(open_.get((one["name"], segment["segment"]))) if eyes else []
            rows.append(tuple(row))
    cites = [cite_link(desk.evidence, "budget", block.channel, found)]
    cites += [cite_link(desk.evidence, "eye", block.channel, eyes)] if eyes else []
    head = tuple(Entry(name, is_number=nth > 1) for nth, name in enumerate(names))
    told = desk.language
    return Table(
        block.number, block.title.told(told), head, tuple(rows), _notes(block.note.told(told)), tuple(cites)
    )


def budget_word(verdict: str) -> str:
    """Describe whether a channel fits its budget."""
    return {"fits": tr("fits"), "tight": tr("tight"), "exceeds": tr("exceeds")}.get(verdict, verdict)


def _eye(segment: dict[str, Any] | None) -> list[Entry]:
    if segment is None:
        return [Entry(NOT_COMPUTED, is_number=True)] * 2
    good = segment["passes"]
    return [
        Entry(fixed(segment["height_v"] * 1e3, 1), is_number=True),
        Entry(
            fixed(segment["width_ui"], 3),
            is_number=True,
            verdict="better" if good else "worse",
            word=_eye_word(segment),
        ),
    ]


def _eye_word(segment: dict[str, Any]) -> str:
    """Describe whether a receiver meets the mask, and if not, whether it operates."""
    if segment["passes"]:
        return tr("meets the mask")
    return tr("misses the mask, operates") if segment["operates"] else tr("misses the mask")
