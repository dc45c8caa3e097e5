"""A scenario for a file of another tool: the user's jobs on the drives that they name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.errors import Diagnostic, LanetwinError, mistake
from lanetwin.yaml_out import text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HOST = "generic-host-gen5"
"""A host whose slots are as fast as any drive's link; a link trains to the best that both ends support."""
DRIVE = "samsung-pm9a3"
"""The default drive: a server drive with measurements by its maker and others."""
ADAPTER, SWITCH = "connectx-5-ex", "generic-ethernet-switch-100g"
"""The adapter and the switch for network workers of Iometer."""
DRIVES = frozenset({"nvme-ssd", "block-endpoint"})
"""Models of drives that fit into a slot."""
TOOLS = {".fio": "fio", ".job": "fio", ".icf": "iometer"}
"""The tool of a file by the suffix of its name; the key of a workload has the same name."""


def tool_of(file: Path) -> str | None:
    """Say which tool's file this is by its name: `fio`, `iometer`, or neither."""
    return TOOLS.get(file.suffix.lower())


def around(file: Path, drives: Sequence[str] = ()) -> str:
    """Write a scenario that runs a file's jobs on each of some drives, the first of which is the baseline.

    Network workers of Iometer, which use no drive, run between two hosts. Save the scenario beside the file.
    `LanetwinError` has the mistakes of the file, or names the part that is not a drive.
    """
    tool = tool_of(file)
    if tool is None:
        known = ", ".join(f"*{suffix}" for suffix in TOOLS)
        unknown = "its name does not tell of which tool these jobs are"
        message = unknown if file.exists() else "there is no such file"
        remedy = f"name a job file of fio or a configuration of Iometer: {known}"
        raise mistake("CL004", message, remedy, file)
    workers = _workers(file, tool)
    if workers and all("network" in worker["kind"] for worker in workers):
        if drives:
            message = f"its workers are network workers, which ask no drive such as {drives[0]}"
            raise mistake("CL005", message, "leave --drive out", file)
        return _between_hosts(file.name)
    return _written(tool, file.name, _targets(workers), _of_the_catalogue(drives or [DRIVE]))


def _between_hosts(file: str) -> str:
    """Write the document of network workers: one host sends to another over a line of 100 Gb/s or 25 Gb/s."""
    question = f"What do the network workers of {file} get of a line?"
    return f"""\
# The network workers of a file, unchanged, on hosts that need not be there: what it calls interfaces of other
# managers is the host `server`.
about: {text(question)}

machine:
  client: {{part: {HOST}}}
  nic: {{part: {ADAPTER}}}
  tor: {{part: {SWITCH}}}
  server-nic: {{part: {ADAPTER}}}
  server: {{part: {HOST}}}

links:
  slot: {{from: client, to: nic}}
  net: {{from: nic, to: tor}}
  server-net: {{from: tor, to: server-nic}}
  server-slot: {{from: server, to: server-nic}}

workloads:
  jobs:
    iometer: {text(file)}
    on: client
    target: server

variants:
  line-100g: {{}}
  line-25g: {{machine.nic.ethernet.rate: 25, machine.server-nic.ethernet.rate: 25}}

compare: {{baseline: line-100g, equivalent_within: 2%}}
run: {{seed: 1}}
"""


def _written(tool: str, file: str, count: int, parts: Sequence[str]) -> str:
    """Write the document: one slot for each drive, one variant for each part."""
    baseline, *others = map(text, parts)
    # a name with two numbers stands for all from one to the other
    drives = "ssd" if count == 1 else f"ssd1..{count}"
    slots = "slot" if count == 1 else f"slot1..{count}"
    ports = "" if count == 1 else f", ports: {count}"
    question = f"What do the jobs of {file} get from {' and '.join(parts)}?"
    lines = [
        "# The jobs of a file, unchanged, on drives that need not be there. `lanetwin parts list` has more,",
        "# and `lanetwin parts show PART` says what a drive's numbers rest on and in which state it starts.",
        f"about: {text(question)}",
        "",
        "machine:",
        f"  host: {{part: {HOST}{ports}}}",
        f"  {drives}: {{part: {baseline}}}",
        "",
        "# What stands in a link goes into `via`: a retimer such as low-latency-retimer, or 20ns.",
        "links:",
        f"  {slots}: {{from: host, to: {drives}, via: []}}",
        "",
        "workloads:",
        "  jobs:",
        f"    {tool}: {text(file)}",
        "    on: host",
        f"    target: {drives}",
        "",
        "variants:",
        f"  {baseline}: {{}}",
        *(f"  {part}: {{machine.{drives}.part: {part}}}" for part in others),
        "",
        f"compare: {{baseline: {baseline}, equivalent_within: 2%}}",
        "run: {seed: 1}",
    ]
    return "\n".join(lines) + "\n"


def _workers(file: Path, tool: str) -> list[Any]:
    """Return the workers of a configuration of Iometer; none for jobs of fio."""
    shown: Any = engine.fio_show(str(file)) if tool == "fio" else engine.iometer_show(str(file))
    found = [Diagnostic.from_dict(fields) for fields in shown["diagnostics"]]
    mistakes = [each for each in found if each.severity == "error"]
    if mistakes:
        raise LanetwinError("", mistakes)
    if tool == "fio":
        return []
    workers = [worker for manager in shown["config"]["managers"] for worker in manager["workers"]]
    if not workers:
        load = f"iometer: {{file: {file.name}, spec: NAME, outstanding: 1}}"
        remedy = f"write `{load}` into a scenario of your own"
        message = "there are access specifications here and no worker that runs them"
        raise mistake("CL006", message, remedy, file)
    return workers


def _targets(workers: Sequence[Any]) -> int:
    """Count the drives that workers use; jobs of fio use one."""
    disks = (worker for worker in workers if "network" not in worker["kind"])
    return len({target["name"] for worker in disks for target in worker["targets"]}) or 1


def _of_the_catalogue(names: Sequence[str]) -> list[str]:
    """Return each name once, if it is that of a drive."""
    drives = sorted(part["name"] for part in engine.parts() if part["kind"] in DRIVES)
    for name in names:
        if name not in drives:
            near = get_close_matches(name, drives, 1)
            remedy = f"did you mean `{near[0]}`?" if near else f"drives are {', '.join(drives)}"
            raise mistake("CL007", f"there is no drive `{name}` in the catalogue", remedy)
    return list(dict.fromkeys(names))
