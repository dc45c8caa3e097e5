"""Commands that produce results: run, compare, replay."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from lanetwin import captures, engine, store, timeline, yaml_out
from lanetwin.cli.arguments import (
    AsJson,
    FailOn,
    Force,
    Formats,
    Full,
    Gate,
    Granularity,
    Outside,
    Quiet,
    ScenarioPath,
    Sets,
    a_result,
    of_64_bits,
    share_of,
)
from lanetwin.cli.console import Exit, emit, emit_json, err
from lanetwin.cli.diagnostics import print_diagnostics
from lanetwin.cli.interrupt import interruptible
from lanetwin.cli.languages import in_languages
from lanetwin.cli.progress import shown
from lanetwin.cli.rendering import show
from lanetwin.comparison import compare_files
from lanetwin.errors import Diagnostic
from lanetwin.summary import cost_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.results import Results

RUNS = Path("runs")
"""Where runs are kept, beside the user's scenario files."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (in_languages(run), in_languages(compare), replay):
        app.command()(command)


def run(
    scenario: ScenarioPath,
    sets: Sets = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            "-S",
            min=0,
            callback=of_64_bits,
            help="Seed of all randomness. Default: the scenario's.",
        ),
    ] = None,
    out_folder: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder for the files. Default: runs/NAME-DIGEST", show_default=False
        ),
    ] = None,
    granularity: Annotated[
        Granularity,
        typer.Option("--granularity", "-g", help="'tlp' schedules every packet; same results, slower."),
    ] = Granularity.TRAIN,
    threads: Annotated[
        int | None,
        typer.Option("--threads", "-t", min=1, help="Default: one per core. Results do not depend on it."),
    ] = None,
    outside: Outside = False,
    formats: Formats = None,
    hdr: Annotated[
        bool, typer.Option("--hdr", help="Write latency.hlog, too: histograms as a log of HdrHistogram.")
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            metavar="FILE.pftrace",
            help="Write a timeline of operations for Perfetto (ui.perfetto.dev).",
            show_default=False,
        ),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option(
            "--pcap",
            metavar="FILE.pcapng",
            help="Write the TLPs on the links, for Wireshark.",
            show_default=False,
        ),
    ] = None,
    pcap_packets: Annotated[
        int,
        typer.Option(
            "--pcap-packets",
            min=1,
            max=captures.PACKETS_MAX,
            metavar="N",
            help="At most so many TLPs, in equal shares of the cases, each from its beginning.",
        ),
    ] = captures.PACKETS,
    cost: Annotated[
        bool, typer.Option("--cost", help="Tell what the run took: events, CPU time, the most memory.")
    ] = False,
    fail_on: FailOn = None,
    full: Full = False,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Simulate every variant and workload of a scenario.

    Prints the answer, with intervals and verdicts, and what limits it;
    writes report.html, results.json, rows.csv and plan.yaml.
    Ctrl-C keeps what is finished, marked as partial.

    [dim]Examples:[/]
      lanetwin run slot.yaml
      lanetwin run slot.yaml --set links.slot.gen=4 --seed 7
      lanetwin run slot.yaml --json | jq '.rows[] | [.case, .value]'
    """
    _claim(out_folder, {"--trace": trace, "--pcap": pcap}, force=force)
    if trace:
        timeline.require()
    exports: list[engine.Export] = ["hdr"] if hdr else []
    exports += ["timeline"] if trace else []
    with interruptible(), shown(scenario.name, quiet=quiet) as progress:
        results = engine.run(
            str(scenario),
            sets=sets or [],
            seed=seed,
            granularity=granularity.value,
            threads=threads,
            outside=outside,
            exports=exports,
            tlps=pcap_packets if pcap else None,
            progress=progress,
        )
    if trace:
        store.write_file(trace, timeline.perfetto(timeline.take(results)))
    if pcap:
        _write_capture(pcap, results, quiet=quiet)
    print_diagnostics([Diagnostic.from_finding(found) for found in results.get("warnings", [])])
    folder = store.save(results, out_folder or RUNS / store.folder_name(results), formats or [])
    show(results, folder, as_json=as_json, full=full, quiet=quiet)
    if cost:
        err().print(cost_line(results["cost"]), soft_wrap=True)
    _end(results, fail_on)


def _claim(folder: Path | None, files: dict[str, Path | None], *, force: bool) -> None:
    """Refuse places that could not all be written in the end, before anything is simulated."""
    if folder:
        store.refuse_to_overwrite(folder, force=force, mark=store.RESULTS)
    else:
        store.require_place(RUNS / "run")
    named: dict[Path, str] = {folder.resolve(): "--out"} if folder else {}
    for option, file in files.items():
        if file is None:
            continue
        for place in (file.resolve(), *file.resolve().parents):
            if place in named:
                said = f"{option} would be written over what {named[place]} names"
                raise store.taken(file, said, f"name a place of its own with {option}")
        store.claim_file(file, force=force, option=option)
        named[file.resolve()] = option


def _write_capture(path: Path, results: Results, *, quiet: bool) -> None:
    """Write the capture; print what is missing, and how to open it."""
    taken = captures.take(results)
    store.write_file(path, taken.file)
    if taken.missing:
        err().print(
            f"{path} has the first {taken.packets} of {taken.started} TLPs; --pcap-packets N takes more",
            style="yellow",
            soft_wrap=True,
        )
    if not quiet:
        script = f"lua_script:{captures.DISSECTOR}"
        err().print(Text(shlex.join(["wireshark", "-X", script, str(path)])), soft_wrap=True)


def compare(
    a: Annotated[
        Path,
        typer.Argument(
            metavar="A",
            help="The baseline: results.json, or the folder of a run.",
            callback=a_result,
            show_default=False,
        ),
    ],
    b: Annotated[
        Path,
        typer.Argument(metavar="B", help="What is compared with it.", callback=a_result, show_default=False),
    ],
    margin: Annotated[
        float | None,
        typer.Option(
            "--within",
            "-w",
            metavar="SHARE",
            parser=share_of,
            help="Relative difference that counts as equivalent, e.g. 0.02 or 2%.",
        ),
    ] = None,
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for a report. Default: none.", show_default=False),
    ] = None,
    formats: Formats = None,
    fail_on: FailOn = None,
    full: Full = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare two results, simulated or measured: better, worse, equivalent or inconclusive.

    Of a prediction and a measurement, the error of each number. A file of fio, Iometer and others
    (lanetwin import --formats) can stand for a result.

    [dim]Examples:[/]
      lanetwin compare runs/slot-7c19e04b runs/slot-gen4-1f00aa12
      lanetwin compare old.json new.json --within 0.01 --fail-on worse
      lanetwin compare fio-of-the-real-drive.json runs/slot-7c19e04b
    """
    if out_folder:
        store.refuse_to_overwrite(out_folder, force=force, mark=store.RESULTS)
    results = compare_files(a, b, margin=margin)
    folder = store.save(results, out_folder, formats or []) if out_folder else None
    show(results, folder, as_json=as_json, full=full)
    _end(results, fail_on)


def replay(
    capsule: Annotated[
        Path, typer.Argument(help="Capsule that a run wrote when it met a bug.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Replay a run that stopped on a bug of lanetwin, up to one event before it.

    [dim]Example:[/]
      lanetwin replay lanetwin-capsule-7c19e04b.json
    """
    found = engine.replay(str(capsule))
    if as_json:
        emit_json(found)
    else:
        emit(yaml_out.dump(found))


def _end(results: Results, fail_on: Sequence[Gate] | None) -> None:
    """End with the status for the results."""
    if not results["complete"]:
        raise typer.Exit(Exit.INTERRUPTED if results["stopped"] == "interrupted" else Exit.ERROR)
    failed = {verdict["verdict"] for verdict in results["verdicts"]} & {gate.value for gate in fail_on or []}
    if failed:
        err().print(f"gate failed: a verdict is {' or '.join(sorted(failed))}", style="bold red")
        raise typer.Exit(Exit.GATE)
