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
