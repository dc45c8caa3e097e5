"""What of a text in another language is English that nobody has named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

UNITS = {"ps", "ns", "us", "ms", "min", "KiB", "MiB", "GiB", "Gb", "kIOPS", "IOPS", "command"}
KEPT = UNITS | {
    "TLPs",
    "CplD",
    "MRd",
    "MWr",
    "flit",
    "fio",
    "mem",
    "io",
    "Gen",
    "Recovery",
    "Retimer",
    "lanetwin",
    "sigma",
}
"""Units, abbreviations and words of specifications: what a Chinese engineer writes in Latin letters, too."""
CODE = re.compile(
    r"`[^`]*`|--[a-z-]+|(?:machine|links)[^，；：]*…|[\w./@, →-]*…|\S+\.(?:yaml|fio|csv|md)|[0-9a-f]{16}"
    r"|(?:machine|links|workloads)\.\S+"
)
"""Paths, digests, places in a document, and names that were cut to their room."""


def texts(element: Element) -> Iterator[str]:
    """Return what a reader sees and hears of a page, without what is marked as not to be translated."""
    tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"
    if tag in ("style", "script", "pre", "code", "head", "comment") or element.get("translate") == "no":
        return
    yield from (element.attrib[name] for name in ("aria-label", "title", "data-l") if name in element.attrib)
    yield element.text or ""
    for child in element:
        yield from texts(child)
        yield child.tail or ""


def english(text: str, names: set[str]) -> list[str]:
    """Return the English words of a text that nobody has named."""
    if " = " in text:
        return []  # a path of the scenario and its value
    rest = CODE.sub(" ", text)
    for name in sorted(names, key=len, reverse=True):
        if re.search("[A-Za-z]", name):
            rest = re.sub(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", " ", rest)
    rest = CODE.sub(" ", rest)
    return [found for found in re.findall(r"[A-Za-z]*[a-z]{2}[A-Za-z]*", rest) if found not in KEPT]
