"""The short answer of a run on a terminal: a line for each metric, and the bottlenecks.

Not here: the complete tables, which are in `lanetwin.cli.tables`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from lanetwin import outages
from lanetwin.cli import limits
from lanetwin.cli.console import out, printable
from lanetwin.cli.tables import VERDICT_STYLES, fits, plain_table, width_of
from lanetwin.comparison import errors, mean_error, question
from lanetwin.fit import brief, told
from lanetwin.glance import ALL_CACHED, all_lines, geometric_mean, glances
from lanetwin.numbers import DIGITS, change, percentile_name, share
from lanetwin.sentences import word as metric_word
from lanetwin.steadiness import NOT_STEADY, measurement
from lanetwin.summary import spread, stopped, unique, variants, verdict_words
from lanetwin.tails import ABOUT, NOT_SETTLED, TAIL, is_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from lanetwin.comparison import ErrorLine
    from lanetwin.glance import Glance, Line
    from lanetwin.results import Outcome, Results, Row

MOST_LINES = 16
"""Above this number of lines, only the most informative case of each workload is shown."""
MOST_OF_SEVERAL = 12
"""The same limit for more than two variants, whose bottlenecks also take more lines."""
MOST_APART = 3
"""Above this number of workloads, only the range of their measured times is printed."""
MANY_TAILS = 3
"""From this number of workloads on, their tails that are not settled share one line."""
MARKS: dict[Outcome, str] = {"better": "▲", "worse": "▼", "equivalent": "=", "inconclusive": "?"}
"""Signs of verdicts, for narrow tables."""
MOST_SIGNED = 14
"""Above this number of lines, including bottlenecks, each variant has only one line."""
PAIR = ("the baseline", "one beside it")
UNSTEADY_MARK = "!"
"""Mark after a verdict on a time that was not steady."""
LEGEND = "▲ better, ▼ worse, = equivalent, ? inconclusive"
UNSTEADY_LEGEND = "! not steady"
LEAST_CASE = 24
"""Least width to which the name of a case is folded [characters] …"""
NARROW_CASE = 14
"""… and the least one if each metric then fits on a line."""
_NUMBER_AND_UNIT = re.compile(r"(\d) ")
MOST_OTHERS = 3
"""Maximum number of other cases named as not steady."""
LETTERS = "ABCDEFGHIJKL"
"""Names of variants whose own names do not fit."""
METRIC_ROOMS = (60, 20, 14)
"""Widths of a metric's name; the first that fits is used [characters]."""
MOST_STACKED = 30
"""Above this number of stacked lines, each variant has only one line."""


def print_answer(results: Results) -> None:
    """Print the question, a line for each metric, the bottlenecks, and whether the result is partial."""
    console = out()
    if results["about"]:
        console.print(Text(printable(question(results)), "bold"))
        console.print()
    found = glances(results)
    every_case = _shows_every_case(all_lines(results), variants(results))
    for one in found:
        if one.masked:
            console.print(Text(printable(f"{one.workload}: {one.masked}."), "bold yellow"))
            console.print()
    lines = errors(results)
    if lines:
        _print_errors(results, lines)
    elif found:
        table, note = _numbers(results, found)
        console.print(table)
        for said in (note, _near_to_zero(found, every_case=every_case)):
            if said:
                console.print(Text(said, "dim"))
        console.print()
    if any(one.binding for one in found):
        console.print(limits.table(found, console, every_case=every_case))
    told_of = _measured(results, found)
    if told_of:
        console.print(Text(printable(f"Measured: {told_of}"), "dim"))
    for one in found:
        for note in one.notes:
            if ALL_CACHED in note:
                console.print(Text(printable(": ".join((*limits.place(one, found), note))), "dim"))
    came_back = outages.in_short(results)
    if came_back:
        console.print(Text(printable(came_back), "dim"))
    for doubt in _doubts(found):
        console.print(Text(printable(doubt), "bold yellow"))
    partial = stopped(results)
    if partial:
        console.print(Text(partial, "bold yellow"))


def _near_to_zero(found: Sequence[Glance], *, every_case: bool) -> str:
    """Say why a verdict is none though its interval leaves 0 out; empty if there is no such verdict."""
    lines = [line for one in found for line in (one.every if every_case else one.lines)]
    verdicts = [verdict for line in lines for verdict in line.verdicts.values()]
    near = [together for verdict in verdicts if (together := verdict.get("judged_together"))]
    if not near:
        return ""
    why = f"too near to it as one of {max(near)} metrics judged together"
    return f"Inconclusive where the interval leaves 0 out: {why}"


