"""SVG drawings as text: a few shapes, everything escaped, colours by the page's CSS classes."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Self

from lanetwin.sentences import told

FONT_WIDTH = 0.56
"""Mean width of a character of the page's font, in ems; for reserving room, so a high estimate."""
SMALL = 11.5
"""Font size of ticks and notes [px]."""
NORMAL = 12.5
"""Font size of names and values [px]."""
BOLD = 1.12
"""Relative width of bold text."""
_NARROW = frozenset("fijlrtI.,:;'|()[]/ \u202f")
_WIDE = frozenset("mwMW%@…")


def text_width(text: str, size: float = NORMAL) -> float:
    """Estimate the width of a line of text [px]."""
    return _places(text) * size * FONT_WIDTH


def _places(text: str) -> float:
    """Count characters, weighted by width relative to the mean; a Chinese one is nearly as wide as two.

    >>> _places("lilli") < 4 < _places("GEN4") < _places("MMMM") < 8
    True
    """
    return sum(_place(character) for character in text)


@cache
def _place(character: str) -> float:
    if character > "\u2e80":
        return 1.8
    if character in _NARROW:
        return 0.65
    if character in _WIDE:
        return 1.65
    return 1.2 if character.isupper() or character.isdigit() or character in "+=±−" else 1.0


def shortened(text: str, room: float, size: float = NORMAL) -> str:
    """Translate a text into the current language, and cut it to a width [px], with an ellipsis."""
    text = told(text)
    most = max(2.0, room / (size * FONT_WIDTH))
    if _places(text) <= most:
        return text
    while len(text) > 1 and _places(text) > most - _place("…"):
        text = text[:-1]
    return text.rstrip(" ·") + "…"


def number(value: float) -> str:
    """Write a coordinate with a resolution of a tenth of a pixel."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


class Drawing:
    """One drawing, of a size in px that the page may scale down.

    `key` must be unique on the page; `title` and `description` are for readers who do not see the drawing.
    """

    def __init__(self, width: float, height: float, *, key: str, title: str, description: str) -> None:
        self.width = width
        self.height = height
        self._key = escape(key, quote=True)
        self._title = escape(title)
        self._description = escape(description)
        self._body: list[str] = []

    def _add(
        self, tag: str, css: str, attributes: dict[str, float | str], hint: str = "", text: str = ""
    ) -> Self:
        shown = {"class": css} if css else {}
        for name, value in attributes.items():
            shown[name] = number(value) if isinstance(value, int | float) else value
        written = "".join(f' {name}="{escape(value, quote=True)}"' for name, value in shown.items())
        inside = (f"<title>{escape(hint)}</title>" if hint else "") + escape(text)
        self._body.append(f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>")
        return self

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> Self:
        """Draw a straight line."""
        return self._add("line", css, {"x1": x1, "y1": y1, "x2": x2, "y2": y2})

    def box(
        self, x: float, y: float, width: float, height: float, css: str, hint: str = "", round_: float = 0
    ) -> Self:
        """Draw a filled rectangle; a negative width draws nothing rather than an invalid element."""
        corner = {"rx": min(round_, width / 2)} if round_ else {}
        return self._add(
            "rect", css, {"x": x, "y": y, "width": max(width, 0), "height": height, **corner}, hint
        )

    def text(
        self, x: float, y: float, text: str, css: str = "", anchor: str = "start", hint: str = ""
    ) -> Self:
        """Write one line of text; `y` is its baseline."""
        place: dict[str, float | str] = {"x": x, "y": y}
        if anchor != "start":
            place["text-anchor"] = anchor
        return self._add("text", css, place, hint, text)

    def polyline(self, points: list[tuple[float, float]], css: str) -> Self:
        """Draw a line through points."""
        return self._add("polyline", css, {"points": " ".join(f"{number(x)},{number(y)}" for x, y in points)})

    def path_line(self, points: list[tuple[float, float]], css: str, thick: float, hint: str = "") -> Self:
        """Draw a line through points, with this thickness [px]."""
        places = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        return self._add("polyline", css, {"points": places, "stroke-width": thick}, hint)

    def polygon(self, points: list[tuple[float, float]], css: str) -> Self:
        """Draw a filled outline."""
        return self._add("polygon", css, {"points": " ".join(f"{number(x)},{number(y)}" for x, y in points)})

    def mark(self, x: float, y: float, shape: int, css: str, hint: str = "") -> Self:
        """Draw a point as circle, square, triangle or diamond, so that series differ without colour."""
        kind = shape % 4
        if kind == 0:
            return self._add("circle", css, {"cx": x, "cy": y, "r": 3.4}, hint)
        if kind == 1:
            return self.box(x - 3, y - 3, 6, 6, css, hint)
        corners = [(0, -4.2), (4, 3), (-4, 3)] if kind == 2 else [(0, -4.4), (4.4, 0), (0, 4.4), (-4.4, 0)]
        points = " ".join(f"{number(x + dx)},{number(y + dy)}" for dx, dy in corners)
        return self._add("polygon", css, {"points": points}, hint)

    def __str__(self) -> str:
        width, height, key = number(self.width), number(self.height), self._key
        return (
            f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'aria-labelledby="{key}-t {key}-d">'
            f'<title id="{key}-t">{self._title}</title>'
            f'<desc id="{key}-d">{self._description}</desc>'
            f"{''.join(self._body)}</svg>"
        )
