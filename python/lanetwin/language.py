"""The language of reports and studies: fixed text by a catalogue of messages, English without one."""

from __future__ import annotations

import re
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
"""Languages of reports."""
HTML_NAMES = {"en": "en", "zh": "zh-Hans"}
"""Names of the languages on pages."""
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
    "efficiency",
)
"""Names of metrics in the catalogues; others keep the engine's names."""
FULL_STOPS = ("。", "！", "？", "；")
"""Full-width stops, which include the space after a sentence."""
_CHINESE = "\u3000-\u303f\u4e00-\u9fff\uff00-\uffef"
_CHINESE_LINE = re.compile(f"(?<=[{_CHINESE}])\\n(?=[{_CHINESE}])|(?<=[。，；：！？、）])\\n(?=[A-Za-z])")
"""The end of a line between two Chinese characters (including stops), or after a stop."""
_current: ContextVar[str] = ContextVar("language", default="en")


def current() -> str:
    """Return the current language."""
    return _current.get()


@contextmanager
def written_in(language: str) -> Iterator[None]:
    """Use a language within the block."""
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
    # slow to import, and not needed for English
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


def joined(*sentences: str) -> str:
    """Join sentences by the rules of their language: a full-width stop includes the space.

    >>> joined("One.", "Two."), joined("一。", "二。")
    ('One. Two.', '一。二。')
    """
    found = ""
    for sentence in sentences:
        found += f"{'' if not found or found.endswith(FULL_STOPS) else ' '}{sentence}"
    return found


def apart(name: str) -> str:
    """Return a name for use after a Chinese word: a Latin one with a space before it.

    >>> with written_in("zh"):
    ...     apart("IDT"), apart("《报告》")
    (' IDT', '《报告》')
    """
    return f" {name}" if current() != "en" and name[:1].isascii() else name


def unbroken(text: str) -> str:
    r"""Join the lines of Chinese paragraphs, where the end of a line would appear as a space.

    >>> unbroken("一。\n二 A\n三\n\n- 四")
    '一。二 A\n三\n\n- 四'
    """
    return _CHINESE_LINE.sub("", text)
