"""Pages that show commands and what they print: read, run in a folder, compared, and rewritten with ACCEPT=1.

A fence of kind ``console`` holds commands, each behind ``$ ``, and below each what it prints on both streams.
A command ends with status 0, unless the fence says ``exit=1``. In what is shown, a line that is only ``…`` is
any lines, and a ``…`` within a line any characters. A fence of kind ``yaml`` that names a file is that file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^```(console|yaml)(?: +(\S+))?$")
ELLIPSIS = "…"
WIDTH = 100
"""Width of the terminal in the pages [characters]."""
VOLATILE = ((re.compile(r"\b[0-9a-f]{16}\b"), ELLIPSIS),)
"""What differs from run to run or with every change of the engine, and what is shown instead."""


@dataclass(slots=True)
class Step:
    """A command and what the page says it prints; or a file to save, which has no command."""

    line: int
    command: str = ""
    file: str = ""
    shown: list[str] = field(default_factory=list)
    status: int = 0
    end: int = 0
    """The line after what is shown, from 0."""


def steps(page: str) -> list[Step]:
    """Return what a reader of the page does, in order."""
    found: list[Step] = []
    kind, word = "", ""
    for at, line in enumerate(page.split("\n")):
        opening = FENCE.match(line)
        if not kind and opening:
            kind, word = opening[1], opening[2] or ""
            if kind == "yaml" and word:
                found.append(Step(at, file=word))
        elif line.startswith("```"):
            kind, word = "", ""
        elif kind == "console" and line.startswith("$ "):
            found.append(Step(at, command=line[2:], status=int(word.removeprefix("exit=") or 0), end=at + 1))
        elif kind == "console" or (kind == "yaml" and word):
            found[-1].shown.append(line)
            found[-1].end = at + 1
    return found


def prints(command: str, folder: Path) -> tuple[int, list[str]]:
    """Run a command in a shell that finds this interpreter's `lanetwin`; its status and its lines."""
    programs = Path(sys.executable).parent
    environment = {
        **{
            name: value for name, value in os.environ.items() if name not in ("LANETWIN_PARTS", "FORCE_COLOR")
        },
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": str(WIDTH),
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    return done.returncode, [line.rstrip() for line in done.stdout.rstrip("\n").split("\n")]


def alike(shown: list[str], printed: list[str]) -> bool:
    """Whether a page tells the truth about what was printed."""
    parts = []
    for line in shown:
        if line.strip() == ELLIPSIS:
            parts.append(r"(?:[^\n]*\n)*")
        else:
            parts.append(re.escape(line.rstrip()).replace(re.escape(ELLIPSIS), r"[^\n]*") + r"\n")
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in printed)) is not None


def abridged(shown: list[str], printed: list[str]) -> list[str]:
    """Return what a page should show: what was printed, as long before and after the `…` as it was."""
    for pattern, instead in VOLATILE:
        printed = [pattern.sub(instead, line) for line in printed]
    cuts = [at for at, line in enumerate(shown) if line.strip() == ELLIPSIS]
    if not cuts:
        return printed
    head, tail = cuts[0], len(shown) - cuts[-1] - 1
    if head + tail >= len(printed):
        return printed
    return [*printed[:head], ELLIPSIS, *printed[len(printed) - tail :]]


def play(page: Path, folder: Path, instead: dict[str, str] | None = None) -> list[str]:
    """Do what the page says, in a folder; return what is not as it says, or with ACCEPT=1 mend the page.

    `instead` names commands that are replaced by others, such as one that would build everything first.
    """
    lines = page.read_text(encoding="utf-8").split("\n")
    faults: list[str] = []
    for step in reversed(_played(lines, folder, instead or {}, faults)):
        lines[step.line + 1 : step.end] = step.shown
    if os.environ.get("ACCEPT") and faults:
        page.write_text("\n".join(lines), encoding="utf-8")
        return [fault for fault in faults if "status" in fault]
    return faults


def _played(lines: list[str], folder: Path, instead: dict[str, str], faults: list[str]) -> list[Step]:
    """Do every step and return the commands, each with what it should show."""
    commands = []
    for step in steps("\n".join(lines)):
        if step.file:
            file = folder / step.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(f"{line}\n" for line in step.shown), encoding="utf-8")
            continue
        status, printed = prints(instead.get(step.command, step.command), folder)
        if printed == [""]:
            printed = []
        if status != step.status:
            faults.append(f"line {step.line + 1}: `{step.command}` ends with status {status}")
        if not alike(step.shown, printed):
            faults.append(f"line {step.line + 1}: `{step.command}` prints\n" + "\n".join(printed))
            step.shown = abridged(step.shown, printed)
        commands.append(step)
    return commands
