"""Translation of texts composed of words and values, including those of the engine.

The engine and the figures write English: "the wire is busy 99.1 % of the time". A second catalogue,
`locale/LANGUAGE.sentences.po`, has their words, and their sentences as templates with a place for each value.
A sentence is matched with the templates, and the contents of its places are translated in turn. So one
catalogue serves all code that composes texts, and the engine needs no knowledge of languages.

Names of a scenario are not translated: `naming` lists them.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import TYPE_CHECKING, Any

from lanetwin.language import current

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lanetwin.results import Results

JOINTS = ((". ", "。"), ("; ", "；"), (" · ", " · "), (": ", "："), (", ", "，"), (" … ", " … "))
"""Separators of parts that are translated one by one, the loosest first, and their Chinese forms."""
_LETTERS = re.compile(r"[A-Za-z]{2}")
_WORDS = re.compile(r"\b[a-z]{3,}")
_NUMBER = r"[\u2212+]?[\d\u221e][\d\u202f.,]*"
_FIELDS = {
    "n": f"({_NUMBER})",
    "of": f"({_NUMBER})",
    "share": f"({_NUMBER}(?: … {_NUMBER})?[ \u202f]%)",
    "margin": f"({_NUMBER}[ \u202f]%)",
    "most": f"({_NUMBER}[ \u202f]%)",
    "counts": r"(\d.*)",
    "value": f"({_NUMBER}[^)]*?)",
    "why": "([^)]+?)",
    "variant": "([^,;:]+?)",
    "metric": r"([A-Za-z][A-Za-z ]*?)",
    "case": r"((?:(?![(]|(?<! )[;:] |\. ).)+?)",
    "other": r"((?:(?![(]|(?<! )[;:] |\. ).)+?)",
    "rate": "(Gen.+)",
    "tlp": r"([A-Z][A-Za-z]+(?: \d+ B)?)",
    "widths": r"(x\d+ → x\d+)",
} | dict.fromkeys(("what", "rest", "parts", "interval", "hop"), "(.+?)")
"""Patterns of the contents of a place, by its name; other places accept any text without a separator."""
_ANYTHING = r"((?:(?!(?<! )[;:] |\. ).)+?)"
_PARENTHESES = re.compile(r"(?:(.+) )?\((.+)\)")
_SPACES = re.compile(r"\\ ")
_ANY_SPACE = "[ \u202f\u00a0]"
_UNIT = re.compile(r"(.+) (\[[^\]]+\])")
_names: ContextVar[frozenset[str]] = ContextVar("names", default=frozenset())


@contextmanager
def naming(names: Iterable[str]) -> Iterator[None]:
    """Keep these names untranslated within the block, whatever they mean as words."""
    token = _names.set(frozenset(names))
    try:
        yield
    finally:
        _names.reset(token)


def names_of(results: Results) -> set[str]:
    """Return the names given by a scenario's author, and the parts of the catalogue."""
    found = {results["name"], results["about"]}
    found |= {row[key] for row in results["rows"] for key in ("variant", "workload")}
    found |= {one["component"] for one in results.get("components", [])}
    found |= {one[key] for one in results["utilisation"] for key in ("link", "direction")}
    found |= {name for part in ("machine", "links") for name in (results["plan"] or {}).get(part) or {}}
    for action in results.get("actions", []):
        # the words of the specification
        found |= {action["action"], action["status"]} | {one["name"] for one in action.get("values", [])}
    found |= {one["by"] for one in results.get("outages", []) if "by" in one}
    for overlay in ((results["plan"] or {}).get("variants") or {}).values():
        # components that a variant adds: `machine.sw`
        found |= {place[1] for path in overlay or {} if len(place := path.split(".")) > 1}
    found |= set(_parts(results["plan"]))
    found |= {row["device"] or "" for row in results["rows"] if row.get("device")}
    found |= {one["name"] for one in results["parts"]} | {one["part"] for one in results["assumptions"]}
    return found


def texts_under(document: Any, *keys: str) -> set[str]:
    """Return all texts of a document under these keys, at any depth, in lists or alone.

    >>> sorted(texts_under({"a": [{"name": "x", "of": "y"}], "name": ["z", 1]}, "name"))
    ['x', 'z']
    """
    if isinstance(document, dict):
        own = {text for key in keys if key in document for text in _texts(document[key])}
        return own.union(*(texts_under(one, *keys) for one in document.values()))
    return (
        set().union(*(texts_under(one, *keys) for one in document)) if isinstance(document, list) else set()
    )


def _texts(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, list):
        for one in found:
            yield from _texts(one)


def _parts(plan: Any) -> Iterator[str]:
    """Yield the names of all parts of a plan."""
    if isinstance(plan, dict):
        for key, value in plan.items():
            if key in ("part", "model", "via"):
                yield from [value] if isinstance(value, str) else map(str, value or ())
            yield from _parts(value)


@dataclass(frozen=True, slots=True)
class _Template:
    """A sentence with places: its pattern and its translation."""

    pattern: re.Pattern[str]
    fields: tuple[str, ...]
    said: str
    literal: str
    """Its longest fixed words: a text without them does not match."""
    fixed: int
    """Length of its fixed text: the most specific sentence is tried first."""


