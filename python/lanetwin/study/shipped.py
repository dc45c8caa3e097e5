"""The studies that come with lanetwin: where they lie, and what they ask."""

from __future__ import annotations

from pathlib import Path

import lanetwin
from lanetwin.study.parse import no_study

FOLDER = Path(lanetwin.__file__).resolve().parents[2] / "studies"
"""Beside scenarios/, in the checkout that lanetwin was installed from."""


def names() -> list[str]:
    """Return the names of the studies."""
    return sorted(path.parent.name for path in FOLDER.glob("*/study.yaml"))


def find(name: str) -> tuple[Path, bool]:
    """Return the file of a study by its name or its path, and whether it is one of lanetwin.

    Raises `LanetwinError` if there is none.
    """
    own = FOLDER / name / "study.yaml"
    if name in names():
        return own, True
    path = Path(name)
    if path.is_dir() and (path / "study.yaml").is_file():
        path /= "study.yaml"
    if path.is_file():
        return path, FOLDER in path.resolve().parents
    raise no_study(name, names())
