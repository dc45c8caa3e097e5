"""The language of reports and studies: fixed text by a catalogue of messages, English where there is none."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LANGUAGES = ("en", "zh")
"""What reports can be written in."""
HTML_NAMES = {"en": "en", "zh": "zh-Hans"}
"""The languages as pages name them."""
METRICS = (
    "throughput",
    "latency",
    "IOPS",
    "speed",
    "read throughput",
    "write throughput",
    "read latency",
    "transactions",
    "write latency",
)
"""Names of metrics that the catalogues have; others are told as the engine names them."""
_current: ContextVar[str] = ContextVar("language", default="en")


def current() -> str:
    """Return the language that is written now."""
    return _current.get()


@contextmanager
def written_in(language: str) -> Iterator[None]:
    """Write in a language for a while."""
    token = _current.set(language)
    try:
        yield
    finally:
        _current.reset(token)


@cache
def catalogue(language: str) -> NullTranslations:
    """Return the messages of a language."""
    if language == "en":
        return NullTranslations()
    # heavy, and of no use to who reads English
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with files("lanetwin.locale").joinpath(f"{language}.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language, charset="utf-8"))
    compiled.seek(0)
    return GNUTranslations(compiled)


def tr(text: str, **values: object) -> str:
    """Return a fixed text in the current language, with values in their places.

    >>> tr("{count} cycles", count=3)
    '3 cycles'
    """
    found = catalogue(current()).gettext(text) if text else text
    return found.format(**values) if values else found
