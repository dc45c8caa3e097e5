"""Kinds of files and folders, told by their names and beginnings; what to say to one of another kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lanetwin.beginning import tool_of
from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.store import GENERATOR, RESULTS

if TYPE_CHECKING:
    from pathlib import Path

BEGINNING = 1 << 16
"""Number of characters that are enough to know a file [characters]."""

WHAT = {
    "fio": "a job file of fio, which says nothing of a machine",
    "iometer": "a configuration of Iometer, which says nothing of a machine",
    "scenario": "a scenario",
    "channel": "the description of a channel",
    "study": "a study",
    "results": "the results of a run",
    "run": "the folder of a run",
    "sweep": "the folder of a sweep",
    "search": "the folder of a search",
    "written": "the folder of a study that was written",
    "page": "a page of lanetwin, for a browser",
    "touchstone": "a Touchstone file",
}
"""The kinds, in words."""

REMEDIES = {
    "fio": "`lanetwin new --from {path}` writes a scenario around it",
    "iometer": "`lanetwin new --from {path}` writes a scenario around it",
    "scenario": "`lanetwin run {path}` simulates it",
    "channel": "`lanetwin link budget {path}` and `lanetwin link eye {path}` read it",
    "study": "`lanetwin study {path}` writes it",
    "results": "`lanetwin report {path}` shows it; plan.yaml beside it is its scenario, complete",
    "run": "`lanetwin report {path}` shows it; {path}/plan.yaml is its scenario, complete",
    "sweep": "`lanetwin sweep --resume {path}` goes on with it; {path}/report.html shows it",
    "search": "the same command goes on with it; {path}/report.html shows it",
    "written": "{path}/study.html is the document",
    "page": "results.json beside it has its numbers",
    "touchstone": "`lanetwin link touchstone {path}` looks at it",
}
"""What can be done with a file of a kind."""

MARKS = {RESULTS: "run", "sweep.json": "sweep", "search.json": "search", "study.html": "written"}
"""The file that tells the kind of a folder."""
KEYS = {"machine": "scenario", "chain": "channel", "runs": "study"}
"""The key that tells the kind of a YAML document."""


def kind_of(path: Path) -> str | None:
    """Tell the kind of an existing file or folder, or nothing if it is none of them."""
    try:
        if path.is_dir():
            return next((kind for mark, kind in MARKS.items() if (path / mark).is_file()), None)
        if not path.is_file():
            return None
        if re.fullmatch(r"\.s\d+p", path.suffix.lower()):
            return "touchstone"
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(BEGINNING)
    except OSError:
        return None
    return tool_of(path) or _by_text(text)


def _by_text(text: str) -> str | None:
    if text.lstrip().startswith("{") and '"schema": "lanetwin-results/' in text[:4096]:
        return "results"
    if GENERATOR in text[:4096]:
        return "page"
    keys = re.findall(r"^([a-z]+):", text, re.MULTILINE)
    return next((kind for key, kind in KEYS.items() if key in keys), None)


def require(path: Path, *wanted: str) -> Path:
    """Return the path; raise `LanetwinError` if it is known to be of a kind that is not `wanted`."""
    kind = kind_of(path)
    if kind is None or kind in wanted:
        return path
    found = Diagnostic(
        code="RS019",
        severity="error",
        message=f"this is {WHAT[kind]}, not {WHAT[wanted[0]]}",
        help=REMEDIES[kind].format(path=path),
        file=str(path),
    )
    raise LanetwinError("", [found])
