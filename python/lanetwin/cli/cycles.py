"""Training and stability cycles of links: ``lanetwin link train | cycle``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from lanetwin import engine, store
from lanetwin.cli.arguments import (
    AsJson,
    ChannelPath,
    ChannelSets,
    ChannelVariants,
    Quiet,
    Report,
    SimulationSeed,
    a_channel,
)
from lanetwin.cli.console import Exit, emit_json, out, printable
from lanetwin.cli.cycle_tables import print_cycles, print_training
from lanetwin.cli.diagnostics import print_diagnostics
from lanetwin.cli.interrupt import interruptible
from lanetwin.cli.languages import in_languages
from lanetwin.cli.progress import shown
from lanetwin.cli.rendering import say_where
from lanetwin.errors import Diagnostic
from lanetwin.report import cycles as cycles_report
from lanetwin.report import link as link_report
from lanetwin.sentences import naming


class Behaviour(StrEnum):
    """What answers for a dump."""

    SIMULATED = "simulated"
    INERT = "inert"
    OBLIGING = "obliging"


Width = Annotated[int, typer.Option("--width", min=1, max=32, help="Lanes of the simulated link.")]
GATED = ("fail", "NOT PERFORMED")
"""Verdicts with which --strict ends in status 3."""
UNCONFIRMED = "LC011"
"""The code of a plan that waits for --i-know and --serial: it was printed, as requested."""


def register(link: typer.Typer) -> None:
    """Add the commands to the group."""
    link.command("train")(in_languages(train))
    link.command("cycle")(in_languages(cycle))


def train(
    file: ChannelPath,
    sets: ChannelSets = None,
    variants: ChannelVariants = None,
    width: Width = 4,
    seed: SimulationSeed = 1,
    every_step: Annotated[bool, typer.Option("--all", "-a", help="Print every step of both ends.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with status 3 if a link is not up at full speed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Power the link of a channel on, in simulation: whether and how it trains, state by state.

    [dim]Example:[/]
      lanetwin link train drive.yaml --variant retimer
    """
    options = {"variants": variants or [], "width": width, "seed": seed}
    found = engine.link_train(str(file), sets or [], **options)
    if as_json:
        emit_json(found)
    else:
        with naming(link_report.names_of(found)):
            print_training(found, every_step=every_step)
    _warn(found["warnings"])
    good = all(v["up"] and v["generation"] == v["best_generation"] for v in found["variants"])
    if strict and not good:
        raise typer.Exit(Exit.GATE)


