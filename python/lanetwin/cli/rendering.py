"""Output of results: common parts of `run`, `compare` and `report`, and `report` itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from lanetwin import engine, store
from lanetwin.cli.answer import print_answer
from lanetwin.cli.arguments import AsJson, Force, Full, a_result
from lanetwin.cli.console import emit_json, err
from lanetwin.cli.languages import in_languages
from lanetwin.cli.tables import print_results
from lanetwin.places import from_here
from lanetwin.sentences import names_of, naming, told

if TYPE_CHECKING:
    from lanetwin.results import Results


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(in_languages(report))


def report(
    stored: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="results.json, or the folder of a run.",
            callback=a_result,
            show_default=False,
        ),
    ],
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the files. Default: the run's own.", show_default=False),
    ] = None,
    full: Full = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Render stored results again: the answer here, and the files of a run.

    Without --out, the folder of a run gets its report.html anew, and of another file nothing is written.

    [dim]Examples:[/]
      lanetwin report runs/slot-7c19e04b --full
      lanetwin report results.json --out for-the-boss
      lanetwin report runs/slot-7c19e04b --lang zh
    """
    if out_folder:
        store.refuse_to_overwrite(out_folder, force=force, mark=store.RESULTS)
    results = engine.load_file(stored)
    if out_folder:
        folder: Path | None = store.save(results, out_folder)
    else:
        folder = store.render_beside(results, stored, force=force)
    show(results, folder, as_json=as_json, full=full)


def show(
    results: Results, folder: Path | None, *, as_json: bool, full: bool = False, quiet: bool = False
) -> None:
    """Print results, and the path of their report."""
    if as_json:
        emit_json(results)
    else:
        with naming(names_of(results)):
            (print_results if full else print_answer)(results)
    if folder and not quiet:
        say_where(folder / "report.html")


def say_where(report: Path, what: str = "Report: ") -> None:
    """Print the path of a report or a study."""
    place = Text(told(what))
    place.append(from_here(report), "bold")
    err().print(place, soft_wrap=True)
