"""Parsing output of programs for people: lines are found by their prefixes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lanetwin.measured.values import number, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lanetwin.measured.values import Source

MOST_LINES = 500_000
"""Length above which outputs are refused."""
LONGEST_LINE = 10_000
"""Length above which a line is not meant for people [characters]."""
DIGITS = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
"""A number, for patterns."""


def lines(text: str, source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, from 1; any line ends and byte order marks are accepted.

    Raises `LanetwinError` (ME005) if they are too many or too long.
    """
    for at, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        if at > MOST_LINES or len(line) > LONGEST_LINE:
            refuse("ME005", source, "this is longer than what a program prints for people", line=at)
        yield at, line


def after(pattern: str, line: str, source: Source, at: int) -> float | None:
    """Return the first group of a pattern as a number, if the line has it."""
    found = re.search(pattern, line)
    return number(found[1], source, line=at) if found else None