def _measured(results: Results, found: Sequence[Glance]) -> str:
    """Return the measured time of each workload; of many, or more than a line, only the range."""
    each = "; ".join(" ".join((*limits.place(one, found), one.measured)) for one in found if one.measured)
    if len(found) == 1 or (len(found) <= MOST_APART and cell_len(each) <= out().width - len("Measured: ")):
        return each
    shown = {(one.workload, one.case) for one in found}
    whole = measurement([row for row in results["rows"] if (row["workload"], row["case"]) in shown])
    return f"each workload {whole}" if whole else ""


def _doubts(found: Sequence[Glance]) -> list[str]:
    """Return the caveats of each workload; many doubtful tails share one line."""
    of = {one.workload: [note for note in one.notes if "NOT" in note] for one in found}
    tails = [workload for workload, notes in of.items() if notes and NOT_SETTLED in notes[0]]
    is_many = len(tails) >= MANY_TAILS
    lines = []
    for one in found:
        doubts = of[one.workload]
        if doubts and not (is_many and one.workload in tails):
            more = f"; {len(doubts) - 1} more: --full" if len(doubts) > 1 else ""
            place = ", ".join(unique((*limits.place(one, found), one.case)))
            lines.append(f"{place}: {doubts[0]}{more}")
        if others := one.unsteady_elsewhere:
            more = f" and {len(others) - MOST_OTHERS} more" if len(others) > MOST_OTHERS else ""
            place = "".join(f"{word}: " for word in limits.place(one, found))
            named_cases = "; ".join(others[:MOST_OTHERS])
            lines.append(f"{place}{NOT_STEADY} in other cases: {named_cases}{more}. Why: --full")
    if is_many:
        where = "every workload" if len(tails) == len(found) else ", ".join(tails)
        lines.append(f"{percentile_name(TAIL)} {NOT_SETTLED}: {where}. Why: --full")
    return lines


def _print_errors(results: Results, lines: Sequence[ErrorLine]) -> None:
    """Print predicted and measured values, and the error of each."""
    options = results["options"]
    names = [("workload", False), ("case", False), ("metric", False), (options["against"], True)]
    table = plain_table("", [*names, (options["error_of"], True), ("error", True)])
    before = ("", "")
    for line in lines:
        place = (line.workload, line.case)
        words = ["" if place[0] == before[0] else place[0], "" if place == before else place[1], line.metric]
        before = place
        style = "" if line.error is not None and abs(line.error) <= options["within"] else "yellow"
        error = Text("–" if line.error is None else change(line.error), style)
        cells = [Text(printable(word)) for word in words]
        table.add_row(*cells, _value(line.measured), _value(line.predicted), error)
    console = out()
    console.print(table)
    mean = mean_error(lines)
    near = sum(line.error is not None and abs(line.error) <= options["within"] for line in lines)
    said = "" if mean is None else f"mean of the absolute errors {share(mean)}; "
    within = f"{near} of {len(lines)} within ±{share(options['within'])}"
    console.print(Text(f"{said}{within}"))
    for note in options["taken_for"]:
        console.print(Text(printable(note), "dim"))


def _places(lines: Sequence[Line]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((line.workload, line.case) for line in lines))


def _shows_every_case(lines: Sequence[Line], names: Sequence[str]) -> bool:
    """Whether the table of numbers has all cases, and not only the most informative ones."""
    if len(lines) <= (MOST_LINES if len(names) <= len(PAIR) else MOST_OF_SEVERAL):
        return True
    return len(names) == 1 and len(_places(lines)) <= MOST_LINES


