"""Common parts of the readers of measurements: results, limits and errors."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from lanetwin.errors import Diagnostic, LanetwinError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lanetwin.results import Better

MOST_BYTES = 64 << 20
"""Size above which files are refused [bytes]."""
MOST_VALUES = 100_000
"""Maximum number of values in a summary of a test."""
MOST_OBJECTS = 1000
"""Maximum number of documents in a file."""
MOST_DEPTH = 32
"""Maximum depth of JSON."""
LONGEST_NAME = 120
"""Length to which names are cut [characters]."""
LARGEST = 1e30
"""Largest plausible measurement."""
NS = {"ns": 1.0, "us": 1e3, "usec": 1e3, "µs": 1e3, "ms": 1e6, "msec": 1e6, "s": 1e9, "sec": 1e9}
"""Units of time, in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be imported."""

    path: str
    """Its path as given by the user."""
    stem: str
    """Its name without folder and suffix."""


@dataclass(frozen=True, slots=True)
class Value:
    """One measured number, in the units of results."""

    case: str
    metric: str
    unit: str
    better: Better
    value: float
    percentiles: tuple[tuple[float, float], ...] = ()
    device: str = ""
    """The part of the test; empty for the whole."""
    restates: bool = False
    """Whether it restates another value."""
    workload: str = ""
    """The test, if there are several; empty for the one with the name of the file."""


@dataclass(frozen=True, slots=True)
class Format:
    """The reader of one format."""

    name: str
    about: str
    recognises: Callable[[str, Source], bool]
    """Whether a text probably has this format; raises no error."""
    read: Callable[[str, Source], list[Value]]
    """Read it. Raises `LanetwinError` with code, place and remedy."""


def refuse(
    code: str, source: Source, message: str, *, help_: str = "", line: int = 0, path: str = ""
) -> NoReturn:
    """Raise the error of a file that cannot be imported.

    Raises `LanetwinError`, always.
    """
    remedy = help_ or "give the file as the program wrote it"
    found = Diagnostic(code, "error", _tame(message), remedy, source.path, line, 0, _tame(path))
    raise LanetwinError("", [found])


def _tame(text: str) -> str:
    return text if len(text) <= 300 else text[:300] + "…"


def number(value: Any, source: Source, *, line: int = 0, path: str = "") -> float:
    """Return a plausible measured number; the text of a number is accepted.

    Raises `LanetwinError` (ME004) if it is not a number, or not finite.
    """
    found = math.nan
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            found = float(value)
        except (ValueError, OverflowError):
            found = math.nan
    if not math.isfinite(found) or abs(found) > LARGEST:
        shown = repr(value)[:40]
        refuse("ME004", source, f"{shown} is no number that can be measured", line=line, path=path)
    return found


def name(text: Any) -> str:
    r"""Return a valid name for results: short, without control characters and marks of text direction.

    >>> name("job\x1b[31m one"), name("")
    ('job [31m one', 'unnamed')
    """
    plain = "".join(c if c.isprintable() else " " for c in str(text))
    return " ".join(plain.split())[:LONGEST_NAME] or "unnamed"


def objects(text: str, source: Source) -> list[tuple[dict[str, Any], int]]:
    """Return the JSON objects of a text, which may contain other words, and the lines in which they begin.

    Objects of a repeated key are joined; of other values the last one counts.

    Raises `LanetwinError`: ME003 if an object is cut short or wrong, ME005 if it is nested too deep.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_joined, parse_constant=lambda _: math.nan, parse_int=_whole)
    found: list[tuple[dict[str, Any], int]] = []
    at, line, counted = _opening(text, 0), 1, 0
    while at >= 0:
        line += text.count("\n", counted, at)
        counted = at
        if len(found) >= MOST_OBJECTS:
            refuse("ME005", source, f"more than {MOST_OBJECTS} documents in one file", line=line)
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            refuse("ME003", source, f"this is not JSON: {error.msg}", line=text.count("\n", 0, error.pos) + 1)
        except RecursionError:
            refuse("ME005", source, "this is nested too deep", line=line)
        if _depth(value) > MOST_DEPTH:
            refuse("ME005", source, f"this is nested deeper than {MOST_DEPTH} levels", line=line)
        found.append((value, line))
        at = _opening(text, at)
    return found


NEAR = 200
"""Maximum distance of an object from the start of its line [characters]."""


def _opening(text: str, start: int) -> int:
    """Return the begin of the next object: a brace at the start of a line, or after another object."""
    at = start
    while (at := text.find("{", at)) >= 0:
        near = max(0, at - NEAR)
        newline = text.rfind("\n", near, at)
        before = text[max(newline + 1, near) : at].strip()
        if at == start or (not before and (newline >= 0 or near == 0)) or before.endswith("}"):
            return at
        at += 1
    return -1


def _whole(digits: str) -> float:
    return float(digits)


def _joined(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        known = found.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            found[key] = {**known, **value}
        elif isinstance(known, list) and isinstance(value, list):
            found[key] = known + value
        else:
            found[key] = value
    return found


def _depth(value: Any) -> int:
    """Return the depth of a document, up to the limit."""
    level, depth = [value], 0
    while level and depth <= MOST_DEPTH:
        inner = [child for one in level if isinstance(one, dict) for child in one.values()]
        inner += [child for one in level if isinstance(one, list) for child in one]
        level = [child for child in inner if isinstance(child, dict | list)]
        depth += 1
    return depth


def percentiles_of(
    bins: Iterable[tuple[float, float]], wanted: Iterable[float]
) -> tuple[tuple[float, float], ...]:
    """Return percentiles of values with counts: the smallest value that this share does not exceed.

    >>> percentiles_of([(10.0, 1), (20.0, 3)], [25.0, 50.0])
    ((25.0, 10.0), (50.0, 20.0))
    """
    ordered = sorted((value, count) for value, count in bins if count > 0)
    total = math.fsum(count for _, count in ordered)
    found = []
    for percent in wanted:
        seen = 0.0
        for value, count in ordered:
            seen += count
            if seen * 100 >= percent * total * (1 - 1e-12):
                found.append((percent, value))
                break
    return tuple(found)


USUAL = (50.0, 90.0, 95.0, 99.0, 99.9)
"""The percentiles in results."""
