"""The studies that come with lanetwin: their folders and questions."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import lanetwin
from lanetwin import engine
from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.study.reading import closest


def _folder() -> Path:
    package = Path(lanetwin.__file__).parent
    # in a checkout a link: names in documents are those of the tree
    shipped = (package / "shipped" / "studies").resolve()
    # on systems without links, they are text files
    return shipped if shipped.is_dir() else package.parents[1] / "studies"


FOLDER = _folder()
"""Beside their scenarios: part of the package, in a checkout through links."""

TEMPLATE = "study"
"""Name of the study template for `lanetwin new`."""
_SCENARIO = "slot"
"""The template of its scenario."""


def template() -> dict[str, str]:
    """Return the files of the study template, by name."""
    text = files("lanetwin.study").joinpath("template.yaml").read_text(encoding="utf-8")
    return {"study.yaml": text, f"{_SCENARIO}.yaml": engine.template(_SCENARIO)}


def names() -> list[str]:
    """Return the names of the studies."""
    return sorted(path.parent.name for path in FOLDER.glob("*/study.yaml"))


def find(name: str) -> tuple[Path, bool]:
    """Return the file of a study by its name or its path, and whether it comes with lanetwin.

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
