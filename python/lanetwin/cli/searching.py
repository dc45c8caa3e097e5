"""The command that searches for the best values: search."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from lanetwin.cli.arguments import (
    RUNS,
    AsJson,
    CacheFile,
    Jobs,
    Outside,
    Quiet,
    ScenarioPath,
    Sets,
    Vary,
    of_64_bits,
)
from lanetwin.cli.console import Exit, emit_json, err, out, printable
from lanetwin.cli.diagnostics import counted, print_diagnostics
from lanetwin.cli.interrupt import interruptible
from lanetwin.cli.languages import in_languages
from lanetwin.cli.progress import shown
from lanetwin.cli.rendering import say_where
from lanetwin.cli.tables import plain_table
from lanetwin.numbers import fixed, significant
from lanetwin.report import sweep as report
from lanetwin.search import Goals, Prices, Search, Searched, Trial, files, search
from lanetwin.sentences import naming
from lanetwin.sweep import Asked
from lanetwin.sweep.cache import FILE, Cache
from lanetwin.sweep.executors import Threads

MOST_LINES = 20
"""Maximum number of printed points of the front; the files have all."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("search")(in_languages(search_))


def search_(
    scenario: ScenarioPath,
    maximize: Annotated[
        list[str] | None,
        typer.Option(
            "--maximize",
            metavar="METRIC[@WORKLOAD]",
            help="throughput, IOPS … May be repeated.",
            show_default=False,
        ),
    ] = None,
    minimize: Annotated[
        list[str] | None,
        typer.Option(
            "--minimize",
            metavar="METRIC[@WORKLOAD]",
            help="'latency p99', cost, power … May be repeated.",
            show_default=False,
        ),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            metavar="LIMIT",
            help="'latency p99@lookups <= 200'. May be repeated.",
            show_default=False,
        ),
    ] = None,
    vary: Vary = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices", metavar="CSV", help="What parts cost and draw, with source.", show_default=False
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials", "-n", min=1, help="So many points, at most. Default: the scenario's, or 100."
        ),
    ] = None,
    sets: Sets = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            "-S",
            min=0,
            callback=of_64_bits,
            help="Seed of what is proposed. Default: the scenario's, or 0.",
        ),
    ] = None,
    jobs: Jobs = None,
    cache: CacheFile = FILE,
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder. Default: runs/NAME-search-DIGEST", show_default=False),
    ] = None,
    outside: Outside = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Look for the best values of a scenario, where there are too many for a sweep.

    What is looked for and what may be varied stand in the scenario under search: (or
    sweep:), or here. Prints the best and the Pareto front; writes report.html,
    rows.csv, trials.csv and search.json.
    The same command goes on where a search was stopped; more --trials go further.

    [dim]Examples:[/]
      lanetwin search box.yaml
      lanetwin search box.yaml --minimize cost --require 'throughput@reads >= 24000'
      lanetwin search box.yaml --maximize throughput --minimize 'latency p99' --vary links.up.width=x4,x8,x16
    """
    goals = Goals(
        tuple(maximize or ()),
        tuple(minimize or ()),
        tuple(require or ()),
        trials,
        seed,
        Prices.read(prices) if prices else None,
    )
    asked = Search.of(Asked(str(scenario), tuple(sets or ()), tuple(vary or ()), outside=outside), goals)
    folder = out_folder or RUNS / asked.folder_name()
    storage = files.storage(folder, asked)
    with Cache(cache) as kept:
        with interruptible(), shown(scenario.name, quiet=quiet) as progress:
            found = search(asked, storage=storage, cache=kept, executor=Threads(jobs), progress=progress)
        files.save(found, folder)
        if as_json:
            emit_json(files.document(found))
        else:
            with naming(report.names_of(found.swept)):
                print_search(found)
    if found.doubt:
        print_diagnostics([found.doubt])
    if not quiet:
        _say_where(folder, found)
    if not found.complete:
        raise typer.Exit(Exit.INTERRUPTED)


def print_search(found: Searched) -> None:
    """Print the question, the best point, the Pareto front, and missing metrics."""
    console = out()
    if found.swept.about:
        console.print(Text(printable(found.swept.about), "bold"))
        console.print()
    for sentence in files.sentences(found):
        console.print(Text(printable(sentence)), soft_wrap=True)
    front = found.front()
    if len(front) > 1:
        console.print()
        _print_front(found, front)
    if found.unpriced:
        names = ", ".join(found.unpriced)
        console.print(Text(printable(f"no price is known of {names}: cost and power are not told"), "yellow"))


def _print_front(found: Searched, front: list[Trial]) -> None:
    columns = [(name, True) for name in found.swept.design.names]
    columns += [(f"{name} [{unit}]" if unit else name, True) for name, unit in files.headings(found)]
    grid = plain_table("", [("", False), *columns])
    best = found.best
    for trial in front[:MOST_LINES]:
        chosen = best is not None and trial.point == best.point
        values = [significant(value, 4) for value in (*(trial.values or ()), *trial.limits)]
        cells = ["◀" if chosen else "•", *files.levels(found, trial), *values]
        grid.add_row(*(Text(printable(cell)) for cell in cells), style="bold" if chosen else "")
    out().print(grid)
    said = "◀ the best of the first objective, • nothing beats it"
    lost = len(front) - MOST_LINES
    out().print(Text(said + (f"; {fixed(lost, 0)} more in trials.csv" if lost > 0 else ""), "dim"))


def _say_where(folder: Path, found: Searched) -> None:
    """Print the path of the report, and the time of the search."""
    say_where(folder / "report.html")
    said = f"{counted(found.swept.simulated, 'point')} simulated in {fixed(found.swept.cpu_seconds, 1)} s"
    err().print(f"{said} of CPU time, {fixed(found.known, 0)} tried before", style="dim")
    if not found.complete:
        err().print("Next: the same command goes on", style="dim")
