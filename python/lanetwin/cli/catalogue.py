"""The catalogue of parts: list, show."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from lanetwin import engine
from lanetwin.cli.arguments import AsJson
from lanetwin.cli.console import emit_json, out, printable
from lanetwin.cli.tables import plain_table

PARTS = typer.Typer(
    name="parts",
    help="The catalogue of parts, with the source of every number and how far a part can be trusted.",
    invoke_without_command=True,
)
COLUMNS = ("name", "kind", "about", "grade", "validated")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(PARTS)


@PARTS.callback()
def parts(ctx: typer.Context) -> None:
    """List the parts if no command is given."""
    if ctx.invoked_subcommand is None:
        list_parts()


@PARTS.command("list")
def list_parts(as_json: AsJson = False) -> None:
    """List the parts.

    [dim]Example:[/]
      lanetwin parts list
    """
    entries = engine.parts()
    if as_json:
        emit_json(entries)
        return
    names = [name for name in COLUMNS if any(entry.get(name) for entry in entries)]
    _print_entries("", names, entries)


@PARTS.command("show")
def show(
    name: Annotated[str, typer.Argument(help="Name of the part.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show one part: every parameter with its value, its kind and its source.

    [dim]Example:[/]
      lanetwin parts show nfp-6000
    """
    part = engine.part(name)
    if as_json:
        emit_json(part)
        return
    console = out()
    for key, value in part.items():
        if isinstance(value, str | int | float):
            line = Text(f"{key.replace('_', ' ')}: ", "dim")
            line.append(printable(str(value)), "bold" if key == "name" else "not dim")
            console.print(line)
    for key, value in part.items():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            console.print()
            _print_entries(key.replace("_", " "), _keys(value), value)


def _keys(entries: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for entry in entries for key in entry))


def _print_entries(title: str, names: list[str], entries: list[dict[str, Any]]) -> None:
    table = plain_table(title, [(name, name in ("value", "default")) for name in names])
    for entry in entries:
        texts = ["" if entry.get(name) is None else str(entry[name]) for name in names]
        table.add_row(*(Text(printable(text)) for text in texts))
    out().print(table)
