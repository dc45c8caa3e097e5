"""Configurations of Iometer: show their contents."""

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

IOMETER = typer.Typer(
    name="iometer", help="Configurations of Iometer, versions 1.1.0 and 2004.07.30.", no_args_is_help=True
)
LINE = ("size", "share", "reads", "random", "delay_ms", "burst", "align", "reply")
"""The numbers of a line of an access specification, in the order of the file."""
HEADS = ("size [B]", "% of accesses", "% reads", "% random", "delay [ms]", "burst", "align [B]", "reply [B]")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(IOMETER)


@IOMETER.callback()
def iometer() -> None:
    """Read configurations of Iometer."""


@IOMETER.command("show")
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE.icf", help="Configuration file.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show what a configuration says, and every doubt about it.

    [dim]Example:[/]
      lanetwin iometer show scenarios/iometer/idt-1.1.0.icf
    """
    found = engine.iometer_show(str(file))
    if as_json:
        emit_json(found)
    else:
        print_diagnostics([Diagnostic.from_dict(fields) for fields in found["diagnostics"]])
    if found["config"] is None:
        raise typer.Exit(Exit.ERROR)
    if not as_json:
        _print_config(found["config"])


def _print_config(config: dict[str, Any]) -> None:
    console = out()
    facts = {"version": config["version"], **_setup(config["setup"])}
    for name, fact in facts.items():
        line = Text(f"{name}: ", "dim")
        line.append(printable(str(fact)), "not dim")
        console.print(line, soft_wrap=True)
    if config["specs"]:
        console.print()
        _print_specs(config["specs"])
    workers = [(manager, worker) for manager in config["managers"] for worker in manager["workers"]]
    if workers:
        console.print()
        _print_workers(workers)


def _setup(setup: dict[str, Any] | None) -> dict[str, str]:
    """Describe the test setup in words."""
    if setup is None:
        return {}
    time = setup["run_time"]
    parts = [f"{time[unit]} {unit}" for unit in ("hours", "minutes", "seconds") if time[unit]]
    run = " ".join(parts) or "until stopped"
    facts = {"about": setup["description"], "run time": run, "ramp up": f"{setup['ramp_up_s']} seconds"}
    return {**{name: fact for name, fact in facts.items() if fact}, "test type": setup["test_type"]}


def _print_specs(specs: list[dict[str, Any]]) -> None:
    columns = [("specification", False), *((head, True) for head in HEADS)]
    table = plain_table("Access specifications", columns)
    for spec in specs:
        for nth, line in enumerate(spec["lines"]):
            name = "" if nth else spec["name"]
            table.add_row(Text(printable(name)), *(Text(str(line[key])) for key in LINE))
    out().print(table)


def _print_workers(workers: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    columns = [("manager", False), ("worker", False), ("kind", False), ("outstanding", True)]
    table = plain_table("Workers", [*columns, ("targets", False), ("specifications", False)])
    for manager, worker in workers:
        texts = [manager["name"], worker["name"], *worker["kind"], str(worker["outstanding"])]
        texts.append("\n".join(target["name"] for target in worker["targets"]))
        texts.append("\n".join(worker["specs"]))
        table.add_row(*(Text(printable(text)) for text in texts))
    out().print(table)
