"""Reading a study's YAML by its permitted keys, reporting all mistakes at once."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Self

from lanetwin.errors import Diagnostic, LanetwinError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lanetwin.engine import Outline

_STEERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of writing."""


LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z]+)?")


@dataclass(frozen=True, slots=True)
class Words:
    """A text of the author, in one language or in several."""

    by_language: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Self:
        """Return a text that is equal in every language."""
        return cls({"en": text})

    def told(self, language: str) -> str:
        """Return the text in a language, or in English, or in the only one."""
        known = self.by_language
        return known.get(language) or known.get("en") or next(iter(known.values()), "")

    def __bool__(self) -> bool:
        return any(self.by_language.values())


class Reports:
    """The mistakes in a document."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.found: list[Diagnostic] = []

    def add(self, code: str, place: Outline, path: str, message: str, remedy: str) -> None:
        """Note a mistake."""
        self.found.append(
            Diagnostic(code, "error", message, remedy, str(self.file), place["line"], place["column"], path)
        )

    def finish(self) -> None:
        """Raise `LanetwinError` if anything is wrong."""
        if self.found:
            raise LanetwinError("", sorted(self.found, key=lambda one: (one.line, one.column)))


def joined(path: str, key: str) -> str:
    """Return the path of a key."""
    return f"{path}.{key}" if path else key


def closest(word: str, known: Sequence[str]) -> str:
    """Suggest the closest known word, or list all."""
    near = get_close_matches(word, known, 1)
    return f"did you mean `{near[0]}`?" if near else f"known are {', '.join(known)}"


def plain(text: str) -> str:
    """Return a text in its composed form.

    >>> plain("e\u0301") == "\u00e9"
    True
    """
    return unicodedata.normalize("NFC", text)


def steers(text: str) -> bool:
    r"""Return whether a text contains control characters for terminals or pages.

    >>> steers("a\u202eb"), steers("two\nlines")
    (True, False)
    """
    return any(c in _STEERING or (unicodedata.category(c) == "Cc" and c not in "\n\t") for c in text)


class Section:
    """A mapping of the document, read key by key."""

    def __init__(self, node: Outline, path: str, reports: Reports, known: Sequence[str] | None) -> None:
        self.node, self.path, self.reports = node, path, reports
        entries = node.get("entries")
        if entries is None:
            reports.add(
                "ST002", node, path, f"`{path or 'the study'}` is not a mapping", "write `key: value`"
            )
        self.entries: dict[str, Outline] = dict(entries or [])
        for key, value in self.entries.items():
            if known is not None and key not in known:
                message = f"there is no key `{key}` here"
                reports.add("ST001", value, joined(path, key), message, closest(key, known))

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def keys(self, key: str) -> list[str]:
        """Return the names of the sections of a key."""
        return [name for name, _ in self.at(key).get("entries") or ()] if key in self else []

    def at(self, key: str) -> Outline:
        """Return the place of a key, or its expected place."""
        return self.entries.get(key, self.node)

    def fault(self, key: str, message: str, remedy: str, code: str = "ST002") -> None:
        """Note a mistake in the value of a key."""
        self.reports.add(code, self.at(key), joined(self.path, key), message, remedy)

    def text(self, key: str, default: str = "", *, required: bool = False) -> str:
        """Return a text without structure."""
        node = self.entries.get(key)
        if node is None:
            if required:
                self.fault(key, f"`{key}` is missing", f"write `{key}: …`")
            return default
        return _text(node, joined(self.path, key), self.reports) or default

    def words(self, key: str, *, required: bool = False) -> Words:
        """Return a text in one language or in several."""
        node = self.entries.get(key)
        if node is None or "entries" not in node:
            return Words({"en": self.text(key, required=required)})
        path = joined(self.path, key)
        for name, value in node["entries"]:
            if not LANGUAGE.fullmatch(name):
                message = f"`{name}` is no language, as en and zh are"
                remedy = "put a text with a comma in quotes"
                self.reports.add("ST002", value, f"{path}.{name}", message, remedy)
        return Words(
            {
                name: _text(value, f"{path}.{name}", self.reports)
                for name, value in node["entries"]
                if LANGUAGE.fullmatch(name)
            }
        )

    def names(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; one text is a list of one."""
        node = self.entries.get(key)
        if node is None:
            return ()
        path = joined(self.path, key)
        if "items" not in node:
            return (_text(node, path, self.reports),)
        return tuple(_text(item, f"{path}[{nth}]", self.reports) for nth, item in enumerate(node["items"]))

    def number(self, key: str, default: float | None = None) -> float | None:
        """Return a number."""
        node = self.entries.get(key)
        return default if node is None else number(node, joined(self.path, key), self.reports, default)

    def count(self, key: str, default: int) -> int:
        """Return a whole number from 1."""
        value = self.number(key, default)
        if value is None or value != int(value) or value < 1:
            self.fault(key, f"`{key}` is a whole number from 1", "write for example 1000")
            return default
        return int(value)

    def items(self, key: str) -> list[tuple[Outline, str]]:
        """Return the items of a list with their paths."""
        node = self.entries.get(key)
        if node is None:
            return []
        path = joined(self.path, key)
        if "items" not in node:
            self.fault(key, f"`{key}` is a list", "begin every item with a dash")
            return []
        return [(item, f"{path}[{nth}]") for nth, item in enumerate(node["items"])]

    def sections(self, key: str, known: Sequence[str]) -> dict[str, Section]:
        """Return named sections."""
        node = self.entries.get(key)
        if node is None:
            return {}
        path = joined(self.path, key)
        outer = Section(node, path, self.reports, None)
        return {
            name: Section(value, f"{path}.{name}", self.reports, known)
            for name, value in outer.entries.items()
        }


def _text(node: Outline, path: str, reports: Reports) -> str:
    text = node.get("text")
    if text is None:
        reports.add("ST002", node, path, f"`{path}` is not a text", "write one value, in quotes if need be")
        return ""
    if steers(text):
        message = "the text holds a control character, or one that turns its direction"
        reports.add("ST002", node, path, message, "remove it")
        return ""
    return plain(text)


def number(node: Outline, path: str, reports: Reports, default: Any = None) -> float | None:
    """Return the number that a node is."""
    try:
        return float(node.get("text") or "")
    except ValueError:
        reports.add("ST002", node, path, f"`{path}` is not a number", "write a number without a unit")
        return default  # type: ignore[no-any-return]
