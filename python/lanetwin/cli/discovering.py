"""The command that examines a machine: discover."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from lanetwin import discovered, engine, store
from lanetwin.cli.arguments import AsJson, Force
from lanetwin.cli.console import Exit, emit, emit_json, err, out, printable
from lanetwin.cli.languages import in_languages
from lanetwin.discovered.pictures import gib
from lanetwin.numbers import significant
from lanetwin.sentences import told


class Picture(StrEnum):
    """How the tree is drawn."""

    TREE = "tree"
    SVG = "svg"
    HTML = "html"
    DOT = "dot"
    MERMAID = "mermaid"


class Gravity(StrEnum):
    """Findings on which the command fails."""

    WARNING = "warning"
    NOTE = "note"


PICTURES = {
    Picture.SVG: discovered.svg,
    Picture.HTML: discovered.html,
    Picture.DOT: discovered.dot,
    Picture.MERMAID: discovered.mermaid,
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("discover")(in_languages(discover))


def discover(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SOURCE]...",
            help="What lspci, lstopo, numactl, cxl or nvme printed, a copy of /sys. Default: this machine.",
            show_default=False,
        ),
    ] = None,
    picture: Annotated[
        Picture, typer.Option("--picture", "-p", help="How the tree is drawn.")
    ] = Picture.TREE,
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario", "-o", help="Write a scenario of the NVMe drives here.", show_default=False
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option("--record", help="Write what was read, without serial numbers.", show_default=False),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="warning|note|CODE",
            help="Exit with status 3 if there is such a finding. May be repeated.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Look at the PCIe devices of a machine: the tree, how links trained, what is wrong. Nothing is written.

    [dim]Examples:[/]
      sudo lanetwin discover
      lspci -xxxx > box.txt && lanetwin discover box.txt --fail-on warning
      lanetwin discover box.txt nvme.json numa.txt --picture html > box.html
      lanetwin discover box.txt --scenario box.yaml && lanetwin run box.yaml
    """
    wanted = set(fail_on or [])
    unknown = sorted(wanted - {*Gravity, *(one["code"] for one in engine.codes())})
    if unknown:
        said = f"'{unknown[0]}' is neither warning nor note, nor the code of a finding such as HW101"
        raise typer.BadParameter(said, param_hint="--fail-on")
    for option, file in (("--record", record), ("--scenario", scenario)):
        if file:
            store.claim_file(file, force=force, option=option)
    if record and scenario and record.resolve() == scenario.resolve():
        raise store.taken(scenario, "--scenario would be written over what --record names", "name two files")
    paths = [str(source) for source in sources or []]
    found: dict[str, Any] = dict(engine.discover(paths, with_record=record is not None))
    written = found.pop("record")
    found["findings"] = [
        {**finding, "costs_gb_s": discovered.costs(finding)} for finding in found["findings"]
    ]
    beside = str(scenario) if scenario else None
    parts = discovered.recognised(found["devices"], beside)
    found["devices"] = [{**device, "part": parts.get(device["address"])} for device in found["devices"]]
    if record:
        store.write_file(record, written)
    if scenario:
        store.write_file(scenario, discovered.scenario(found, beside))
    if as_json:
        emit_json(found)
    elif picture is Picture.TREE:
        _print(found)
    else:
        emit(PICTURES[picture](found))
    _end(found, wanted)


def _print(found: dict[str, Any]) -> None:
    console = out()
    for text, is_short in discovered.tree(found):
        console.print(Text(printable(text), "yellow" if is_short else ""), soft_wrap=True)
    for line in _beside(found):
        console.print(Text(printable(line)), soft_wrap=True)
    for finding in found["findings"]:
        console.print()
        cost = finding["costs_gb_s"]
        said = finding["message"]
        said += f"; it costs {significant(cost, 3)} GB/s in each direction" if cost else ""
        head = f"{finding['severity']}[{finding['code']}] {finding['address']}"
        console.print(Text(printable(f"{head}: {told(said)}"), "bold"), soft_wrap=True)
        for one in finding["evidence"]:
            line = " ".join(filter(None, (f"  {one['address']}", one["register"], one["value"])))
            line = f"{line}: {told(one['reads'])}"
            console.print(Text(printable(line), "dim"), soft_wrap=True)
        for name in ("cause", "remedy"):
            label = {"cause": "likely", "remedy": "remedy"}[name]
            console.print(Text(f"  {told(label)}: {told(finding[name])}"), soft_wrap=True)
    for note in _lacks(found):
        err().print(Text(printable(note), "dim"), soft_wrap=True)


def _beside(found: dict[str, Any]) -> list[str]:
    """Return the components other than functions: nodes, and memories and drives without a function."""
    known = {device["address"] for device in found["devices"]}
    lines = [
        f"NUMA node {one['node']}: CPUs {one['cpus'] or 'none'}, {gib(one['memory_bytes'])}"
        for one in found["nodes"]
    ]
    lines += [
        f"CXL memory {one['name']}: {gib(one['volatile_bytes'] + one['persistent_bytes'])}"
        for one in found["memories"]
        if one["address"] not in known
    ]
    lines += [
        f"NVMe drive {one['name']}: {one['model']}" for one in found["drives"] if one["address"] not in known
    ]
    return lines


def _lacks(found: dict[str, Any]) -> list[str]:
    """Return notes on what could not be read."""
    notes = list(found["notes"])
    devices = found["devices"]
    if not devices:
        return [*notes, "no PCI functions are told of"]
    if not any(device["read"] for device in devices):
        if not any(device["link"] for device in devices):
            notes.append("this text says nothing of links: lspci -xxxx as root does")
    elif all(device["read"] <= 64 for device in devices):
        notes.append(
            "only the first 64 B of each function could be read: run it as root to see links and errors"
        )
    elif not any(device["link"] for device in devices):
        notes.append(
            "no function has a link: a virtual machine without PCI Express, or its capabilities are hidden"
        )
    elif not any(device["read"] > 256 for device in devices):
        notes.append(
            "extended configuration space was not read: errors and lanes are not seen (lspci -xxxx, as root)"
        )
    return notes


def _end(found: dict[str, Any], wanted: set[str]) -> None:
    failed = [
        finding["code"] for finding in found["findings"] if {finding["code"], finding["severity"]} & wanted
    ]
    if failed:
        err().print(f"gate failed: {', '.join(dict.fromkeys(failed))}", style="bold red")
        raise typer.Exit(Exit.GATE)