@cache
def words(language: str) -> dict[str, str]:
    """Return the second catalogue of a language: every text with its translation."""
    from babel.messages.pofile import read_po  # slow to import, and not needed for English

    with files("lanetwin.locale").joinpath(f"{language}.sentences.po").open("rb") as file:
        found = read_po(file, locale=language, charset="utf-8")
    return {str(one.id): str(one.string) for one in found if one.id and one.string}


@cache
def _lookup(language: str) -> dict[str, str]:
    return {_plain(text): said for text, said in words(language).items()}


def _plain(text: str) -> str:
    """Return the normal form of a text, without capitals and special spaces."""
    return text.replace("\u202f", " ").replace("\u00a0", " ").casefold()


@cache
def _templates(language: str) -> list[_Template]:
    found = [_template(text, said) for text, said in words(language).items() if "{" in text]
    return sorted(found, key=lambda one: -one.fixed)


def _template(text: str, said: str) -> _Template:
    pattern, fields, literals = "", [], [""]
    for literal, field, _, _ in Formatter().parse(text):
        fixed = _SPACES.sub(_ANY_SPACE, re.escape(literal))
        pattern += f"(?i:{fixed})"
        literals.append(literal)
        if field is not None:
            pattern += _FIELDS.get(field, _ANYTHING)
            fields.append(field)
    longest = _plain(max(literals, key=len))
    told_by = sum(map(len, literals))
    return _Template(re.compile(pattern, re.DOTALL), tuple(fields), said, longest, told_by)


def told(text: str) -> str:
    """Return a text in the current language, as far as its words are in the catalogue; names are kept.

    >>> told("the wire is busy 99.1 % of the time (TLPs 98.0 %)")
    'the wire is busy 99.1 % of the time (TLPs 98.0 %)'
    """
    if current() == "en" or not _LETTERS.search(text):
        return text
    inner = text.strip()
    return text.replace(inner, _told(inner.replace("\u00a0", " "), current(), _names.get()), 1)


def word(text: str) -> str:
    """Return a fixed word in the current language, even if an author has used it as a name.

    >>> word("latency")
    'latency'
    """
    with naming(()):
        return told(text)


def case_told(case: str) -> str:
    """Return the name of a case in the current language if it is composed; an author's name is kept.

    Of several parts, separated by commas, those with words and a value are translated, each as a whole.

    >>> case_told("4 KiB, 8 in flight")
    '4 KiB, 8 in flight'
    """
    parts = case.split(", ")
    found = [told(part) if " " in part else part for part in parts]
    whole = [new if not _WORDS.search(new) else old for new, old in zip(found, parts, strict=True)]
    return (", " if current() == "en" else "，").join(whole)


@cache
def _told(text: str, language: str, names: frozenset[str]) -> str:
    if text in names or not _LETTERS.search(text):
        return text
    if text != text.strip():
        return text.replace(text.strip(), _told(text.strip(), language, names))
    if text.startswith("… "):
        return "… " + _told(text[2:], language, names)
    plain = _plain(text)
    found = _lookup(language).get(plain)
    if found:
        return found
    if unit := _UNIT.fullmatch(text):
        return f"{_told(unit[1], language, frozenset())} {unit[2]}"
    for template in _templates(language):
        if template.literal in plain and (match := template.pattern.fullmatch(text)):
            values = {
                field: _told(value, language, frozenset() if field == "metric" else names)
                for field, value in zip(template.fields, match.groups(), strict=True)
            }
            return template.said.format(**values)
    if text.endswith("."):
        inner = _told(text[:-1], language, names)
        return text if inner == text[:-1] else f"{inner}。"
    return _in_parts(text, language, names)


def _split(text: str, joint: str) -> list[str]:
    """Split a text at a separator, but not within parentheses.

    >>> _split("dram 2 : exp 1: 3 (at x: y)", ": ")
    ['dram 2 : exp 1', '3 (at x: y)']
    """
    parts, depth = [""], 0
    pieces = re.split(f"((?<! ){re.escape(joint)})", text)
    for piece in pieces:
        if piece == joint and not depth:
            parts.append("")
        else:
            parts[-1] += piece
            depth += piece.count("(") - piece.count(")")
    return parts


def _in_parts(text: str, language: str, names: frozenset[str]) -> str:
    for joint, said in JOINTS:
        parts = _split(text, joint)
        found = [_told(part, language, names) for part in parts] if len(parts) > 1 else parts
        if found == parts:
            continue
        ways = [said.join(found)]
        if joint == ": " and len(parts) > 2:
            # the rest after the first one may be a sentence with such a separator
            ways.append(said.join((found[0], _told(joint.join(parts[1:]), language, names))))
        return min(ways, key=lambda way: len(_LETTERS.findall(way)))
    if inside := _PARENTHESES.fullmatch(text):
        before = f"{_told(inside[1], language, names)}" if inside[1] else ""
        return f"{before}（{_told(inside[2], language, names)}）"
    return text