def _numbers(results: Results, found: Sequence[Glance]) -> tuple[Table, str]:
    """Make the table of numbers: all cases if few, else the most informative ones, else a line a variant."""
    names, lines = variants(results), all_lines(results)
    if len(names) == 1 and len(_places(lines)) <= MOST_LINES < len(lines):
        return _by_case(lines, _places(lines), names[0]), ""
    notes: list[str] = []
    if not _shows_every_case(lines, names):
        before = len(lines)
        lines = [line for one in found for line in one.lines if line.verdicts or not results["verdicts"]]
        if any(one.cases > 1 for one in found):
            why = "largest change" if results["verdicts"] else "most throughput"
            notes = [f"Of each workload the case of the {why}", "Every case: --full"]
        elif len(lines) < before:
            notes = ["Every metric: --full"]
    several = [_side_by_side(lines, names, intervals=False, spreads=spreads) for spreads in (True, False)]
    if len(names) == 1 or len(lines) * len(names) <= MOST_STACKED:
        several = [
            _side_by_side(told, names, intervals=intervals, spreads=spreads)
            for told in (lines, _over_lines(lines))
            for intervals, spreads in ((True, True), (False, True), (False, False))
        ]
    table = next((table for table in several if fits(table, out())), None)
    if table is not None:
        return table, ". ".join(notes)
    return _narrow(lines, found, names, notes)


def _narrow(
    lines: Sequence[Line], found: Sequence[Glance], names: Sequence[str], notes: Sequence[str]
) -> tuple[Table, str]:
    """Make the table of numbers if variants with verdicts in words do not fit side by side."""
    legend = _legend(lines)
    is_pair, stacked = len(names) == len(PAIR), len(lines) * len(names)
    if len(names) > 1 and (is_pair or stacked <= MOST_STACKED or len(lines) + 2 * len(found) <= MOST_SIGNED):
        for values, heads in ((True, []), (False, [f"Below other variants: their change from {names[0]}"])):
            ways = (lines, _over_lines(lines), _over_lines(lines, NARROW_CASE))
            signs = (
                _with_signs(told, names, values=values, room=room) for room in METRIC_ROOMS for told in ways
            )
            table = next((table for table in signs if fits(table, out())), None)
            if table is not None:
                return table, ". ".join((*heads, legend, *notes))
        table = _lettered(lines, names)
        if table is not None:
            letters = ", ".join(f"{letter} {name}" for letter, name in zip(LETTERS, names, strict=False))
            return table, ". ".join((letters, legend, *notes))
    each = _stacked(lines, names)
    if len(names) > 1 and (stacked > MOST_STACKED or not (is_pair or fits(each, out()))):
        tables = (_by_variant(found, names), _by_workload(found, names))
        table = next((one for one in tables if fits(one, out())), min(tables, key=width_of))
        return table, ". ".join((legend, *(notes or ["Every metric: --full"])))
    return each, ". ".join(notes)


def _lettered(lines: Sequence[Line], names: Sequence[str]) -> Table | None:
    """Make the table of variants side by side with letters for their names, if it fits then."""
    if len(names) > len(LETTERS):
        return None
    told = _workloads_over_lines(_over_lines(lines, NARROW_CASE))
    tables = (
        _with_signs(ways, names, values=values, room=METRIC_ROOMS[-1], heads=LETTERS)
        for values in (True, False)
        for ways in (lines, told)
    )
    return next((table for table in tables if fits(table, out())), None)


def _legend(lines: Sequence[Line]) -> str:
    """Return the meaning of the signs."""
    unsteady = any(verdict.get("not_steady") for line in lines for verdict in line.verdicts.values())
    return f"{LEGEND}, {UNSTEADY_LEGEND}" if unsteady else LEGEND


def _side_by_side(lines: Sequence[Line], names: Sequence[str], *, intervals: bool, spreads: bool) -> Table:
    """Give each metric of each case a line, the variants side by side, with intervals if there is room."""
    base = names[0]
    is_compared = any(line.verdicts for line in lines)
    columns = [("workload", False), ("case", False), ("metric", False), (base, True)]
    for name in names[1:]:
        columns += [(name, True), ("change", True)]
        if is_compared:
            columns += [*([("95 % interval", True)] if intervals else []), ("verdict", False)]
    table = plain_table("", columns)
    before = ("", "")
    for line in lines:
        place = (line.workload, line.case)
        words = ["" if line.workload == before[0] else line.workload, "" if place == before else line.case]
        before = place
        cells = [Text(printable(word)) for word in (*words, metric_word(line.metric))]
        cells.append(_value(line.values.get(base), spread=spreads))
        for name in names[1:]:
            cells.append(_value(line.values.get(name), spread=spreads))
            cells += _compared(line, name, base, intervals=intervals, is_compared=is_compared)
        table.add_row(*cells)
    for metric, means in _means(lines, names):
        row = [Text("geomean", "dim"), Text(""), Text(printable(metric_word(metric)), "dim"), Text("")]
        for mean in means:
            blank = [Text("")] * ((1 + intervals) if is_compared else 0)
            row += [Text(""), Text(change(mean), "dim"), *blank]
        table.add_row(*row)
    return table


