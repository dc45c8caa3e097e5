"""The command that makes a part from measurements: parts calibrate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from lanetwin import calibration, store
from lanetwin.calibration.outcome import Line, Outcome, Role, Told, largest_error, median_error
from lanetwin.calibration.part_file import NAME
from lanetwin.calibration.problem import refuse
from lanetwin.cli.arguments import AsJson, Force, Quiet, Sets
from lanetwin.cli.console import emit_json, err, out, printable
from lanetwin.cli.interrupt import interruptible
from lanetwin.cli.progress import shown
from lanetwin.cli.tables import plain_table
from lanetwin.comparison import load_any
from lanetwin.fit import brief
from lanetwin.numbers import change
from lanetwin.results import Results
from lanetwin.sentences import naming, told

TITLES = {
    Role.CALIBRATED: "rows that calibrated it",
    Role.PREDICTED: "rows that were held back and predicted",
    Role.APART: "rows that were held back and rest on what these rows cannot tell",
}
"""Names of the roles of rows."""
MOST_NAMES = 2
"""Maximum number of parameters named beside a row."""
BAD_FIT = 0.05
"""With a larger misfit the model cannot explain these rows with any parameters."""


def _name(value: str | None) -> str | None:
    if value is not None and not NAME.fullmatch(value):
        raise typer.BadParameter(f"{value!r} is no name for a file: letters, digits, - and _")
    return value


def _on(values: list[str] | None) -> int | list[str] | None:
    if values and len(values) == 1 and re.fullmatch(r"[0-9]+", values[0]):
        return int(values[0])
    return values or None


def calibrate(
    part: Annotated[str, typer.Argument(metavar="PART", help="The part to begin with.", show_default=False)],
    measured: Annotated[
        Path,
        typer.Option("--from", help="Results, or a file of fio, Iometer and others.", show_default=False),
    ],
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--in",
            help="The scenario that was measured. Default: the one that RESULTS name.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--as",
            callback=_name,
            help="What the new part is called. Default: PART-calibrated",
            show_default=False,
        ),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="NUMBER|NAME",
            help="How many cases calibrate, or which ('randread-*'; may be repeated). Default: half of them.",
            show_default=False,
        ),
    ] = None,
    free: Annotated[
        list[str] | None,
        typer.Option(
            "--free",
            metavar="PARAMETER[=LOW..HIGH]",
            help="A parameter that may move. May be repeated. Default: all times that nobody confirms.",
            show_default=False,
        ),
    ] = None,
    noise: Annotated[
        float, typer.Option("--noise", min=1e-4, max=0.5, help="How far measurements of one thing lie apart.")
    ] = 0.02,
    sets: Sets = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder for the part. Default: parts/ beside the scenario", show_default=False
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit a part to half of what was measured, and judge it by the other half.

    Rows that rest on parameters which the first half cannot tell are listed apart.
    The part is written with what it was fitted to, and with every row that was held back.

    [dim]Examples:[/]
      lanetwin parts calibrate samsung-pm9a3 --in bay.yaml --from fio.json --as my-pm9a3
      lanetwin parts calibrate samsung-pm9a3 --in bay.yaml --from runs/bay --on 'randread-*' --free nand.read
    """
    title = name or f"{part}-calibrated"
    results = load_any(measured)
    scenario = scenario or _scenario(results)
    file = (folder or scenario.parent / "parts") / f"{title}.yaml"
    if file.exists() and not force:
        raise store.taken(file)
    with interruptible("stopping; nothing is written"), shown(part, quiet=quiet) as tell:
        asked = calibration.Asked(part, scenario, tuple(sets or ()), tuple(free or ()), _on(on), noise, tell)
        outcome = calibration.calibrate(asked, results)
    store.write_file(file, calibration.part_text(outcome, title, measured.name))
    if as_json:
        emit_json({**calibration.document(outcome), "file": str(file)})
        return
    with naming(_names(outcome)):
        _print(outcome)
    if not quiet:
        err().print(f"Part: {file}", soft_wrap=True)


def _scenario(results: Results) -> Path:
    """Return the scenario that was measured. Raises `LanetwinError` (CA002) if results name none."""
    named = (results.get("scenario") or {}).get("path")
    if not named or not Path(named).is_file():
        refuse("CA002", "the results do not say which scenario was measured", "name it: --in SCENARIO")
    return Path(named)


def _names(outcome: Outcome) -> set[str]:
    """Return the names given by authors: parameters of a part, variants, workloads and cases."""
    names = {one.parameter.name for one in outcome.parameters} | {one.name for one in outcome.idle}
    return names | {name for line in outcome.rows for name in line.value.row.place}


def _print(outcome: Outcome) -> None:
    console = out()
    console.print(_parameters(outcome.parameters))
    for one in outcome.parameters:
        if one.is_at_bound:
            low, high = (one.parameter.text(place) for place in (0.0, 1.0))
            name = one.parameter.name
            said = f"{name} ends at a bound of its range, {low} to {high}; --free {name}=LOW..HIGH widens it"
            console.print(Text(said, "yellow"), soft_wrap=True)
    if outcome.idle:
        names = ", ".join(one.name for one in outcome.idle)
        console.print(f"no row depends on {names}", soft_wrap=True)
    for role in Role:
        if lines := outcome.of(role):
            console.print()
            console.print(_rows(role, lines))
            console.print(_errors(lines), soft_wrap=True)
    if outcome.misfit > BAD_FIT:
        said = f"The model misses the rows that it was fitted to by {outcome.misfit * 100:.0f} % (RMS); "
        console.print(Text(said + "something else limits this device", "yellow"), soft_wrap=True)
    for note in outcome.notes:
        console.print(Text(printable(note), "dim"), soft_wrap=True)


def _parameters(parameters: Sequence[Told]) -> Table:
    names = (("parameter", False), ("start", True), ("fitted", True), ("±", True), ("these rows", False))
    table = plain_table("parameters", names)
    for one in parameters:
        start = one.parameter.text(one.parameter.place(one.parameter.start))
        spread = f"{min(one.deviation, 9.99) * 100:.0f} %"
        how = told("tell it" if one.is_told else one.how)
        table.add_row(one.parameter.name, start, one.text, spread, how)
    return table


def _rows(role: Role, lines: Sequence[Line]) -> Table:
    names = [("workload", False), ("case", False), ("metric", False), ("measured", True), ("predicted", True)]
    names += [("error", True), ("error before", True)]
    if role is Role.APART:
        names.append(("rests on", False))
    table = plain_table(TITLES[role], names)
    for line in lines:
        row = line.value.row
        _, workload, case, metric = row.key
        texts = [workload, case, told(metric), brief(row.measured, row.unit, metric)]
        texts += [brief(line.value.after, row.unit, metric), change(line.error), change(line.error_before)]
        if role is Role.APART:
            more = len(line.rests_on) - MOST_NAMES
            names_of = [*line.rests_on[:MOST_NAMES], *([told(f"{more} more")] if more > 0 else [])]
            texts.append(", ".join(names_of))
        table.add_row(*(Text(printable(text)) for text in texts))
    return table


def _errors(lines: Sequence[Line]) -> str:
    middle, largest = median_error(lines) or 0.0, largest_error(lines) or 0.0
    return f"{len(lines)} rows have a median error of {middle * 100:.1f} %, the largest {largest * 100:.1f} %"
