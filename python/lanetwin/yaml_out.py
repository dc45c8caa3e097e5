"""JSON values as YAML 1.2, for people to read: blocks for nesting, quotes only where YAML would misread.

Supports only the needs of a plan: mappings with text keys, lists, text, numbers, booleans and null.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# Plain only if no YAML 1.1 or 1.2 reader could take it for anything but text: it begins with a letter,
# holds nothing that has a meaning, and is no word for a truth value or for nothing.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./+%-]*(?: [A-Za-z0-9_./+%-]+)*")
_QUANTITY = re.compile(r"[0-9]+(?:\.[0-9]+)? ?[A-Zac-df-wyzµ%][A-Za-z/%]*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
_LINE = 90
"""Longest list that stays on one line [characters]."""
_SURROGATES = re.compile("[\ud800-\udfff]")


def dump(value: Any) -> str:
    """Write a JSON value as a YAML document.

    >>> print(dump({"links": {"slot": {"gen": 3, "width": "x8", "via": []}}}), end="")
    links:
      slot:
        gen: 3
        width: x8
        via: []
    """
    return "\n".join(_block(value, 0)) + "\n"


def text(value: str) -> str:
    """Write a text so that every YAML reader parses it as text, in blocks and in braces."""
    plain = _PLAIN.fullmatch(value) or _QUANTITY.fullmatch(value)
    if plain and value.lower() not in _WORDS:
        return value
    # JSON's quoting is valid in YAML; only characters that neither permits are escaped.
    quoted = json.dumps(_SURROGATES.sub("\ufffd", value), ensure_ascii=False)
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda c: f"\\u{ord(c[0]):04x}", quoted)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        number = json.dumps(value)
        # YAML 1.1 requires a point in a float and a sign in its exponent.
        return re.sub(r"^(-?\d+)e", r"\1.0e", number) if "e" in number else number
    return json.dumps(value)


def _inline(value: Any) -> str | None:
    """Write a value on one line if it is a scalar, empty, or a short list of scalars."""
    if not isinstance(value, dict | list) or not value:
        return _scalar(value)
    if isinstance(value, list) and all(not isinstance(item, dict | list) or not item for item in value):
        line = f"[{', '.join(_scalar(item) for item in value)}]"
        return line if len(line) <= _LINE else None
    return None


def _block(value: Any, depth: int) -> Iterator[str]:
    indent = "  " * depth
    line = _inline(value)
    if line is not None:
        yield indent + line
    elif isinstance(value, dict):
        for key, item in value.items():
            line = _inline(item)
            yield f"{indent}{text(str(key))}:" + ("" if line is None else f" {line}")
            if line is None:
                yield from _block(item, depth + 1)
    else:
        for item in value:
            first, *rest = _block(item, depth + 1)
            yield f"{indent}- {first.lstrip(' ')}"
            yield from rest