def _with_signs(
    lines: Sequence[Line], names: Sequence[str], *, values: bool, room: int, heads: str = ""
) -> Table:
    """Give each metric of each case a line, the variants side by side, their verdicts as signs.

    Without `values` the table has only the values of the baseline, and the changes of the others. Names of
    metrics longer than `room` take several lines. `heads` are headings in place of the variants' names.
    """
    titles = heads or names
    columns = [("workload", False), ("case", False), ("metric", False), (titles[0], True)]
    for title in titles[1 : len(names)]:
        columns += [(title, True), ("change", True)] if values else [(title, True)]
    table = plain_table("", columns)
    before = ("", "")
    for line in lines:
        place = (line.workload, line.case)
        words = ["" if line.workload == before[0] else line.workload, "" if place == before else line.case]
        before = place
        metric = "\n".join(wrap(metric_word(line.metric), room))
        cells = [*(Text(printable(word)) for word in words), Text(printable(metric))]
        cells.append(_value(line.values.get(names[0]), spread=False))
        for name in names[1:]:
            cells += [_value(line.values.get(name), spread=False)] if values else []
            is_change = values or line.change(name, names[0]) is not None
            cells.append(
                _signed(line, name, names[0]) if is_change else _value(line.values.get(name), spread=False)
            )
        table.add_row(*cells)
    for metric, means in _means(lines, names):
        row = [Text("geomean", "dim"), Text(""), Text(printable(metric_word(metric)), "dim"), Text("")]
        for mean in means:
            row += [*([Text("")] if values else []), Text(f"{change(mean)}  ", "dim")]
        table.add_row(*row)
    return table


def _signed(line: Line, name: str, base: str) -> Text:
    """Write a change with its verdict as a sign, and a mark if the time was not steady."""
    verdict, changed = line.verdicts.get(name), line.change(name, base)
    words = "" if changed is None else change(changed)
    if verdict is None:
        return Text(f"{words}  ", "dim")
    mark = MARKS[verdict["verdict"]] + (UNSTEADY_MARK if verdict.get("not_steady") else "")
    return Text(f"{words} {mark}", VERDICT_STYLES[verdict["verdict"]])


def _over_lines(lines: Sequence[Line], least: int = LEAST_CASE) -> list[Line]:
    """Distribute the name of a case over its lines, as in a paragraph."""
    found: list[Line] = []
    for workload, case in dict.fromkeys((line.workload, line.case) for line in lines):
        own = [line for line in lines if (line.workload, line.case) == (workload, case)]
        whole = _NUMBER_AND_UNIT.sub("\\1\u00a0", case)
        widths = range(least, max(least, len(whole)) + 1)
        pieces = next(parts for width in widths if len(parts := wrap(whole, width) or [""]) <= len(own))
        pieces += [""] * (len(own) - len(pieces))
        found += [replace(line, case=piece) for line, piece in zip(own, pieces, strict=True)]
    return found


def _workloads_over_lines(lines: Sequence[Line]) -> list[Line]:
    """Distribute the name of a workload over its lines, after those of cases."""
    found: list[Line] = []
    for workload in unique(line.workload for line in lines):
        own = [line for line in lines if line.workload == workload]
        widths = range(NARROW_CASE, max(NARROW_CASE, len(workload)) + 1)
        pieces = next(parts for width in widths if len(parts := wrap(workload, width)) <= len(own))
        pieces += [""] * (len(own) - len(pieces))
        found += [replace(line, workload=piece) for line, piece in zip(own, pieces, strict=True)]
    return found


