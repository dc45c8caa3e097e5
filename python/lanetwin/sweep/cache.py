"""The cache of points' results: one file, by everything they depend on. Its points are never run again."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lanetwin.errors import Diagnostic, LanetwinError

if TYPE_CHECKING:
    from types import TracebackType

FILE = Path("runs") / ".sweeps.sqlite3"
"""The default file, beside the runs."""
_TABLE = "CREATE TABLE IF NOT EXISTS points (key TEXT PRIMARY KEY, result BLOB NOT NULL) WITHOUT ROWID"


class Cache:
    """Results by their keys. A result is stored completely or not at all, however the program ends.

    Without a path they are kept until the end of the program, in a temporary file.
    """

    def __init__(self, path: Path | None = FILE) -> None:
        self._path = path
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            # another sweep may be writing: wait for it
            self._file = sqlite3.connect("" if path is None else path, timeout=60, isolation_level=None)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise _unusable(path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # results that a notebook has released; without a file there is nothing to close
        with suppress(AttributeError, sqlite3.Error):
            self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __contains__(self, key: str) -> bool:
        with closing(self._file.execute("SELECT 1 FROM points WHERE key = ?", (key,))) as found:
            return found.fetchone() is not None

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the result of a key; None if there is none that can be read."""
        with closing(self._file.execute("SELECT result FROM points WHERE key = ?", (key,))) as found:
            row = found.fetchone()
        if row is None:
            return None
        try:
            kept = json.loads(zlib.decompress(row[0]))
        except (zlib.error, ValueError):
            return None
        return kept if isinstance(kept, dict) else None

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Store a result.

        Raises `LanetwinError` if it cannot be written.
        """
        text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
        try:
            self._file.execute(
                "INSERT OR REPLACE INTO points VALUES (?, ?)", (key, zlib.compress(text.encode(), 1))
            )
        except sqlite3.Error as error:
            raise _unusable(self._path, error) from error


def _unusable(path: Path | None, error: Exception) -> LanetwinError:
    found = Diagnostic(
        code="RS008",
        severity="error",
        message=f"results of points cannot be kept: {error}",
        help="name another file with --cache, or keep none with --no-cache",
        file=str(path or ""),
    )
    return LanetwinError("", [found])
