"""The generated contents of every study: parts, computations, bottlenecks, sensitivity, threats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lanetwin.binding import bindings
from lanetwin.fit import with_fitting_sizes
from lanetwin.language import joined, tr
from lanetwin.numbers import change
from lanetwin.sentences import case_told, told
from lanetwin.sentences import told as in_language
from lanetwin.steadiness import measurements
from lanetwin.study.paper import Cite, Entry, Heading, Items, Paragraph, Table
from lanetwin.study.picking import Place, cite_run, digest_of, rows_of
from lanetwin.summary import unique, variants

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lanetwin.engine import FreeParameter
    from lanetwin.results import Results
    from lanetwin.study.document import WhatIf
    from lanetwin.study.evidence import Evidence
    from lanetwin.study.paper import Content
    from lanetwin.study.tables import Desk

MOST_LIMITS = 60
"""Maximum number of rows of one run in the table of bottlenecks."""
REPORT = "lanetwin report results/NAME.json"
CALIBRATED = "calibrated to "
"""The text that the column's heading already has."""


class Numbers:
    """Numbers of tables and figures that the original does not have: A1, A2 and so on."""

    def __init__(self) -> None:
        self._counts = {False: 0, True: 0}

    def next(self, *, is_figure: bool = False) -> str:
        """Return the next one."""
        self._counts[is_figure] += 1
        return f"A{self._counts[is_figure]}"


def numbering() -> str:
    """Explain the numbers A1 and so on."""
    return tr("A1, A2 and so on are added.")


def entries(*texts: str) -> tuple[Entry, ...]:
    """Return plain cells."""
    return tuple(Entry(text) for text in texts)


def parts(desk: Desk, numbers: Numbers) -> list[Content]:
    """Return the parts of all machines, with their grades."""
    found: dict[str, tuple[str, str]] = {}
    assumed: dict[str, list[str]] = {}
    for results in desk.evidence.runs.values():
        for part in results["parts"]:
            found[part["name"]] = (part["grade"], part.get("validated", ""))
        for one in results["assumptions"]:
            assumed.setdefault(one["part"], []).append(f"{one['parameter']} {one['kind']}")
    if not found:
        return []
    rows = []
    for name, (grade, validated) in found.items():
        own = unique(assumed.get(name, []))
        kinds = [sum(text.endswith(kind) for text in own) for kind in ("assumed", "calibrated")]
        rows.append(
            (
                Entry(name),
                Entry(grade_word(grade)),
                Entry(validated),
                *(Entry(str(n), is_number=True) for n in kinds),
            )
        )
    head = (
        *entries(tr("part"), tr("trusted"), tr("validated against")),
        *(Entry(name, is_number=True) for name in (tr("assumed numbers"), tr("calibrated numbers"))),
    )
    if not any(validated for _, validated in found.values()):
        head, rows = (*head[:2], *head[3:]), [(*row[:2], *row[3:]) for row in rows]
    title = tr("Parts of the machines")
    cites = tuple(cite_run(desk.evidence, name) for name in desk.evidence.runs)
    return [Table(numbers.next(), title, head, tuple(rows), (), cites)]


def grade_word(grade: str) -> str:
    """Return the grade of a part in words."""
    return {
        "datasheet-only": tr("data sheet only"),
        "calibrated": tr("calibrated"),
        "validated": tr("validated"),
    }.get(grade, grade)


def method(desk: Desk, numbers: Numbers) -> list[Content]:
    """Return the computations, with the measured time and the state of each case."""
    evidence = desk.evidence
    content: list[Content] = []
    if evidence.is_quick:
        text = tr("This is a quick study: runs are shortened by the changes in their commands.")
        if evidence.left_out:
            text = joined(text, tr("Left out: {names}.", names=", ".join(evidence.left_out)))
        content.append(Paragraph(text))
    rows = [_computed(name, results, evidence) for name, results in evidence.runs.items()]
    rows += [
        entries(
            name,
            found["name"],
            ", ".join(one["name"] for one in found["series"]),
            tr("cycles"),
            digest_of(found),
        )
        for name, found in evidence.cycles.items()
    ]
    rows += [
        entries(
            name,
            found["name"],
            ", ".join(one["name"] for one in found["variants"]),
            tr("channel"),
            digest_of(found),
        )
        for name, found in evidence.budgets.items()
    ]
    content += parts(desk, numbers)
    head = entries(tr("name"), tr("file"), tr("variants"), tr("repeats"), tr("digest"))
    content.append(Table(numbers.next(), tr("What was computed"), head, tuple(rows)))
    content += _measured(desk, numbers)
    return content


def _measured(desk: Desk, numbers: Numbers) -> list[Content]:
    """Return the measured time and the state of every case, all runs in one table."""
    rows: list[tuple[Entry, ...]] = []
    cites = []
    for name, results in desk.evidence.runs.items():
        measured = measurements(results)
        rows += [
            entries(
                name,
                one.workload,
                tr("all") if one.variants == "all" else one.variants,
                _case(one.cases),
                one.time,
                one.operations,
                told(one.steady),
            )
            for one in measured
        ]
        cites += [cite_run(desk.evidence, name)] if measured else []
    if not rows:
        return []
    names = (tr("run"), tr("workload"), tr("variants"), tr("cases"))
    head = entries(*names, tr("measured"), tr("operations"), tr("state"))
    title = tr("What was measured: virtual time, operations, state")
    return [Table(numbers.next(), title, head, tuple(rows), (), tuple(cites))]


