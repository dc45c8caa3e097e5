"""Job files of fio: show their contents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from lanetwin import engine
from lanetwin.cli.arguments import AsJson
from lanetwin.cli.console import Exit, emit_json, out, printable
from lanetwin.cli.diagnostics import print_diagnostics
from lanetwin.cli.tables import plain_table
from lanetwin.errors import Diagnostic

FIO = typer.Typer(name="fio", help="Job files of fio, as fio 3.33 reads them.", no_args_is_help=True)
COLUMNS = ("phase", "group", "rw", "reads", "writes", "iodepth", "numjobs", "size", "spread", "runtime")
"""Columns of a job beside its name."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(FIO)


@FIO.callback()
def fio() -> None:
    """Read job files of fio."""


@FIO.command("show")
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE.fio", help="Job file.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show what the jobs of a file say, every doubt about them, and what is not modelled.

    [dim]Example:[/]
      lanetwin fio show scenarios/fio/odcc-like.fio
    """
    found = engine.fio_show(str(file))
    if as_json:
        emit_json(found)
    else:
        print_diagnostics([Diagnostic.from_dict(fields) for fields in found["diagnostics"]])
    if found["file"] is None:
        raise typer.Exit(Exit.ERROR)
    if not as_json:
        _print_jobs(found["file"]["jobs"])


def _print_jobs(jobs: list[dict[str, Any]]) -> None:
    table = plain_table("Jobs", [("job", False), *((column, False) for column in COLUMNS)])
    for job in jobs:
        table.add_row(
            Text(printable(job["name"])), *(Text(printable(str(job[column]))) for column in COLUMNS)
        )
    console = out()
    console.print(table)
    left_out = {option: None for job in jobs for option in job["not_modelled"]}
    if left_out:
        console.print(Text("not modelled: " + printable(", ".join(left_out))), soft_wrap=True)