def _by_case(lines: Sequence[Line], places: Sequence[tuple[str, str]], name: str) -> Table:
    """Give each case of a single variant a line, with as many metrics as fit."""
    metrics = unique(line.metric for line in lines)
    values = {(line.workload, line.case, line.metric): line.values.get(name) for line in lines}
    for count in range(len(metrics), 0, -1):
        shown = metrics[:count]
        heads = [(metric_word(metric), True) for metric in shown]
        table = plain_table("", [("workload", False), ("case", False), *heads])
        before = ""
        for workload, case in places:
            words = ["" if workload == before else workload, case]
            before = workload
            cells = [_value(values.get((workload, case, metric)), spread=False) for metric in shown]
            table.add_row(*(Text(printable(word)) for word in words), *cells)
        if fits(table, out()):
            break
    return table


def _compared(line: Line, name: str, base: str, *, intervals: bool, is_compared: bool) -> list[Text]:
    verdict, changed = line.verdicts.get(name), line.change(name, base)
    style = VERDICT_STYLES[verdict["verdict"]] if verdict else "dim"
    cells = [Text("" if changed is None else change(changed), style)]
    if not is_compared:
        return cells
    if verdict is None:
        return cells + [Text("")] * (1 + intervals)
    if intervals:
        cells.append(Text(_interval(line, name), "dim"))
    return [*cells, Text(verdict_words(verdict), style)]


def _interval(line: Line, name: str) -> str:
    return spread(line.verdicts[name])


def _stacked(lines: Sequence[Line], names: Sequence[str]) -> Table:
    """Give each variant of each metric a line."""
    base = names[0]
    columns = [(name, False) for name in ("workload", "case", "metric", "variant")]
    table = plain_table("", [*columns, ("value", True), ("change", True), ("verdict", False)])
    before = ("", "")
    for line in lines:
        for nth, name in enumerate(name for name in names if name in line.values):
            place = (line.workload, line.case)
            head = ["" if place[0] == before[0] else place[0], "" if place == before else place[1]]
            before = place
            words = [*head, "" if nth else metric_word(line.metric), name]
            cells = [Text(printable(word)) for word in words]
            compared = _compared(line, name, base, intervals=False, is_compared=True)
            table.add_row(*cells, _value(line.values.get(name)), *compared)
    return table


def _by_variant(found: Sequence[Glance], names: Sequence[str]) -> Table:
    """Give each variant a line, with the main metric of each workload: a value, or its change."""
    shown = [(one, line) for one in found if (line := one.primary)]
    heads = [f"{one.workload}\n{metric_word(line.metric)}" for one, line in shown]
    table = plain_table("", [("variant", False), *((head, True) for head in heads)])
    table.columns[0].no_wrap = True
    for name in names:
        cells = [Text(printable(name))]
        cells += [_level_or_change(line, name, names[0]) for _, line in shown]
        table.add_row(*cells)
    return table


def _by_workload(found: Sequence[Glance], names: Sequence[str]) -> Table:
    """Give each workload a line: variants may fit side by side where workloads do not."""
    table = plain_table("", [("workload", False), ("metric", False), *((name, True) for name in names)])
    for one in found:
        line = one.primary
        if line is not None:
            head = [Text(printable(one.workload)), Text(printable(metric_word(line.metric)))]
            table.add_row(*head, *(_level_or_change(line, name, names[0]) for name in names))
    return table


def _level_or_change(line: Line, name: str, base: str) -> Text:
    """Write the value of the baseline, and of others the change with its verdict as a sign."""
    if name == base or line.change(name, base) is None:
        row = line.values.get(name)
        return Text(brief(row["value"], row["unit"], row["metric"]) if row else "–")
    return _signed(line, name, base)


def _means(lines: Sequence[Line], names: Sequence[str]) -> list[tuple[str, list[float]]]:
    """Return each variant's mean change of every metric that was judged in several cases."""
    found = []
    for metric in unique(line.metric for line in lines):
        own = [line for line in lines if line.metric == metric]
        judged = [
            [line.verdicts[name]["change"] for line in own if name in line.verdicts] for name in names[1:]
        ]
        means = [geometric_mean(changes) for changes in judged]
        whole = [mean for mean in means if mean is not None]
        if len(whole) == len(means) and min(map(len, judged), default=0) > 1:
            found.append((metric, whole))
    return found


def _value(row: Row | None, *, spread: bool = True) -> Text:
    if row is None:
        return Text("–")
    sign = f"{ABOUT} " if is_tail(row) and row.get("unsettled") else ""
    return Text(sign + (told(row) if spread else brief(row["value"], row["unit"], row["metric"], DIGITS)))
