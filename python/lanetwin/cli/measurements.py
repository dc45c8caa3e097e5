"""Commands for measurements of other programs: import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from lanetwin import engine, store
from lanetwin.cli.arguments import AsJson, Force, Full, Quiet
from lanetwin.cli.console import out
from lanetwin.cli.languages import in_languages
from lanetwin.cli.rendering import show
from lanetwin.cli.tables import plain_table
from lanetwin.measured import imported
from lanetwin.measured.document import VARIANT
from lanetwin.measured.formats import FORMATS, named

RUNS = Path("runs")
"""Where results are kept, beside those of runs."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import")(in_languages(import_))


def _known(value: str | None) -> str | None:
    if value is not None and named(value) is None:
        raise typer.BadParameter(f"{value!r} is no format; --formats lists them")
    return value


def import_(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE…", help="What a program wrote.", show_default=False)
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", help="Its format, if it is not recognised.", callback=_known, show_default=False
        ),
    ] = None,
    variant: Annotated[str, typer.Option("--variant", help="What the machine is called.")] = VARIANT,
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload", "-w", help="What the test is called. Default: as the file.", show_default=False
        ),
    ] = None,
    about: Annotated[
        str, typer.Option("--about", help="The question, for the report.", show_default=False)
    ] = "",
    out_folder: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder for the files. Default: runs/measured-NAME", show_default=False
        ),
    ] = None,
    formats: Annotated[bool, typer.Option("--formats", help="List the formats and stop.")] = False,
    full: Full = False,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Read measurements of fio, Iometer and others as results, which can be reported and compared.

    [dim]Examples:[/]
      lanetwin import randread.json
      lanetwin import before.json --variant gen4 --workload random --out runs/before
      lanetwin compare runs/measured-randread runs/slot-7c19e04b
    """
    if formats:
        _list_formats()
        return
    if not files:
        raise typer.BadParameter("name the files to read", param_hint="FILE…")
    if out_folder:
        store.refuse_to_overwrite(out_folder, force=force, mark=store.RESULTS)
    results = imported(
        files, version=engine.version(), format_=format_, variant=variant, workload=workload, about=about
    )
    folder = out_folder or RUNS / store.folder_name(results)
    if not out_folder:
        store.refuse_to_overwrite(folder, force=force, mark=store.RESULTS)
    show(results, store.save(results, folder), as_json=as_json, full=full, quiet=quiet)


def _list_formats() -> None:
    table = plain_table("", [("format", False), ("about", False)])
    for one in FORMATS:
        table.add_row(one.name, Text(one.about))
    out().print(table)
