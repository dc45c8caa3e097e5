"""Diagnostics in the style of compilers: place, marked source line, error, remedy."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from lanetwin.cli.console import err, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.errors import Diagnostic, EngineBug, LanetwinError

STYLES = {"error": "bold red", "warning": "bold yellow"}
ENDS_OF_VALUES = frozenset(" \t,]}#\"'")
"""Characters that end the marked value."""
LONGEST_LINE = 160
"""Length above which source lines are cut around the place [characters]."""
LARGEST_SOURCE = 4 << 20
"""Size above which a file is not read again to show a line [bytes]."""


def render(diagnostic: Diagnostic) -> Text:
    """Return one diagnostic as styled text, several lines long."""
    style = STYLES[diagnostic.severity]
    text = Text()
    text.append(f"{diagnostic.severity}[{printable(diagnostic.code)}]", style)
    text.append(f" {printable(diagnostic.where)}" if diagnostic.where else "", "bold")
    text.append(f"  {printable(diagnostic.path)}" if diagnostic.path else "", "cyan")
    line = source_line(diagnostic.file, diagnostic.line)
    if line is not None:
        _mark(text, line, diagnostic, style)
    text.append("\n")
    text.append(_indented(diagnostic.message))
    if diagnostic.help:
        text.append("\n  help: ", "bold green")
        text.append(_indented(diagnostic.help).lstrip())
    return text


def _indented(message: str) -> str:
    return "\n".join(f"  {line}" for line in printable(message).splitlines())


def _mark(text: Text, line: str, diagnostic: Diagnostic, style: str) -> None:
    """Append the source line, and a mark under the value at the diagnostic's column."""
    number = str(diagnostic.line)
    gutter = " " * len(number)
    column = min(max(diagnostic.column - 1, 0), len(line))
    start = max(0, column - LONGEST_LINE // 2) if len(line) > LONGEST_LINE else 0
    before, rest = line[start:column], line[column:]
    length = mark_length(rest)
    text.append(f"\n{gutter} |\n{number} | ", "blue")
    text.append(printable(line[start : start + LONGEST_LINE].rstrip()))
    if diagnostic.column:
        text.append(f"\n{gutter} | ", "blue")
        text.append(
            " " * cell_len(printable(before)) + "^" * max(1, cell_len(printable(rest[:length]))), style
        )


def mark_length(rest: str) -> int:
    """Return how many characters the value at the beginning of `rest` has, a quoted one with its quotes.

    >>> mark_length("intel-foo}"), mark_length('"a b", c'), mark_length("")
    (9, 5, 1)
    """
    if rest[:1] in ('"', "'"):
        end = rest.find(rest[0], 1)
        return end + 1 if end > 0 else len(rest)
    length = next((place for place, c in enumerate(rest) if c in ENDS_OF_VALUES), len(rest))
    return max(1, len(rest[:length].rstrip(":")))


@lru_cache(maxsize=16)
def _lines(file: str) -> tuple[str, ...]:
    try:
        path = Path(file)
        if not path.is_file() or path.stat().st_size > LARGEST_SOURCE:
            return ()
        return tuple(path.read_text(encoding="utf-8", errors="replace").split("\n"))
    except (OSError, ValueError):
        return ()


def source_line(file: str, line: int) -> str | None:
    """Return a line of a file, counted from 1, or nothing if there is none to show."""
    lines = _lines(file) if file else ()
    return lines[line - 1].rstrip("\r") if 0 < line <= len(lines) else None


def counted(number: int, noun: str) -> str:
    """Write a count with its noun.

    >>> counted(1, "error"), counted(3, "error")
    ('1 error', '3 errors')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def print_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """Print diagnostics and how many there are to standard error."""
    _lines.cache_clear()
    console = err()
    for diagnostic in diagnostics:
        console.print(render(diagnostic), soft_wrap=True)
        console.print()
    errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
    warnings = len(diagnostics) - errors
    found = [counted(n, noun) for n, noun in ((errors, "error"), (warnings, "warning")) if n]
    codes = sorted({diagnostic.code for diagnostic in diagnostics if diagnostic.code})
    if codes:
        more = f"; `lanetwin explain {printable(codes[0])}` says more" + (
            " on the first" if len(codes) > 1 else ""
        )
        console.print(Text(", ".join(found) + more, "dim"), soft_wrap=True)


def print_error(error: LanetwinError) -> None:
    """Print the diagnostics of the exception, or its message if it has none."""
    if error.diagnostics:
        print_diagnostics(error.diagnostics)
    else:
        text = Text("error: ", STYLES["error"])
        text.append(printable(str(error)), "not bold default")
        err().print(text, soft_wrap=True)


def print_bug(bug: EngineBug) -> None:
    """Print that this is a bug of lanetwin, and the data that help to fix it."""
    text = Text("bug in lanetwin: ", STYLES["error"])
    text.append(printable(str(bug)), "not bold default")
    text.append("\n  help: ", "bold green")
    text.append(
        "nothing was written; please report it with the scenario, the seed and this message", "not bold"
    )
    err().print(text, soft_wrap=True)
