"""The command that runs a scenario at many values: sweep."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as Grid
from rich.text import Text

from lanetwin import store
from lanetwin.cli.arguments import (
    RUNS,
    AsJson,
    CacheFile,
    Force,
    Formats,
    Full,
    Jobs,
    Outside,
    Quiet,
    Sets,
    Vary,
    a_scenario,
    of_64_bits,
)
from lanetwin.cli.console import Exit, emit_json, err, out, printable
from lanetwin.cli.diagnostics import counted
from lanetwin.cli.interrupt import interruptible
from lanetwin.cli.languages import in_languages
from lanetwin.cli.progress import shown
from lanetwin.cli.rendering import say_where
from lanetwin.cli.tables import fits, plain_table
from lanetwin.numbers import fixed
from lanetwin.places import from_here
from lanetwin.report import sweep as report
from lanetwin.sentences import naming, told
from lanetwin.sweep import Asked, Swept, files, lines, sweep
from lanetwin.sweep.analysis import Analysis, analyse
from lanetwin.sweep.cache import FILE, Cache
from lanetwin.sweep.clusters import Dask, Ray
from lanetwin.sweep.executors import Executor, Processes, Threads
from lanetwin.sweep.table import Table

MOST_LINES = 16
"""Above this number of points, only those of the Pareto front and of the answer are shown."""
LIMITED_BY = "limited by"


class Workers(StrEnum):
    """Executors of the points; results do not depend on the choice."""

    THREADS = "threads"
    PROCESSES = "processes"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("sweep")(in_languages(sweep_))


def sweep_(
    scenario: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCENARIO", help="Scenario file (YAML).", callback=a_scenario, show_default=False
        ),
    ] = None,
    vary: Vary = None,
    zipped: Annotated[
        list[str] | None,
        typer.Option(
            "--zip", metavar="PATH=VALUES", help="Likewise; all these go together.", show_default=False
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample", min=2, help="Draw so many points instead of every combination.", show_default=False
        ),
    ] = None,
    sets: Sets = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", "-S", min=0, callback=of_64_bits, help="Seed of the runs. Default: the scenario's."
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume", metavar="FOLDER", help="Go on with the sweep of this folder.", show_default=False
        ),
    ] = None,
    workers: Annotated[Workers, typer.Option("--workers", help="Who simulates.")] = Workers.THREADS,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="The workers of this Dask scheduler simulate instead.",
            show_default=False,
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="The workers of this Ray cluster simulate instead ('auto': the one of this machine).",
            show_default=False,
        ),
    ] = None,
    jobs: Jobs = None,
    cache: CacheFile = FILE,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Simulate every point, and keep none.")
    ] = False,
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder. Default: runs/NAME-sweep-DIGEST", show_default=False),
    ] = None,
    outside: Outside = False,
    formats: Formats = None,
    full: Full = False,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario at many values: every combination, or points drawn from ranges.

    What is swept stands in the scenario under sweep:, or here. Prints the answer
    and its Pareto front; writes report.html, rows.csv and sweep.json.
    What was run before is not run again; Ctrl-C keeps what is finished.

    [dim]Examples:[/]
      lanetwin sweep slots.yaml
      lanetwin sweep slot.yaml --vary links.slot.width=x1,x2,x4,x8
      lanetwin sweep slot.yaml --vary 'workloads.rand.block.depth=1..256*2' --vary links.slot.gen=3,4,5
      lanetwin sweep --resume runs/slot-sweep-5f0c1d2e3a4b5c6d
    """
    if resume:
        asked = files.resumed(resume)
    elif scenario:
        asked = Asked(
            str(scenario), tuple(sets or ()), tuple(vary or ()), tuple(zipped or ()), sample, seed, outside
        )
    else:
        raise typer.BadParameter("name a scenario, or a folder with --resume", param_hint="SCENARIO")
    plan = asked.design()
    folder = out_folder or resume or RUNS / files.folder_name(asked, plan)
    if out_folder:
        store.refuse_to_overwrite(out_folder, force=force, mark=files.MARKER)
    executor = _executor(workers, jobs, dask, ray)
    with Cache(None if no_cache else cache) as kept:
        if not no_cache:
            files.begin(folder, asked, plan)
        with interruptible(), shown(Path(asked.path).name, quiet=quiet) as progress:
            swept = sweep(asked, executor=executor, cache=kept, progress=progress)
        table, percentiles = files.tabulate(swept)
        found = analyse(swept.design, table)
        files.save(
            swept,
            folder,
            page=report.render(swept, table, found),
            found=found,
            percentiles=percentiles,
            formats=formats or [],
        )
        if as_json:
            emit_json(files.document(swept, found))
        else:
            with naming(report.names_of(swept)):
                print_sweep(swept, table, found, full=full)
    if not quiet:
        _say_where(folder, swept)
    if not swept.complete:
        raise typer.Exit(Exit.INTERRUPTED)


