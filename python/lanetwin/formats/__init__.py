"""Formats of results: one file, one format.

A new format is a module here that declares `FORMAT`, and its entry in the list below. The command line offers
it, and `lanetwin.store` writes it. The engine's attachments of a document (files of fio and of Iometer) are
written unchanged with any format.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanetwin.formats.declaration import Format

WORDS = [
    "csv",
    "ndjson",
    "parquet",
]
"""The modules, in the order in which they are offered; the first is always written."""


def _declared(word: str) -> Format:
    declared: Format = import_module(f"lanetwin.formats.{word}").FORMAT
    return declared


FORMATS: dict[str, Format] = {declared.name: declared for declared in map(_declared, WORDS)}
"""Every format, by its name."""

ALWAYS = next(iter(FORMATS))
"""The name of the format that is always written."""
