"""The command that compares predictions with published numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from lanetwin import engine
from lanetwin.cli import effects
from lanetwin.cli.arguments import AsJson, Quiet
from lanetwin.cli.console import Exit, as_written, emit_json, err, out, printable
from lanetwin.cli.interrupt import interruptible
from lanetwin.cli.languages import in_languages
from lanetwin.cli.progress import shown
from lanetwin.cli.tables import plain_table
from lanetwin.numbers import measured, signed, significant, with_unit
from lanetwin.sentences import naming, told

if TYPE_CHECKING:
    from lanetwin.engine import Claim, Declared, FreeParameter, Validation, ValidationRow

FINEST = 0.001
"""Errors below this are not distinguished [%]."""

QUICK = 10
"""Time above which a claim is long [CPU-s]."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(in_languages(validate))


def validate(
    claims: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CLAIM]...", help="Claims to check; all of them if none is named."),
    ] = None,
    list_them: Annotated[
        bool, typer.Option("--list", help="Say which claims there are, and run none.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help=f"Of all claims leave out those of more than {QUICK} CPU-seconds."),
    ] = False,
    all_effects: Annotated[
        bool,
        typer.Option("--effects", help="Instead: what each moved assumption does to each row, all of it."),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare predictions with published numbers, cell by cell.

    Without a name all claims are run, the shortest first. Ctrl-C keeps
    what is finished. Cells that went into the model are marked as input or
    calibrated: they are no predictions. The exit status is 3 if a claim
    misses its bar.

    [dim]Examples:[/]
      lanetwin validate --quick
      lanetwin validate pcie-bench --json
      lanetwin validate cmm-h --effects
    """
    if list_them:
        _list_claims(as_json=as_json)
        return
    chosen = _chosen(claims or [], quick=quick)
    if not quiet:
        _say_cost(chosen, is_quick=quick)
    names = [claim["claim"] for claim in chosen]
    with interruptible(), shown("validate", quiet=quiet) as progress:
        found = engine.validate(names, progress)
    _print(found, all_effects=all_effects, as_json=as_json)
    if not found["complete"]:
        err().print(f"stopped: {len(found['claims'])} of {len(names)} claims", style="bold yellow")
        raise typer.Exit(Exit.INTERRUPTED)
    missed = [claim["claim"] for claim in found["claims"] if not claim["met"]]
    if missed:
        err().print(f"missed: {', '.join(missed)}", style="bold red")
        raise typer.Exit(Exit.GATE)


def _chosen(names: list[str], *, quick: bool) -> list[Declared]:
    """Return the claims of these names; without names all or the short ones, the shortest first."""
    known = engine.claims()
    by_name = {claim["claim"]: claim for claim in known}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        engine.validate(unknown)  # refuses unknown names, and lists the claims
    if names:
        return [by_name[name] for name in names]
    short = (claim for claim in known if not quick or claim["cpu_seconds"] <= QUICK)
    return sorted(short, key=lambda claim: claim["cpu_seconds"])


def _say_cost(chosen: list[Declared], *, is_quick: bool) -> None:
    """Print the expected time beforehand, if it is long."""
    seconds = sum(claim["cpu_seconds"] for claim in chosen)
    if seconds <= QUICK:
        return
    count = "1 claim" if len(chosen) == 1 else f"{len(chosen)} claims"
    is_mixed = len({claim["cpu_seconds"] <= QUICK for claim in chosen}) > 1
    advice = "; --quick leaves the long ones out" if is_mixed and not is_quick else ""
    err().print(f"{count}: about {_duration(seconds)} of CPU time{advice}", style="dim")


def _duration(seconds: int) -> str:
    """Write a time roughly, by its accuracy."""
    return f"{seconds} s" if seconds < 100 else f"{round(seconds / 60)} min"


def _print(found: Validation, *, all_effects: bool, as_json: bool) -> None:
    claims = [
        (claim, [row for row in found["rows"] if row["claim"] == claim["claim"]]) for claim in found["claims"]
    ]
    if all_effects:
        every = [line for claim, rows in claims for line in effects.matrix(claim, rows)]
        if as_json:
            emit_json(every)
        else:
            _print_effects(every)
    elif as_json:
        emit_json(found["rows"])
    else:
        for claim, rows in claims:
            _print_claim(claim, rows)
        _print_summary(found["claims"])


def _print_effects(every: list[dict[str, Any]]) -> None:
    """Print a line for each end and row."""
    columns = [(name, name == "change [%]") for name in ("assumption", "moved to", "row", "change [%]")]
    table = plain_table("What assumptions do to the predicted rows", columns)
    for line in every:
        texts = (line["assumption"], line["moved_to"], f"{line['case']}: {line['quantity']}")
        table.add_row(*map(as_written, texts), Text(signed(line["change_pct"], 2)))
    out().print(table)


def _list_claims(*, as_json: bool) -> None:
    known = engine.claims()
    if as_json:
        emit_json(known)
        return
    columns = [("claim", False), ("about", False), ("bar", False), ("CPU time", True)]
    table = plain_table("claims", columns)
    for claim in known:
        texts = (claim["claim"], claim["about"], claim["bar"])
        table.add_row(*map(as_written, texts), _duration(claim["cpu_seconds"]))
    out().print(table)


def _print_claim(claim: Claim, rows: list[ValidationRow]) -> None:
    columns = [
        ("case", False),
        ("quantity", False),
        ("published", True),
        ("predicted", True),
        ("error", True),
    ]
    title = f"{claim['claim']}: {claim['about']}"
    with naming({title}):
        table = plain_table(title, [*columns, ("role", False), ("verdict", False)])
    for row in rows:
        low, high = row["low"], row["high"]
        predicted = measured(
            row["predicted"],
            row["predicted"] if low is None else low,
            row["predicted"] if high is None else high,
        )
        verdict, style = _verdict(row)
        table.add_row(
            as_written(row["case"]),
            as_written(row["quantity"]),
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
            console.print(as_written(f"  {_parameter(parameter)}", "dim"))
    assumed = sum(not parameter["calibrated_to"] for parameter in parameters)
    if assumed:
        note = (
            f"  and {assumed} assumed numbers, defaults of the models among them: `lanetwin parts show NAME`"
        )
        console.print(Text(note, "dim"))
    if claim.get("text"):
        console.print(as_written(f"  {claim['text']}"))
    console.print()
    if claim.get("effects"):
        console.print(effects.summary(claim, rows, console.width))
        note = f"  every row: lanetwin validate {claim['claim']} --effects"
        console.print(Text(note, "dim"))
        console.print()


def _parameter(parameter: FreeParameter) -> str:
    """Write a fitted number, and the data it was fitted to."""
    fitted = (parameter["calibrated_to"] or "").removeprefix("calibrated to ")
    return printable(
        f"{parameter['part']}: {parameter['name']} = {parameter['value']}, {told('calibrated to')} {fitted}"
    )


def _verdict(row: ValidationRow) -> tuple[str, str]:
    """Compare a prediction with the closed form; an input cell has no verdict."""
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
            as_written(claim["claim"]),
            Text(_magnitude(claim["mape_pct"])),
            Text(_magnitude(claim["baseline_mape_pct"])),
            Text(str(claim["predicted_rows"])),
            Text(str(claim["free_parameters"])),
            as_written(claim["bar"]),
            Text("met", "green") if claim["met"] else Text("missed", "bold red"),
        )
    out().print(table)


def _percent(value: float) -> str:
    return f"{signed(value, 2)} %"


def _magnitude(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{significant(value, 3)} %" if value >= FINEST else f"< {FINEST} %"
