"""The command `study`: a report as a document, with numbered tables and figures."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len
from rich.text import Text

from lanetwin import kinds, store
from lanetwin.cli.arguments import AsJson, Force, Outside, Quiet
from lanetwin.cli.console import Exit, as_written, emit, emit_json, err, out, printable
from lanetwin.cli.interrupt import interruptible
from lanetwin.cli.languages import in_languages
from lanetwin.cli.progress import shown
from lanetwin.cli.rendering import say_where
from lanetwin.cli.tables import plain_table
from lanetwin.language import current
from lanetwin.study import build, evidence, folder, parse, pdf, shipped

if TYPE_CHECKING:
    from lanetwin.study.paper import Paper

RUNS = Path("runs")
"""Folder of studies, beside runs."""
NO_FONT = (
    "this machine has no font with Chinese characters: the PDF will show boxes; "
    "install one (Debian: fonts-noto-cjk)"
)
STYLES = {"better": "green", "worse": "red", "inconclusive": "yellow"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(in_languages(study))


def study(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY", help="Name of a study that comes with lanetwin, or a file.", show_default=False
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Short runs: about a minute instead of many.")
    ] = False,
    has_pdf: Annotated[
        bool, typer.Option("--pdf", help="Print it as PDF, too; a chromium does that.")
    ] = False,
    out_folder: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder for the files. Default: runs/study-NAME-DIGEST", show_default=False
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", "-l", help="List the studies and stop.")] = False,
    results: Annotated[
        list[str] | None,
        typer.Option(
            "--results",
            metavar="RUN=FOLDER",
            help="Results of your own in the place of those that the study keeps. May be repeated.",
            show_default=False,
        ),
    ] = None,
    outside: Outside = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with status 3 if a statement does not hold.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a study: scenarios, channels and stability cycles joined to a document.

    Prints whether its statements hold; writes study.html and study.md, with
    numbered tables and figures, and every result that they rest on.

    [dim]Examples:[/]
      lanetwin study --list
      lanetwin study retimer --quick
      lanetwin study my-study/study.yaml --pdf
    """
    if list_ or name is None:
        _list()
        return
    if has_pdf:
        pdf.browser()  # before anything is computed
        if pdf.lacks_signs(current()):
            err().print(Text(NO_FONT, "yellow"))
    if out_folder:
        store.refuse_to_overwrite(out_folder, force=force, mark=folder.MARK)
    if name not in shipped.names():
        kinds.require(Path(name), "study")
    file, is_shipped = shipped.find(name)
    described = parse.load(file, outside=outside or is_shipped)
    described = parse.with_results(described, results or ())
    with interruptible(), shown(described.name, quiet=quiet) as progress:
        found = evidence.gather(described, quick=quick, progress=progress)
    command = ["lanetwin", "study", name, *(["--quick"] if quick else [])]
    command += [word for one in results or () for word in ("--results", one)]
    command += ["--lang", current()] if current() != "en" else []
    paper = build.paper(described, found, language=current(), command=shlex.join(command))
    place = out_folder or RUNS / folder.name(paper, found)
    place = store.write_folder(place, folder.files(paper, found, has_pdf=has_pdf), folder.MARK)
    _show(paper, place, as_json=as_json, quiet=quiet)
    if not paper.is_complete:
        raise typer.Exit(Exit.INTERRUPTED)
    if strict and any(one.verdict == "worse" for one in paper.answer):
        raise typer.Exit(Exit.GATE)


def _list() -> None:
    table = plain_table("", [("study", False), ("question", False)])
    for name in shipped.names():
        path, _ = shipped.find(name)
        described = parse.load(path, outside=True)
        table.add_row(Text(name), Text(printable(described.about.told(current()))))
    out().print(table)


def _show(paper: Paper, place: Path, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        emit_json(
            {
                "study": paper.name,
                "quick": paper.is_quick,
                "complete": paper.is_complete,
                "statements": [
                    {"says": one.text, "outcome": one.verdict, "evidence": list(one.notes)}
                    for one in paper.answer
                ],
                "tables": [one.number for one in paper.tables],
                "figures": [one.number for one in paper.figures],
                "folder": str(place),
            }
        )
    else:
        emit(printable(paper.question))
        emit("")
        width = max((cell_len(one.word) for one in paper.answer), default=0)
        for one in paper.answer:
            blank = " " * (width - cell_len(one.word) + 2)
            line = Text(one.word + blank, STYLES.get(one.verdict, ""))
            line.append(printable(one.text), "not bold default")
            out().print(line, soft_wrap=True)
            for note in one.notes:
                out().print(as_written(" " * (width + 2) + note, "dim"), soft_wrap=True)
    if not quiet:
        say_where(place / folder.MARK, "Study: ")
