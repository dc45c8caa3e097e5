"""The command that measures: measure."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from lanetwin import store
from lanetwin.cli.arguments import AsJson, Force, Full, Quiet, ScenarioPath, Sets
from lanetwin.cli.console import Exit, emit, err, printable
from lanetwin.cli.interrupt import interruptible
from lanetwin.cli.languages import in_languages
from lanetwin.cli.progress import shown
from lanetwin.cli.rendering import show
from lanetwin.measure import Asked, Owned, Target, burdens, measure, opened, permitted, read_tests
from lanetwin.measured.document import VARIANT
from lanetwin.results import Results

RUNS = Path("runs")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("measure")(in_languages(measure_))


def _targets(values: list[str]) -> list[Target]:
    """Parse `PATH` or `NAME=PATH`, each once."""
    found = []
    for value in values:
        name, equals, path = value.partition("=")
        found.append(opened(name, Path(path)) if equals else opened(VARIANT, Path(value)))
    names = [target.variant for target in found]
    if len(set(names)) < len(names):
        raise typer.BadParameter("several targets need names of their own: --on a=PATH --on b=PATH")
    return found


def measure_(
    scenario: ScenarioPath,
    on: Annotated[
        list[str],
        typer.Option(
            "--on",
            metavar="[VARIANT=]PATH",
            help="The file or block device that is read. Several are read in turn: A B B A.",
            show_default=False,
        ),
    ],
    workloads: Annotated[
        list[str] | None,
        typer.Option(
            "--workload", "-w", help="Measure this workload only. May be repeated.", show_default=False
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0.1, max=86_400, help="How long each test is measured.")
    ] = 5.0,
    ramp: Annotated[float, typer.Option(min=0, max=3600, help="How long it runs before.")] = 1.0,
    repeats: Annotated[int, typer.Option("--repeats", min=1, max=1000, help="How often.")] = 4,
    write: Annotated[
        bool,
        typer.Option("--write", help="Run jobs that write, too: what is on the target is lost."),
    ] = False,
    destroy: Annotated[
        list[str] | None,
        typer.Option(
            "--destroy",
            metavar="SERIAL|FILE",
            help="What may be lost: a drive by its serial number, a file by its whole path. May be repeated.",
            show_default=False,
        ),
    ] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Print the job files of fio and stop.")] = False,
    out_folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the files. Default: runs/measured-NAME, -2, -3 …",
            show_default=False,
        ),
    ] = None,
    sets: Sets = None,
    full: Full = False,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure the jobs of a scenario with fio on a file or a drive that exists, without writing to it.

    Jobs that write are left out. With --write they run where nothing is and --destroy names it.
    Ctrl-C keeps what is finished, marked as partial.

    [dim]Examples:[/]
      lanetwin measure bay.yaml --on /dev/nvme0n1
      lanetwin measure bay.yaml --on old=/dev/nvme0n1 --on new=/dev/nvme1n1 --seconds 30
      lanetwin compare runs/measured-bay runs/bay-7c19e04b
    """
    targets = _targets(on)
    if destroy and not write:
        raise typer.BadParameter("--destroy says whose contents may be lost: it goes with --write")
    tests, left = read_tests(scenario, sets or [], workloads or [], writing=write)
    for one in left:
        err().print(Text(printable(one.told()), "yellow"), soft_wrap=True)
    writing = any(test.writes for test in tests)
    if dry and not writing:
        emit("\n".join(test.text(target, seconds=seconds, ramp=ramp) for test in tests for target in targets))
        return
    folder = out_folder or store.next_free(RUNS / f"measured-{scenario.stem}")
    if not dry:
        store.refuse_to_overwrite(folder, force=force, mark=store.RESULTS)
    nothing: AbstractContextManager[list[Owned]] = nullcontext([])
    with permitted(targets, destroy or []) if writing else nothing as owned:
        told = burdens(owned, tests, seconds=seconds + ramp, repeats=repeats)
        for burden in told:
            err().print(Text(printable(burden.told()), "bold"), soft_wrap=True)
        if dry:
            emit(
                "\n".join(
                    test.text(target, seconds=seconds, ramp=ramp) for test in tests for target in targets
                )
            )
            return
        with interruptible(), shown(scenario.name, quiet=quiet) as tell:
            results = measure(
                Asked(
                    scenario.resolve(),
                    tests,
                    targets,
                    left,
                    seconds,
                    ramp,
                    repeats,
                    burdens=told,
                    tell=tell,
                    keep=lambda partial: store.save(partial, folder),
                )
            )
    store.save(results, folder)
    if results["rows"] or not results["options"]["invalid"]:
        show(results, folder, as_json=as_json, full=full, quiet=quiet)
    _end(results)


def _end(results: Results) -> None:
    """Print invalid tests, and end with the status for the results."""
    for said in dict.fromkeys(f"{row['workload']}: {row['why']}" for row in results["options"]["invalid"]):
        err().print(Text(printable(f"INVALID: {said}"), "bold red"), soft_wrap=True)
    if not results["complete"]:
        raise typer.Exit(Exit.INTERRUPTED)
    if results["options"]["invalid"]:
        raise typer.Exit(Exit.ERROR)
