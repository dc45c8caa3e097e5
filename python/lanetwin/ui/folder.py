"""The visible part of the file system: scenarios and runs below one folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lanetwin import store
from lanetwin.errors import LanetwinError
from lanetwin.files import read_text
from lanetwin.search import files as search
from lanetwin.sweep import files as sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (".yaml", ".yml")
MOST_FILES = 500
"""Maximum number of listed files of a kind."""
DEPTH = 4
"""Depth of folders that are searched."""
SWEPT = (sweep.MARKER, search.MARKER)
"""The files that identify folders of sweeps and searches."""
REPORT = "report.html"
PLAN = "plan.yaml"
RESULTS = "results.json"
SKIPPED = ("node_modules", "target", "__pycache__")


@dataclass(frozen=True)
class Folder:
    """The folder that the live view was started in."""

    root: Path

    def scenarios(self) -> list[str]:
        """Return the scenarios, by their paths below the folder."""
        found = (path for path in self._walk() if path.suffix in SUFFIXES and _is_scenario(path))
        return sorted(
            str(path.relative_to(self.root)) for path, _ in zip(found, range(MOST_FILES), strict=False)
        )

    def runs(self) -> list[str]:
        """Return the folders of runs, the latest first."""
        found = [path for path, _ in zip(self._walk(), range(MOST_FILES * 20), strict=False)]
        runs = [path for path in found if path.name == RESULTS]
        runs.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        return [str(path.parent.relative_to(self.root)) for path in runs[:MOST_FILES]]

    def sweeps(self) -> list[str]:
        """Return the folders of sweeps and searches that have a report, the latest first."""
        found = [path for path, _ in zip(self._walk(), range(MOST_FILES * 20), strict=False)]
        swept = [path for path in found if path.name in SWEPT and (path.parent / REPORT).is_file()]
        swept.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        return [str(path.parent.relative_to(self.root)) for path in swept[:MOST_FILES]]

    def read(self, name: str) -> str:
        """Return the text of a scenario. Raises `LanetwinError` if it cannot be read or is elsewhere."""
        path = self.scenario(name)
        try:
            return read_text(path)
        except UnicodeDecodeError as error:
            raise LanetwinError(f"cannot read {name}: it is not written in UTF-8") from error
        except OSError as error:
            raise LanetwinError(f"cannot read {name}: {os.strerror(error.errno or 0)}") from error

    def write(self, name: str, text: str) -> None:
        """Write a scenario, completely or not at all."""
        store.write_file(self.scenario(name), text)

    def scenario(self, name: str) -> Path:
        """Return the path of a scenario, which need not exist yet."""
        path = self.inside(name)
        if path.suffix not in SUFFIXES:
            raise LanetwinError(f"{name} is no scenario: its name has to end with .yaml")
        return path

    def inside(self, name: str) -> Path:
        """Return a path below the folder, following links. Raises `LanetwinError` if it is elsewhere."""
        root = self.root.resolve()
        path = (root / name).resolve()
        hidden = any(part.startswith(".") for part in Path(name).parts)
        if "\0" in name or not name or hidden or not path.is_relative_to(root):
            raise LanetwinError("the path leads out of the folder that the live view was started in")
        return path

    def _walk(self) -> Iterator[Path]:
        for place, folders, files in os.walk(self.root):
            depth = len(Path(place).relative_to(self.root).parts)
            kept = [name for name in folders if not name.startswith(".") and name not in SKIPPED]
            folders[:] = sorted(kept) if depth < DEPTH else []
            yield from (Path(place) / name for name in sorted(files) if not name.startswith("."))


def _is_scenario(path: Path) -> bool:
    """Whether a file has the keys of a scenario, in contrast to channels, parts and studies.

    The complete plan of a run has them, too, but is part of the run.
    """
    if path.name == PLAN and path.with_name(RESULTS).is_file():
        return False
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(200_000)
    except (OSError, UnicodeDecodeError):
        return False
    return "\nmachine:" in text or text.startswith("machine:")