def _executor(workers: Workers, jobs: int | None, dask: str | None, ray: str | None) -> Executor:
    """Return the executor."""
    if dask and ray:
        raise typer.BadParameter("name one cluster", param_hint="--ray")
    if dask or ray:
        return Dask(dask) if dask else Ray(ray)
    return Processes(jobs) if workers is Workers.PROCESSES else Threads(jobs)


def print_sweep(swept: Swept, table: Table, found: Analysis, *, full: bool) -> None:
    """Print the question, the answer, the selected points, and the effects."""
    console = out()
    if swept.about:
        console.print(Text(printable(swept.about), "bold"))
        console.print()
    for sentence in lines.answer(swept.design, found):
        console.print(Text(printable(sentence)), soft_wrap=True)
    console.print()
    worth = lines.worth_a_line(swept.design, found)
    answer = lines.answer_of(swept.design, found)
    few = [point for point in worth if found.front[point] or point == answer]
    is_cut = len(worth) > MOST_LINES and not full
    shown = few if is_cut else worth
    cut = shown if full else shown[: MOST_LINES * 2]
    rows = [lines.line(swept.design, table, found, point) for point in cut]
    grid = _grid(swept, found, rows, has_limits=True)
    has_room = fits(grid, console)
    console.print(grid if has_room else _grid(swept, found, rows, has_limits=False))
    if not has_room:
        _print_limits(rows)
    said = "◀ the answer, • nothing beats it"
    if is_cut:
        said += f"; {fixed(len(worth) - len(shown), 0)} other points: --full"
    console.print(Text(said, "dim"))
    console.print()
    _print_effects(swept, table, found)
    for doubt in lines.doubts(swept.design, table):
        console.print(Text(printable(doubt), "bold yellow"), soft_wrap=True)
    if swept.refused:
        why = next(iter(swept.refused.values()))[0]
        count = counted(len(swept.refused), "point")
        console.print(Text(printable(f"{count} could not be run: {why.code}, {why.message}"), "yellow"))
    if not swept.complete:
        done = f"{fixed(swept.done, 0)} of {counted(len(swept.design), 'point')}"
        console.print(Text(f"partial result: {done}", "bold yellow"))


def _grid(swept: Swept, found: Analysis, rows: list[lines.Line], *, has_limits: bool) -> Grid:
    """Make the table of points, with as many metrics as fit."""
    plan = swept.design
    names = lines.headings(found)
    # the metric of the question is always shown
    for metrics in range(len(names), max(len(found.required), 1) - 1, -1):
        columns = [("", False), *((name, True) for name in plan.names)]
        columns += [("cost", True)] if plan.has_costs else []
        columns += [("of the best", True)] if plan.cheapest else []
        columns += [(name, True) for name in names[:metrics]]
        grid = plain_table("", [*columns, *([(LIMITED_BY, False)] if has_limits else [])])
        for row in rows:
            cells = [row.mark, *row.levels, *([row.cost] if plan.has_costs else [])]
            cells += [row.share] if plan.cheapest else []
            cells += [*row.values[:metrics], *([row.limit] if has_limits else [])]
            grid.add_row(*(Text(printable(cell)) for cell in cells), style="bold" if row.is_chosen else "")
        if fits(grid, out()):
            break
    return grid


def _print_limits(rows: list[lines.Line]) -> None:
    """Print the bottlenecks of points if the table has no room for them, each once."""
    points: dict[str, list[str]] = {}
    for row in rows:
        points.setdefault(row.limit, []).append(" ".join(row.levels))
    for limit, where in points.items():
        whose = "" if len(points) == 1 else f" ({', '.join(where)})"
        out().print(Text(printable(f"{told(LIMITED_BY)}: {limit}{whose}")), soft_wrap=True)


def _print_effects(swept: Swept, table: Table, found: Analysis) -> None:
    """Print the effects of the axes on each metric of the question, the strongest first."""
    rows = report.effects(report.View(swept.design, table, found))
    if not rows:
        return
    grid = plain_table(
        "", [(name, n > 1) for n, name in enumerate(("metric", "axis", "explains", "means", "change"))]
    )
    before = ""
    for row in rows:
        grid.add_row(*(Text(printable(cell)) for cell in ["" if row[0] == before else row[0], *row[1:]]))
        before = row[0]
    out().print(grid)
    out().print()


def _say_where(folder: Path, swept: Swept) -> None:
    """Print the path of the report, and the time of the sweep."""
    say_where(folder / "report.html")
    known = swept.done - swept.simulated
    said = f"{counted(swept.simulated, 'point')} simulated in {fixed(swept.cpu_seconds, 1)} s of CPU time"
    err().print(f"{said}, {fixed(known, 0)} known before" if known else said, style="dim")
    if not swept.complete:
        err().print(f"Next: lanetwin sweep --resume {from_here(folder)}", style="dim", soft_wrap=True)
