"""The studies that come with lanetwin: where they lie, and what they ask."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import lanetwin
from lanetwin import engine
from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.study.reading import closest


def _folder() -> Path:
    package = Path(lanetwin.__file__).parent
    # in a checkout a link: what is named in a document is named as in the tree
    shipped = (package / "shipped" / "studies").resolve()
    # links are files of text where a system has none
    return shipped if shipped.is_dir() else package.parents[1] / "studies"


FOLDER = _folder()
"""Beside the scenarios that they are of: part of the package, in a checkout by way of links."""

TEMPLATE = "study"
"""How `lanetwin new` calls a study of the user's own."""
_SCENARIO = "slot"
"""The template of the scenario that it rests on."""


def template() -> dict[str, str]:
    """Return the files of a study to begin with, by name."""
    text = files("lanetwin.study").joinpath("template.yaml").read_text(encoding="utf-8")
    return {"study.yaml": text, f"{_SCENARIO}.yaml": engine.template(_SCENARIO)}


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
        return path, FOLDER.resolve() in path.resolve().parents
    message = f"there is no study `{name}`"
    raise LanetwinError("", [Diagnostic("ST005", "error", message, closest(name, names()))])