def _computed(name: str, results: Results, evidence: Evidence) -> tuple[Entry, ...]:
    names = variants(results)
    repeats = max((row["n"] for row in results["rows"]), default=0)
    told = ", ".join(names) if len(names) <= 6 else tr("{count} variants", count=len(names))
    digest = cite_run(evidence, name).digest
    return entries(name, results["scenario"]["path"] or results["name"], told, str(repeats), digest)


def limits(desk: Desk, numbers: Numbers) -> list[Content]:
    """Return the bottleneck of every case, equal cases together."""
    rows: list[tuple[Entry, ...]] = []
    cites = []
    for name, results in desk.evidence.runs.items():
        found: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
        for (variant, workload, case), binding in bindings(results).items():
            key = (workload, str(binding.name), binding.short_why)
            found.setdefault(key, []).append((variant, case))
        grouped: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for (workload, limit, _), places in found.items():
            grouped.setdefault((workload, limit), []).extend(places)
        for (workload, limit), places in list(grouped.items())[:MOST_LIMITS]:
            where = (_places(places, results, 0), _places(places, results, 1))
            rows.append(entries(name, workload, in_language(limit), *where))
        cites += [cite_run(desk.evidence, name)] if grouped else []
    if not rows:
        return []
    head = entries(tr("run"), tr("workload"), tr("limited by"), tr("variants"), tr("cases"))
    return [Table(numbers.next(), tr("What limits each case"), head, tuple(rows), (), tuple(cites))]


def _case(name: str) -> str:
    """Name a case, or the first and the last of several, in the language, with sizes in fitting units."""
    return " … ".join(case_told(with_fitting_sizes(part)) for part in name.split(" … "))


def _places(places: list[tuple[str, str]], results: Results, part: int) -> str:
    everything = variants(results) if part == 0 else unique(row["case"] for row in results["rows"])
    # in the order of the scenario, independent of bottlenecks
    names = sorted({place[part] for place in places}, key=everything.index)
    if part == 0 and len(names) == len(everything) and len(names) > 1:
        return tr("all")
    names = names if part == 0 else [_case(name) for name in names]
    return (
        ", ".join(names)
        if len(names) <= 8
        else tr("{first} … {last}, {count} in all", first=names[0], last=names[-1], count=len(names))
    )


def sensitivity(desk: Desk, numbers: Numbers) -> list[Content]:
    """Return the effects of changed assumptions on watched rows, and the claims' numbers that matter."""
    content: list[Content] = []
    rows: list[tuple[Entry, ...]] = []
    cites = []
    for what in desk.study.sensitivity:
        base, changed = desk.evidence.runs.get(what.run), desk.evidence.changed.get(what.path)
        if base is None or changed is None:
            continue
        rows += _moved(what, base, changed, desk)
        command = desk.evidence.commands.get(f"changed {what.path}", "")
        cites.append(Cite(what.text.told(desk.language), changed["digest"] or "", command))
    if rows:
        head = (*entries(tr("changed assumption"), tr("watched")), Entry(tr("change"), is_number=True))
        title = tr("What changed assumptions do")
        content.append(Table(numbers.next(), title, head, tuple(rows), (), tuple(cites)))
    content += _free_parameters(desk, numbers)
    if not content:
        content.append(Paragraph(tr("No assumption is moved in this study.")))
    return content


def _free_parameters(desk: Desk, numbers: Numbers) -> list[Content]:
    """Return the free parameters of all claims in one table."""
    validation = desk.evidence.validation
    claims = [claim for claim in validation["claims"] if claim.get("parameters")] if validation else []
    if not claims:
        return []
    lines = _free([one for claim in claims for one in claim.get("parameters", [])])
    if not lines:
        return []
    names = ", ".join(claim["claim"] for claim in claims)
    title = tr("Calibrated numbers of the claims: {claims}", claims=names)
    head = entries(tr("part"), tr("parameter"), tr("value"), tr("calibrated to"))
    command = desk.evidence.commands.get("claims", "")
    cites = tuple(Cite(claim["claim"], digest_of(claim), command) for claim in claims)
    more = tr(
        "What is assumed is counted by part in “{table}”; the reports of the runs list it: `{command}`.",
        table=tr("Parts of the machines"),
        command=REPORT,
    )
    return [Table(numbers.next(), title, head, lines, (more,), cites)]


def _free(parameters: Sequence[FreeParameter]) -> tuple[tuple[Entry, ...], ...]:
    """Return a line for each calibrated number, without duplicates.

    >>> one = {"part": "card", "name": "burst", "value": "4 KiB", "calibrated_to": None}
    >>> fitted = one | {"calibrated_to": "calibrated to row 1"}
    >>> [[cell.text for cell in line] for line in _free([one, fitted, fitted])]
    [['card', 'burst', '4 KiB', 'row 1']]
    """
    lines = dict.fromkeys(
        (one["part"], one["name"], one["value"], one["calibrated_to"].removeprefix(CALIBRATED))
        for one in parameters
        if one["calibrated_to"]
    )
    return tuple(entries(*line) for line in lines)


