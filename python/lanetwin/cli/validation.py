"""The command that sets predictions against published numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from lanetwin import engine
from lanetwin.cli.arguments import AsJson, Quiet
from lanetwin.cli.console import Exit, emit_json, err, out, printable
from lanetwin.cli.interrupt import interruptible
from lanetwin.cli.progress import shown
from lanetwin.cli.tables import plain_table
from lanetwin.numbers import measured, signed, significant, with_unit

if TYPE_CHECKING:
    from rich.table import Table

    from lanetwin.engine import Claim, Effect, FreeParameter, ValidationRow

FINEST = 0.001
"""Smaller errors are not told apart [%]."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(validate)


def validate(
    claims: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CLAIM]...", help="Claims to check; all of them if none is named."),
    ] = None,
    list_them: Annotated[
        bool, typer.Option("--list", help="Say which claims there are, and run none.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare predictions with published numbers, cell by cell.

    Cells that went into the model are marked as input or calibrated: they
    are no predictions. The exit status is 3 if a claim misses its bar.

    [dim]Examples:[/]
      lanetwin validate
      lanetwin validate pcie-bench --json
    """
    if list_them:
        _list_claims(as_json=as_json)
        return
    with interruptible(), shown("validate", quiet=quiet) as progress:
        found = engine.validate(claims or [], progress)
    if as_json:
        emit_json(found["rows"])
    else:
        for claim in found["claims"]:
            _print_claim(claim, [row for row in found["rows"] if row["claim"] == claim["claim"]])
        _print_summary(found["claims"])
    missed = [claim["claim"] for claim in found["claims"] if not claim["met"]]
    if missed:
        err().print(f"missed: {', '.join(missed)}", style="bold red")
        raise typer.Exit(Exit.GATE)


def _list_claims(*, as_json: bool) -> None:
    known = engine.claims()
    if as_json:
        emit_json(known)
        return
    table = plain_table("claims", [("claim", False), ("about", False), ("bar", False)])
    for claim in known:
        table.add_row(claim["claim"], claim["about"], claim["bar"])
    out().print(table)


def _print_claim(claim: Claim, rows: list[ValidationRow]) -> None:
    columns = [
        ("case", False),
        ("quantity", False),
        ("published", True),
        ("predicted", True),
        ("error", True),
    ]
    table = plain_table(
        f"{claim['claim']}: {claim['about']}", [*columns, ("role", False), ("verdict", False)]
    )
    for row in rows:
        low, high = row["low"], row["high"]
        predicted = measured(
            row["predicted"],
            row["predicted"] if low is None else low,
            row["predicted"] if high is None else high,
        )
        verdict, style = _verdict(row)
        table.add_row(
            Text(printable(row["case"])),
            Text(printable(row["quantity"])),
            Text(with_unit(significant(row["published"]), row["unit"])),
            Text(with_unit(predicted, row["unit"])),
            Text(_percent(row["error_pct"])),
            Text(row["role"], "" if row["role"] == "predicted" else "dim"),
            Text(verdict, style),
        )
    console = out()
    console.print(table)
    parameters = claim.get("parameters", [])
    for parameter in parameters:
        if parameter["calibrated_to"]:
            console.print(Text(f"  {_parameter(parameter)}", "dim"))
    assumed = sum(not parameter["calibrated_to"] for parameter in parameters)
    if assumed:
        note = (
            f"  and {assumed} assumed numbers, defaults of the models among them: `lanetwin parts show NAME`"
        )
        console.print(Text(note, "dim"))
    if claim.get("text"):
        console.print(Text(f"  {printable(claim['text'])}"))
    console.print()
    if claim.get("effects"):
        cases = [row["case"] for row in rows if row["role"] == "predicted"]
        console.print(_effects(claim["effects"], cases))
        for number, case in enumerate(cases, 1):
            console.print(Text(f"  {number}: {printable(case)}", "dim"))
        console.print()


def _effects(effects: list[Effect], cases: list[str]) -> Table:
    """Say what each assumption does to each predicted row, when it is moved to an end of its range.

    The rows are numbered: with their names as heads nothing would be left of the assumptions.
    """
    numbers = ((str(number), True) for number in range(1, len(cases) + 1))
    columns = [("assumption", False), ("moved to", False), *numbers]
    table = plain_table("What assumptions do to the predicted rows [%]", columns)
    for effect in effects:
        # a number is moved in some of the rows only where there are many
        changes = (Text("" if change is None else signed(change, 1)) for change in effect["changes_pct"])
        table.add_row(Text(printable(effect["mechanism"])), Text(printable(effect["end"])), *changes)
    return table


def _parameter(parameter: FreeParameter) -> str:
    """Write a number that was fitted, and to what."""
    fitted = (parameter["calibrated_to"] or "").removeprefix("calibrated to ")
    return printable(
        f"{parameter['part']}: {parameter['name']} = {parameter['value']}, calibrated to {fitted}"
    )


def _verdict(row: ValidationRow) -> tuple[str, str]:
    """Say how a prediction stands beside the closed form; a cell the model was given has no verdict."""
    if row["role"] != "predicted":
        return "not a prediction", "dim"
    baseline = row["baseline_error_pct"]
    if baseline is None:
        return "no baseline", "dim"
    if abs(row["error_pct"]) <= abs(baseline):
        return f"beats baseline ({_percent(baseline)})", "green"
    return f"behind baseline ({_percent(baseline)})", "yellow"


def _print_summary(claims: list[Claim]) -> None:
    columns = [
        ("claim", False),
        ("MAPE", True),
        ("baseline", True),
        ("predicted", True),
        ("free parameters", True),
    ]
    table = plain_table("Summary", [*columns, ("bar", False), ("verdict", False)])
    for claim in claims:
        table.add_row(
            Text(claim["claim"]),
            Text(_magnitude(claim["mape_pct"])),
            Text(_magnitude(claim["baseline_mape_pct"])),
            Text(str(claim["predicted_rows"])),
            Text(str(claim["free_parameters"])),
            Text(claim["bar"]),
            Text("met", "green") if claim["met"] else Text("missed", "bold red"),
        )
    out().print(table)


def _percent(value: float) -> str:
    return f"{signed(value, 2)} %"


def _magnitude(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{significant(value, 3)} %" if value >= FINEST else f"< {FINEST} %"