def cycle(
    device: Annotated[
        str | None,
        typer.Option("--device", help="Device of this machine, e.g. 0000:01:00.0.", show_default=False),
    ] = None,
    channel: Annotated[
        Path | None,
        typer.Option(
            "--channel",
            "-c",
            help="Description of a channel (YAML): simulate it.",
            callback=a_channel,
            show_default=False,
        ),
    ] = None,
    fake: Annotated[
        Path | None,
        typer.Option(
            "--fake", help="Dump of configuration spaces (lspci -xxxx): act on it.", show_default=False
        ),
    ] = None,
    restore: Annotated[
        Path | None,
        typer.Option("--restore", help="Journal of a killed run: put everything back.", show_default=False),
    ] = None,
    tests: Annotated[
        list[str] | None,
        typer.Option("--test", "-t", help="Test, or all. May be repeated.", show_default="all"),
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=0, help="Cycles of each test.")] = 10_000,
    power_count: Annotated[
        int | None,
        typer.Option(
            "--power-count",
            min=0,
            help="Cycles of the power cycle. Default: a tenth of --count.",
            show_default=False,
        ),
    ] = None,
    dwell_ms: Annotated[
        int, typer.Option("--dwell-ms", min=0, help="How long errors are counted in each cycle.")
    ] = 10,
    max_correctable: Annotated[
        int,
        typer.Option("--max-correctable", min=0, help="Correctable errors that a cycle may have meanwhile."),
    ] = 0,
    max_failures: Annotated[
        int | None,
        typer.Option("--max-failures", min=1, help="Failures that end a test.", show_default=False),
    ] = None,
    as_found: Annotated[
        bool, typer.Option("--as-found", help="Hold the link against how it is, not against the best it can.")
    ] = False,
    margins: Annotated[
        bool, typer.Option("--margins", help="Read the margins of all lanes and receivers at the end.")
    ] = False,
    i_know: Annotated[
        str | None,
        typer.Option(
            "--i-know",
            help="The device again: yes, it is to be reset. Without it the plan is printed.",
            show_default=False,
        ),
    ] = None,
    serial: Annotated[
        str | None, typer.Option("--serial", help="Its serial number.", show_default=False)
    ] = None,
    max_celsius: Annotated[
        int, typer.Option("--max-celsius", help="Temperature above which nothing is begun.")
    ] = 70,
    hook: Annotated[
        str | None,
        typer.Option(
            "--hook", help="Program that cycles the power of the device it is given.", show_default=False
        ),
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal", help="File for what was changed. Default: in /var/lib/lanetwin.", show_default=False
        ),
    ] = None,
    behaviour: Annotated[
        Behaviour, typer.Option("--behaviour", help="What answers for a dump.")
    ] = Behaviour.SIMULATED,
    sets: ChannelSets = None,
    variants: ChannelVariants = None,
    width: Width = 4,
    utilisation: Annotated[
        float,
        typer.Option(
            "--load", min=0.0, max=1.0, help="Share of the time that simulated TLPs are on the wire."
        ),
    ] = 0.0,
    seed: SimulationSeed = 1,
    report: Report = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with status 3 if a test fails or is not performed.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cycle a link some thousand times, and say what that proves: on hardware, in simulation, on a dump.

    A real device is only touched after --i-know and --serial; without them every write is printed and
    none is made. Ctrl-C stops after the cycle, keeps the counts and puts every register back.
    Tests: hot-reset, sbr, retrain, disable-enable, d3hot, l1-aspm, txeq-redo, speed-change-retrain,
    speed-change-max, dynamic-width, power-cycle, flr.

    [dim]Examples:[/]
      lanetwin link cycle --channel drive.yaml --report drive.html
      lanetwin link cycle --device 0000:01:00.0 --test sbr --count 10000
    """
    if restore is not None:
        _restore(restore, as_json=as_json)
        return
    source = _source(device, channel, fake, behaviour, sets)
    request = {
        "tests": tests or ["all"],
        "count": count,
        "power_count": power_count,
        "dwell_ms": dwell_ms,
        "max_correctable": max_correctable,
        "max_failures": max_failures,
        "as_found": as_found,
        "margins": margins,
        "i_know": i_know,
        "serial": serial,
        "max_celsius": max_celsius,
        "hook": hook,
        "journal": None if journal is None else str(journal),
    }
    options = {"variants": variants or [], "width": width, "utilisation": utilisation, "seed": seed}
    title = str(device or (channel or fake or Path()).name)
    stopping = interruptible("stopping after this cycle; every register is put back", may_abort=False)
    with stopping, shown(title, quiet=quiet) as progress:
        found = engine.link_cycle(source, request=request, options=options, progress=progress)
    if report:
        _write(report, found, channel, sets, variants)
    if as_json:
        emit_json(found)
    else:
        with naming(link_report.names_of(found)):
            print_cycles(found)
    _warn(_diagnostics(found["findings"]))
    _leave(found, strict=strict)


def _leave(found: dict[str, Any], *, strict: bool) -> None:
    errors = {finding["code"] for finding in found["findings"] if finding["severity"] == "error"}
    if errors - {UNCONFIRMED}:
        raise typer.Exit(Exit.ERROR)
    if found["plan"] is not None:
        return
    if any(series["not_restored"] for series in found["series"]):
        raise typer.Exit(Exit.ERROR)
    if not found["complete"]:
        raise typer.Exit(Exit.INTERRUPTED)
    bad = any(any(test["verdict"] in GATED for test in series["tests"]) for series in found["series"])
    if strict and bad:
        raise typer.Exit(Exit.GATE)


def _source(
    device: str | None, channel: Path | None, fake: Path | None, behaviour: Behaviour, sets: list[str] | None
) -> dict[str, Any]:
    if fake is not None and channel is None:
        return {"fake": str(fake), "device": device, "behaviour": behaviour.value}
    if channel is not None and fake is None and device is None:
        return {"channel": str(channel), "sets": sets or []}
    if device is not None and channel is None:
        return {"device": device}
    raise typer.BadParameter("give one of --device, --channel, --fake (with --device, if it has several)")


def _restore(journal: Path, *, as_json: bool) -> None:
    found = engine.link_restore(str(journal))
    if as_json:
        emit_json(found)
    else:
        count = f"{found['registers']} registers and {found['attributes']} settings of the system"
        said = f"{count} are as they were"
        if found["findings"]:
            said = f"not everything could be put back; {journal} stays"
        out().print(Text(printable(f"{found['device']}: {said}")))
    _warn(_diagnostics(found["findings"]))
    if found["findings"]:
        raise typer.Exit(Exit.ERROR)


def _write(
    path: Path,
    found: dict[str, Any],
    channel: Path | None,
    sets: list[str] | None,
    variants: list[str] | None,
) -> None:
    if channel is None:
        text = cycles_report.render(found)
    else:
        budget = engine.link_budget(str(channel), sets or [], variants or [])
        eyes = engine.link_eye(str(channel), sets or [], variants=variants or [])
        text = link_report.render(budget, eyes, cycles_report.section(found))
    store.write_file(path, text, "name another file with --report")
    say_where(path)


def _diagnostics(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "code": finding["code"],
            "severity": finding["severity"],
            "file": finding["place"],
            "line": 0,
            "column": 0,
            "path": "",
            "message": finding["message"],
            "help": finding["help"],
        }
        for finding in findings
    ]


def _warn(found: list[dict[str, Any]]) -> None:
    if found:
        print_diagnostics([Diagnostic.from_dict(fields) for fields in found])
