"""Names of files relative to the current folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def from_here(path: Path) -> str:
    """Return the relative path of a file, or the absolute one if that is shorter.

    >>> from pathlib import Path
    >>> from_here(Path("runs/demo/report.html"))
    'runs/demo/report.html'
    """
    try:
        return min((os.path.relpath(path), str(path.absolute())), key=len)
    except ValueError:  # another drive
        return str(path)


def told_apart(a: Path, b: Path) -> tuple[str, str]:
    """Return short names of two results that tell them apart: of folders or files, or their whole paths.

    >>> from pathlib import Path
    >>> told_apart(Path("runs/x8"), Path("runs/x4/results.json"))
    ('x8', 'x4')
    >>> told_apart(Path("old/slot.json"), Path("new/slot.json"))
    ('old/slot.json', 'new/slot.json')
    """
    short = [_short(path) for path in (a, b)]
    ways = (short, [str(a), str(b)])
    one, other = next((way for way in ways if way[0] != way[1] and all(way)), ["A", "B"])
    return one, other


def _short(path: Path) -> str:
    """Return the name of a run's folder, or of a file without its suffix."""
    whole = path.absolute()
    return whole.parent.name if whole.name == "results.json" else whole.name.removesuffix(".json")
