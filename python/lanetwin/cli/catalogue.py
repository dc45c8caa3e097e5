"""The catalogue of parts: list, show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from lanetwin import engine
from lanetwin.cli.arguments import AsJson
from lanetwin.cli.calibration import calibrate
from lanetwin.cli.console import as_written, emit_json, out, printable
from lanetwin.cli.languages import in_languages
from lanetwin.cli.tables import plain_table
from lanetwin.sentences import told

PARTS = typer.Typer(
    name="parts",
    help="The catalogue of parts, with the source of every number and how far a part can be trusted.",
    invoke_without_command=True,
)
COLUMNS = ("name", "kind", "about", "grade")
"""Columns of the list; the comparison of a part is a paragraph, and shown only for a single part."""
OF_OURS = ("kind", "grade")
"""Fields in translated words; the others are in the words of the part's author."""
FACTS = ("name", "about", "model", "what it does", "grade", "validated")
"""Fields shown for one part, in this order."""


Beside = Annotated[
    Path | None,
    typer.Option(
        "--beside",
        exists=True,
        help="A scenario: with the parts in parts/ beside it, too.",
        metavar="SCENARIO",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    PARTS.command("calibrate")(in_languages(calibrate))
    app.add_typer(PARTS)


@PARTS.callback()
@in_languages
def parts(ctx: typer.Context) -> None:
    """List the parts if no command is given."""
    if ctx.invoked_subcommand is None:
        list_parts()


@PARTS.command("list")
@in_languages
def list_parts(beside: Beside = None, as_json: AsJson = False) -> None:
    """List the parts.

    [dim]Example:[/]
      lanetwin parts list
    """
    entries = engine.parts(str(beside) if beside else None)
    if as_json:
        emit_json(entries)
        return
    # keeps all drives together
    _print_entries("", list(COLUMNS), sorted(entries, key=lambda part: (part["kind"], part["name"])))


@PARTS.command("show")
@in_languages
def show(
    name: Annotated[str, typer.Argument(help="Name of the part.", show_default=False)],
    beside: Beside = None,
    as_json: AsJson = False,
) -> None:
    """Show one part: every parameter with its value, its kind and its source.

    [dim]Example:[/]
      lanetwin parts show nfp-6000
    """
    part = engine.part(name, str(beside) if beside else None)
    if as_json:
        emit_json(part)
        return
    console = out()
    for key in FACTS:
        if part.get(key):
            line = Text(f"{told(key)}: ", "dim")
            value = str(part[key])
            line.append(
                printable(told(value) if key == "grade" else value), "bold" if key == "name" else "not dim"
            )
            console.print(line)
    console.print()
    if pci := part.get("pci"):
        entries = [{**one, "subsystem": ", ".join(one["subsystems"]) or told("any")} for one in pci]
        _print_entries("recognised by", ["id", "subsystem", "source"], entries)
        console.print()
    if ports := part.get("ports"):
        _print_entries("ports", ["port", "about"], ports)
        console.print()
    if components := part.get("components"):
        _print_entries("components", ["component", "model", "about"], components)
        console.print()
    if exposes := part.get("exposes"):
        _print_entries("exposes", ["name", "means"], exposes)
        console.print()
    numbers = [{**number, "origin": _origin(number)} for number in part.get("parameters", [])]
    _print_entries("parameters", ["parameter", "value", "kind", "origin"], numbers)


def _origin(number: dict[str, Any]) -> str:
    """Describe the origin of a number: its meaning, the data it was fitted to, its source."""
    fitted = f"{told('fitted to')} {number['calibrated to']}" if number.get("calibrated to") else ""
    said = (number.get("note"), fitted, number.get("source"))
    return "\n".join(str(sentence) for sentence in said if sentence)


def _print_entries(title: str, names: list[str], entries: list[dict[str, Any]]) -> None:
    table = plain_table(title, [(name, name == "value") for name in names])
    table.columns[0].no_wrap = True  # a name that is cut in two cannot be copied
    for entry in entries:
        texts = ["" if entry.get(name) is None else str(entry[name]) for name in names]
        cells = zip(names, texts, strict=True)
        table.add_row(*(Text(text) if name in OF_OURS else as_written(text) for name, text in cells))
    out().print(table)