def _moved(what: WhatIf, base: Results, changed: Results, desk: Desk) -> list[tuple[Entry, ...]]:
    found: list[tuple[Entry, ...]] = []
    for pick in what.picks:
        before = {(r["variant"], r["workload"], r["case"], r["metric"]): r for r in rows_of(base, pick)}
        after = {(r["variant"], r["workload"], r["case"], r["metric"]): r for r in rows_of(changed, pick)}
        if not before and base["complete"]:
            place = Place(desk.study.file, what.node, what.path)
            raise place.error(
                f"{pick}: no rows of the run fit", "name workloads, cases and metrics of the run"
            )
        for key, row in before.items():
            if key in after and row["value"]:
                moved = after[key]["value"] / row["value"] - 1
                words = (*key[:2], _case(key[2]), tr(key[3]))
                told = Entry(", ".join(unique(words)))
                found.append(
                    (Entry(what.text.told(desk.language)), told, Entry(change(moved), is_number=True))
                )
    return found


def threats(desk: Desk, numbers: Numbers) -> list[Content]:
    """Return the threats to validity: those of the author, and those in the results."""
    items = [text.told(desk.language) for text in desk.study.threats]
    evidence = desk.evidence
    items += _shared_doubts(evidence.runs)
    for name, results in evidence.runs.items():
        items += _doubts(name, results)
    if evidence.is_quick:
        items.append(tr("The study is quick: its runs are short and their intervals wide."))
    content: list[Content] = [Items(tuple(Entry(text) for text in items))] if items else []
    missing = unique(text for results in evidence.runs.values() for text in results["not_modelled"])
    # notes on a single case are in the report of its run
    general = [text for text in missing if not text.startswith("`")]
    if general:
        content.append(Heading(tr("Not modelled")))
        content.append(Items(tuple(Entry(in_language(text)) for text in general)))
    return content


def _shared_doubts(runs: Mapping[str, Results]) -> list[str]:
    """Merge the doubts that several runs share: the number of assumptions, a single repeat."""
    kinds = [[one["kind"] for one in results["assumptions"]] for results in runs.values()]
    assumed, calibrated = (
        sorted({own.count(kind) for own in kinds if own}) for kind in ("assumed", "calibrated")
    )
    found = []
    if assumed:
        found.append(
            tr(
                "Every run rests on {assumed} assumed and {calibrated} calibrated numbers of parts.",
                assumed=_between(assumed),
                calibrated=_between(calibrated),
            )
        )
    once = [name for name, results in runs.items() if {row["n"] for row in results["rows"]} == {1}]
    if once:
        runs_of_one = ", ".join(once)
        found.append(tr("Run once, so that no spread between repeats is known: {runs}.", runs=runs_of_one))
    return found


def _between(counts: Sequence[int]) -> str:
    """Write rising numbers as one or as a range.

    >>> _between([255, 258, 270]), _between([8])
    ('255 to 270', '8')
    """
    if len(counts) == 1:
        return str(counts[0])
    return tr("{least} to {most}", least=counts[0], most=counts[-1])


def _doubts(name: str, results: Results) -> list[str]:
    found = []
    unsteady = unique(
        f"{row['variant']}, {row['workload']}, {_case(row['case'])}"
        for row in results["rows"]
        if (steady := row.get("steady")) and steady["condition"] == "not-steady"
    )
    if unsteady:
        shown = "; ".join(unsteady[:4]) + (" …" if len(unsteady) > 4 else "")
        found.append(
            tr("{run}: {count} cases were not steady ({cases}).", run=name, count=len(unsteady), cases=shown)
            if len(unsteady) > 1
            else tr("{run}: one case was not steady ({cases}).", run=name, cases=shown)
        )
    if not results["complete"]:
        found.append(tr("{run} was stopped before it was finished.", run=name))
    return found


def reproduction(desk: Desk, command: str) -> list[Content]:
    """Return the commands that reproduce everything."""
    words = {
        "run": tr("run"),
        "changed": tr("changed"),
        "claims": tr("claims"),
        "budget": tr("loss budget of"),
        "eye": tr("eyes of"),
        "cycles": tr("stability cycles of"),
    }
    changes = {what.path: what.text.told(desk.language) for what in desk.study.sensitivity}
    everything = tr("everything")
    lines = [f"{command}  # {everything}"]
    for name, one in desk.evidence.commands.items():
        word, _, which = name.partition(" ")
        which = changes.get(which, which) if word == "changed" else which
        said = f"{words.get(word, word)} {which}".rstrip()
        lines.append(f"{one}  # {said}")
    text = tr("The same version of lanetwin gives the same digests on any machine.")
    block = "\n".join(unique(lines)).replace("`", "'")
    return [Paragraph(text), Paragraph(f"```\n{block}\n```")]
