"""The main command: the list of commands, and their common handling of errors."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lanetwin import engine
from lanetwin.cli import streams
from lanetwin.cli.arguments import refuse_empty_paths
from lanetwin.cli.console import Exit, emit, err
from lanetwin.cli.diagnostics import print_bug, print_error
from lanetwin.errors import EngineBug, LanetwinError

BRANCHES: dict[str, dict[str, tuple[str, ...]]] = {
    "Write a scenario": {"documents": ("new", "check", "schema", "explain")},
    "Predict": {
        "simulation": ("run", "compare", "replay"),
        "sweep": ("sweep",),
        "searching": ("search",),
        "study": ("study",),
        "rendering": ("report",),
        "ui": ("ui",),
    },
    "Emulate: programs that run, on a drive that does not exist": {
        "executing": ("exec",),
        "doors": ("serve-device", "device"),
        "nvme_tcp": ("nvme-tcp",),
    },
    "Measure: hardware that does exist": {
        "discovering": ("discover",),
        "measuring": ("measure",),
        "measurements": ("import",),
    },
    "Parts, and how far to trust them": {"catalogue": ("parts",), "validation": ("validate",)},
    "Links, closed forms and other tools' files": {
        "link": ("link",),
        "closed_forms": ("calc",),
        "fio": ("fio",),
        "iometer": ("iometer",),
    },
}
"""The modules of commands and their names, by the heading in the help."""

HOMES = {
    command: (heading, module)
    for heading, modules in BRANCHES.items()
    for module, commands in modules.items()
    for command in commands
}
"""The heading and the module of each command."""


def flowing(text: str) -> str:
    """Join the lines of each paragraph, which the terminal wraps; paragraphs with indented lines stay."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(part if "\n " in part else part.replace("\n", " ") for part in paragraphs)


def let_flow(command: Any) -> None:
    """Make the help of a command, and of its subcommands, fill the lines of a terminal."""
    command.help = flowing(cleandoc(command.help or ""))
    for below in getattr(command, "commands", {}).values():
        let_flow(below)


def commands_of(module: str) -> dict[str, Any]:
    """Import a module of commands and let it register them."""
    branch = typer.Typer(rich_markup_mode="rich")
    branch.callback()(lambda: None)  # a group, even around one command
    import_module(f"lanetwin.cli.{module}").register(branch)
    group = typer.main.get_group(branch)
    let_flow(group)
    return dict(group.commands)


class Trunk(TyperGroup):
    """Commands that may be abbreviated (``lanetwin val``), and errors that are printed without a traceback.

    A module is imported when one of its commands is used: most commands need little of the program.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands."""
        return list(HOMES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Find a command by its name, or by a unique prefix."""
        names = [name for name in HOMES if name.startswith(cmd_name)]
        name = cmd_name if cmd_name in HOMES else names[0] if len(names) == 1 else None
        return self._made(name) if name else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; of one that there is not, say which may be meant."""
        begun = [name for name in HOMES if args[0] and name.startswith(args[0])]
        if len(begun) > 1 and args[0] not in HOMES:
            ctx.fail(f"'{args[0]}' may be {', '.join(begun)}.")
        alike = get_close_matches(args[0], HOMES, n=1)
        if not begun and alike and not args[0].startswith("-"):
            ctx.fail(f"No such command '{args[0]}'. Did you mean '{alike[0]}'?")
        return super().resolve_command(ctx, args)

    def _made(self, name: str) -> Any:
        if name not in self.commands:
            heading, module = HOMES[name]
            for command in commands_of(module).values():
                command.rich_help_panel = heading
                refuse_empty_paths(command)
                self.commands[command.name] = command
        return self.commands[name]

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error of the user ends it with status 1."""
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


def main() -> None:
    """Run the command and exit with its status."""
    streams.prepare()
    try:
        app()
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(Exit.INTERRUPTED)
