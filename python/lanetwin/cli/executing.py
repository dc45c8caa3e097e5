"""The command that runs a program on a drive that does not exist: exec."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from lanetwin import emulation, store
from lanetwin.cli.arguments import (
    AsJson,
    Force,
    Full,
    Outside,
    OwnCore,
    Quiet,
    ScenarioPath,
    Sets,
    StayAwake,
)
from lanetwin.cli.console import err
from lanetwin.cli.interrupt import interruptible
from lanetwin.cli.progress import shown
from lanetwin.cli.rendering import show
from lanetwin.execution import Asked, Run, execute, variants_of

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS = Path("runs")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("exec")(exec_)


def exec_(
    scenario: ScenarioPath,
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND…", help="What is run.", show_default=False)
    ],
    variants: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            help="Variant. May be repeated: they are compared with the first. Default: the baseline.",
            show_default=False,
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every variant, in turn: A B B A.")] = False,
    repeats: Annotated[int, typer.Option(min=1, max=1000, help="How often on each variant.")] = 2,
    over: Annotated[
        emulation.Entrance | None,
        typer.Option("--over", help="How the program reaches it. Default: nbd.", show_default=False),
    ] = None,
    mount: Annotated[
        Literal["ext4"] | None,
        typer.Option("--mount", help="Run it in a file system on the drive; as root.", show_default=False),
    ] = None,
    drive: Annotated[
        str | None, typer.Option("--drive", help="Drive, if workloads ask several.", show_default=False)
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, help="Of one run \\[s].", show_default=False)
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Keep what each run asks of the drive, as a trace to replay.")
    ] = False,
    out_folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the files. Default: runs/emulated-NAME, -2, -3 …",
            show_default=False,
        ),
    ] = None,
    core: OwnCore = None,
    awake: StayAwake = True,
    sets: Sets = None,
    outside: Outside = False,
    full: Full = False,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a program on a drive of a scenario, in real time, on each variant in turn.

    The program finds the drive where {device} stands in the command, and in LANETWIN_DEVICE:
    by NBD a URI, by NVMe/TCP an address ({nqn} is the subsystem), by FUSE a file. With
    --mount it runs in a new file system on the drive ({mount}). What it prints is read if it
    is of a format that lanetwin imports (fio JSON, sysbench, YCSB …). Beside it stands the
    latency that was predicted. With --record the folder has a trace of each run, which the
    workload `trace` replays in lanetwin run.

    [dim]Example:[/]
      lanetwin exec bay.yaml --all -- fio --name=r --ioengine=nbd --uri={device}
        --rw=randread --bs=4k --runtime=5 --time_based --output-format=json
    """
    if mount and over not in (None, "fuse"):
        raise typer.BadParameter("a file system is on a drive that is served by fuse", param_hint="--over")
    known = variants_of(scenario, sets or [], outside=outside)
    chosen = known if all_ else variants or known[:1]
    folder = out_folder or store.next_free(RUNS / f"emulated-{scenario.stem}")
    store.refuse_to_overwrite(folder, force=force, mark=store.RESULTS)
    with (
        tempfile.TemporaryDirectory(prefix="lanetwin-traces-") as traces,
        interruptible("ending the program"),
        shown(scenario.name, quiet=quiet) as tell,
    ):
        results, runs = execute(
            Asked(
                scenario.resolve(),
                command,
                chosen,
                repeats,
                over or ("fuse" if mount else "nbd"),
                mount is not None,
                sets or [],
                drive,
                outside,
                timeout,
                traces=Path(traces) if record else None,
                awake=awake,
                core=core,
                tell=tell,
            )
        )
        written = store.save(results, folder)
        for trace in Path(traces).iterdir():
            shutil.move(trace, folder)
    for number, run in enumerate(runs, 1):
        (folder / f"said-{number}-{store.slug(run.variant)}.txt").write_text(run.said, encoding="utf-8")
    show(results, written, as_json=as_json, full=full, quiet=quiet)
    _say_late(runs, core)


def _say_late(runs: Sequence[Run], core: int | None) -> None:
    """Print each variant's predicted latency, its lateness, and whether this machine kept up."""
    has_slow = False
    for variant in dict.fromkeys(run.variant for run in runs):
        told = [run.lateness for run in runs if run.variant == variant and run.lateness["answers"]]
        if not told:
            err().print(Text(f"{variant}: the program has asked nothing of the drive", "yellow"))
            continue
        mean = sum(one["predicted_mean_us"] for one in told) / len(told)
        late = sum(one["mean_us"] for one in told) / len(told)
        share = max(one["late_share"] for one in told)
        said = (
            f"{variant}: predicted mean {mean:.1f} µs, answered {late:.1f} µs later; late {share:.2%} at most"
        )
        if all(one["is_prediction"] for one in told):
            err().print(Text(said))
        else:
            err().print(Text(f"{said}: this machine was too slow, and this is no prediction", "yellow"))
            has_slow = True
    if has_slow and core is None and (os.cpu_count() or 1) > 1:
        err().print("help: with --core 0 the door has a core for itself, and the program the others")
