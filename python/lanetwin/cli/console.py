"""Output channels: results to standard output, all messages to standard error."""

from __future__ import annotations

import errno
import json
import os
import sys
from enum import IntEnum
from typing import Any

from rich.console import Console
from rich.text import Text

from lanetwin.sentences import told

PIPE_WIDTH = 120
"""Width of tables when standard output is not a terminal and COLUMNS is not set [characters]."""


# the spaces that stand in numbers are no printable characters to Python
_HARMLESS = "\n\u00a0\u202f"


class Exit(IntEnum):
    """Exit statuses of the command."""

    OK = 0
    ERROR = 1
    USAGE = 2
    GATE = 3
    """The work was done, but a comparison or a validation did not pass its gate."""
    INTERRUPTED = 130
    """Ctrl-C, SIGTERM or SIGHUP; finished parts have been written and are marked as partial."""


def in_language(text: Text) -> Text:
    """Return a text in the current language, in its style; the maker translates a text of several styles."""
    said = text.plain if text.spans else told(text.plain)
    return text if said == text.plain else Text(said, text.style)


def as_written(text: str, style: str = "") -> Text:
    """Return a text of an author unchanged, in its own language."""
    return Text().append(printable(text), style or "none")


class _Telling(Console):
    """A console that prints texts in the current language."""

    def print(self, *texts: Any, **options: Any) -> None:
        """Print texts and tables."""
        said = (Text(one) if isinstance(one, str) else one for one in texts)
        super().print(*(in_language(one) if isinstance(one, Text) else one for one in said), **options)


class _Output(_Telling):
    """A console that leaves the handling of a closed pipe to the main command."""

    def on_broken_pipe(self) -> None:
        """Raise the error again; a `Console` would end the program with status 1."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def out() -> Console:
    """Return the console for results. Names are never read as markup."""
    width = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS") or PIPE_WIDTH)
    return _Output(width=width, markup=False, highlight=False, emoji=False)


def err() -> Console:
    """Return the console for progress and errors."""
    return _Telling(stderr=True, markup=False, highlight=False, emoji=False)


def emit(text: str) -> None:
    """Write text to standard output as it is."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()  # before what is said about it


def emit_json(value: Any) -> None:
    """Write a JSON document to standard output, with escapes if its encoding is not Unicode."""
    has_all_signs = (sys.stdout.encoding or "").lower().startswith("utf")
    emit(json.dumps(value, ensure_ascii=not has_all_signs, indent=1))


def printable(text: str) -> str:
    """Replace control characters of terminals, so that the contents of a file cannot control one."""
    return "".join(c if c.isprintable() or c in _HARMLESS else "\ufffd" for c in text.expandtabs(4))
