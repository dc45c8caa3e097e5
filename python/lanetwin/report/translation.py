"""A page in another language: texts by the catalogue, elements with `translate="no"` unchanged."""

from __future__ import annotations

import re
from html import escape, unescape

from lanetwin.numbers import spelt
from lanetwin.sentences import told

_TOKEN = re.compile(
    r"(<!--.*?-->|<(?:script|style|pre|code)\b.*?</(?:script|style|pre|code)>|<[^>]*>)", re.DOTALL
)
_ATTRIBUTE = re.compile(r'\b(aria-label|title|data-l)="([^"]*)"')
_KEPT = ("<script", "<style", "<pre", "<code")
_VOID = {"meta", "br", "hr", "link", "img", "input", "col", "wbr"}
"""Elements without an end tag."""


def translated(page: str) -> str:
    """Return a page of lanetwin in the current language.

    Pages are written by our templates, whose values are escaped: so every `<` begins a tag.
    """
    kept = 0  # number of open elements that are not translated, including those within them
    found = []
    for token in _TOKEN.split(page):
        if not token.startswith("<"):
            found.append(token if kept or not token.strip() else _text(token))
            continue
        name = re.match(r"</?([A-Za-z0-9]*)", token)
        is_open = bool(name and name[1]) and not token.startswith("</")
        has_end = not (token.endswith("/>") or (name and name[1] in _VOID) or "</" in token[1:])
        if kept and not token.startswith("<!"):
            kept += (1 if is_open and has_end else 0) - (1 if token.startswith("</") else 0)
        elif is_open and has_end and 'translate="no"' in token:
            kept = 1
        found.append(token if kept else _attributes(token))
    return "".join(found)


def units_spelt(page: str) -> str:
    """Return a page with uniform spelling of units; code and data for programs are unchanged.

    >>> units_spelt('<td title="1 us">1 us</td><code>--set a=1 us</code>')
    '<td title="1 µs">1 µs</td><code>--set a=1 us</code>'
    """
    return "".join(
        token if token.startswith(_KEPT) else spelt(token) for token in _TOKEN.split(page) if token
    )


def _text(token: str) -> str:
    """Translate a text; entities are characters during the translation."""
    return escape(told(re.sub(r"\s*\n\s*", " ", unescape(token))), quote=False)


def _attributes(tag: str) -> str:
    if tag.startswith(("<script", "<style", "<!--")):
        return tag
    return _ATTRIBUTE.sub(lambda found: f'{found[1]}="{escape(told(unescape(found[2])), quote=True)}"', tag)
