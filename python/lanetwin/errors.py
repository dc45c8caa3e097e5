"""Errors: of the user's input, with every diagnostic, and of the engine itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


COMMAND_LINE = "command line"
"""The place of a mistake that is in no file."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake in a document: message, place and remedy."""

    code: str
    """Never changes its meaning; ``lanetwin explain CODE`` prints its page."""
    severity: Literal["error", "warning"]
    message: str
    help: str = ""
    file: str = ""
    line: int = 0
    """Line in `file`, from 1; 0 if the mistake is not in a file."""
    column: int = 0
    """Character in `line`, from 1; 0 if unknown."""
    path: str = ""
    """Path in the document, such as ``links.slot.width``."""

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Parse a diagnostic of the engine; absent and null fields have their defaults."""
        severity: Literal["error", "warning"] = "warning" if fields.get("severity") == "warning" else "error"
        return cls(
            code=str(fields.get("code") or ""),
            severity=severity,
            message=str(fields.get("message") or ""),
            help=str(fields.get("help") or ""),
            file=str(fields.get("file") or ""),
            line=int(fields.get("line") or 0),
            column=int(fields.get("column") or 0),
            path=str(fields.get("path") or ""),
        )

    @classmethod
    def from_finding(cls, fields: Mapping[str, Any]) -> Self:
        """Parse a diagnostic in results; its code determines whether it is an error or a warning."""
        code = str(fields.get("code") or "")
        return cls.from_dict({**fields, "severity": "error" if code[2:3] == "0" else "warning"})

    @property
    def where(self) -> str:
        """Place as ``file:line:column``, as far as it is known."""
        is_option = self.file.startswith("--")  # of one line, without a file to look it up in
        numbers = [] if is_option else [self.line, self.column]
        place = [self.file] + [str(number) for number in numbers if number]
        return ":".join(part for part in place if part)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        remedy = f" ({self.help})" if self.help else ""
        return f"{self.severity}[{self.code}] {place}{self.message}{remedy}"


class LanetwinError(Exception):
    """A mistake that the user can correct: in a scenario, an argument or a file.

    `diagnostics` has every mistake of the document, not only the first. It is empty if the mistake is not in
    a document; then the message alone describes the attempt and the remedy.
    """

    def __init__(self, message: str, diagnostics: list[Diagnostic] | None = None) -> None:
        self.diagnostics: list[Diagnostic] = diagnostics or []
        super().__init__(message or "\n".join(str(diagnostic) for diagnostic in self.diagnostics))

    @classmethod
    def from_json(cls, diagnostics: str) -> Self:
        """Build the exception from the engine's JSON array of diagnostics."""
        return cls("", [Diagnostic.from_dict(fields) for fields in json.loads(diagnostics)])


def mistake(code: str, message: str, remedy: str, place: object = COMMAND_LINE) -> LanetwinError:
    """Return the error for one mistake; its place is a file, or the command line."""
    return LanetwinError("", [Diagnostic(code, "error", message, remedy, str(place))])


class EngineBug(RuntimeError):  # noqa: N818 - the user made no error
    """A bug of the engine, independent of the user's input; the message has the component and the time."""


def require_whole(name: str, value: object, least: int, most: int) -> None:
    """Raise `LanetwinError` if an argument is something else than a whole number in its range."""
    is_whole = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    if value is not None and not is_whole:
        raise LanetwinError(f"{name} is a whole number from {least} to {most}, not {value!r}")
