"""The command's trunk: which commands there are, and what every one of them does with a mistake."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lanetwin import engine
from lanetwin.cli import (
    catalogue,
    closed_forms,
    discovering,
    documents,
    doors,
    executing,
    fio,
    iometer,
    link,
    measurements,
    measuring,
    nvme_tcp,
    rendering,
    searching,
    simulation,
    streams,
    study,
    sweep,
    ui,
    validation,
)
from lanetwin.cli.console import Exit, emit, err
from lanetwin.cli.diagnostics import print_bug, print_error
from lanetwin.errors import EngineBug, LanetwinError


class Trunk(TyperGroup):
    """Commands that may be shortened (``lanetwin val``), and mistakes that are printed, not traced."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Find a command by its name, or by a beginning that only it has."""
        names = [name for name in self.list_commands(ctx) if name.startswith(cmd_name)]
        exact = super().get_command(ctx, cmd_name)
        return exact or (super().get_command(ctx, names[0]) if len(names) == 1 else None)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a mistake of the user ends it with status 1."""
        try:
            return super().invoke(ctx)
        except LanetwinError as error:
            print_error(error)
            raise typer.Exit(Exit.ERROR) from error
        except EngineBug as bug:
            print_bug(bug)
            raise typer.Exit(Exit.ERROR) from bug
        except KeyboardInterrupt as interrupt:
            err().print("interrupted", style="bold yellow")
            raise typer.Exit(Exit.INTERRUPTED) from interrupt
        except OSError as error:
            raise typer.Exit(streams.lost(error)) from error


app = typer.Typer(
    name="lanetwin",
    cls=Trunk,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Commands may be shortened: [bold]lanetwin val[/] is [bold]lanetwin validate[/]. "
    "Exit status: 0 done, 1 error, 2 usage, 3 a comparison or validation did not pass, 130 interrupted.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        emit(f"lanetwin {engine.version()}")
        raise typer.Exit(Exit.OK)


@app.callback()
def trunk(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", help="Print the version and stop.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Predict, emulate and measure PCIe, NVMe, NVMe-oF and CXL-memory systems: a digital twin.

    Describe a machine in a file: lanetwin predicts what it does, what limits it
    and how sure that is, serves its drives to programs, and measures the
    same jobs on real hardware. The result goes to standard output, everything
    else to standard error.
    """


BRANCHES = {
    "Write a scenario": (documents,),
    "Predict": (simulation, sweep, searching, study, rendering, ui),
    "Emulate: programs that run, on a drive that does not exist": (executing, doors, nvme_tcp),
    "Measure: hardware that does exist": (discovering, measuring, measurements),
    "Parts, and how far to trust them": (catalogue, validation),
    "Links, closed forms and other tools' files": (link, closed_forms, fio, iometer),
}
"""The modules with commands, by the heading that the help has them under."""


def _register() -> None:
    for heading, branches in BRANCHES.items():
        commands, groups = len(app.registered_commands), len(app.registered_groups)
        for branch in branches:
            branch.register(app)
        for command in app.registered_commands[commands:]:
            command.rich_help_panel = heading
        for group in app.registered_groups[groups:]:
            group.rich_help_panel = heading


_register()


def main() -> None:
    """Run the command and exit with its status."""
    streams.prepare()
    try:
        app()
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(Exit.INTERRUPTED)
